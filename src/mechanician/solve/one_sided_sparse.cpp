#include "mechanician/solve/one_sided_sparse.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "mechanician/solve/consistency.hpp"
#include "mechanician/solve/dense.hpp"
#include "mechanician/solve/gram.hpp"
#include "mechanician/solve/non_negative.hpp"

namespace mechanician {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr double zero_fraction = 1e-12;
constexpr double noise_factor = 8.0;
constexpr double shift = 1e-8;         // of S while the set is searched
constexpr double search_zero = 1e-9;   // signs in the search
constexpr double too_large = 1e6;      // multipliers of rows that contradict grow with 1/shift
constexpr double good_enough = 1e-12;  // of the certificate
constexpr int most_rounds = 6;         // of the final set

/// q̈ and multipliers of all rows.
struct Motion {
  VectorXd qdd, lambda;
};

class SparseProgramme {
 public:
  SparseProgramme(const InstantValues& v, const std::vector<bool>& one_sided, const Gram& gram)
      : v_(v), one_sided_(one_sided), gram_(gram), m_(v.b.size()) {
    force_ = v.Q;
    if (v.C.size() > 0) force_ += v.C;
    const VectorXd u = gram.to_metric(force_);
    const VectorXd free = gram.acceleration_of(u);
    force_size_ = u.norm();
    if (v.Q_noise.size() > 0) force_noise_ = gram.to_metric(v.Q_noise).norm();
    c_.resize(m_);
    for (Index j = 0; j < m_; ++j) c_(j) = gram.D(j) * (gram.dot(j, free) - v.b(j));
  }

  std::optional<OneSidedSolution> run(std::vector<Index> guess) {
    // The guess as it is, then the search.
    if (auto result = finish(guess)) return result;
    if (!search(guess)) return std::nullopt;
    return finish(guess);
  }

 private:
  std::vector<Index> with_equalities(const std::vector<Index>& held) const {
    std::vector<bool> in(static_cast<std::size_t>(m_), false);
    for (const Index j : held) in[j] = true;
    std::vector<Index> rows;
    for (Index j = 0; j < m_; ++j) {
      if (in[j] || !one_sided_[j]) rows.push_back(j);
    }
    return rows;
  }

  bool search(std::vector<Index>& held);
  Motion refine(const Gram::Factor& f, const VectorXd& P, VectorXd lambda_scaled) const;
  std::optional<OneSidedSolution> finish(std::vector<Index> held);

  const InstantValues& v_;
  const std::vector<bool>& one_sided_;
  const Gram& gram_;
  Index m_;
  VectorXd force_, c_;
  double force_size_ = 0, force_noise_ = 0;
  int iterations_ = 0;
};

bool SparseProgramme::search(std::vector<Index>& held) {
  Index fewest = m_ + 1;
  int patience = 3;
  const int most = 20 + 4 * static_cast<int>(m_);
  const double size = force_size_ + (m_ > 0 ? c_.cwiseAbs().maxCoeff() : 0.0);
  while (++iterations_ < most) {
    const std::vector<Index> rows = with_equalities(held);
    const Gram::Factor f = gram_.factor_shifted(rows, shift);
    if (!f.trustworthy) return false;
    const VectorXd lambda = f.solve(-c_(rows));
    const double largest = lambda.size() > 0 ? lambda.cwiseAbs().maxCoeff() : 0.0;
    const VectorXd w = c_ + gram_.apply_S(rows, lambda);
    const double zero = search_zero * size + 1e-12 * largest;
    std::vector<bool> in(static_cast<std::size_t>(m_), false), pulls = in;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      in[rows[i]] = true;
      pulls[rows[i]] = one_sided_[rows[i]] && lambda(static_cast<Index>(i)) < -zero;
    }
    std::vector<Index> wrong;
    for (Index j = 0; j < m_; ++j) {
      if (one_sided_[j] && (in[j] ? pulls[j] : w(j) < -zero)) wrong.push_back(j);
    }
    if (wrong.empty()) return largest <= too_large * size;
    const auto num = static_cast<Index>(wrong.size());
    if (num < fewest) {
      fewest = num;
      patience = 3;
    } else if (patience > 0) {
      --patience;
    } else {
      wrong = {wrong.back()};
    }
    for (const Index j : wrong) in[j] = !in[j];
    held.clear();
    for (Index j = 0; j < m_; ++j) {
      if (in[j] && one_sided_[j]) held.push_back(j);
    }
  }
  return false;
}

/// M q̈ = P + A_kᵀλ_k, A_k q̈ = b_k, from multipliers of the kept rows, scaled; residuals in extended precision.
Motion SparseProgramme::refine(const Gram::Factor& f, const VectorXd& P, VectorXd lambda_scaled) const {
  const Index n = P.size();
  const auto k = static_cast<Index>(f.kept.size());
  VectorXd lambda(k);
  for (Index i = 0; i < k; ++i) lambda(i) = gram_.D(f.kept[i]) * lambda_scaled(i);
  const auto add_force = [&](std::vector<long double>& sum, const VectorXd& x) {
    for (Index i = 0; i < k; ++i) {
      for (const Gram::Entry& e : gram_.row(f.kept[i])) sum[e.at] += static_cast<long double>(e.value) * x(i);
    }
  };
  VectorXd qdd = VectorXd::Zero(n);
  for (int step = 0; step < 3; ++step) {
    std::vector<long double> sum(static_cast<std::size_t>(n));
    for (Index i = 0; i < n; ++i) sum[i] = P(i);
    add_force(sum, lambda);
    VectorXd rest(n);
    for (Index i = 0; i < n; ++i) {
      for (const Gram::Entry& e : gram_.mass_row(i)) sum[i] -= static_cast<long double>(e.value) * qdd(e.at);
      rest(i) = static_cast<double>(sum[i]);
    }
    const VectorXd moved = gram_.apply_M_inv(rest);
    VectorXd miss(k);
    for (Index i = 0; i < k; ++i) {
      long double r = v_.b(f.kept[i]);
      for (const Gram::Entry& e : gram_.row(f.kept[i])) {
        r -= static_cast<long double>(e.value) * (static_cast<long double>(qdd(e.at)) + moved(e.at));
      }
      miss(i) = gram_.D(f.kept[i]) * static_cast<double>(r);
    }
    const VectorXd change = f.solve(miss);
    VectorXd change_force = VectorXd::Zero(n);
    for (Index i = 0; i < k; ++i) {
      const double x = gram_.D(f.kept[i]) * change(i);
      lambda(i) += x;
      for (const Gram::Entry& e : gram_.row(f.kept[i])) change_force(e.at) += e.value * x;
    }
    qdd += moved + gram_.apply_M_inv(change_force);
  }
  Motion motion{std::move(qdd), VectorXd::Zero(m_)};
  for (Index i = 0; i < k; ++i) motion.lambda(f.kept[i]) = lambda(i);
  return motion;
}

std::optional<OneSidedSolution> SparseProgramme::finish(std::vector<Index> held) {
  const Index n = v_.M.rows();
  const bool has_C = v_.C.size() > 0 && !v_.C.isZero(0.0);
  for (int round = 0; round < most_rounds; ++round) {
    const std::vector<Index> rows = with_equalities(held);
    const Gram::Factor f = gram_.factor(rows);
    if (!f.trustworthy || (!f.dropped.empty() && v_.num_control > 0)) return std::nullopt;
    const auto k = static_cast<Index>(f.kept.size());
    Motion motion = refine(f, force_, f.solve(-c_(f.kept)));
    if (!motion.qdd.allFinite()) return std::nullopt;

    // Sizes, slacks and what counts as zero.
    VectorXd y = VectorXd::Zero(n);
    for (Index i = 0; i < n; ++i) {
      for (const Gram::Entry& e : gram_.mass_row(i)) y(i) += e.value * motion.qdd(e.at);
    }
    const double scale = force_size_ + gram_.to_metric(y).norm();
    VectorXd slack(m_), slack_scaled(m_), zero(m_);
    for (Index j = 0; j < m_; ++j) {
      slack(j) = 0;
      long double sum = -static_cast<long double>(v_.b(j));
      for (const Gram::Entry& e : gram_.row(j)) sum += static_cast<long double>(e.value) * motion.qdd(e.at);
      slack(j) = static_cast<double>(sum);
      double noise = v_.b_noise.size() > 0 ? v_.b_noise(j) : 0.0;
      if (v_.A_noise.size() > 0) noise += v_.A_noise.row(j).dot(motion.qdd.cwiseAbs());
      slack_scaled(j) = gram_.D(j) * slack(j);
      zero(j) =
          zero_fraction * (scale + gram_.D(j) * std::abs(v_.b(j))) + noise_factor * (gram_.D(j) * noise + force_noise_);
    }
    for (const Index j : f.dropped) {
      if (std::abs(slack_scaled(j)) > std::max(zero(j), consistency_tolerance * gram_.D(j) * std::abs(v_.b(j)))) {
        return std::nullopt;
      }
    }

    // Multipliers: where rows depend on others, least norm, then ≥ 0.
    const double condition = std::sqrt(f.largest_pivot / f.smallest_pivot);
    const double lambda_zero = zero_fraction * std::max(1.0, condition) * scale + noise_factor * force_noise_;
    std::vector<bool> one_sided_here, undetermined(static_cast<std::size_t>(m_), false);
    VectorXd zero_here(static_cast<Index>(rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      one_sided_here.push_back(one_sided_[rows[i]]);
      zero_here(static_cast<Index>(i)) = lambda_zero * gram_.D(rows[i]);
    }
    DependentRows dependent;
    MatrixXd N;
    if (!f.dropped.empty()) {
      std::vector<Index> at(static_cast<std::size_t>(m_), -1);
      for (std::size_t i = 0; i < rows.size(); ++i) at[rows[i]] = static_cast<Index>(i);
      for (const Index j : f.kept) dependent.kept.push_back(at[j]);
      for (const Index j : f.dropped) dependent.dropped.push_back(at[j]);
      dependent.T = gram_.block(f.kept, f.dropped);
      N = MatrixXd::Zero(static_cast<Index>(rows.size()), dependent.T.cols());
      for (Index c = 0; c < dependent.T.cols(); ++c) {
        const VectorXd T = f.solve(dependent.T.col(c));
        for (Index i = 0; i < k; ++i) {
          const double entry = std::abs(T(i)) > 1e-11 ? T(i) : 0.0;
          if (entry != 0) undetermined[f.kept[i]] = true;
          dependent.T(i, c) = entry * gram_.D(f.kept[i]) / gram_.D(f.dropped[c]);
          N(dependent.kept[i], c) = -dependent.T(i, c);
        }
        undetermined[f.dropped[c]] = true;
        N(dependent.dropped[c], c) = 1.0;
      }
      N = orthonormalised(N);
    }
    const auto fits = [&](const VectorXd& lambda) {
      for (Index i = 0; i < lambda.size(); ++i) {
        if (one_sided_here[i] && lambda(i) < -zero_here(i)) return false;
      }
      return true;
    };
    /// True: ≥ 0 on one-sided rows.
    const auto choose = [&](VectorXd& all) {
      VectorXd lambda = all(rows);
      if (N.cols() > 0) {
        lambda -= N * (N.transpose() * lambda);
        if (!fits(lambda)) {
          if (const auto other = choose_non_negative(lambda, dependent, one_sided_here, zero_here)) lambda = *other;
        }
      }
      const bool good = fits(lambda);
      for (Index i = 0; i < lambda.size(); ++i) {
        if (one_sided_here[i] && lambda(i) < 0 && lambda(i) >= -zero_here(i)) lambda(i) = 0;
      }
      all(rows) = lambda;
      return good;
    };
    const bool good = choose(motion.lambda);

    // The set once more: rows with slack 0 hold, rows that pull do not.
    std::vector<Index> next;
    bool violated = false;
    for (Index j = 0; j < m_; ++j) {
      if (!one_sided_[j]) continue;
      violated = violated || slack_scaled(j) < -zero(j);
      if (slack_scaled(j) > zero(j)) continue;
      const bool pulls = !good && motion.lambda(j) < -lambda_zero * gram_.D(j);
      if (!pulls) next.push_back(j);
    }
    if (violated) return std::nullopt;
    if (!good || next != held) {
      if (next == held) return std::nullopt;
      ++iterations_;
      held = std::move(next);
      continue;
    }

    // Report.
    OneSidedSolution result;
    Solution& s = result.solution;
    Motion ideal = motion;
    if (has_C) {
      VectorXd c(k);
      const VectorXd free = gram_.apply_M_inv(v_.Q);
      for (Index i = 0; i < k; ++i) c(i) = gram_.D(f.kept[i]) * (gram_.dot(f.kept[i], free) - v_.b(f.kept[i]));
      ideal = refine(f, v_.Q, f.solve(-c));
      choose(ideal.lambda);
    }
    const auto force_of = [&](const VectorXd& lambda, Index from, Index to) {
      VectorXd force = VectorXd::Zero(n);
      for (Index j = from; j < to; ++j) {
        if (lambda(j) == 0) continue;
        for (const Gram::Entry& e : gram_.row(j)) force(e.at) += e.value * lambda(j);
      }
      return force;
    };
    const Index num_constraint = m_ - v_.num_control;
    s.qdd = motion.qdd;
    s.multipliers = ideal.lambda.head(num_constraint);
    result.multipliers_joint = motion.lambda.head(num_constraint);
    s.control_multipliers = motion.lambda.tail(v_.num_control);
    s.Q_control = force_of(motion.lambda, num_constraint, m_);
    s.Qc_i = force_of(ideal.lambda, 0, num_constraint);
    s.Qc_ni = VectorXd::Zero(n);
    VectorXd total = s.Qc_i + s.Q_control;
    if (has_C) {
      // Rows that leave no freedom take up all of C.
      total = k < n ? VectorXd(force_of(motion.lambda, 0, m_) + v_.C) : force_of(ideal.lambda, 0, m_);
      s.Qc_ni = total - s.Q_control - s.Qc_i;
    }
    s.Qc = s.Qc_i + s.Qc_ni;
    s.gaussian = gram_.to_metric(total).squaredNorm();
    s.a = gram_.apply_M_inv(v_.Q);
    s.b_used = v_.b;
    for (const Index j : f.dropped) s.b_used(j) = v_.b(j) + slack(j);
    s.residual = VectorXd::Zero(m_);
    s.mass = gram_.mass();
    s.rank = k;
    s.num_rows = m_;
    const double floor = static_cast<double>(std::max(m_, n)) * eps;
    s.rank_gap = k == 0 ? std::numeric_limits<double>::infinity() : 1.0 / (condition * floor);
    for (Index j = 0; j < num_constraint; ++j) {
      if (undetermined[j]) s.multipliers_undetermined.push_back(j);
    }
    s.multipliers_unique = s.multipliers_undetermined.empty();
    result.holding = held;
    result.slack = VectorXd::Zero(m_);
    std::vector<bool> holds(static_cast<std::size_t>(m_), false);
    for (const Index j : held) holds[j] = true;
    for (Index j = 0; j < m_; ++j) result.slack(j) = holds[j] ? 0.0 : std::max(0.0, slack(j));
    result.iterations = iterations_;

    // Certificate.
    VectorXd rest = y - force_ - force_of(motion.lambda, 0, m_);
    double largest = 0;
    for (Index j = 0; j < m_; ++j) largest = std::max(largest, std::abs(motion.lambda(j)) / gram_.D(j));
    const double size = scale + largest;
    Optimality& o = result.optimality;
    if (size > 0) {
      o.stationarity = gram_.to_metric(rest).norm() / size;
      for (Index j = 0; j < m_; ++j) {
        const double miss = slack_scaled(j) / size, force = motion.lambda(j) / gram_.D(j) / size;
        o.primal = std::max(o.primal, one_sided_[j] ? -miss : std::abs(miss));
        if (!one_sided_[j]) continue;
        o.dual = std::max(o.dual, -force);
        o.complementarity = std::max(o.complementarity, std::min(std::abs(miss), std::abs(force)));
      }
    }
    if (!(o.largest() <= good_enough)) return std::nullopt;
    return result;
  }
  return std::nullopt;
}

}  // namespace

std::optional<OneSidedSolution> try_solve_sparse(const InstantValues& values, const std::vector<bool>& one_sided,
                                                 const std::vector<Index>& guess) {
  if (!values.measured.empty()) return std::nullopt;
  const std::optional<Gram> gram = Gram::make(values);
  if (!gram) return std::nullopt;
  return SparseProgramme(values, one_sided, *gram).run(guess);
}

}  // namespace mechanician
