#include "mechanician/solve/gram.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "mechanician/solve/dense.hpp"
#include "mechanician/solve/eigen_decompositions.hpp"
#include "mechanician/solve/eigen_sparse.hpp"

namespace mechanician {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Sparse = Eigen::SparseMatrix<double>;

namespace {

// Pivots of S, squared sines of angles: above `independent` a row counts, below `dependent` it does not.
constexpr double independent = 1e-6;
constexpr double dependent = 1e-11;
constexpr double shift_of_rank = 1e-13;
constexpr double dense_from = 0.2;   // of the entries
constexpr double asymmetry = 1e-12;  // rounding

}  // namespace

struct Gram::Factor::Impl {
  Sparse S;  // of the kept rows, without shift
  double shift = 0;
  std::optional<Eigen::SimplicialLDLT<Sparse>> sparse;
  std::optional<Eigen::LLT<MatrixXd>> dense;

  VectorXd solve_once(const VectorXd& r) const {
    return dense ? VectorXd(dense->solve(r)) : VectorXd(sparse->solve(r));
  }
};

std::optional<Gram> Gram::make(const InstantValues& v) {
  const Index n = v.M.rows(), m = v.b.size();
  if (!matrices_finite(v) || !vectors_finite(v)) return std::nullopt;
  Gram g;
  g.M_.resize(static_cast<std::size_t>(n));
  std::vector<std::size_t> parent(static_cast<std::size_t>(n));
  std::iota(parent.begin(), parent.end(), std::size_t{0});
  const auto root = [&](std::size_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      const double entry = 0.5 * (v.M(i, j) + v.M(j, i));
      if (v.M(i, j) == 0 && v.M(j, i) == 0) continue;
      if (std::abs(v.M(i, j) - v.M(j, i)) > asymmetry * std::abs(entry)) return std::nullopt;
      g.M_[i].push_back({j, entry});
      parent[root(static_cast<std::size_t>(i))] = root(static_cast<std::size_t>(j));
    }
  }
  // Blocks of M; positions in the metric are those of the coordinates.
  g.block_of_.resize(static_cast<std::size_t>(n));
  std::vector<Index> position(static_cast<std::size_t>(n));
  std::vector<std::ptrdiff_t> number(static_cast<std::size_t>(n), -1);
  for (Index i = 0; i < n; ++i) {
    const std::size_t r = root(static_cast<std::size_t>(i));
    if (number[r] < 0) {
      number[r] = static_cast<std::ptrdiff_t>(g.blocks_.size());
      g.blocks_.emplace_back();
    }
    g.block_of_[i] = static_cast<std::size_t>(number[r]);
    position[i] = static_cast<Index>(g.blocks_[g.block_of_[i]].coordinates.size());
    g.blocks_[g.block_of_[i]].coordinates.push_back(i);
  }
  g.mass_.scale = VectorXd::Zero(n);
  for (Block& block : g.blocks_) {
    const auto& at = block.coordinates;
    if (at.size() == 1) {
      const double mass = v.M(at[0], at[0]);
      if (!(mass > 0) || (v.M_noise.size() > 0 && mass <= std::abs(v.M_noise(at[0], at[0])))) return std::nullopt;
      block.L = MatrixXd::Constant(1, 1, std::sqrt(mass));
      g.mass_.scale(at[0]) = 1.0 / block.L(0, 0);
      g.mass_.tolerance = std::max(g.mass_.tolerance, 1e-13 * static_cast<double>(n));
      continue;
    }
    MatrixXd M = v.M(at, at);
    M = 0.5 * (M + M.transpose()).eval();
    const MassCheck check = check_mass(M, v.M_noise.size() > 0 ? MatrixXd(v.M_noise(at, at)) : MatrixXd());
    if (check.kind != MassKind::definite) return std::nullopt;
    Cholesky cholesky = calc_cholesky(M);
    if (!cholesky.definite) return std::nullopt;
    block.L = std::move(cholesky.L);
    for (std::size_t i = 0; i < at.size(); ++i) g.mass_.scale(at[i]) = check.scale(static_cast<Index>(i));
    g.mass_.tolerance = std::max(g.mass_.tolerance, check.tolerance);
  }

  // Rows, and rows in the metric.
  g.A_.resize(static_cast<std::size_t>(m));
  g.Z_.resize(static_cast<std::size_t>(m));
  g.D_.assign(static_cast<std::size_t>(m), 1.0);
  for (Index i = 0; i < n && v.A.size() > 0; ++i) {
    for (Index j = 0; j < m; ++j) {
      if (v.A(j, i) != 0) g.A_[j].push_back({i, v.A(j, i)});
    }
  }
  for (Index j = 0; j < m; ++j) {
    std::vector<std::size_t> touched;
    for (const Entry& e : g.A_[j]) touched.push_back(g.block_of_[e.at]);
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    std::vector<Entry>& z = g.Z_[j];
    double sum = 0, noise = 0;
    for (const std::size_t b : touched) {
      const Block& block = g.blocks_[b];
      const auto size = static_cast<Index>(block.coordinates.size());
      if (size == 1) {
        z.push_back({block.coordinates[0], v.A(j, block.coordinates[0]) / block.L(0, 0)});
      } else {
        VectorXd x(size);
        for (Index i = 0; i < size; ++i) x(i) = v.A(j, block.coordinates[i]);
        x = solve_lower(block.L, x);
        for (Index i = 0; i < size; ++i) {
          if (x(i) != 0) z.push_back({block.coordinates[i], x(i)});
        }
      }
      if (v.A_noise.size() == 0) continue;
      VectorXd x(size);
      for (Index i = 0; i < size; ++i) x(i) = v.A_noise(j, block.coordinates[i]);
      noise += solve_lower(block.L, x).squaredNorm();
    }
    for (const Entry& e : z) sum += e.value * e.value;
    const double norm = std::sqrt(sum);
    // Rows near their own rounding error need the care of the dense factorisation.
    if (norm == 0 || !std::isfinite(1.0 / norm) || std::sqrt(noise) > 1e-9 * norm) return std::nullopt;
    g.D_[j] = 1.0 / norm;
    for (Entry& e : z) e.value /= norm;
    std::sort(z.begin(), z.end(), [](const Entry& x, const Entry& y) { return x.at < y.at; });
  }

  // S by way of the rows that share a coordinate of the metric.
  std::vector<std::vector<Entry>> columns(static_cast<std::size_t>(n));
  for (Index j = 0; j < m; ++j) {
    for (const Entry& e : g.Z_[j]) columns[e.at].push_back({j, e.value});
  }
  g.S_.resize(static_cast<std::size_t>(m));
  VectorXd sum = VectorXd::Zero(m);
  std::vector<bool> seen(static_cast<std::size_t>(m), false);
  for (Index j = 0; j < m; ++j) {
    std::vector<Index> list;
    for (const Entry& e : g.Z_[j]) {
      for (const Entry& other : columns[e.at]) {
        if (!seen[other.at]) list.push_back(other.at);
        seen[other.at] = true;
        sum(other.at) += e.value * other.value;
      }
    }
    std::sort(list.begin(), list.end());
    for (const Index other : list) {
      g.S_[j].push_back({other, sum(other)});
      sum(other) = 0;
      seen[other] = false;
    }
  }
  return g;
}

VectorXd Gram::to_metric(const VectorXd& force) const {
  VectorXd u(force.size());
  for (const Block& block : blocks_) {
    if (block.coordinates.size() == 1) {
      u(block.coordinates[0]) = force(block.coordinates[0]) / block.L(0, 0);
    } else {
      u(block.coordinates) = solve_lower(block.L, VectorXd(force(block.coordinates)));
    }
  }
  return u;
}

VectorXd Gram::acceleration_of(const VectorXd& u) const {
  VectorXd qdd(u.size());
  for (const Block& block : blocks_) {
    if (block.coordinates.size() == 1) {
      qdd(block.coordinates[0]) = u(block.coordinates[0]) / block.L(0, 0);
    } else {
      qdd(block.coordinates) = solve_lower_transposed(block.L, VectorXd(u(block.coordinates)));
    }
  }
  return qdd;
}

double Gram::dot(Index row, const VectorXd& qdd) const {
  long double sum = 0;
  for (const Entry& e : A_[row]) sum += static_cast<long double>(e.value) * qdd(e.at);
  return static_cast<double>(sum);
}

Gram::Factor Gram::factor_with(const std::vector<Index>& rows, double shift) const {
  Factor f;
  f.kept = rows;
  const auto size = static_cast<Index>(rows.size());
  auto impl = std::make_shared<Factor::Impl>();
  impl->shift = shift;
  std::vector<Index> at(S_.size(), -1);
  for (Index i = 0; i < size; ++i) at[rows[i]] = i;
  std::vector<Eigen::Triplet<double>> entries;
  for (Index i = 0; i < size; ++i) {
    for (const Entry& e : S_[rows[i]]) {
      if (at[e.at] >= 0) entries.emplace_back(static_cast<int>(at[e.at]), static_cast<int>(i), e.value);
    }
  }
  impl->S.resize(size, size);
  impl->S.setFromTriplets(entries.begin(), entries.end());
  VectorXd pivots;
  std::vector<Index> label(rows.size());
  if (size > 0 && static_cast<double>(entries.size()) > dense_from * static_cast<double>(size * size)) {
    MatrixXd S(impl->S);
    S.diagonal().array() += shift;
    impl->dense.emplace(S);
    f.trustworthy = impl->dense->info() == Eigen::Success;
    pivots = impl->dense->matrixLLT().diagonal().cwiseAbs2();
    std::iota(label.begin(), label.end(), Index{0});
  } else if (size > 0) {
    impl->sparse.emplace();
    impl->sparse->setShift(shift);
    impl->sparse->compute(impl->S);
    f.trustworthy = impl->sparse->info() == Eigen::Success;
    pivots = impl->sparse->vectorD();
    for (Index i = 0; i < size; ++i) label[impl->sparse->permutationP().indices()(i)] = i;
  }
  if (size > 0 && f.trustworthy) {
    f.smallest_pivot = std::numeric_limits<double>::infinity();
    f.largest_pivot = pivots.maxCoeff();
    f.kept.clear();
    for (Index i = 0; i < size; ++i) {
      const double pivot = pivots(i);
      if (pivot > independent) {
        f.kept.push_back(rows[label[i]]);
        f.smallest_pivot = std::min(f.smallest_pivot, pivot);
      } else {
        f.dropped.push_back(rows[label[i]]);
        f.largest_dropped = std::max(f.largest_dropped, pivot);
        if (pivot > dependent) f.trustworthy = false;
      }
    }
    std::sort(f.kept.begin(), f.kept.end());
    std::sort(f.dropped.begin(), f.dropped.end());
  }
  f.impl = std::move(impl);
  return f;
}

Gram::Factor Gram::factor(const std::vector<Index>& rows) const {
  Factor f = factor_with(rows, shift_of_rank);
  if (!f.trustworthy || f.dropped.empty()) return f;
  Factor kept = factor_with(f.kept, shift_of_rank);
  kept.trustworthy = kept.trustworthy && kept.dropped.empty();
  kept.dropped = std::move(f.dropped);
  kept.largest_dropped = f.largest_dropped;
  return kept;
}

Gram::Factor Gram::factor_shifted(const std::vector<Index>& rows, double shift) const {
  Factor f = factor_with(rows, shift);
  f.kept = rows;
  f.dropped.clear();
  f.trustworthy = f.impl->dense ? f.impl->dense->info() == Eigen::Success
                                : rows.empty() || f.impl->sparse->info() == Eigen::Success;
  return f;
}

VectorXd Gram::Factor::solve(const VectorXd& r) const {
  if (r.size() == 0) return r;
  VectorXd x = impl->solve_once(r);
  const VectorXd rest = r - impl->S * x;
  // A shift that is meant stays; that of the rank decision is refined away.
  if (impl->shift > shift_of_rank) return x;
  return x + impl->solve_once(rest);
}

MatrixXd Gram::block(const std::vector<Index>& rows, const std::vector<Index>& columns) const {
  std::vector<Index> at(S_.size(), -1);
  for (std::size_t i = 0; i < rows.size(); ++i) at[rows[i]] = static_cast<Index>(i);
  MatrixXd B = MatrixXd::Zero(static_cast<Index>(rows.size()), static_cast<Index>(columns.size()));
  for (std::size_t j = 0; j < columns.size(); ++j) {
    for (const Entry& e : S_[columns[j]]) {
      if (at[e.at] >= 0) B(at[e.at], static_cast<Index>(j)) = e.value;
    }
  }
  return B;
}

VectorXd Gram::apply_S(const std::vector<Index>& rows, const VectorXd& x) const {
  VectorXd result = VectorXd::Zero(static_cast<Index>(S_.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double value = x(static_cast<Index>(i));
    if (value == 0) continue;
    for (const Entry& e : S_[rows[i]]) result(e.at) += value * e.value;
  }
  return result;
}

}  // namespace mechanician
