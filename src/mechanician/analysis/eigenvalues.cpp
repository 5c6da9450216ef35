#include "mechanician/analysis/eigenvalues.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "mechanician/analysis/pencil.hpp"

namespace mechanician {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
using Complex = std::complex<double>;
using Eigen::Index;

/// Scales D, powers of two, with rows and columns of D⁻¹AD of like size (Parlett and Reinsch).
Eigen::VectorXd balance(Eigen::MatrixXd& A) {
  Eigen::VectorXd D = Eigen::VectorXd::Ones(A.rows());
  for (bool done = false; !done;) {
    done = true;
    for (Index i = 0; i < A.rows(); ++i) {
      double c = A.col(i).cwiseAbs().sum() - std::abs(A(i, i)), r = A.row(i).cwiseAbs().sum() - std::abs(A(i, i));
      if (c == 0.0 || r == 0.0) continue;
      const double f = std::exp2(std::round(0.5 * std::log2(r / c)));
      if (c * f + r / f >= 0.95 * (c + r)) continue;
      done = false;
      D(i) *= f;
      A.col(i) *= f, A.row(i) /= f;
    }
  }
  return D;
}

struct BlockSpectrum {
  Eigen::VectorXcd values;
  Eigen::VectorXd uncertainty;
  Eigen::MatrixXcd vectors;
};

BlockSpectrum solve_block(Eigen::MatrixXd A, const Eigen::MatrixXd& noise) {
  const Index k = A.rows();
  BlockSpectrum found;
  if (k == 1) {
    found.values = A.cast<Complex>().col(0);
    found.uncertainty = Eigen::VectorXd::Constant(1, noise(0, 0));
    found.vectors = Eigen::MatrixXcd::Ones(1, 1);
    return found;
  }
  const Eigen::VectorXd D = balance(A);
  const Eigen::EigenSolver<Eigen::MatrixXd> solver(A);
  found.values = solver.eigenvalues();
  const Eigen::MatrixXcd X = solver.eigenvectors();
  // Rows of X⁻¹ are left eigenvectors: |y||E||x| bounds what a change E of A does, y x = 1.
  const Eigen::MatrixXcd Y = Eigen::PartialPivLU<Eigen::MatrixXcd>(X).inverse();
  Eigen::MatrixXd E = noise;
  for (Index i = 0; i < k; ++i)
    for (Index j = 0; j < k; ++j) E(i, j) *= D(j) / D(i);
  const double of_method = 2.0 * eps * A.norm();
  const Eigen::MatrixXd X_abs = X.cwiseAbs();
  const Eigen::MatrixXd EX = E * X_abs;
  found.uncertainty.resize(k);
  for (Index i = 0; i < k; ++i) {
    const double u = Y.row(i).cwiseAbs().dot(EX.col(i)) + of_method * Y.row(i).norm() * X.col(i).norm();
    // Where eigenvalues meet, a change δ moves them by √δ and no more.
    const double most = std::sqrt((of_method + E.norm()) * A.norm());
    found.uncertainty(i) = std::isfinite(u) ? std::min(u, std::max(most, 1e3 * of_method)) : most;
  }
  found.vectors = D.asDiagonal() * X;
  return found;
}

/// (A_jj − λ) x = r, where λ may be an eigenvalue of it: then along the eigenvector, as far as rounding lets it.
Eigen::VectorXcd solve_shifted(const Eigen::MatrixXd& A, Complex lambda, const Eigen::VectorXcd& r, double tiny) {
  Eigen::MatrixXcd shifted = A.cast<Complex>();
  shifted.diagonal().array() -= lambda;
  if (A.rows() == 1) {
    if (std::abs(shifted(0, 0)) < tiny) shifted(0, 0) = tiny;
    return r / shifted(0, 0);
  }
  const Eigen::PartialPivLU<Eigen::MatrixXcd> lu(shifted);
  if (lu.matrixLU().diagonal().cwiseAbs().minCoeff() > tiny) return lu.solve(r);
  shifted.diagonal().array() += tiny;
  return Eigen::PartialPivLU<Eigen::MatrixXcd>(shifted).solve(r);
}

/// By real part, then by |im|; pairs stay together.
void sort(Spectrum& spectrum) {
  std::vector<std::size_t> order(spectrum.eigenvalues.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto before = [&](std::size_t a, std::size_t b) {
    const Complex x = spectrum.eigenvalues[a].value, y = spectrum.eigenvalues[b].value;
    if (x.real() != y.real()) return x.real() < y.real();
    if (std::abs(x.imag()) != std::abs(y.imag())) return std::abs(x.imag()) < std::abs(y.imag());
    return x.imag() < y.imag();
  };
  std::stable_sort(order.begin(), order.end(), before);
  // Equal pairs one after the other: −, +, −, +.
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    const Complex x = spectrum.eigenvalues[order[begin]].value;
    for (end = begin; end < order.size() && spectrum.eigenvalues[order[end]].value == x;) ++end;
    const std::size_t count = end - begin;
    if (count < 2 || x.imag() >= 0.0 || end + count > order.size()) continue;
    std::vector<std::size_t> pairs;
    for (std::size_t k = 0; k < count; ++k) pairs.push_back(order[begin + k]), pairs.push_back(order[end + k]);
    std::copy(pairs.begin(), pairs.end(), order.begin() + static_cast<std::ptrdiff_t>(begin));
    end += count;
  }
  Spectrum sorted = spectrum;
  for (std::size_t k = 0; k < order.size(); ++k) {
    sorted.eigenvalues[k] = spectrum.eigenvalues[order[k]];
    if (spectrum.vectors.size() > 0)
      sorted.vectors.col(static_cast<Index>(k)) = spectrum.vectors.col(static_cast<Index>(order[k]));
  }
  spectrum = std::move(sorted);
}

/// What is below the uncertainty is zero.
void round(Spectrum& spectrum) {
  for (Eigenvalue& e : spectrum.eigenvalues) {
    double re = e.value.real(), im = e.value.imag();
    if (std::abs(re) <= e.uncertainty) re = 0.0;
    if (std::abs(im) <= e.uncertainty) im = 0.0;
    e.value = {re, im};
  }
}

/// A with zeros for what is rounding.
Eigen::MatrixXd without_rounding(const Eigen::MatrixXd& A, const Eigen::MatrixXd& noise) {
  return (A.cwiseAbs().array() <= 4.0 * noise.array()).select(Eigen::MatrixXd::Zero(A.rows(), A.cols()), A);
}

/// K x = κ M x for M ẍ + K x = 0, where it is that. False: it is not.
bool solve_symmetric(const Linearisation& linear, const Eigen::MatrixXd& A, Spectrum& to, bool vectors) {
  const Index p = linear.M.rows();
  if (p == 0 || linear.at != Linearisation::At::rest || 2 * p != A.rows()) return false;
  if (!A.topLeftCorner(p, p).isZero(0.0) || !A.topRightCorner(p, p).isIdentity(0.0) ||
      !A.bottomRightCorner(p, p).isZero(0.0))
    return false;
  const Eigen::MatrixXd below = linear.A.bottomLeftCorner(p, p), from_A = -(linear.M * below);
  // As equal as rounding lets them be: entries are sums over a row of M and a column of A.
  const Eigen::MatrixXd M_abs = linear.M.cwiseAbs(),
                        below_noise = linear.A_noise.bottomLeftCorner(p, p) + eps * below.cwiseAbs();
  Eigen::MatrixXd wrong = 16.0 * M_abs * below_noise;
  wrong.array() += 4.0 * eps * from_A.cwiseAbs().maxCoeff();
  const auto is_same = [&](const Eigen::MatrixXd& X, const Eigen::MatrixXd& Y) {
    return ((X - Y).cwiseAbs().array() <= wrong.array() + wrong.transpose().array()).all();
  };
  if (!is_same(from_A, from_A.transpose())) return false;
  // The stiffness itself has more digits than M A, where accelerations of the states are all that it gives rise to.
  const bool is_stiffness = linear.K.size() > 0 && is_same(linear.K, from_A) && is_same(linear.K, linear.K.transpose());
  const Eigen::MatrixXd &K = is_stiffness ? linear.K : from_A, &K_noise = is_stiffness ? linear.K_noise : wrong;
  const std::optional<PencilModes> modes =
      solve_pencil({0.5 * (K + K.transpose()), linear.M, 0.5 * (K_noise + K_noise.transpose()), linear.M_noise});
  if (!modes) return false;
  const Eigen::VectorXd& kappa = modes->kappa;
  const Eigen::MatrixXd& shapes = modes->shapes;
  if (vectors) to.vectors.resize(2 * p, 2 * p);
  for (Index k = 0; k < p; ++k) {
    // λ² = −κ; the root of what is uncertain by δ is uncertain by δ/(2√κ), or by √δ.
    const double root = std::sqrt(std::abs(kappa(k))), wrong_kappa = modes->bound(k);
    const double uncertainty =
        root > 0.0 ? std::min(wrong_kappa / (2.0 * root), std::sqrt(wrong_kappa)) : std::sqrt(wrong_kappa);
    const bool is_zero = std::abs(kappa(k)) <= wrong_kappa;
    for (const double sign : {-1.0, 1.0}) {
      const Complex value = is_zero          ? Complex(0.0)
                            : kappa(k) > 0.0 ? Complex(0.0, sign * root)
                                             : Complex(sign * root, 0.0);
      if (vectors) {
        auto column = to.vectors.col(static_cast<Index>(to.eigenvalues.size()));
        column.head(p) = shapes.col(k).cast<Complex>();
        column.tail(p) = value * shapes.col(k).cast<Complex>();
      }
      to.eigenvalues.push_back({value, uncertainty});
    }
  }
  to.symmetric = true;
  return true;
}

void solve_general(const Eigen::MatrixXd& A, const Eigen::MatrixXd& noise, bool vectors, Spectrum& to) {
  if (A.rows() == 0) return;
  const std::vector<std::vector<int>> blocks = find_blocks(A);
  const auto part = [](const Eigen::MatrixXd& from, const std::vector<int>& rows, const std::vector<int>& cols) {
    Eigen::MatrixXd X(static_cast<Index>(rows.size()), static_cast<Index>(cols.size()));
    for (std::size_t j = 0; j < cols.size(); ++j)
      for (std::size_t i = 0; i < rows.size(); ++i)
        X(static_cast<Index>(i), static_cast<Index>(j)) = from(rows[i], cols[j]);
    return X;
  };
  const double tiny = std::max(eps * A.cwiseAbs().maxCoeff(), std::numeric_limits<double>::min());
  if (vectors) to.vectors = Eigen::MatrixXcd::Zero(A.rows(), A.rows());
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const BlockSpectrum found = solve_block(part(A, blocks[b], blocks[b]), part(noise, blocks[b], blocks[b]));
    for (Index k = 0; k < found.values.size(); ++k) {
      const Index column = static_cast<Index>(to.eigenvalues.size());
      to.eigenvalues.push_back({found.values(k), found.uncertainty(k)});
      if (!vectors) continue;
      Eigen::VectorXcd x = Eigen::VectorXcd::Zero(A.rows());
      for (std::size_t i = 0; i < blocks[b].size(); ++i) x(blocks[b][i]) = found.vectors(static_cast<Index>(i), k);
      // What this block acts on, from the nearest on: blocks before it.
      for (std::size_t j = b; j-- > 0;) {
        Eigen::VectorXcd r = Eigen::VectorXcd::Zero(static_cast<Index>(blocks[j].size()));
        bool acts = false;
        for (std::size_t i = 0; i < blocks[j].size(); ++i)
          for (Index c = 0; c < A.cols(); ++c)
            if (A(blocks[j][i], c) != 0.0 && x(c) != 0.0)
              r(static_cast<Index>(i)) -= A(blocks[j][i], c) * x(c), acts = true;
        if (!acts) continue;
        const Eigen::VectorXcd y = solve_shifted(part(A, blocks[j], blocks[j]), found.values(k), r, tiny);
        for (std::size_t i = 0; i < blocks[j].size(); ++i) x(blocks[j][i]) = y(static_cast<Index>(i));
        x /= x.cwiseAbs().maxCoeff();
      }
      to.vectors.col(column) = x / x.norm();
    }
  }
}

}  // namespace

bool Spectrum::is_stable() const {
  return std::none_of(eigenvalues.begin(), eigenvalues.end(), [](const Eigenvalue& e) { return e.value.real() > 0.0; });
}

bool Spectrum::has_zero() const {
  return std::any_of(eigenvalues.begin(), eigenvalues.end(), [](const Eigenvalue& e) { return e.value == 0.0; });
}

std::string refuse_spectrum(const Linearisation& linear) {
  if (linear.A.rows() <= most_general_states || linear.M.size() > 0) return {};
  return fmt::format(
      "{} states: eigenvalues of matrices without symmetry are computed up to {}; a model of fewer members tells the "
      "lowest modes",
      linear.A.rows(), most_general_states);
}

Spectrum find_spectrum(const Eigen::MatrixXd& A, const Eigen::MatrixXd& noise, const SpectrumOptions& options) {
  Spectrum spectrum;
  solve_general(options.drop_rounding ? without_rounding(A, noise) : A, noise, options.vectors, spectrum);
  round(spectrum);
  sort(spectrum);
  return spectrum;
}

Spectrum find_spectrum(const Linearisation& linear, const SpectrumOptions& options) {
  Spectrum spectrum;
  const Eigen::MatrixXd A = without_rounding(linear.A, linear.A_noise);
  if (!solve_symmetric(linear, A, spectrum, options.vectors)) {
    spectrum = {};
    solve_general(A, linear.A_noise, options.vectors, spectrum);
  }
  round(spectrum);
  sort(spectrum);
  if (spectrum.vectors.size() == 0) return spectrum;
  // Each with 1 for its largest coordinate. Coordinates go with those among the states alone.
  const auto p = static_cast<Index>(linear.positions.size());
  const Eigen::MatrixXd T = linear.q.leftCols(p);
  if (T.rows() == p && T.isIdentity(0.0)) {
    spectrum.shapes = spectrum.vectors.topRows(p);
  } else {
    const Eigen::MatrixXd re = spectrum.vectors.topRows(p).real(), im = spectrum.vectors.topRows(p).imag();
    const Eigen::MatrixXd T_re = T * re, T_im = T * im;
    spectrum.shapes = T_re.cast<Complex>() + Complex(0.0, 1.0) * T_im.cast<Complex>();
  }
  for (Index k = 0; k < spectrum.vectors.cols(); ++k) {
    Index largest = 0;
    Complex scale = 0.0;
    if (spectrum.shapes.rows() > 0 && spectrum.shapes.col(k).cwiseAbs().maxCoeff(&largest) > 0.0) {
      scale = spectrum.shapes(largest, k);
    } else {
      const Eigen::VectorXcd rates = linear.qd.cast<Complex>() * spectrum.vectors.col(k);
      if (rates.size() == 0 || rates.cwiseAbs().maxCoeff(&largest) == 0.0) continue;
      scale = rates(largest);
    }
    spectrum.vectors.col(k) /= scale;
    spectrum.shapes.col(k) /= scale;
  }
  return spectrum;
}

}  // namespace mechanician
