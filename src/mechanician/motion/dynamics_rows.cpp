// Which rows act in a step: the largest independent set, and rows that vanish.

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanician/compile/row_weights.hpp"
#include "mechanician/motion/dynamics.hpp"
#include "mechanician/motion/rank_limits.hpp"

namespace mechanician {

/// Rows that are rounding of their own terms. Needs evaluate_rows() at this state.
void Dynamics::find_zero_rows(double t, const double* y) {
  const double* const A = values_->row_numbers().A;
  const bool first = start_size_.empty();
  bool look = first && m_ > 0;
  for (int j = 0; !look && j < m_; ++j) look = calc_row_norm(j, A) <= rank_limits::suspicious * start_size_[j];
  std::fill(zero_row_.begin(), zero_row_.end(), 0);
  if (look) {
    std::vector<double> noise(static_cast<std::size_t>(m_));
    values_->calc_row_noise(t, y, y + n_, noise);
    for (int j = 0; j < m_; ++j) {
      const double norm = calc_row_norm(j, A);
      zero_row_[j] = norm <= 4.0 * noise[j];
      if (first) start_size_.push_back(std::max(norm, noise[j] / std::numeric_limits<double>::epsilon()));
    }
  }
  for (int j = 0; j < m_; ++j) off_[j] = zero_row_[j] || inert[j] || values_->is_absent(j) || j >= num_constraints_;
}

/// Once, around the state where the motion begins: there is no second opinion later on.
void Dynamics::find_typical_weights(double t, const double* y) {
  typical_known_ = true;
  const SparsePattern& pattern = facts().pattern;
  RowPattern rows;
  std::vector<double> entries;
  for (int j = 0; j < m_; ++j) {
    each_entry(j, [&](int i, double) { rows.cols.push_back(i); });
    rows.begin.push_back(static_cast<int>(rows.cols.size()));
  }
  std::vector<std::pair<int, int>> coupled;
  for (const SparseEntry& e : pattern.M)
    if (e.row > e.col) coupled.emplace_back(e.row, e.col);
  TypicalSizes typical;
  if (!facts().states.empty()) {
    std::vector<int> uses(static_cast<std::size_t>(n_), 0);
    for (const SparseEntry& e : pattern.A) ++uses[static_cast<std::size_t>(e.col)];
    for (const StateRow& z : facts().states)
      if (uses[static_cast<std::size_t>(z.coordinate)] == 1) {
        typical.unfelt.push_back(z.coordinate);
        // Its rate depends on no other row, in whatever units, and shrinking means nothing: it is compared with nothing.
        if (!start_size_.empty()) start_size_[static_cast<std::size_t>(z.row)] = 0.0;
      }
  }
  std::vector<double> diagonal(static_cast<std::size_t>(n_), 0.0);
  values_->make_quick_code();
  const long before = projections;
  for (const std::vector<double>& q : states_around({y, static_cast<std::size_t>(n_)}, rows, std::move(coupled))) {
    if (!evaluate_rows(t, q.data(), y + n_)) continue;
    for (std::size_t k = 0; k < pattern.M.size(); ++k)
      if (pattern.M[k].row == pattern.M[k].col) diagonal[pattern.M[k].row] = matrices().M[k];
    entries.clear();
    for (int j = 0; j < m_; ++j) each_entry(j, [&](int, double a) { entries.push_back(a); });
    typical.add(diagonal, entries);
  }
  evaluate_rows(t, y, y + n_);
  projections = before;
  std::vector<char> has_mass(static_cast<std::size_t>(n_));
  for (int i = 0; i < n_; ++i) has_mass[i] = typical.masses[i] > 0.0;
  factors_->set_typical(typical.weigh_coordinates(rows), std::move(has_mass));
  sizes.begin(factors_->typical_units(), {}, 0.0, state_groups_);
  sizes.see(y);
}

void Dynamics::measure(const State& state) {
  std::vector<double> y(state.q.begin(), state.q.end());
  y.insert(y.end(), state.qd.begin(), state.qd.end());
  if (!evaluate_rows(state.t, y.data(), y.data() + n_)) return;
  find_zero_rows(state.t, y.data());
  find_typical_weights(state.t, y.data());
}

bool Dynamics::choose_rows_now(double t, const double* y) {
  if (!evaluate_rows(t, y, y + n_)) return false;
  find_zero_rows(t, y);
  if (!typical_known_) find_typical_weights(t, y);
  const KktFactors::Matrices at = matrices();
  if (!singular_mass()) {
    const MassKind kind = factors_->judge_mass(at);
    if (kind == MassKind::indefinite || kind == MassKind::not_symmetric) return false;
    if (kind == MassKind::semidefinite) factors_->singular_mass = true;
  }
  const auto choose = [&](RowSet& set) {
    return factors_->choose(at, set, off_, &set == &all ? KktFactors::Mass::exact : KktFactors::Mass::loose);
  };
  if (!facts().measured.empty() && !weighing_known_) weighed_ = true;
  if (!weighed_ || (factors_->is_sparse() && !weighing_known_)) {
    if (!choose(all)) return false;
    if (!facts().measured.empty() && !find_whether_weighed(at)) return false;
  }
  weighing_known_ = true;
  if (weighed_) {
    all.kept.clear();
    return (!factors_->is_sparse() || choose(measured_.exact)) && choose(positions) && choose(velocities);
  }
  for (RowSet* set : {&velocities, &positions}) {
    const RowSet& larger = set == &velocities ? all : velocities;
    if (set->candidates.size() == larger.candidates.size())
      set->kept = larger.kept, set->pivot = larger.pivot;
    else if (!choose(*set))
      return false;
  }
  return true;
}

bool Dynamics::choose_rows(double t, const double* y) {
  rows_far_ = rows_stale_ = false;
  const auto put_off = [&] {
    rows_stale_ = true;
    chosen_t_ = t;
    chosen_y_.assign(y, y + 2 * n_);
    return true;
  };
  const bool quick = (fast_ || factors_->is_sparse()) && !prefer_robust && !weighed_;
  // Without rows there is nothing to choose, and whether M is a mass matrix the acceleration tells.
  if (fast_ && quick && all.candidates.empty() && !singular_mass()) return put_off();
  // Compiled, or the factor that the sines come from: where all are far from singular, nothing is to be chosen anew.
  if (quick && (factors_->is_sparse() || fast_->rank) && !start_size_.empty() && !sine_rows_.empty()) {
    weakest_sine_ = 1.0;
    const auto sines = calc_sines(t, y);
    for (const double sine : sines) weakest_sine_ = std::min(weakest_sine_, sine);
    if (!sines.empty() && weakest_sine_ > rank_limits::far_from_singular) {
      rows_far_ = true;
      return put_off();
    }
  }
  return choose_rows_now(t, y);
}

void Dynamics::settle_rows() {
  if (!rows_stale_) return;
  rows_stale_ = false;
  // Where all rows act and none is near the others, all are chosen again. So are those that a sparse factor vouches for.
  const auto is_whole = [](const RowSet& set) { return set.kept.size() == set.candidates.size() && !set.kept.empty(); };
  if (rows_far_ && !weighed_ &&
      (factors_->is_sparse() || (!singular_mass() && is_whole(all) && is_whole(positions) && is_whole(velocities)))) {
    for (RowSet* set : {&all, &positions, &velocities}) {
      if (set->kept.empty()) continue;
      set->pivot.assign(set->kept.size(), 1.0);
      set->pivot.back() = set->kept.size() > 1 ? weakest_sine_ : 1.0;
    }
    return;
  }
  const long before = projections;  // when this happens depends on who asks
  choose_rows_now(chosen_t_, chosen_y_.data());
  projections = before;
}

double Dynamics::last_weakest() {
  if (rows_far_) return weakest_sine_;
  const double* const A = numbers_of_last().A;
  double weakest = 1.0;
  for (const int j : all.kept)
    if (start_size_[j] > 0.0) weakest = std::min(weakest, calc_row_norm(j, A) / start_size_[j]);
  return weakest;
}

double Dynamics::last_mismatch() {
  const EquationValues::Numbers v = numbers_of_last();
  last_ = {v.M, v.A};
  double worst = 0.0;
  const std::vector<int>& kept = rows_far_ ? sine_rows_ : all.kept;
  // What is held at rest accelerates by rounding alone: rows are compared with what the forces would do, too, and with
  // the rounding of what they could do if they were turned.
  constexpr double turned = 1e-6;
  std::vector<double>& free = column_;
  std::fill(free.begin(), free.end(), 0.0);
  const std::vector<SparseEntry>& M = facts().pattern.M;
  double force = 0.0;  // in the norm of the kinetic energy
  for (std::size_t k = 0; k < M.size(); ++k)
    if (M[k].row == M[k].col && v.M[k] > 0.0) force = std::hypot(force, v.Q[M[k].row] / std::sqrt(v.M[k]));
  for (std::size_t k = 0; k < M.size(); ++k)
    if (M[k].row == M[k].col && v.M[k] > 0.0)
      free[M[k].row] = std::abs(v.Q[M[k].row]) / v.M[k] + turned * force / std::sqrt(v.M[k]);
  for (const int j : all.candidates) {
    if (zero_row_[j] || std::binary_search(kept.begin(), kept.end(), j)) continue;
    const double b = v.b[j];
    double off = -b, size = std::abs(b);
    each_entry(j, [&](int i, double a) {
      const double term = a * qdd_[i];
      off += term, size += std::abs(term) + std::abs(a) * free[i];
    });
    if (size > 0.0) worst = std::max(worst, std::abs(off) / size);
  }
  return worst;
}

}  // namespace mechanician
