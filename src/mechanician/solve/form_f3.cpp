#include "mechanician/solve/dense.hpp"
#include "mechanician/solve/form.hpp"
#include "mechanician/solve/pseudo_inverse.hpp"

namespace mechanician {

// U97 eq. (20), (22), (35), with a_s + M^(−1/2)C for a_s in the E-term. J Bᵀ = B⁺.
MotionForces calc_form_f3(const FormInput& in) {
  const Eigen::MatrixXd M_inv_root = calc_mass_roots(in.M).inv_root;
  const Eigen::MatrixXd B = in.A * M_inv_root;
  const Eigen::MatrixXd V = null_space_basis(B, in.rank);
  const Eigen::MatrixXd E = V * V.transpose();
  const Cholesky J_inv = calc_cholesky(B.transpose() * B + E);  // positive definite, U97 eq. (21)
  const auto qdd_for = [&](const Eigen::VectorXd& force) -> Eigen::VectorXd {
    return M_inv_root * J_inv.solve(B.transpose() * in.b + E * (M_inv_root * force));
  };
  const Eigen::VectorXd qdd_ideal = qdd_for(in.Q);
  const Eigen::VectorXd qdd = qdd_for(in.Q + in.C);
  return {.qdd = qdd, .F_ideal = in.M * qdd_ideal - in.Q, .F_nonideal = in.M * (qdd - qdd_ideal)};
}

}  // namespace mechanician
