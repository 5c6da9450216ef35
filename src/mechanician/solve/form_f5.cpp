#include "mechanician/solve/dense.hpp"
#include "mechanician/solve/form.hpp"
#include "mechanician/solve/pseudo_inverse.hpp"

namespace mechanician {

// U23 eq. (54), (55).
MotionForces calc_form_f5(const FormInput& in) {
  const Eigen::MatrixXd V2 = null_space_basis(in.A, in.rank);
  const Eigen::VectorXd particular = pseudo_inverse(in.A, in.rank) * in.b;
  const Cholesky Mhat = calc_cholesky(V2.transpose() * in.M * V2);
  const Eigen::VectorXd Delta_ideal = in.Q - in.M * particular;
  const auto on_null_space = [&](const Eigen::VectorXd& force) -> Eigen::VectorXd {
    return V2 * Mhat.solve(V2.transpose() * force);
  };
  const Eigen::VectorXd qdd_ideal = on_null_space(Delta_ideal);
  const Eigen::VectorXd qdd_nonideal = on_null_space(in.C);
  return {.qdd = qdd_ideal + qdd_nonideal + particular,
          .F_ideal = in.M * qdd_ideal - Delta_ideal,
          .F_nonideal = in.M * qdd_nonideal};
}

}  // namespace mechanician
