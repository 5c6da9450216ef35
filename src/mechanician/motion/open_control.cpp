#include "mechanician/motion/open_control.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "mechanician/motion/kernels.hpp"

namespace mechanician {

namespace {
/// Squares of sines: from the one on rows are clearly their own and felt, below the other they are not felt at all.
constexpr double clearly = 1e-6, nothing = 1e-18;
constexpr double infinite = std::numeric_limits<double>::infinity();
}  // namespace

OpenEfforts::OpenEfforts(const ControlEquations& control) {
  actuators_ = static_cast<int>(control.actuators.size());
  limited_ = control.has_limits();
  std::set<std::pair<int, bool>> stages;
  for (const auto& row : control.requirements) stages.insert({row.priority, row.weighted});
  for (const auto& row : control.requirements) {
    const auto stage = std::distance(stages.begin(), stages.find({row.priority, row.weighted}));
    rows_.push_back({static_cast<int>(stage), row.one_sided, row.weighted});
  }
  num_stages_ = static_cast<int>(stages.size());
  columns_ = actuators_ > 0 ? actuators_ : static_cast<int>(rows_.size());
  for (const auto& a : control.actuators) has_low_.push_back(a.has_low), has_high_.push_back(a.has_high);
  const std::size_t k = static_cast<std::size_t>(columns_), p = rows_.size(), most = std::max(k, p);
  low_.assign(k, -infinite), high_.assign(k, infinite);
  for (auto* x : {&tau_, &pulls_, &v_, &c_}) x->resize(k);
  mu_.resize(most), left_.resize(most + p), L_.resize(k * k), W_.resize(k * p), S_.resize(most * most);
  free_.resize(k), taken_.reserve(p);
}

double OpenEfforts::excess(int requirement) const {
  return kernels::dot(columns_, G_ + requirement * columns_, tau_.data()) - r_[requirement];
}

/// Rows that can be met; weighs_: as nearly as they can. False: neither.
bool OpenEfforts::take_rows(const ControlMode& mode, int free) {
  taken_.clear();
  weighs_ = false;
  missed_ = -1;
  bool misses = false;
  for (int stage = 0; stage < num_stages_; ++stage) {
    const auto before = static_cast<int>(taken_.size());
    for (int j = 0; j < static_cast<int>(rows_.size()); ++j) {
      if (rows_[static_cast<std::size_t>(j)].stage != stage || !is_taken(j, mode)) continue;
      const double* const w = W_.data() + j * columns_;
      const double felt = kernels::dot(free, w, w);
      if (felt > clearly * size_[j])
        taken_.push_back(j);
      else if (felt <= nothing * size_[j])
        misses |= !rows_[static_cast<std::size_t>(j)].weighted, missed_ = missed_ < 0 ? stage : missed_;
      else
        return false;
    }
    const auto count = static_cast<int>(taken_.size());
    if (count <= free) continue;
    if (missed_ < 0) missed_ = stage;
    misses |= !rows_[static_cast<std::size_t>(taken_.back())].weighted;
    if (before == 0) {
      weighs_ = true;
      break;
    }
    if (before < free) return false;
    taken_.resize(static_cast<std::size_t>(before));
  }
  // What has no weight and is missed without a limit in the way may be refused elsewhere.
  return !misses || limited_;
}

bool OpenEfforts::solve(const double* numbers, const ControlMode& mode) {
  const auto p = static_cast<int>(rows_.size());
  G_ = numbers, r_ = G_ + p * columns_, size_ = r_ + p;
  const double* next = size_ + p;
  for (int i = 0; i < actuators_; ++i)
    if (has_low_[static_cast<std::size_t>(i)]) low_[static_cast<std::size_t>(i)] = *next++;
  for (int i = 0; i < actuators_; ++i)
    if (has_high_[static_cast<std::size_t>(i)]) high_[static_cast<std::size_t>(i)] = *next++;
  R_ = next, weight_ = next + actuators_ * actuators_;

  int free = 0;
  for (int k = 0; k < columns_; ++k) {
    const auto i = static_cast<std::size_t>(k);
    const int at = actuators_ > 0 ? mode.at_limit[i] : 0;
    tau_[i] = at > 0 ? high_[i] : at < 0 ? low_[i] : 0.0;
    if (at == 0 && (actuators_ > 0 || is_taken(k, mode))) free_[static_cast<std::size_t>(free++)] = k;
  }
  // L of R = L Lᵀ is mostly diagonal: then its inverse is as well.
  bool coupled = false;
  for (int k = 0; k < free; ++k) {
    const int at = free_[static_cast<std::size_t>(k)];
    for (int i = 0; i < k; ++i) coupled |= cost(at, free_[static_cast<std::size_t>(i)]) != 0.0;
    double beside = 0.0;
    if (free < actuators_)
      for (int i = 0; i < actuators_; ++i) beside += cost(at, i) * tau_[static_cast<std::size_t>(i)];
    c_[static_cast<std::size_t>(k)] = beside;
    if (!(cost(at, at) > 0.0)) return false;
    L_[static_cast<std::size_t>(k)] = 1.0 / std::sqrt(cost(at, at));
  }
  if (coupled) {
    for (int k = 0; k < free; ++k)
      for (int i = k; i < free; ++i)
        L_[static_cast<std::size_t>(k * free + i)] =
            cost(free_[static_cast<std::size_t>(i)], free_[static_cast<std::size_t>(k)]);
    if (!kernels::cholesky(free, L_.data(), clearly * clearly)) return false;
  }
  const auto apply_inverse = [&](double* x) {
    if (coupled) return kernels::solve_lower(free, L_.data(), x);
    for (int k = 0; k < free; ++k) x[k] *= L_[static_cast<std::size_t>(k)];
  };
  apply_inverse(c_.data());
  for (int j = 0; j < p; ++j) {
    double* const w = W_.data() + j * columns_;
    for (int k = 0; k < free; ++k) w[k] = G_[j * columns_ + free_[static_cast<std::size_t>(k)]];
    apply_inverse(w);
  }
  if (!take_rows(mode, free)) return false;

  // S = W Wᵀ, or of the weighted squares Wᵀ Ω W.
  const auto rows = static_cast<int>(taken_.size()), size = weighs_ ? free : rows;
  const auto row = [&](int a) { return W_.data() + taken_[static_cast<std::size_t>(a)] * columns_; };
  const auto weight = [&](int a) {
    const int j = taken_[static_cast<std::size_t>(a)];
    return rows_[static_cast<std::size_t>(j)].weighted ? weight_[j] : 1.0;
  };
  double largest = 0.0;
  for (int a = 0; a < size; ++a)
    for (int b = a; b < size; ++b) {
      double s = 0.0;
      if (weighs_)
        for (int j = 0; j < rows; ++j) s += weight(j) * row(j)[a] * row(j)[b];
      else
        s = kernels::dot(free, row(a), row(b));
      S_[static_cast<std::size_t>(a * size + b)] = s;
      if (a == b) largest = std::max(largest, s);
    }
  if (!kernels::cholesky(size, S_.data(), clearly)) return false;
  for (int a = 0; a < size; ++a) {
    const double root = S_[static_cast<std::size_t>(a * (size + 1))];
    const double whole = weighs_ ? largest : size_[taken_[static_cast<std::size_t>(a)]];
    if (!(root * root > clearly * whole)) return false;
  }
  for (int k = 0; k < free; ++k) v_[static_cast<std::size_t>(k)] = -c_[static_cast<std::size_t>(k)];
  double* const asked = left_.data() + std::max(columns_, p);
  for (int a = 0; a < rows; ++a) {
    const int j = taken_[static_cast<std::size_t>(a)];
    double r = r_[j];
    if (free < actuators_)
      for (int i = 0; i < actuators_; ++i) r -= G_[j * columns_ + i] * tau_[static_cast<std::size_t>(i)];
    asked[a] = r;
  }
  std::fill_n(mu_.begin(), rows, 0.0);
  for (int round = 0; round < 2; ++round) {  // S has the condition of W twice
    const auto missing = [&](int a) { return asked[a] - kernels::dot(free, row(a), v_.data()); };
    if (weighs_) {
      std::fill_n(left_.begin(), free, 0.0);
      for (int a = 0; a < rows; ++a) {
        const double of = weight(a) * missing(a);
        for (int k = 0; k < free; ++k) left_[static_cast<std::size_t>(k)] += of * row(a)[k];
      }
    } else {
      for (int a = 0; a < rows; ++a) left_[static_cast<std::size_t>(a)] = missing(a);
    }
    kernels::solve_lower(size, S_.data(), left_.data());
    kernels::solve_lower_transposed(size, S_.data(), left_.data());
    if (weighs_)
      for (int k = 0; k < free; ++k) v_[static_cast<std::size_t>(k)] += left_[static_cast<std::size_t>(k)];
    else
      for (int a = 0; a < rows; ++a) {
        mu_[static_cast<std::size_t>(a)] += left_[static_cast<std::size_t>(a)];
        for (int k = 0; k < free; ++k)
          v_[static_cast<std::size_t>(k)] += left_[static_cast<std::size_t>(a)] * row(a)[k];
      }
  }
  if (coupled)
    kernels::solve_lower_transposed(free, L_.data(), v_.data());
  else
    apply_inverse(v_.data());
  for (int k = 0; k < free; ++k)
    tau_[static_cast<std::size_t>(free_[static_cast<std::size_t>(k)])] = v_[static_cast<std::size_t>(k)];
  num_free_ = free;
  return true;
}

bool OpenEfforts::calc_pulls(const ControlMode& mode) {
  for (int i = 0; i < actuators_; ++i) {
    pulls_[static_cast<std::size_t>(i)] = 0.0;
    if (mode.at_limit[static_cast<std::size_t>(i)] == 0) continue;
    if (missed_ < 0 ? !calc_pull_of_cost(i) : !calc_pull_of_rows(i, mode)) return false;
  }
  return true;
}

/// Every row is met: with R τ = Gᵀμ of the efforts at no limit, what is left of R τ − Gᵀμ.
bool OpenEfforts::calc_pull_of_cost(int actuator) {
  double left = -kernels::dot(actuators_, R_ + actuator * columns_, tau_.data());
  for (std::size_t a = 0; a < taken_.size(); ++a) left += G_[taken_[a] * columns_ + actuator] * mu_[a];
  pulls_[static_cast<std::size_t>(actuator)] = left / cost(actuator, actuator);
  return true;
}

/// The first stage is missed: the pull on what it misses, if this effort does what those at no limit cannot.
bool OpenEfforts::calc_pull_of_rows(int actuator, const ControlMode& mode) {
  if (missed_ > 0) return false;
  const auto p = static_cast<int>(rows_.size());
  double pull = 0.0, size = 0.0, own = 0.0, missing = 0.0, most = 0.0;
  double* const q = left_.data();
  std::fill_n(q, num_free_, 0.0);
  for (int j = 0; j < p; ++j) {
    const Row& row = rows_[static_cast<std::size_t>(j)];
    if (row.stage > 0 || !is_taken(j, mode)) continue;
    const double w = row.weighted ? weight_[j] : 1.0, g = G_[j * columns_ + actuator], left = -excess(j);
    pull += w * g * left, size += w * g * g, missing += w * left * left, most += w * size_[j];
    const bool is_met = !weighs_ && std::find(taken_.begin(), taken_.end(), j) != taken_.end();
    if (!is_met) own += w * g * g;
    for (int k = 0; k < num_free_; ++k) q[k] += w * g * W_[static_cast<std::size_t>(j * columns_ + k)];
  }
  if (weighs_) {
    kernels::solve_lower(num_free_, S_.data(), q);
    own -= kernels::dot(num_free_, q, q);
  }
  // Squares of sines that are clear of rounding, in which `own` is known.
  constexpr double clear = 1e-11;
  const auto i = static_cast<std::size_t>(actuator);
  if (!(own > clear * size) || !(size > clear * most * cost(actuator, actuator))) return false;
  const double root = std::sqrt(size);
  pulls_[i] = pull / (root * (root + std::sqrt(missing) / (high_[i] - low_[i])));
  return true;
}

}  // namespace mechanician
