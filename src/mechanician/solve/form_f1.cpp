#include "mechanician/solve/form.hpp"
#include "mechanician/solve/pseudo_inverse.hpp"

namespace mechanician {

// U02 eq. (6), (7), (8), (32); U05 eq. (9), (11), (12).
MotionForces calc_form_f1(const FormInput& in) {
  const auto [M_root, M_inv_root] = calc_mass_roots(in.M);
  const Eigen::VectorXd a = M_inv_root * (M_inv_root * in.Q);
  const Eigen::MatrixXd B = in.A * M_inv_root;
  const Eigen::MatrixXd B_pinv = pseudo_inverse(B, in.rank);
  const Eigen::VectorXd e = in.b - in.A * a;
  const Eigen::VectorXd z = M_inv_root * in.C;
  const Eigen::VectorXd ideal = B_pinv * e;
  const Eigen::VectorXd nonideal = z - B_pinv * (B * z);
  return {.qdd = a + M_inv_root * (ideal + nonideal), .F_ideal = M_root * ideal, .F_nonideal = M_root * nonideal};
}

}  // namespace mechanician
