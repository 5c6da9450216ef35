#include "mechanician/solve/form.hpp"
#include "mechanician/solve/pseudo_inverse.hpp"

namespace mechanician {

// U23 eq. (24) and (32). Where the acceleration is unique M_s has rank n − rank(A).
MotionForces calc_form_f4(const FormInput& in) {
  const Eigen::Index n = in.M.rows();
  const Eigen::MatrixXd A_pinv = pseudo_inverse(in.A, in.rank);
  const Eigen::MatrixXd projector = Eigen::MatrixXd::Identity(n, n) - A_pinv * in.A;
  const Eigen::MatrixXd Ms = projector * in.M * projector;
  const Eigen::MatrixXd Ms_pinv = pseudo_inverse(Ms, n - in.rank);
  const Eigen::VectorXd particular = A_pinv * in.b;
  const Eigen::VectorXd Delta_ideal = in.Q - in.M * particular;
  return {.qdd = Ms_pinv * (Delta_ideal + in.C) + particular,
          .F_ideal = in.M * (Ms_pinv * Delta_ideal) - Delta_ideal,
          .F_nonideal = in.M * (Ms_pinv * in.C)};
}

}  // namespace mechanician
