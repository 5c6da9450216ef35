// By elimination on the pattern. Rows that are not kept have values that are zero: they are masked.
//
// What elimination cannot tell (rows nearly dependent) sparse_robust.hpp can; it allocates, and is counted. Multipliers of
// least norm: min ½δ‖λ‖² + ½‖s‖² over Aᵀλ + s = force, which is an elimination as well, with the multipliers as coordinates
// and rows that are independent by construction; repeated for what is left of the force, δ does not matter.

#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanician/motion/kernels.hpp"
#include "mechanician/motion/kkt_factors.hpp"
#include "mechanician/solve/clear_mass.hpp"
#include "mechanician/solve/instant_pattern.hpp"
#include "mechanician/solve/sparse_free_directions.hpp"
#include "mechanician/solve/sparse_robust.hpp"

namespace mechanician {

namespace {

/// 1/sin² from which a solution is refined: below, rounding magnified by as much stays below 10⁻⁹.
constexpr double refined_from = 1e6;
/// Of an answer of the robust path, against its terms.
constexpr double small_residual = 1e-9;
/// δ over the square of the largest row: singular values below its root do not count.
constexpr double negligible = 1e-10;
/// What is added to masses in projections where M is singular.
constexpr double loose_mass = 1e-13;

class SparseKkt final : public KktFactors {
 public:
  explicit SparseKkt(const EquationFacts& facts) : KktFactors(facts), plans_(make_plans(facts.pattern)) { set_up(); }
  SparseKkt(const SparseKkt& other) : KktFactors(other), plans_(other.plans_) { set_up(); }
  std::unique_ptr<KktFactors> clone() const override { return std::make_unique<SparseKkt>(*this); }
  bool is_sparse() const override { return true; }

  MassKind judge_mass(const Matrices& at) override {
    if (mass_is_constant_ && judged_) return *judged_;
    std::vector<double> diagonal(static_cast<std::size_t>(n_), 0.0);
    for (std::size_t k = 0; k < pattern_.M.size(); ++k)
      if (pattern_.M[k].row == pattern_.M[k].col) diagonal[pattern_.M[k].row] = at.M[k];
    const double least = n_ > 0 ? *std::min_element(diagonal.begin(), diagonal.end()) : 1.0;
    MassKind kind = least < 0.0 ? MassKind::indefinite : least == 0.0 ? MassKind::semidefinite : MassKind::definite;
    if (kind == MassKind::definite && pattern_.M.size() > static_cast<std::size_t>(n_)) {
      if (!was_definite_ && !is_clearly_definite(pattern_, {at.M, pattern_.M.size()}))
        kind = MassKind::semidefinite;
      else if (plain().factor(mass_of(at), {at.A, pattern_.A.size()}).status == SparseStatus::mass_not_definite)
        kind = MassKind::semidefinite;
    }
    was_definite_ = kind == MassKind::definite;
    if (kind == MassKind::semidefinite && pattern_.M.size() > 0) {
      const std::vector<double> none(static_cast<std::size_t>(n_), 0.0);
      if (find_free_directions(pattern_, {at.M, pattern_.M.size()}, {at.A, pattern_.A.size()}, none).mass_is_indefinite)
        kind = MassKind::indefinite;
    }
    judged_ = kind;
    return kind;
  }

  bool choose(const Matrices& at, RowSet& set, const std::vector<char>& off, Mass mass, double rounding) override {
    std::vector<int> before = set.kept;
    std::erase_if(before, [&](int j) { return off[j]; });
    // Rows that were chosen before stay, as long as they are well apart.
    if (set.rank >= 0 && static_cast<int>(before.size()) == set.rank && set.rank > 0) {
      RowSet same{.kept = before};
      factor(at, same, mass);
      const SparseResult result = eliminate();
      if (result.vouched() && result.num_masked == num_off_ && result.row_growth * far * far < 1.0)
        return take(set, std::move(before), 1.0 / std::sqrt(std::max(1.0, result.row_growth)));
    }
    RowSet acting;
    for (const int j : set.candidates)
      if (!off[j]) acting.kept.push_back(j);
    factor(at, acting, mass);
    const SparseResult result = eliminate();
    if (result.status == SparseStatus::not_finite || result.status == SparseStatus::mass_not_definite) return false;
    const double clear = rank_limits::clearly_independent;
    if (result.num_masked == num_off_ && result.row_growth * clear * clear < 1.0)
      return take(set, std::move(acting.kept), 1.0 / std::sqrt(std::max(1.0, result.row_growth)));
    double sine = 1.0;
    std::vector<int> kept = find_independent(rounding, sine);
    // Rows that are nearly dependent were kept where others could stand for them: those first.
    if (sine < weak && kept.size() < acting.kept.size()) {
      double other_sine = 1.0;
      std::vector<int> other = find_independent(rounding, other_sine, weak * weak);
      if (other.size() >= kept.size() && other_sine > sine) kept = std::move(other), sine = other_sine;
    }
    const auto rank = static_cast<std::size_t>(std::max(set.rank, 0));
    if (set.rank >= 0 && kept.size() > rank) {
      // Beyond the generic rank there is rounding, unless the rank has grown since it was found.
      double larger = 1.0;
      std::vector<int> fewer = find_independent(rank_limits::has_grown, larger);
      if (fewer.size() >= rank) kept = std::move(fewer), sine = larger;
    }
    // Near a singular state rows that were chosen stay, whatever rounding says of them.
    if (set.rank >= 0 && before.size() == rank && kept.size() < rank) kept = std::move(before);
    return take(set, std::move(kept), sine);
  }

  bool factor(const Matrices& at, const RowSet& set, Mass mass) override {
    at_ = at, loose_ = mass == Mass::loose;
    num_off_ = m_ - static_cast<int>(set.kept.size());
    A_ = at.A;
    if (num_off_ > 0) A_ = mask(at.A, set.kept);
    pending_ = true;
    return true;
  }

  bool solve(const double* f, const double* g, double* x, double* lambda) override {
    if (!f) f = zero_f_.data();
    if (!g) g = zero_g_.data();
    if (!lambda) lambda = lambda_.data();
    if (careful) return solve_robustly(f, g, x, lambda);
    SparseElimination& solver = elimination();
    const std::span<const double> fs(f, n()), gs(g, m());
    const std::span<double> xs(x, n()), ls(lambda, m());
    SparseResult result =
        pending_ ? solver.factor_and_solve(masses(), A_span(), fs, gs, xs, ls) : solver.solve(fs, gs, xs, ls);
    pending_ = false;
    if (result.vouched() && result.num_masked == num_off_ && result.row_growth > refined_from) {
      solver.set_check_residual(true);
      result = solver.solve(fs, gs, xs, ls);
      solver.set_check_residual(false);
      // Rows that are switched off are not met, and need not be.
      if (result.status == SparseStatus::contradiction && result.residual <= small_residual)
        result.status = SparseStatus::vouched;
    }
    if (result.vouched() && result.num_masked == num_off_) return true;
    if (result.status == SparseStatus::mass_not_definite && !singular_mass) {
      // Definite where the motion began, and hardly any more: from here on the form that is right in both cases.
      singular_mass = pending_ = true;
      return solve(f, g, x, lambda);
    }
    if (result.status == SparseStatus::not_finite || result.status == SparseStatus::mass_not_definite) return false;
    return solve_robustly(f, g, x, lambda);
  }

  void calc_multiplier_sizes(const double* f, const double* g, double* sizes) override {
    std::vector<double> inverse(m()), size(m()), units(n());
    elimination().calc_row_pivots(inverse, size);
    calc_units(at_, units.data());
    for (int j = 0; j < m_; ++j) {
      double sum = std::abs(g[j]);
      for (const int* s = row_slots_.first(j); s != row_slots_.last(j); ++s) {
        const int i = pattern_.A[*s].col;
        sum += std::abs(A_[*s] * f[i]) * units[i] * units[i];
      }
      sizes[j] = std::isfinite(inverse[j]) ? sum * inverse[j] : 0.0;
    }
  }

  bool spread(const RowSet&, const std::vector<char>& off, double* lambda) override {
    std::vector<double> A(at_.A, at_.A + pattern_.A.size()), force(n(), 0.0);
    for (std::size_t s = 0; s < A.size(); ++s) {
      const auto [j, i] = pattern_.A[s];
      if (off[j]) A[s] = 0.0;
      force[i] += A[s] * lambda[j];
    }
    return find_least_norm(A, force, lambda, 6);
  }

  bool calc_multipliers(const Matrices& at, const double* force, double* lambda) override {
    const std::vector<double> A(at.A, at.A + pattern_.A.size());
    return find_least_norm(A, {force, force + n_}, lambda, 2);
  }

  bool calc_pivots(const Matrices& at, std::span<const int> rows, std::span<double> inverse_pivots,
                   std::span<double> sizes) override {
    const double* A = at.A;
    if (rows.size() < m()) A = mask(at.A, rows);
    const std::span<const double> As(A, pattern_.A.size());
    SparseElimination& solver = singular_mass ? scaled() : plain();
    at_ = at, A_ = A, pending_ = true;  // whoever solves next has to factor again
    const SparseResult result = singular_mass ? solver.factor(As) : factor_plain(As);
    if (result.status == SparseStatus::not_finite || result.status == SparseStatus::mass_not_definite) return false;
    solver.calc_row_pivots(all_inverse_, all_sizes_);
    for (std::size_t k = 0; k < rows.size(); ++k)
      inverse_pivots[k] = all_inverse_[rows[k]], sizes[k] = all_sizes_[rows[k]];
    return true;
  }

  double calc_weakest(const Matrices& at, std::span<const int> rows, std::span<const double> shrunk,
                      std::size_t count) override {
    RowSet set;
    set.kept.assign(rows.begin(), rows.end());
    factor(at, set, Mass::exact);
    double sine = 1.0;
    if (find_independent(rank_limits::of_start, sine).size() < count) return 0.0;
    std::vector<double> sizes(shrunk.begin(), shrunk.end());
    std::sort(sizes.begin(), sizes.end());
    return sine * sizes[sizes.size() - count];
  }

  bool make_metric(const Matrices& at) override {
    if (singular_mass) return true;
    if (mass_is_constant_ && metric_made_) return true;
    std::vector<Eigen::Triplet<double>> entries;
    entries.reserve(pattern_.M.size());
    for (std::size_t k = 0; k < pattern_.M.size(); ++k)
      entries.emplace_back(pattern_.M[k].row, pattern_.M[k].col, at.M[k]);
    Eigen::SparseMatrix<double> M(n_, n_);
    M.setFromTriplets(entries.begin(), entries.end());
    metric_.compute(M);
    return metric_made_ = metric_.info() == Eigen::Success;
  }
  void to_metric(double* x) const override {
    Eigen::Map<Eigen::VectorXd> v(x, n_);
    if (singular_mass)
      v = v.cwiseProduct(Eigen::Map<const Eigen::VectorXd>(coordinate_scale_.data(), n_));
    else
      v = metric_.matrixL().solve((metric_.permutationP() * v).eval());
  }
  void from_metric(double* x) const override {
    Eigen::Map<Eigen::VectorXd> v(x, n_);
    if (singular_mass)
      v = v.cwiseProduct(Eigen::Map<const Eigen::VectorXd>(coordinate_scale_.data(), n_));
    else
      v = metric_.permutationPinv() * metric_.matrixU().solve(v.eval()).eval();
  }

 private:
  static constexpr double far = rank_limits::far_from_singular, weak = rank_limits::weak;
  std::size_t n() const { return static_cast<std::size_t>(n_); }
  std::size_t m() const { return static_cast<std::size_t>(m_); }
  std::span<const double> A_span() const { return {A_, pattern_.A.size()}; }

  void set_up() {
    zero_f_.assign(n(), 0.0);
    zero_g_.assign(m(), 0.0), lambda_ = all_inverse_ = all_sizes_ = zero_g_;
  }

  /// A with zeros in the other rows.
  const double* mask(const double* A, std::span<const int> kept) {
    A_masked_.assign(A, A + pattern_.A.size());
    std::size_t next = 0;
    for (int j = 0; j < m_; ++j) {
      if (next < kept.size() && kept[next] == j) {
        ++next;
        continue;
      }
      for (const int* s = row_slots_.first(j); s != row_slots_.last(j); ++s) A_masked_[*s] = 0.0;
    }
    return A_masked_.data();
  }

  /// Residuals are looked at where they are asked for, and room for them is made at once.
  static std::unique_ptr<SparseElimination> make(const SparsePattern& pattern, const SparseOptions& options) {
    auto made = std::make_unique<SparseElimination>(pattern, options);
    made->set_check_residual(false);
    return made;
  }
  /// Copies, one for each phase of a motion, take over plans that are no longer used. Nothing where entries are not in order.
  static std::shared_ptr<const InstantPattern> make_plans(const SparsePattern& pattern) {
    SparseRows M(0, pattern.n), A(0, pattern.n);
    const auto fill = [](SparseRows& matrix, const std::vector<SparseEntry>& entries, int rows) {
      std::size_t k = 0;
      for (int row = 0; row < rows; ++row) {
        for (; k < entries.size() && entries[k].row == row; ++k) matrix.add(entries[k].col, 0.0);
        matrix.end_row();
      }
      return k == entries.size();
    };
    if (!fill(M, pattern.M, pattern.n) || !fill(A, pattern.A, pattern.m)) return nullptr;
    auto plans = std::make_shared<const InstantPattern>(M, A);
    const auto same = [](const std::vector<SparseEntry>& x, const std::vector<SparseEntry>& y) {
      return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                        [](const SparseEntry& a, const SparseEntry& b) { return a.row == b.row && a.col == b.col; });
    };
    return same(plans->sparse().M, pattern.M) && same(plans->sparse().A, pattern.A) ? plans : nullptr;
  }
  SparseElimination& plain() {
    if (!plain_ && plans_) plain_ = plans_->elimination(false);
    if (!plain_) plain_ = make(pattern_, {});
    return *plain_;
  }
  /// Where M is singular: all rows enter, and every coordinate has room for a mass.
  SparseElimination& augmented() {
    if (!augmented_) {
      complete_ = pattern_;
      std::vector<char> has(n(), 0);
      for (const SparseEntry& e : pattern_.M)
        if (e.row == e.col) has[e.row] = 1;
      for (int i = 0; i < n_; ++i)
        if (!has[i]) complete_.M.push_back({i, i});
      augmented_ = make(complete_, {.augment_all = true});
    }
    return *augmented_;
  }
  /// The scale of the coordinates in the place of masses.
  SparseElimination& scaled() {
    if (!scaled_) {
      SparsePattern pattern = pattern_;
      pattern.M.clear();
      for (int i = 0; i < n_; ++i) pattern.M.push_back({i, i});
      scaled_ = make(pattern, {});
    }
    M_scaled_.resize(n());
    for (int i = 0; i < n_; ++i) M_scaled_[i] = 1.0 / (coordinate_scale_[i] * coordinate_scale_[i]);
    scaled_->factor(M_scaled_, A_zero());
    return *scaled_;
  }
  std::span<const double> A_zero() {
    A_none_.assign(pattern_.A.size(), 0.0);
    return A_none_;
  }
  SparseElimination& elimination() { return singular_mass ? augmented() : plain(); }

  /// A mass matrix that is constant is kept, so that it need not be read again.
  std::span<const double> mass_of(const Matrices& at) {
    if (!mass_is_constant_) return {at.M, pattern_.M.size()};
    if (M_kept_.empty()) M_kept_.assign(at.M, at.M + pattern_.M.size());
    return M_kept_;
  }
  /// For factor_and_solve: empty where the solver has it.
  std::span<const double> masses() {
    if (!singular_mass) {
      if (mass_is_constant_ && mass_given_) return {};
      mass_given_ = true;
      return mass_of(at_);
    }
    augmented();
    M_complete_.assign(at_.M, at_.M + pattern_.M.size());
    M_complete_.resize(complete_.M.size(), 0.0);
    for (std::size_t k = 0; loose_ && k < M_complete_.size(); ++k)
      if (const auto [i, j] = complete_.M[k]; i == j)
        M_complete_[k] += loose_mass / (coordinate_scale_[i] * coordinate_scale_[i]);
    return M_complete_;
  }
  SparseResult factor_plain(std::span<const double> A) {
    const std::span<const double> M = masses();
    return M.empty() ? plain().factor(A) : plain().factor(M, A);
  }
  SparseResult eliminate() {
    pending_ = true;  // a solution comes with a factor of its own
    const std::span<const double> M = masses();
    return M.empty() ? elimination().factor(A_span()) : elimination().factor(M, A_span());
  }

  bool take(RowSet& set, std::vector<int> kept, double sine) {
    set.kept = std::move(kept);
    set.pivot.assign(set.kept.size(), 1.0);
    if (set.kept.size() > 1) set.pivot.back() = sine;
    if (set.rank >= 0) set.rank = std::max(set.rank, static_cast<int>(set.kept.size()));
    return true;
  }

  /// Of the rows of the last factor(): those that do not depend on others up to a sine, and the least sine of these.
  /// `apart`: squared sine below which a row waits for the others.
  std::vector<int> find_independent(double dependent, double& sine, double apart = SparseRobustOptions().apart) {
    SparseRobust robust(singular_mass ? (augmented(), complete_) : pattern_,
                        {.apart = apart, .dependent = dependent, .augment_all = singular_mass});
    const std::span<const double> M = singular_mass ? masses() : mass_of(at_);
    const SparseRobustSolution found = robust.solve(M, A_span(), zero_f_, zero_g_, SparseExplain::nothing);
    ++robust_solutions;
    sine = std::min(found.least_sine, 1.0 / std::sqrt(std::max(1.0, found.row_growth)));
    // Too many to be looked at one by one: what elimination alone makes of them.
    const bool decided = found.rank + static_cast<int>(found.dependent.size()) == m_;
    if (!decided) eliminate();
    const std::vector<int>& dropped = decided ? found.dependent : elimination().masked_rows();
    std::vector<int> kept;
    std::size_t next = 0;
    for (int j = 0; j < m_; ++j) {
      if (next < dropped.size() && dropped[next] == j)
        ++next;
      else
        kept.push_back(j);
    }
    return kept;
  }

  bool solve_robustly(const double* f, const double* g, double* x, double* lambda) {
    pending_ = true;
    if (!robust_ || robust_->options().augment_all != singular_mass)
      robust_ = std::make_unique<SparseRobust>(singular_mass ? (augmented(), complete_) : pattern_,
                                               SparseRobustOptions{.augment_all = singular_mass});
    // Rows that are switched off ask for nothing.
    g_acting_.assign(g, g + m_);
    if (num_off_ > 0)
      for (int j = 0; j < m_; ++j) {
        bool any = false;
        for (const int* s = row_slots_.first(j); s != row_slots_.last(j) && !any; ++s) any = A_[*s] != 0.0;
        if (!any) g_acting_[j] = 0.0;
      }
    const std::span<const double> M = singular_mass ? masses() : mass_of(at_);
    const SparseRobustSolution found = robust_->solve(M, A_span(), {f, n()}, g_acting_, SparseExplain::nothing);
    ++robust_solutions;
    if (found.x.empty() || !found.unmet.empty() || found.status == SparseStatus::not_finite ||
        found.status == SparseStatus::mass_not_definite ||
        (found.status != SparseStatus::vouched && !(found.residual <= small_residual)))
      return false;
    std::copy(found.x.begin(), found.x.end(), x);
    std::copy(found.lambda.begin(), found.lambda.end(), lambda);
    return true;
  }

  /// λ of least norm with Aᵀλ = force, as nearly as can be.
  bool find_least_norm(const std::vector<double>& A, std::vector<double> force, double* lambda, int passes) {
    const std::size_t entries = pattern_.A.size();
    if (!least_norm_) {
      SparsePattern pattern;
      pattern.n = m_ + n_, pattern.m = n_;
      for (int i = 0; i < pattern.n; ++i) pattern.M.push_back({i, i});
      for (const SparseEntry& e : pattern_.A) pattern.A.push_back({e.col, e.row});
      for (int i = 0; i < n_; ++i) pattern.A.push_back({i, m_ + i});
      least_norm_ = make(pattern, {.dependent = 0.0, .grey = 0.0});
    }
    double largest = 0.0;
    std::vector<double> M(m() + n(), 1.0), values(A);
    for (int j = 0; j < m_; ++j) {
      double size = 0.0;
      for (const int* s = row_slots_.first(j); s != row_slots_.last(j); ++s) size += A[*s] * A[*s];
      largest = std::max(largest, size);
    }
    std::fill_n(M.begin(), m_, negligible * std::max(largest, 1e-300));
    values.resize(entries + n(), 1.0);
    if (least_norm_->factor(M, values).status == SparseStatus::not_finite) return false;
    std::fill(lambda, lambda + m_, 0.0);
    const std::vector<double> zero(m() + n(), 0.0);
    std::vector<double> x(m() + n()), ignored(n());
    for (int pass = 0; pass < passes; ++pass) {
      least_norm_->solve(zero, force, x, ignored);
      if (!kernels::all_finite(m_, x.data())) return pass > 0;
      for (int j = 0; j < m_; ++j) lambda[j] += x[j];
      for (std::size_t s = 0; s < entries; ++s) force[pattern_.A[s].col] -= A[s] * x[pattern_.A[s].row];
    }
    return true;
  }

  std::shared_ptr<const InstantPattern> plans_;  // of this and its copies
  std::shared_ptr<SparseElimination> plain_;
  std::unique_ptr<SparseElimination> augmented_, scaled_, least_norm_;
  std::unique_ptr<SparseRobust> robust_;
  SparsePattern complete_;
  Eigen::SimplicialLLT<Eigen::SparseMatrix<double>> metric_;
  bool metric_made_ = false, mass_given_ = false, pending_ = false, loose_ = false;
  int num_off_ = 0;
  std::optional<MassKind> judged_;
  Matrices at_{};
  const double* A_ = nullptr;
  std::vector<double> M_kept_, M_complete_, M_scaled_, A_masked_, A_none_, zero_f_, zero_g_, lambda_, g_acting_,
      all_inverse_, all_sizes_;
};

}  // namespace

std::unique_ptr<KktFactors> make_sparse_kkt(const EquationFacts& facts) { return std::make_unique<SparseKkt>(facts); }

}  // namespace mechanician
