#include "mechanician/solve/form.hpp"
#include "mechanician/solve/pseudo_inverse.hpp"

namespace mechanician {

// K93 eq. (29), (30), with Q + C for Q in the second term. H⁻ is a least-squares inverse of H = M^(1/2)(I − D⁻D)
// itself.
MotionForces calc_form_f2(const FormInput& in, const F2Inverses& inverses) {
  const Eigen::Index n = in.M.rows();
  const auto [M_root, M_inv_root] = calc_mass_roots(in.M);
  const Eigen::MatrixXd D_inv = inverses.of_A ? inverses.of_A(in.A, in.rank) : pseudo_inverse(in.A, in.rank);
  const Eigen::MatrixXd projector = Eigen::MatrixXd::Identity(n, n) - D_inv * in.A;
  const Eigen::MatrixXd H = M_root * projector;
  const Eigen::Index rank_H = n - in.rank;
  const Eigen::MatrixXd H_inv = inverses.of_H ? inverses.of_H(H, rank_H) : pseudo_inverse(H, rank_H);

  const Eigen::VectorXd particular = D_inv * in.b;
  const auto qdd_for = [&, &M_root = M_root,
                        &M_inv_root = M_inv_root](const Eigen::VectorXd& force) -> Eigen::VectorXd {
    return particular - projector * (H_inv * (M_root * particular)) + projector * (H_inv * (M_inv_root * force));
  };
  const Eigen::VectorXd qdd_ideal = qdd_for(in.Q);
  const Eigen::VectorXd qdd = qdd_for(in.Q + in.C);
  return {.qdd = qdd, .F_ideal = in.M * qdd_ideal - in.Q, .F_nonideal = in.M * (qdd - qdd_ideal)};
}

}  // namespace mechanician
