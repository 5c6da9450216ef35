// The acceleration in the five forms of the papers, each formula as it is printed. They are oracles for each other and
// what `--form` shows; `automatic` is the factorisation of factorisation.hpp, faster and more accurate.
//
//   F1  U02 (6),(32)           q̈ = a + M^(−1/2)B⁺e + M^(−1/2)(I − B⁺B)M^(−1/2)C                        M > 0
//   F2  K93 (29),(30)          q̈ = {D⁻ − (I−D⁻D)H⁻M^(1/2)D⁻}g + (I−D⁻D)H⁻M^(−1/2)(Q + C)               M > 0
//   F3  U97 (20),(22),(35)     q̈ = M^(−1/2)J(Bᵀb + E(a_s + M^(−1/2)C)),  J = (BᵀB + VVᵀ)⁻¹             M > 0
//   F4  U23 (24)               q̈ = M_s⁺(Q + C − M A⁺b) + A⁺b,  M_s = (I−A⁺A)M(I−A⁺A)                  rank[M; A] = n
//   F5  U23 (54)               q̈ = V₂M̂⁻¹V₂ᵀ(Q + C − M A⁺b) + A⁺b,  M̂ = V₂ᵀMV₂                        rank[M; A] = n
//
// Error: a factor times eps times κ² (F1 to F4) or κ (F5), κ the condition number of the scaled rows, times what the
// condition of M adds. Cost some 30 n³: not for inner loops.
#pragma once

#include <functional>

#include "mechanician/solve/eigen_kernels.hpp"
#include "mechanician/solve/factorisation.hpp"
#include "mechanician/solve/instant_values.hpp"
#include "mechanician/solve/solution.hpp"

namespace mechanician {

enum class Form { automatic, f1, f2, f3, f4, f5 };

/// What a formula needs: b consistent, C of length n, `rank` the rank of A.
struct FormInput {
  const Eigen::MatrixXd& M;
  const Eigen::VectorXd& Q;
  const Eigen::MatrixXd& A;
  const Eigen::VectorXd& b;
  const Eigen::VectorXd& C;
  Eigen::Index rank = 0;
};

/// A generalised inverse of X, which has that rank.
using GeneralisedInverse = std::function<Eigen::MatrixXd(const Eigen::MatrixXd& X, Eigen::Index rank)>;

/// F2 holds for any of these; Moore–Penrose where nothing is given.
struct F2Inverses {
  GeneralisedInverse of_A;  // D⁻: A D⁻ A = A
  GeneralisedInverse of_H;  // H⁻: H H⁻ H = H and H H⁻ symmetric (least squares)
};

MotionForces calc_form_f1(const FormInput& in);
MotionForces calc_form_f2(const FormInput& in, const F2Inverses& inverses = {});
MotionForces calc_form_f3(const FormInput& in);
MotionForces calc_form_f4(const FormInput& in);
MotionForces calc_form_f5(const FormInput& in);

struct FormOptions {
  F2Inverses f2;
};

/// As solve(), with the acceleration and the forces from this form, on rows scaled to unit norm. Status
/// form_not_applicable where the form needs M > 0 and M is singular.
Solution solve_with_form(const InstantValues& values, Form form, const FormOptions& options = {});
Solution solve_with_form(const Factorisation& f, const InstantValues& values, Form form,
                         const FormOptions& options = {});

}  // namespace mechanician
