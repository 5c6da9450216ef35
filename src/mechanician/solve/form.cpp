#include "mechanician/solve/form.hpp"

#include <cassert>

#include "mechanician/solve/assemble.hpp"

namespace mechanician {
namespace {

MotionForces calc_form(const FormInput& in, Form form, const FormOptions& options) {
  switch (form) {
    case Form::f1:
      return calc_form_f1(in);
    case Form::f2:
      return calc_form_f2(in, options.f2);
    case Form::f3:
      return calc_form_f3(in);
    case Form::f4:
      return calc_form_f4(in);
    case Form::f5:
      return calc_form_f5(in);
    case Form::automatic:
      break;
  }
  assert(false && "the automatic form is not a formula");
  return {};
}

}  // namespace

Solution solve_with_form(const Factorisation& f, const InstantValues& values, Form form, const FormOptions& options) {
  if (form == Form::automatic) return solve(f, values);
  if (f.sparse) return solve_with_form(factor_dense(values), values, form, options);

  // Rows scaled to unit norm, rows that count as zero set to zero: M q̈ = Q + Qᶜ does not notice.
  Eigen::MatrixXd A_scaled = f.A;
  if (f.status != SolveStatus::not_finite) A_scaled = f.rows.D.asDiagonal() * f.A;
  for (Eigen::Index j = 0; j < f.m(); ++j) {
    if (f.status != SolveStatus::not_finite && f.rows.zero_row[j]) A_scaled.row(j).setZero();
  }
  const bool needs_definite = form == Form::f1 || form == Form::f2 || form == Form::f3;
  Solution solution = solve_with(
      f, values, [&](const Eigen::VectorXd& Q, const Eigen::VectorXd& b, const Eigen::VectorXd& C) -> MotionForces {
        if (needs_definite && !f.definite) {
          const Eigen::VectorXd zero = Eigen::VectorXd::Zero(f.n());
          return {zero, zero, zero};
        }
        const Eigen::VectorXd b_scaled = f.rows.D.cwiseProduct(b);
        const Eigen::VectorXd C_full = C.size() > 0 ? C : Eigen::VectorXd::Zero(f.n());
        return calc_form({f.M, Q, A_scaled, b_scaled, C_full, f.rows.rank}, form, options);
      });
  if (needs_definite && !f.definite && solution.status == SolveStatus::solved) {
    // What was found about M and A stands; there is no acceleration to go with it.
    solution.status = SolveStatus::form_not_applicable;
    clear_motion(solution);
  }
  return solution;
}

Solution solve_with_form(const InstantValues& values, Form form, const FormOptions& options) {
  return solve_with_form(factor(values), values, form, options);
}

}  // namespace mechanician
