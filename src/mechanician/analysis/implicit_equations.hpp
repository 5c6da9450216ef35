#pragma once

/// The equations of motion as what they are for derivatives: F(z; q, q̇, t, p) = 0 with unknowns z = (q̈, λ),
///
///     G = Q + C − M q̈ + Aᵀλ + friction of what slides,     H = b − A q̈                (motion/equation_residuals.hpp)
///
/// so that F_z δz = −(F_q δq + F_q̇ δq̇ + F_t δt + F_p δp), exactly: derivatives are made of the expressions. Where C depends on
/// reactions these are unknowns too, (q̈, λ) without C, and C is a function of them. Rows that are not kept have λ = 0 and are left
/// out. Kinks have their sides held, as the dynamics hold them.
///
/// All numbers come with bounds of their rounding errors, so that what is nothing but rounding can be told.
///
/// Cost: a gradient of each row when it is made; an evaluation and a sparse factor for each state.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mechanician/motion/dynamics.hpp"
#include "mechanician/solve/sparse_lu.hpp"

namespace mechanician {

/// Entries of a matrix, each once, with bounds of what rounding has done to them.
struct BoundedEntry {
  int row = 0, col = 0;
  double value = 0.0, noise = 0.0;
};
using BoundedEntries = std::vector<BoundedEntry>;

class ImplicitEquations {
 public:
  /// Of dynamics of written equations, which must outlive it. `inputs`: parameters, by number; what is made of them changes along.
  /// `outputs`: of t, q, q̇, q̈, parameters and multipliers.
  ImplicitEquations(Dynamics& dynamics, std::span<const int> inputs, std::span<const Expr> outputs);

  /// At a state, with the rows that are kept there and the sides that are held. False: a value is not finite, or z is not determined.
  bool evaluate(double t, const double* y, std::span<const int> kept);

  int n() const { return n_; }
  int num_constraints() const { return num_constraints_; }
  int m() const { return m_; }
  int num_unknowns() const { return size_; }
  /// q̈, then λ by row.
  std::span<const double> unknowns() const { return z_; }
  /// The size of the terms that each of F is the sum of.
  std::span<const double> sizes() const { return F_size_; }

  enum Part { by_unknowns, by_q, by_qd, by_t, by_inputs };
  /// Derivatives of F. Rows that are left out have none.
  const BoundedEntries& F(Part part) const { return F_[part]; }
  /// Of φ̇ of rows on positions and ψ of those on velocities, by row.
  const BoundedEntries& rate(Part part) const { return rate_[part]; }
  /// Of φ of rows on positions, by inputs alone.
  const BoundedEntries& residual(Part part) const { return residual_[part]; }
  const BoundedEntries& output(Part part) const { return output_[part]; }
  std::span<const double> outputs() const { return output_values_; }
  /// Rows on positions that depend on an input: (row, input).
  const std::vector<SparseEntry>& moved_rows() const { return moved_rows_; }

  /// The values of parameters that the system has now.
  void take_parameters() { find_input_slopes(inputs_); }

  /// r ← F_z⁻¹ r
  void solve(double* r) const { lu_->solve(r); }

 private:
  struct Source {
    Part part;
    int row, col, parameter;  ///< parameter: −1, or the one that the derivative is by; col: an unknown, a coordinate
  };
  struct Block {
    std::vector<Source> sources;
    std::vector<Expr> expressions;
  };
  void add_gradients(std::span<const Expr> rows, Block& to);
  void collect(const Block& block, const double* values, const double* bounds, BoundedEntries* to, bool keep_all);
  bool solve_from(int first, double* z);
  void find_input_slopes(std::span<const int> inputs);

  Dynamics& dynamics_;
  int num_constraints_ = 0;
  int n_, m_, size_;
  std::vector<Expr> lambda_;
  std::vector<Expr> symbols_;         ///< inputs of the tape
  std::vector<Source> symbol_parts_;  ///< what each is
  std::vector<double> slopes_;        ///< parameters × inputs: dp/du
  int num_inputs_ = 0;
  std::vector<SparseEntry> moved_rows_;
  std::vector<int> inputs_;
  Block F_block_, rate_block_, residual_block_, output_block_;
  Tape tape_;  ///< [F | outputs | gradients of F | of rates | of residuals by inputs | of outputs]
  std::vector<double> x_, values_, bounds_, z_, F_size_, output_values_;
  std::vector<char> left_out_;
  BoundedEntries F_[5], rate_[5], residual_[5], output_[5];
  std::unique_ptr<SparseLu> lu_;
};

/// A parameter by its name, −1: there is none.
int find_parameter(const System& system, std::string_view name);

}  // namespace mechanician
