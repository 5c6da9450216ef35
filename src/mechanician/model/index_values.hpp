#pragma once

/// Numbers that depend on indices, and the sets of values that indices run through.
///
///     IndexWalk walk(model, term.indices);
///     IndexValues values(model, {i - 1, m[i]}, walk.symbols());
///     walk.each({}, [&](std::span<const double> at) { return values(at)[0] > 0; });
///
/// Nearly all indices are c + Σ a·i. Those cost a few ns, and what they lie between is known without going through them.

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "mechanician/expression/tape.hpp"
#include "mechanician/model/family_model.hpp"

namespace mechanician {

/// c + Σ a·i
struct Affine {
  double constant = 0.0;
  std::vector<double> factors;  ///< by index
};
std::optional<Affine> affine_of(const Expr& f, std::span<const Expr> indices);

struct IndexBox {
  std::vector<double> low, high;  ///< by index; low > high: nothing
};

class IndexWalk;

class IndexValues {
 public:
  /// Of expressions of indices, parameters, members of lists, and sums of such. The model must outlive it.
  IndexValues(const FamilyModel& model, std::vector<Expr> fs, std::vector<Expr> indices);
  ~IndexValues();
  IndexValues(IndexValues&&) noexcept;
  IndexValues& operator=(IndexValues&&) = delete;

  /// Until the next call. Not a number where a list has no such member.
  std::span<const double> operator()(std::span<const double> at);
  /// What value k lies between where the indices lie in the box; only for sums of whole multiples of indices and a whole number.
  std::optional<std::pair<double, double>> range(std::size_t k, const IndexBox& box) const;
  bool is_constant() const { return leaves_.empty() && constant_; }

 private:
  struct Leaf;
  std::vector<std::optional<Affine>> affine_;
  bool constant_ = true;
  std::vector<Leaf> leaves_;
  Tape tape_;
  std::vector<double> inputs_, registers_, values_;
  bool by_tape_ = false;
};

class IndexWalk {
 public:
  /// `outer`: indices around, whose values are given in each().
  IndexWalk(const FamilyModel& model, std::span<const TermIndex> indices, std::vector<Expr> outer = {});

  /// The outer ones and its own.
  const std::vector<Expr>& symbols() const { return symbols_; }
  /// A box around all sets, given one for the outer indices; nothing where it takes a walk to know, or where a walk would throw.
  std::optional<IndexBox> box(IndexBox outer = {}) const;
  /// visit(at) for every set of values, outer ones first in it; the last index is the fastest. Ends where visit returns false, and
  /// returns whether it did not. Throws ModelError for bounds that are no whole numbers or run backwards, and for too many sets.
  template <class Visit>
  bool each(std::span<const double> outer, Visit&& visit, bool backwards = false);
  /// The first or the last set; false where there is none, or none that is soon found.
  bool find_end(std::span<const double> outer, bool last, std::vector<double>& at);

  /// How many values indices may take, counted here or by all walks that share a count, and what is said of more.
  std::size_t* steps = &own_steps_;
  std::size_t most_steps = 200'000'000;
  Problem too_many{{}, "this has too many members", {}};
  IndexWalk(const IndexWalk&) = delete;
  IndexWalk(IndexWalk&& other) noexcept;

 private:
  void begin(std::size_t level, bool backwards);
  [[noreturn]] void refuse_steps() const;

  const FamilyModel* model_;
  std::vector<TermIndex> indices_;
  std::vector<Expr> symbols_;
  std::size_t outer_;
  std::vector<IndexValues> bounds_;
  std::vector<double> at_, to_;
  std::size_t own_steps_ = 0;
};

/// " for i = 3, j = 1", or nothing.
std::string index_text(std::span<const TermIndex> indices, std::span<const double> at);
/// "this is 2.5, and must be a whole number"
std::string not_whole(double x);

template <class Visit>
bool IndexWalk::each(std::span<const double> outer, Visit&& visit, bool backwards) {
  std::copy(outer.begin(), outer.end(), at_.begin());
  if (indices_.empty()) return visit(std::span<const double>(at_));
  const double step = backwards ? -1.0 : 1.0;
  std::size_t k = 0;
  begin(0, backwards);
  for (;;) {
    double& value = at_[outer_ + k];
    if (step * (value - to_[k]) > 0.0) {
      if (k == 0) return true;
      at_[outer_ + --k] += step;
      continue;
    }
    if (++*steps > most_steps) refuse_steps();
    if (k + 1 < indices_.size()) {
      begin(++k, backwards);
      continue;
    }
    if (!visit(std::span<const double>(at_))) return false;
    value += step;
  }
}

}  // namespace mechanician
