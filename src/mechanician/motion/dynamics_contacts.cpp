// Sliding friction in the equations of motion, and the functions that end a phase of a motion with contacts.
//
// Friction depends on the multipliers that it changes: with forces λ_s g_s, g_s = −μ sign(λ_s) Tᵀd, the multipliers are
//   λ = λ₀ + Σ λ_s w_s,   w_s the multipliers of f = g_s, g = 0
// so that those of the sliding rows solve (I − W) λ_s = λ₀, column by column or as a series. Where det(I − W) vanishes Coulomb's law stops to have one
// solution (Painlevé).

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanician/motion/dynamics.hpp"
#include "mechanician/motion/general_solution_internal.hpp"
#include "mechanician/motion/kernels.hpp"

namespace mechanician {

namespace {
constexpr double eps = std::numeric_limits<double>::epsilon();
/// Slips slower than this part of the velocities have no direction of their own; where they have just begun, what rounding leaves across
/// them counts for longer.
constexpr double no_direction = 1e-11, no_direction_yet = 1e-8;
double least_slip(const Dynamics::Sliding& contact) { return contact.begins != 0.0 ? no_direction_yet : no_direction; }
/// Sliding contacts from which the series is tried: below, it needs more solutions than there are contacts.
constexpr int least_series = 12;
}  // namespace

double Dynamics::slip_speed(std::size_t which) const {
  return sliding_values_[sliding_values_.size() - sliding_.size() + which];
}

std::array<double, 2> Dynamics::slip_direction(const Sliding& contact, const double* slip) const {
  std::array<double, 2> d = contact.direction;
  if (contact.num_slips == 1) return d;
  const double size = std::hypot(slip[0], slip[1]);
  if (size <= least_slip(contact) * slip_speed(static_cast<std::size_t>(&contact - sliding_.data()))) return d;
  // Through rest the direction is continued smoothly: that it turns at once there is found as the end of the phase.
  const double forwards = slip[0] * d[0] + slip[1] * d[1] < 0.0 ? -1.0 : 1.0;
  return {forwards * slip[0] / size, forwards * slip[1] / size};
}

const SlidingFacts& Dynamics::sliding_facts(std::size_t which) const {
  const std::vector<SlidingFacts>& known = facts().sliding;
  return *std::find_if(known.begin(), known.end(), [&](const SlidingFacts& s) { return s.row == sliding_[which].row; });
}

const double* Dynamics::slips_of(std::size_t which) const {
  return sliding_values_.data() + sliding_facts(which).at + 1;
}

/// λ g_s is added to column_; g_s: the friction force over λ_s. Of friction with a largest force: that force, whatever λ is.
void Dynamics::add_sliding_force(std::size_t which, double lambda) {
  const Sliding& contact = sliding_[which];
  const SlidingFacts& facts_of = sliding_facts(which);
  const double *slips = slips_of(which), *T = slips + contact.num_slips;
  const std::array<double, 2> d = slip_direction(contact, slips);
  const double size = facts_of.is_force ? slips[-1] : lambda * slips[-1] * contact.sign;
  for (const auto& [k, i] : facts_of.T) column_[i] -= size * d[k] * *T++;
}

std::array<double, 2> Dynamics::calc_friction(std::size_t which, double share) const {
  const double* const slips = slips_of(which);
  std::array<double, 2> d = slip_direction(sliding_[which], slips);
  const double lambda = sliding_[which].shares ? share : sliding_lambda_[which];
  const double normal = sliding_facts(which).is_force ? 1.0 : sliding_[which].sign * lambda;
  for (double& x : d) x *= -slips[-1] * normal;
  return d;
}

/// Coefficients of friction, slips and their gradients at a state.
bool Dynamics::evaluate_sliding(double t, const double* y) {
  const std::span<const double> found = values_->calc_sliding(point_of(t, y));
  if (found.empty()) return false;
  // Behind these, of each contact: what its slip would be if nothing in it cancelled.
  sliding_values_.assign(found.begin(), found.end());
  sliding_values_.resize(found.size() + sliding_.size(), 0.0);
  for (std::size_t s = 0; s < sliding_.size(); ++s) {
    const double* T = slips_of(s) + sliding_[s].num_slips;
    double& speed = sliding_values_[found.size() + s];
    for (const auto& [k, i] : sliding_facts(s).T) {
      const double v = std::max(sizes.near_qd[i], std::abs(y[n_ + i]));
      speed += std::abs(*T++) * v;
    }
  }
  return true;
}

template <class Respond>
bool Dynamics::add_sliding_with(double t, const double* y, Respond&& respond_with) {
  if (!evaluate_sliding(t, y)) return false;
  std::vector<double>& lambda = sliding_lambda_;
  double* const w = response_.data();
  // Multipliers of dependent rows as they share what they carry, always in the same way.
  const bool spreads = !generally_ && std::any_of(sliding_.begin(), sliding_.end(), [](auto& s) { return s.spreads; });
  const auto respond_to = [&](double* x) {
    if (!respond_with(x)) return false;
    if (!spreads) return true;
    row_scratch_.assign(x + n_, x + n_ + m_);
    spread(row_scratch_);
    std::copy(row_scratch_.begin(), row_scratch_.end(), x + n_);
    return true;
  };
  if (spreads) spread(lambda_joint_);
  // What has a largest force of its own is given; the multipliers that the others follow come after it.
  coulomb_.clear();
  std::fill(column_.begin(), column_.end(), 0.0);
  const std::vector<int>& kept = weighed_ ? measured_.exact.kept : all.kept;
  bool any_given = false;
  for (std::size_t s = 0; s < sliding_.size(); ++s) {
    if (sliding_facts(s).is_force) {
      add_sliding_force(s, 0.0);
      any_given = true;
    } else if (generally_ || spreads || std::binary_search(kept.begin(), kept.end(), sliding_[s].row)) {
      coulomb_.push_back(static_cast<int>(s));
    } else if (sliding_[s].shares) {
      lambda[s] = 0.0;
    } else {
      return false;  // a row that depends on others: its multiplier, and so its friction, is not determined
    }
  }
  const auto count = static_cast<int>(coulomb_.size());
  if (any_given) {
    if (!respond_to(w)) return false;
    for (int i = 0; i < n_; ++i) qdd_[i] += w[i];
    for (int j = 0; j < m_; ++j) lambda_joint_[j] += w[n_ + j];
  }
  sliding_determinant_ = 1.0;
  if (count == 0) return true;
  for (const int s : coulomb_) lambda[s] = lambda_joint_[sliding_[s].row];
  if (count >= least_series && add_sliding_series(respond_to)) return true;
  W_.resize(static_cast<std::size_t>(count) * static_cast<std::size_t>(count));
  for (int s = 0; s < count; ++s) {
    std::fill(column_.begin(), column_.end(), 0.0);
    add_sliding_force(static_cast<std::size_t>(coulomb_[s]), 1.0);
    if (!respond_to(w)) return false;
    for (int a = 0; a < count; ++a) W_[s * count + a] = (a == s ? 1.0 : 0.0) - w[n_ + sliding_[coulomb_[a]].row];
  }
  if (!solve_sliding(count)) return false;
  std::fill(column_.begin(), column_.end(), 0.0);
  for (const int s : coulomb_) add_sliding_force(static_cast<std::size_t>(s), lambda[s]);
  if (!respond_to(w)) return false;
  for (int i = 0; i < n_; ++i) qdd_[i] += w[i];
  for (int j = 0; j < m_; ++j) lambda_joint_[j] += w[n_ + j];
  return true;
}

/// λ_s = λ₀ + W λ₀ + W²λ₀ + …, a solution for each term: for many contacts, where it converges quickly. It does not where
/// det(I − W) is near zero.
template <class Respond>
bool Dynamics::add_sliding_series(Respond&& respond_to) {
  constexpr double shrinks = 0.4;
  double* const w = response_.data();
  std::vector<double>&lambda = sliding_lambda_, &term = sliding_term_;
  term = lambda;
  // Of those with a largest force there is nothing to be found.
  const auto each = [&](auto&& take) {
    for (const int s : coulomb_) take(static_cast<std::size_t>(s));
  };
  sum_.assign(static_cast<std::size_t>(n_ + m_), 0.0);
  double before = std::numeric_limits<double>::infinity(), size = 0.0;
  while (true) {
    double largest = 0.0;
    each([&](std::size_t s) {
      largest = std::max(largest, std::abs(term[s])), size = std::max(size, std::abs(lambda[s]));
    });
    if (largest <= 0.5 * eps * size) break;
    if (!(largest <= shrinks * before) && before < std::numeric_limits<double>::infinity()) return false;
    before = largest;
    std::fill(column_.begin(), column_.end(), 0.0);
    each([&](std::size_t s) { add_sliding_force(s, term[s]); });
    if (!respond_to(w)) return false;
    for (int i = 0; i < n_ + m_; ++i) sum_[i] += w[i];
    each([&](std::size_t s) { lambda[s] += term[s] = w[n_ + sliding_[s].row]; });
  }
  for (int i = 0; i < n_; ++i) qdd_[i] += sum_[i];
  for (int j = 0; j < m_; ++j) lambda_joint_[j] += sum_[n_ + j];
  sliding_determinant_ = 1.0;  // clearly of this sign
  return true;
}

bool Dynamics::add_sliding(double t, const double* y) {
  return add_sliding_with(t, y, [&](double* w) { return respond(column_.data(), nullptr, w, w + n_); });
}

bool Dynamics::add_sliding_generally(double t, const double* y, General& general) {
  InstantValues only = general.values;
  only.b.setZero(), only.C.resize(0), only.Q_noise.resize(0), only.b_noise.resize(0), only.b_size.resize(0);
  return add_sliding_with(t, y, [&](double* w) {
    only.Q = Eigen::Map<const Eigen::VectorXd>(column_.data(), n_);
    const Solution moved = mechanician::solve(general.factors, only);
    if (!moved.has_acceleration()) return false;
    std::copy_n(moved.qdd.data(), n_, w);
    general.copy_multipliers(moved, m_, w + n_);
    return true;
  });
}

/// (I − W) λ = λ₀ by Gauss with pivots by rows, and its determinant; few contacts slide at a time.
bool Dynamics::solve_sliding(int count) {
  std::vector<double>& lambda = sliding_term_;
  lambda.resize(static_cast<std::size_t>(count));
  for (int k = 0; k < count; ++k) lambda[k] = sliding_lambda_[coulomb_[k]];
  sliding_determinant_ = 1.0;
  for (int k = 0; k < count; ++k) {
    int p = k;
    for (int i = k + 1; i < count; ++i)
      if (std::abs(W_[k * count + i]) > std::abs(W_[k * count + p])) p = i;
    if (p != k) {
      for (int j = 0; j < count; ++j) std::swap(W_[j * count + k], W_[j * count + p]);
      std::swap(lambda[k], lambda[p]);
      sliding_determinant_ = -sliding_determinant_;
    }
    const double pivot = W_[k * count + k];
    sliding_determinant_ *= pivot;
    if (pivot == 0.0) return false;
    for (int i = k + 1; i < count; ++i) {
      const double f = W_[k * count + i] / pivot;
      if (f == 0.0) continue;
      for (int j = k + 1; j < count; ++j) W_[j * count + i] -= f * W_[j * count + k];
      lambda[i] -= f * lambda[k];
    }
  }
  for (int k = count - 1; k >= 0; --k) {
    for (int j = k + 1; j < count; ++j) lambda[k] -= W_[j * count + k] * lambda[j];
    lambda[k] /= W_[k * count + k];
  }
  for (int k = 0; k < count; ++k) sliding_lambda_[coulomb_[k]] = lambda[k];
  return true;
}

void Dynamics::hold_slip_directions(double t, const double* y) {
  if (sliding_.empty() || !evaluate_sliding(t, y)) return;
  for (std::size_t s = 0; s < sliding_.size(); ++s) {
    if (sliding_[s].num_slips != 2) continue;
    const double* slip = slips_of(s);
    const double size = std::hypot(slip[0], slip[1]);
    if (size <= least_slip(sliding_[s]) * slip_speed(s)) continue;
    sliding_[s].direction = {slip[0] / size, slip[1] / size}, sliding_[s].begins = 0.0;
  }
}

void Dynamics::set_guards(Guards guards) {
  guards_ = std::move(guards);
  if (!guards_.contacts || (guards_.gaps.empty() && guards_.cones.empty())) return;
  const Tape& tape = *guards_.contacts;
  guard_inputs_.resize(static_cast<std::size_t>(tape.num_inputs()));
  guard_values_.assign(static_cast<std::size_t>(tape.num_outputs()), 0.0), guard_bounds_ = guard_values_;
  guard_registers_.resize(static_cast<std::size_t>(tape.num_registers()));
}

int Dynamics::num_guards() const {
  return static_cast<int>(guards_.gaps.size() + guards_.rows.size() + guards_.cones.size() + 3 * sliding_.size());
}

const std::vector<double>& Dynamics::calc_joint_multipliers() {
  // Those of the general solver are of least norm, with everything in them.
  joint_ = has_nonideal_ || generally_ ? lambda_joint_ : lambda_;
  if (!generally_) spread(joint_);
  return joint_;
}

bool Dynamics::gaps_are_seen(const StateBox& box, SeenBy shown, std::span<const double> floor) {
  // Most gaps are made of sums and products.
  const auto is_plain = [](const Instruction& i) {
    return i.op == Op::add || i.op == Op::sub || i.op == Op::mul || i.op == Op::neg || i.op == Op::sin ||
           i.op == Op::cos;
  };
  if (guards_.gaps.empty()) return true;
  if (const auto code = guards_.contacts->code(); std::all_of(code.begin(), code.end(), is_plain)) return true;
  const std::vector<double>& parameters = written()->system().parameters();
  guard_box_.assign(1, box.t);
  guard_box_.insert(guard_box_.end(), box.q, box.q + n_), guard_box_.insert(guard_box_.end(), box.qd, box.qd + n_);
  for (const double p : parameters) guard_box_.emplace_back(p);
  bool seen = true;
  with_variation(shown, [&]<class T>(T) {
    const std::span<const T> values = guard_room_.evaluate<T>(*guards_.contacts, guard_box_);
    for (std::size_t k = 0; k < guards_.gaps.size(); ++k) {
      const T& gap = values[static_cast<std::size_t>(guards_.gaps[k])];
      seen = seen && (gap.unseen == 0.0 || gap.range.low > floor[k]);
    }
  });
  return seen;
}

bool Dynamics::calc_guards(double t, const double* y, std::span<double> g, std::span<double> noise) {
  const std::vector<double>& units = factors_->typical_units();
  const auto row_size = [&](int j) {
    double squares = 0.0;
    each_entry(j, [&](int i, double a) { squares += a * units[i] * a * units[i]; });
    return std::sqrt(squares);
  };
  double largest = 0.0;  // of the forces of rows, in units of what coordinates weigh
  const bool only_gaps = g.size() == guards_.gaps.size();
  if (!only_gaps) {
    if (!rhs_by_factors(t, y, scratch_.data())) return false;
    --evaluations, ++projections;
    const EquationValues::Numbers v = values_->numbers();
    std::vector<double>& terms = row_scratch_;
    std::fill(terms.begin(), terms.end(), 0.0);
    if (!generally_ && !noise.empty()) factors_->calc_multiplier_sizes(v.Q, v.b, terms.data());
    calc_joint_multipliers();
    for (int j = 0; j < m_ && !noise.empty(); ++j)
      largest = std::max(largest, std::max(terms[j], std::abs(joint_[j])) * row_size(j));
  }
  if (!guard_values_.empty()) {
    const std::vector<double>& parameters = written()->system().parameters();
    guard_inputs_[0] = t;
    std::copy_n(y, 2 * n_, guard_inputs_.begin() + 1);
    std::copy(parameters.begin(), parameters.end(), guard_inputs_.begin() + 1 + 2 * n_);
    if (noise.empty())
      guards_.contacts->evaluate<double>(guard_inputs_, guard_registers_, guard_values_);
    else
      guards_.contacts->evaluate_with_bounds(guard_inputs_, guard_values_, guard_bounds_);
  }
  std::size_t at = 0;
  const auto put = [&](double value, double bound) {
    g[at] = value;
    if (!noise.empty()) noise[at] = std::isfinite(bound) ? bound : 0.0;
    ++at;
  };
  for (const int i : guards_.gaps) put(guard_values_[i], 8.0 * guard_bounds_[i]);
  if (only_gaps) return kernels::all_finite(std::ssize(g), g.data());
  // Of a multiplier: what rounding does to the forces, over the size of its row.
  const double of_forces = 64.0 * eps * std::min(all.condition(), 1e8) * largest;
  const auto rounding = [&](int row) {
    const double size = noise.empty() ? 0.0 : row_size(row);
    return size > 0.0 ? of_forces / size : 0.0;
  };
  for (const int row : guards_.rows) put(joint_[row], rounding(row));
  for (const Guards::Cone& cone : guards_.cones) {
    double squares = 0.0, known = cone.is_force ? 0.0 : std::abs(guard_values_[cone.mu]) * rounding(cone.row);
    for (const int j : cone.slip) squares += joint_[j] * joint_[j], known = std::max(known, rounding(j));
    const double room = guard_values_[cone.mu] * (cone.is_force ? 1.0 : cone.sign * joint_[cone.row]);
    put(room - std::sqrt(squares), 4.0 * known);
  }
  for (std::size_t s = 0; s < sliding_.size(); ++s) {
    const double* slip = slips_of(s);
    double forwards = slip[0] * sliding_[s].direction[0];
    if (sliding_[s].num_slips == 2) forwards += slip[1] * sliding_[s].direction[1];
    if (sliding_facts(s).is_force)
      put(1.0, 0.0);  // no multiplier matters
    else
      put(sliding_[s].sign * joint_[sliding_[s].row], rounding(sliding_[s].row));
    put(forwards, 16.0 * eps * slip_speed(s));
    put(sliding_determinant_, 64.0 * eps);
  }
  return kernels::all_finite(std::ssize(g), g.data());
}

}  // namespace mechanician
