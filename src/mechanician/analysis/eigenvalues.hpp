#pragma once

/// Eigenvalues of a linearised motion, with as many digits as there are.
///
/// Entries of A that are rounding count as zero. A then falls into blocks along its diagonal, one for each set of states that act on each
/// other: coordinates that nothing depends on (where a bicycle is, how far its wheels have turned) are blocks of their own, with
/// eigenvalues that are exactly zero instead of roots of rounding. Each block is balanced and has its eigenvalues found by QR.
///
/// At rest, where neither damping nor gyroscopic forces act and stiffness is symmetric, −λ² are eigenvalues of K x = κ M x with K and M
/// symmetric: half the size, and real parts are zero as they should be.
///
/// `uncertainty` bounds to first order how far rounding can have moved an eigenvalue: by its condition, so that it is large where
/// eigenvalues meet (a block that is defective). Parts of an eigenvalue below it are zero.

#include <complex>
#include <vector>

#include "mechanician/analysis/linearise.hpp"

namespace mechanician {

struct Eigenvalue {
  std::complex<double> value;
  double uncertainty = 0.0;

  double frequency() const { return std::abs(value); }
  /// −re/|λ|; not a number where λ = 0.
  double damping() const { return -value.real() / std::abs(value); }
};

struct Spectrum {
  /// By real part, then by the size of the imaginary part; pairs with the negative imaginary part first.
  std::vector<Eigenvalue> eigenvalues;
  /// Eigenvectors in the states, as columns in this order, each with 1 for its largest entry among the coordinates (all of them, as
  /// `shapes` has them) or, where coordinates do not change, the velocities. Where eigenvalues meet they may be the same.
  Eigen::MatrixXcd vectors;
  /// The same in all coordinates of a linearisation: n rows.
  Eigen::MatrixXcd shapes;
  bool symmetric = false;  ///< found by K x = κ M x

  /// No eigenvalue has a positive real part.
  bool is_stable() const;
  /// A zero eigenvalue: some deviations neither grow nor die away, or grow slower than exponentially.
  bool has_zero() const;
};

/// States up to which eigenvalues of matrices without symmetry are computed: 1,000 take four seconds, 2,000 half a minute, and three times
/// that with shapes.
inline constexpr int most_general_states = 3000;

/// Why there are no eigenvalues of a linearisation: it is too large for its kind. Empty where there are.
std::string refuse_spectrum(const Linearisation& linear);

struct SpectrumOptions {
  bool vectors = true;
  /// Entries that are rounding count as zero; else they only are uncertain.
  bool drop_rounding = true;
};
Spectrum find_spectrum(const Linearisation& linear, const SpectrumOptions& options = {});

/// Of any matrix, with bounds of what is wrong with its entries; vectors are of unit size.
Spectrum find_spectrum(const Eigen::MatrixXd& A, const Eigen::MatrixXd& noise, const SpectrumOptions& options = {});

/// Sets of states that act on each other, in an order in which none acts on one before it; entries that are zero do not count.
std::vector<std::vector<int>> find_blocks(const Eigen::MatrixXd& A);

}  // namespace mechanician
