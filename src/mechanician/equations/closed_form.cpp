#include "mechanician/equations/closed_form.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "mechanician/base/text.hpp"
#include "mechanician/equations/closed_form_solve.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/expression/tape.hpp"

namespace mechanician {

namespace {

using Dense = std::vector<std::vector<Expr>>;

Dense dense(const SparseExprMatrix& S) {
  Dense D(static_cast<std::size_t>(S.rows), std::vector<Expr>(static_cast<std::size_t>(S.cols), Expr(0)));
  for (const auto& e : S.entries) D[static_cast<std::size_t>(e.row)][static_cast<std::size_t>(e.col)] = e.value;
  return D;
}

/// Coordinates and rows that have nothing to do with the rest.
struct Block {
  std::vector<std::size_t> coordinates, rows;  ///< rows: places in the list of used rows
};

std::vector<Block> blocks_of(const Dense& M, const Dense& A) {
  const std::size_t n = M.size();
  std::vector<std::size_t> label(n);
  std::iota(label.begin(), label.end(), std::size_t{0});
  const auto join = [&](std::size_t a, std::size_t b) {
    const std::size_t from = label[a], to = label[b];
    std::replace(label.begin(), label.end(), from, to);
  };
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      if (!M[i][j].is_zero() && label[i] != label[j]) join(i, j);
  std::vector<std::size_t> first(A.size(), n);
  for (std::size_t r = 0; r < A.size(); ++r)
    for (std::size_t j = 0; j < n; ++j) {
      if (A[r][j].is_zero()) continue;
      if (first[r] == n) first[r] = j;
      if (label[first[r]] != label[j]) join(first[r], j);
    }
  std::vector<Block> blocks;
  for (std::size_t l = 0; l < n; ++l) {
    Block block;
    for (std::size_t i = 0; i < n; ++i)
      if (label[i] == l) block.coordinates.push_back(i);
    for (std::size_t r = 0; r < A.size(); ++r)
      if (first[r] < n && label[first[r]] == l) block.rows.push_back(r);
    if (!block.coordinates.empty()) blocks.push_back(std::move(block));
  }
  return blocks;
}

class ClosedFormBuilder {
 public:
  /// `alone`: the form without control, where there is some.
  ClosedFormBuilder(const Equations& eqs, std::span<const int> rows, const ClosedFormOptions& options,
                    const ClosedForm* alone)
      : eqs_(eqs), options_(options), alone_(alone), field_(field_options(eqs, options)), M_(dense(eqs.M)) {
    const Dense all = dense(eqs.A);
    for (const int r : rows) A_.push_back(all[static_cast<std::size_t>(r)]);
    result_.rows.assign(rows.begin(), rows.end());
    for (int r = 0; r < eqs.m(); ++r)
      if (std::find(rows.begin(), rows.end(), r) == rows.end()) result_.left_out.push_back(r);
  }

  std::optional<ClosedForm> build() {
    const std::size_t n = M_.size(), k = A_.size();
    qdd_.resize(n), lambda_.resize(k), lambda_ideal_.resize(k);
    A_forms_.assign(k, std::vector<RationalForm>(n));
    RationalForm determinant = field_.constant(1);
    std::size_t covered = 0;
    for (const Block& block : blocks_of(M_, A_)) {
      const auto det = solve_block(block);
      if (!det) return std::nullopt;
      determinant = field_.multiply(determinant, *det);
      covered += block.rows.size();
    }
    if (covered != k || !left_out_agree()) return std::nullopt;  // a row without entries; a contradiction
    result_.determinant = field_.to_expr(field_.cancelled(determinant));
    collect();
    const auto is_readable = [&](const std::vector<Expr>& part) {
      return std::all_of(part.begin(), part.end(), [&](const Expr& e) { return tree_size(e) <= options_.max_size; });
    };
    if (!is_readable(result_.qdd) || !is_readable(result_.Qc_ideal) || !is_readable(result_.Q_control))
      return std::nullopt;
    if (!agrees_with_numbers()) return std::nullopt;
    write_notes();
    if (!is_readable(result_.Qc)) {
      if (eqs_.num_control() > 0) return std::nullopt;
      write_force_with_accelerations();
      if (!is_readable(result_.Qc)) return std::nullopt;
    }
    return std::move(result_);
  }

 private:
  static RationalOptions field_options(const Equations& eqs, const ClosedFormOptions& options) {
    RationalOptions o{.caps = {.max_terms = options.max_terms, .max_work = options.max_work}, .short_decimals = true};
    // The order of the model: what is named first comes first.
    for (const auto* part : {&eqs.parameters, &eqs.q, &eqs.qd, &eqs.unknowns})
      o.order.insert(o.order.end(), part->begin(), part->end());
    o.order.push_back(eqs.t);
    return o;
  }

  std::optional<RationalForm> solve_block(const Block& block) {
    const std::size_t nc = block.coordinates.size(), size = nc + block.rows.size();
    std::vector<std::vector<RationalForm>> K(size, std::vector<RationalForm>(size));
    std::vector<std::vector<RationalForm>> right(eqs_.has_C ? 2 : 1, std::vector<RationalForm>(size));
    for (std::size_t i = 0; i < nc; ++i) {
      const std::size_t qi = block.coordinates[i];
      for (std::size_t j = 0; j < nc; ++j) K[i][j] = field_.cancelled(field_.form(M_[qi][block.coordinates[j]]));
      const RationalForm Q = field_.form(eqs_.Q[qi]);
      right[0][i] = Q;
      if (eqs_.has_C) right[1][i] = field_.add(Q, field_.form(eqs_.C[qi]));
      for (std::size_t r = 0; r < block.rows.size(); ++r) {
        const std::size_t row = block.rows[r];
        const RationalForm a = field_.cancelled(field_.form(A_[row][qi]));
        A_forms_[row][qi] = a;
        K[nc + r][i] = a;
        K[i][nc + r] = field_.negate(a);
      }
    }
    for (std::size_t r = 0; r < block.rows.size(); ++r)
      for (auto& side : right)
        side[nc + r] = field_.form(eqs_.b[static_cast<std::size_t>(result_.rows[block.rows[r]])]);

    const ExactSolution solution = solve_exactly(field_, K, right);
    if (solution.x.empty()) return std::nullopt;
    for (std::size_t i = 0; i < nc; ++i) qdd_[block.coordinates[i]] = solution.x.back()[i];
    for (std::size_t r = 0; r < block.rows.size(); ++r) {
      lambda_[block.rows[r]] = solution.x.back()[nc + r];
      lambda_ideal_[block.rows[r]] = solution.x.front()[nc + r];
    }
    return solution.determinant;
  }

  /// A row that is left out must follow from the others. A_r q̈ − b_r may vanish on the constraints only; but where it
  /// is free of the state and not zero, it contradicts everywhere.
  bool left_out_agree() {
    const Dense all = dense(eqs_.A);
    const KindSet state = kind_bit(SymbolKind::coordinate) | kind_bit(SymbolKind::velocity);
    for (const int r : result_.left_out) {
      RationalForm residual = field_.negate(field_.form(eqs_.b[static_cast<std::size_t>(r)]));
      for (std::size_t j = 0; j < qdd_.size(); ++j)
        residual = field_.add(residual, field_.multiply(field_.form(all[static_cast<std::size_t>(r)][j]), qdd_[j]));
      if (residual.is_zero()) continue;
      if ((field_.to_expr(field_.cancelled(residual)).kinds() & state) == 0) return false;
      only_on_constraints_ = true;
    }
    return true;
  }

  /// Σ A_rᵀλ_r, and C where given.
  std::vector<Expr> forces(const std::vector<RationalForm>& lambda, bool with_C) {
    std::vector<Expr> Q;
    for (std::size_t i = 0; i < M_.size(); ++i) {
      RationalForm sum = with_C ? field_.form(eqs_.C[i]) : RationalForm{};
      for (std::size_t r = 0; r < A_.size(); ++r) sum = field_.add(sum, field_.multiply(A_forms_[r][i], lambda[r]));
      Q.push_back(field_.to_expr(field_.cancelled(sum)));
    }
    return Q;
  }

  void collect() {
    for (const RationalForm& f : qdd_) result_.qdd.push_back(field_.to_expr(f));
    if (!alone_) {
      result_.Qc = forces(lambda_, eqs_.has_C);
      if (eqs_.has_C) result_.Qc_ideal = forces(lambda_ideal_, false);
      return;
    }
    // Constraints do not feel control: it does what is left of M q̈.
    result_.Qc = alone_->Qc, result_.Qc_ideal = alone_->Qc_ideal;
    for (std::size_t i = 0; i < M_.size(); ++i) {
      RationalForm sum = field_.negate(field_.add(field_.form(eqs_.Q[i]), field_.form(result_.Qc[i])));
      for (std::size_t j = 0; j < M_.size(); ++j)
        sum = field_.add(sum, field_.multiply(field_.form(M_[i][j]), qdd_[j]));
      result_.Q_control.push_back(field_.to_expr(field_.cancelled(sum)));
    }
  }

  /// Qᶜ = M q̈ − Q, with the symbols of the accelerations: short where Qᶜ written out is not.
  void write_force_with_accelerations() {
    for (std::size_t i = 0; i < M_.size(); ++i) {
      RationalForm sum = field_.negate(field_.form(eqs_.Q[i]));
      for (std::size_t j = 0; j < M_.size(); ++j)
        sum = field_.add(sum, field_.multiply(field_.form(M_[i][j]), field_.form(eqs_.qdd[j])));
      result_.Qc[i] = field_.to_expr(field_.cancelled(sum));
    }
    result_.notes.push_back("Qc is written with the accelerations, for which the form above is to be taken");
  }

  void write_notes() {
    const auto names = [&](const std::vector<int>& rows) {
      std::vector<std::string> list;
      for (const int r : rows) list.push_back(eqs_.rows[static_cast<std::size_t>(r)].name);
      return quote_list(list);
    };
    if (!result_.left_out.empty())
      result_.notes.push_back("left out, as dependent on the others: " + names(result_.left_out));
    if (only_on_constraints_)
      result_.notes.push_back("some of them depend on the others only where the constraints are satisfied");
    bool reactions = false;
    for (const Expr& c : eqs_.C)
      reactions = reactions || c.contains(SymbolKind::ideal_force) || c.contains(SymbolKind::multiplier);
    if (reactions)
      result_.notes.push_back(
          "ideal() and multiplier() stand for the force and the multipliers of the ideal case; the ideal force is "
          "printed too");
  }

  bool agrees_with_numbers() const;

  const Equations& eqs_;
  const ClosedFormOptions& options_;
  const ClosedForm* alone_;
  RationalField field_;
  Dense M_, A_;
  std::vector<std::vector<RationalForm>> A_forms_;
  std::vector<RationalForm> qdd_, lambda_, lambda_ideal_;
  bool only_on_constraints_ = false;
  ClosedForm result_;
};

/// Gaussian elimination with row pivoting on [K | right sides]; false where a pivot is small against the largest.
bool solve_numerically(std::vector<std::vector<long double>>& K) {
  const std::size_t n = K.size();
  long double largest = 0;
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t pivot = c;
    for (std::size_t i = c; i < n; ++i)
      if (std::abs(K[i][c]) > std::abs(K[pivot][c])) pivot = i;
    std::swap(K[c], K[pivot]);
    largest = std::max(largest, std::abs(K[c][c]));
    if (!(std::abs(K[c][c]) > 1e-6L * largest)) return false;
    for (std::size_t i = 0; i < n; ++i) {
      if (i == c) continue;
      const long double factor = K[i][c] / K[c][c];
      for (std::size_t j = c; j < K[i].size(); ++j) K[i][j] -= factor * K[c][j];
    }
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = n; j < K[i].size(); ++j) K[i][j] /= K[i][i];
  return true;
}

/// The printed expressions against a numerical solution of the same equations at random values of all symbols.
bool ClosedFormBuilder::agrees_with_numbers() const {
  const std::size_t n = M_.size(), k = A_.size();
  std::vector<Expr> outputs;
  for (const auto& row : M_) outputs.insert(outputs.end(), row.begin(), row.end());
  for (const auto& row : A_) outputs.insert(outputs.end(), row.begin(), row.end());
  outputs.insert(outputs.end(), eqs_.Q.begin(), eqs_.Q.end());
  outputs.insert(outputs.end(), eqs_.C.begin(), eqs_.C.end());
  for (const int r : result_.rows) outputs.push_back(eqs_.b[static_cast<std::size_t>(r)]);
  const std::size_t first = outputs.size();
  for (const auto* part : {&result_.qdd, &result_.Qc, &result_.Qc_ideal, &result_.Q_control})
    outputs.insert(outputs.end(), part->begin(), part->end());
  const std::vector<Expr> inputs = symbols_of(outputs);
  const Tape tape(outputs, inputs);

  std::mt19937_64 random(20260);
  int compared = 0;
  for (int trial = 0; trial < 200 && compared < 8; ++trial) {
    // Some expressions are defined for small or for positive values only.
    const long double low = trial % 2 == 0 ? 0.1L : -2.0L, high = trial % 4 < 2 ? 2.0L : 0.9L;
    std::vector<long double> at;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      at.push_back(low + (high - low) * static_cast<long double>(std::uniform_real_distribution<double>(0, 1)(random)));
    const std::vector<long double> v = tape.operator()<long double>(at);
    if (!std::all_of(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(first),
                     [](long double x) { return std::isfinite(x); }))
      continue;

    std::vector<std::vector<long double>> K(n + k, std::vector<long double>(n + k + 2, 0.0L));
    const auto M = [&](std::size_t i, std::size_t j) { return v[i * n + j]; };
    const auto A = [&](std::size_t r, std::size_t j) { return v[n * n + r * n + j]; };
    const long double *Q = &v[n * n + k * n], *C = Q + n, *b = C + n;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) K[i][j] = M(i, j);
      for (std::size_t r = 0; r < k; ++r) K[i][n + r] = -A(r, i), K[n + r][i] = A(r, i);
      K[i][n + k] = Q[i];
      K[i][n + k + 1] = Q[i] + C[i];
    }
    for (std::size_t r = 0; r < k; ++r) K[n + r][n + k] = K[n + r][n + k + 1] = b[r];
    if (!solve_numerically(K)) continue;
    const auto force = [&](std::size_t i, std::size_t side) {
      long double sum = 0;
      for (std::size_t r = 0; r < k; ++r) sum += A(r, i) * K[n + r][n + k + side];
      return sum;
    };

    long double scale = 1;
    for (const auto& row : K)
      for (std::size_t j = n + k; j < row.size(); ++j) scale = std::max(scale, std::abs(row[j]));
    for (std::size_t i = 0; i < first; ++i) scale = std::max(scale, std::abs(v[i]));
    const auto agrees = [&](long double printed, long double solved) {
      return std::abs(printed - solved) <= 1e-9L * scale * scale;
    };
    std::size_t at_output = first;
    for (std::size_t i = 0; i < n; ++i)
      if (!agrees(v[at_output++], K[i][n + k + 1])) return false;
    if (alone_) {
      // Its forces have been compared by themselves.
      const std::size_t at_control = at_output + n + result_.Qc_ideal.size();
      for (std::size_t i = 0; i < n; ++i) {
        long double rest = -Q[i] - v[at_output + i];
        for (std::size_t j = 0; j < n; ++j) rest += M(i, j) * K[j][n + k + 1];
        if (!agrees(v[at_control + i], rest)) return false;
      }
    } else {
      for (std::size_t i = 0; i < n; ++i)
        if (!agrees(v[at_output++], C[i] + force(i, 1))) return false;
      for (std::size_t i = 0; i < result_.Qc_ideal.size(); ++i)
        if (!agrees(v[at_output++], force(i, 0))) return false;
    }
    ++compared;
  }
  return compared >= 4;
}

}  // namespace

std::optional<ClosedForm> closed_form(const Equations& eqs, std::span<const int> independent_rows,
                                      const ClosedFormOptions& options) {
  if (static_cast<int>(independent_rows.size()) > options.max_rows || eqs.n() > options.max_coordinates)
    return std::nullopt;
  // Rows that were left out must be consequences; measured ones may contradict.
  for (int r = 0; r < eqs.num_constraints(); ++r) {
    const bool used = std::find(independent_rows.begin(), independent_rows.end(), r) != independent_rows.end();
    if (!used && eqs.rows[static_cast<std::size_t>(r)].measured) return std::nullopt;
  }
  try {
    if (eqs.num_control() == 0) return ClosedFormBuilder(eqs, independent_rows, options, nullptr).build();
    // Forces are those without control, the acceleration that of all rows together: for C of reactions it is another.
    const auto reacts = [](const Expr& c) {
      return c.contains(SymbolKind::ideal_force) || c.contains(SymbolKind::multiplier);
    };
    if (!eqs.control.is_plain() || std::any_of(eqs.C.begin(), eqs.C.end(), reacts)) return std::nullopt;
    Equations constraints = eqs;
    const int first = eqs.num_constraints();
    constraints.rows.resize(static_cast<std::size_t>(first)), constraints.b.resize(static_cast<std::size_t>(first));
    std::erase_if(constraints.A.entries, [&](const auto& e) { return e.row >= first; });
    constraints.A.rows = first, constraints.control = {};
    std::vector<int> rows;
    for (const int r : independent_rows)
      if (r < first) rows.push_back(r);
    const auto alone = ClosedFormBuilder(constraints, rows, options, nullptr).build();
    if (!alone) return std::nullopt;
    for (int r = first; r < eqs.m(); ++r) rows.push_back(r);
    if (static_cast<int>(rows.size()) > options.max_rows) return std::nullopt;
    return ClosedFormBuilder(eqs, rows, options, &*alone).build();
  } catch (const TooLarge&) {
    return std::nullopt;
  }
}

}  // namespace mechanician
