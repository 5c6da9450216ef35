#pragma once

/// The rows of a report, taken while the motion is computed.
///
/// With `every` they are rows of the result, else about ten to a step, so that a curve through them looks as smooth as
/// the motion is. When there are too many for a page, every second one is dropped, and from then on only every second
/// one is taken. Events have rows of their own, so that a bounce is seen where it is. Very wide models lose columns:
/// forces by coordinate first, positions last.

#include <span>
#include <string>
#include <vector>

#include "mechanician/motion/integrator.hpp"
#include "mechanician/report/view_program.hpp"
#include "mechanician/result/run_setup.hpp"

namespace mechanician {

struct ReportLimits {
  std::size_t bytes = 3'000'000;  ///< of all rows, as they are written
  std::size_t most_rows = 4000;
  std::size_t least_rows = 300;  ///< columns are dropped rather than have fewer rows
};

/// A column as the page knows it.
struct ReportColumn {
  std::string name, group;
  int index = 0;  ///< in a row
};

class ReportRecorder {
 public:
  /// The system must outlive it. Without a view there are only plots.
  ReportRecorder(const System& system, const RunSetup& setup, const std::optional<View>& view,
                 const ReportLimits& limits = {});

  /// At the start, and after each accepted step.
  void look(Integrator& integrator);
  /// After the last step.
  void finish(Integrator& integrator);
  /// A row that is not of a motion: everything that it knows is in the sample.
  void add(const Sample& sample) { take(sample, counter_++); }
  /// Other columns are left out of the plots.
  void keep_groups(std::span<const std::string> groups);

  const std::vector<ReportColumn>& columns() const { return kept_; }
  int num_left_out() const { return static_cast<int>(all_.size() - kept_.size()); }
  const std::vector<std::vector<double>>& rows() const { return rows_; }
  /// Of a row: the first value of the view program.
  int view_begin() const { return view_begin_; }
  const ViewProgram* view() const { return has_view_ ? &program_ : nullptr; }
  /// "every 0.01 s", in words.
  std::string spacing() const;

 private:
  /// A force that the view uses: of a coordinate, a constraint, or the friction of a contact, so many numbers.
  struct Force {
    SymbolKind kind;
    Eigen::Index at, count;
    double of(const Sample& sample) const;
  };
  void add_columns();
  void add_forces(const std::vector<Expr>& wanted);
  void choose(const ReportLimits& limits);
  void take(const Sample& sample, long order);
  void thin();

  const System& system_;
  RunSetup setup_;
  Columns columns_;
  ViewProgram program_;
  bool has_view_ = false;
  std::vector<Expr> inputs_;
  std::vector<Force> forces_;
  std::vector<std::size_t> modes_;  ///< among the parameters
  Tape tape_;                       ///< energies, residuals, then the view
  int num_own_ = 0, view_begin_ = 0;
  std::vector<ReportColumn> all_, kept_;
  std::size_t most_rows_ = 0;
  std::vector<std::vector<double>> rows_;
  std::vector<long> order_;  ///< of each row: which one of all that could be taken
  std::size_t num_events_ = 0;
  bool events_wanted_ = true;
  long counter_ = 0, stride_ = 1;
  double last_ = 0.0;
};

}  // namespace mechanician
