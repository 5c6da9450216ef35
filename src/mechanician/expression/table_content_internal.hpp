#pragma once

/// A table ready to be evaluated. Internal to the expression folder.

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "mechanician/expression/table.hpp"
#include "mechanician/expression/table_lookup.hpp"

namespace mechanician {

/// The points of one argument, and where a number lies among them: in buckets of equal width, each with few points.
class TableAxis {
 public:
  TableAxis() = default;
  explicit TableAxis(std::vector<double> points);

  std::size_t size() const { return points_.size(); }
  double operator[](std::size_t i) const { return points_[i]; }
  double first() const { return points_.front(); }
  double last() const { return points_.back(); }
  double period() const { return last() - first(); }
  double step(std::size_t i) const { return points_[i + 1] - points_[i]; }
  const std::vector<double>& points() const { return points_; }
  /// The last point that is not beyond x; 0 where all are.
  std::size_t find(double x) const;

 private:
  std::size_t bucket(double x) const;
  std::vector<double> points_;
  std::vector<std::uint32_t> begin_;  ///< by bucket: how many points are in those before it
  double scale_ = 0.0;
};

/// What a key says beside the id.
struct TableView {
  int order_x, order_y;
  int side_x, side_y;  ///< −1, 1; 0: as it is
  enum class Kind { value, guard_x, guard_y, size } kind;
  bool fine;
};

class TableContent {
 public:
  explicit TableContent(TableData data);
  ~TableContent();
  TableContent(const TableContent&) = delete;
  TableContent& operator=(const TableContent&) = delete;

  const std::string& name() const { return name_; }
  const std::string& argument_name(int i) const { return argument_names_[static_cast<std::size_t>(i)]; }
  int num_arguments() const { return num_arguments_; }
  int degree() const;
  Interpolation interpolation() const { return interpolation_; }
  Outside outside() const { return outside_; }
  const TableAxis& axis(int i) const { return axes_[static_cast<std::size_t>(i)]; }
  const std::vector<double>& values() const { return values_; }
  int stride() const { return stride_; }
  const std::vector<double>& coefficients() const { return coefficients_; }
  const std::vector<double>& nodes() const { return nodes_; }
  bool same_as(const TableData& data) const;
  std::uint64_t id() const { return id_; }
  double key(int order_x, int order_y) const;

  double evaluate(double x, double y, const TableView& view) const;
  Interval bound(const Interval& x, const Interval& y, const TableView& view) const;
  double turns(const Interval& x, const Interval& y, const TableView& view) const;
  bool breaks_in(const Interval& x, const Interval& y, const TableView& view) const;
  double next_break(double x, const TableView& view) const;
  std::string explain(double x, double y) const;
  Breaks breaks(int order) const;

  /// Points of an argument where regions end: first, first + apart, …
  struct Regions {
    long first, count, apart;
  };
  Regions regions(const TableAxis& axis, bool fine) const;

 private:
  friend class TableStore;
  struct Region {
    long number;      ///< from 0; of periodic tables counted on over all periods
    double from, to;  ///< may be infinite
  };
  Region region_at(const TableAxis& axis, double x, bool fine) const;
  /// Of the side that is held, the nearest one.
  Region held_region(const TableAxis& axis, double x, int side, bool fine) const;
  Region make_region(const TableAxis& axis, long number, bool fine) const;

  /// Where a number lies: s beyond the point where its piece begins.
  struct At {
    std::size_t piece = 0;
    double s = 0.0;
    bool nowhere = false;   ///< no value
    bool zero = false;      ///< nothing there
    bool constant = false;  ///< does not depend on this argument there
  };
  At locate(const TableAxis& axis, double x, int side, bool fine) const;
  At locate_in(const TableAxis& axis, double x, const Region& region, bool fine) const;
  At at_end(const TableAxis& axis, bool upper) const;
  double guard(const TableAxis& axis, double x, int order, bool fine) const;
  double polynomial(std::size_t piece, double s, int order) const;
  double on_grid(const At& x, const At& y, int order_x, int order_y) const;
  Interval bound_axis(const Interval& x, const TableView& view) const;
  Interval bound_piece(std::size_t piece, double from, double to, int order) const;
  Interval bound_region(const Interval& x, const Region& region, bool fine, int order) const;
  Interval bound_guard(const TableAxis& axis, const Interval& x, int order, bool fine) const;
  Interval bound_grid(const Interval& x, const Interval& y, const TableView& view) const;
  double slack(const TableAxis& axis) const;
  double calc_size(int order) const;

  std::size_t num_pieces(const TableAxis& axis) const;
  void make_polynomials();
  void make_grid();
  void make_sizes();

  std::string name_;
  std::vector<std::string> argument_names_;
  int num_arguments_ = 1;
  Interpolation interpolation_ = Interpolation::linear;
  Outside outside_ = Outside::error;
  std::array<TableAxis, 2> axes_;
  std::vector<double> values_;
  int stride_ = 2;                       ///< coefficients of a piece
  std::vector<double> coefficients_;     ///< of one argument: by piece, of powers of s
  std::vector<double> nodes_;            ///< of a cubic grid: f, ∂x f, ∂y f, ∂x∂y f by node
  std::vector<double> least_, largest_;  ///< by order of one argument: bounds of all pieces
  double size_ = 0.0;                    ///< largest |value|
  std::uint64_t id_ = 0;
};

/// Slopes at points.
std::vector<double> spline_slopes(const TableAxis& axis, const double* values, std::size_t apart, bool periodic);
std::vector<double> monotone_slopes(const TableAxis& axis, const double* values, std::size_t apart, bool periodic);

TableView view_of(double key);

/// All tables alive, by id. Looking one up takes no lock.
class TableStore {
 public:
  static TableStore& instance();
  std::shared_ptr<const TableContent> intern(TableData data);
  const TableContent* find(double key) const;
  void forget(const TableContent& table);

 private:
  struct Slot {
    std::atomic<std::uint64_t> id{0};
    std::atomic<const TableContent*> table{nullptr};
  };
  struct Slots;
  std::atomic<const Slots*> slots_{nullptr};
  struct Guarded;
  Guarded& guarded();
};

}  // namespace mechanician
