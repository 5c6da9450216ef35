// Pinocchio, from its headers. Its algorithms for constrained accelerations:
//   constraintDynamics   sparse factorisation of the whole system, with proximal iterations where rows depend on others
//   lcaba                articulated bodies with loops
//   constrainedABA, pv   articulated bodies, constraints that hold a body to the ground

#include <pinocchio/algorithm/constrained-dynamics.hpp>
#include <pinocchio/algorithm/loop-constrained-aba.hpp>
#include <pinocchio/algorithm/pv.hpp>
#include <pinocchio/multibody.hpp>

#include "contest.hpp"

namespace {

using namespace pinocchio;
using contest::Arguments;
using contest::Timing;
using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;
template <class T>
using Aligned = std::vector<T, Eigen::aligned_allocator<T>>;

SE3 at(double x, double y, double z) { return SE3(Matrix3d::Identity(), Vector3d(x, y, z)); }

template <class Data, class Constraint>
Aligned<Data> datas_of(const Aligned<Constraint>& constraints) {
  Aligned<Data> datas;
  for (const auto& c : constraints) datas.emplace_back(c);
  return datas;
}

/// work(): an acceleration from q, v; set(k) puts state k there and error(k) judges data.ddq.
template <class Set, class Work, class Error>
void measure(const std::string& name, const Arguments& a, int num_states, Set&& set, Work&& work, Error&& error_of) {
  if (!a.wants(name)) return;
  double error = 0.0;
  const Timing t = contest::time_calls(num_states, [&](int k) {
    set(k);
    work();
    error = std::max(error, error_of(k));
  });
  contest::report(name, t, error);
}

void w1(const Arguments& a) {
  const int N = contest::ladder_size;
  const double i0 = contest::rod_inertia, thin = 1e-9;
  Model model;
  model.gravity.linear(Vector3d(0, -contest::gravity, 0));
  std::vector<JointIndex> cranks, couplers;
  for (int i = 0; i <= N; ++i) {
    cranks.push_back(model.addJoint(0, JointModelRZ(), at(i, 0, 0), "crank" + std::to_string(i)));
    model.appendBodyToJoint(cranks.back(),
                            Inertia(1, Vector3d(0, 0.5, 0), Vector3d(i0, thin, i0).asDiagonal().toDenseMatrix()));
    if (i == N) break;
    couplers.push_back(model.addJoint(cranks[i], JointModelRZ(), at(0, 1, 0), "coupler" + std::to_string(i)));
    model.appendBodyToJoint(couplers.back(),
                            Inertia(1, Vector3d(0.5, 0, 0), Vector3d(thin, i0, i0).asDiagonal().toDenseMatrix()));
  }
  Aligned<RigidConstraintModel> loops;
  for (int i = 0; i < N; ++i)
    loops.emplace_back(CONTACT_3D, model, couplers[i], at(1, 0, 0), cranks[i + 1], at(0, 1, 0), LOCAL);
  auto datas = datas_of<RigidConstraintData>(loops);
  Data data(model);
  VectorXd q(model.nq), v(model.nv), tau = VectorXd::Zero(model.nv);
  const auto set = [&](int k) {
    const double angle = contest::ladder_angle(k), speed = contest::ladder_speed;
    for (const auto c : cranks) q[model.joints[c].idx_q()] = -angle, v[model.joints[c].idx_v()] = -speed;
    for (const auto c : couplers) q[model.joints[c].idx_q()] = angle, v[model.joints[c].idx_v()] = speed;
  };
  const auto error = [&](int k) {
    const double exact = contest::ladder_exact(contest::ladder_angle(k));
    return std::abs(-data.ddq[model.joints[cranks[0]].idx_v()] - exact) / exact;
  };
  // The third row of every loop is empty in a plane mechanism: without mu there would be a zero pivot.
  initConstraintDynamics(model, data, loops, datas);
  for (const double mu : {1e-10, 1e-6}) {
    char name[60];
    std::snprintf(name, sizeof name, "constraintDynamics, mu %g", mu);
    ProximalSettings settings(1e-12, mu, 1);
    measure(
        name, a, contest::ladder_states, set,
        [&] { constraintDynamics(model, data, q, v, tau, loops, datas, settings); }, error);
  }
  for (const double mu : {1e-8, 1e-6, 1e-4}) {
    char name[60];
    std::snprintf(name, sizeof name, "lcaba, mu %g", mu);
    data = Data(model);
    computeJointMinimalOrdering(model, data, loops);
    ProximalSettings settings(1e-10, mu, 10);
    measure(
        name, a, contest::ladder_states, set, [&] { lcaba(model, data, q, v, tau, loops, datas, settings); }, error);
  }
}

void w2(const Arguments& a) {
  const std::vector<contest::ArmState> states = contest::read_arm_states(a.states.c_str());
  Model model;
  model.gravity.linear(Vector3d(0, 0, -contest::gravity));
  JointIndex link = 0;
  for (int i = 0; i < contest::arm_axes; ++i) {
    const std::string name = "axis" + std::to_string(i);
    const SE3 place = at(0, 0, contest::arm_offset[i]);
    link = contest::arm_about_y[i] ? model.addJoint(link, JointModelRY(), place, name)
                                   : model.addJoint(link, JointModelRZ(), place, name);
    const double xy = contest::arm_inertia_xy[i];
    model.appendBodyToJoint(link,
                            Inertia(contest::arm_mass[i], Vector3d(0, contest::arm_centre_y, contest::arm_centre_z(i)),
                                    Vector3d(xy, xy, contest::arm_inertia_z[i]).asDiagonal().toDenseMatrix()));
  }
  const double* tip = contest::arm_tip;
  Data data(model);
  VectorXd q(model.nq), v(model.nv), tau = VectorXd::Zero(model.nv);
  const auto set = [&](int k) {
    for (int i = 0; i < contest::arm_axes; ++i) q[i] = states[k].q[i], v[i] = states[k].qd[i];
  };
  const auto error = [&](int k) { return contest::arm_error(states[k], data.ddq); };
  const int count = static_cast<int>(states.size());
  const SE3 on_link = at(0, 0, contest::arm_offset[7]), on_ground = at(tip[0], tip[1], tip[2]);
  {
    Aligned<RigidConstraintModel> held;
    held.emplace_back(CONTACT_3D, model, link, on_link, 0, on_ground, LOCAL);
    auto datas = datas_of<RigidConstraintData>(held);
    initConstraintDynamics(model, data, held, datas);
    ProximalSettings settings(1e-12, 0.0, 1);
    measure(
        "constraintDynamics", a, count, set, [&] { constraintDynamics(model, data, q, v, tau, held, datas, settings); },
        error);
  }
  Aligned<PointAnchorConstraintModel> held;
  held.emplace_back(model, link, on_link, 0, on_ground);
  auto datas = datas_of<PointAnchorConstraintData>(held);
  data = Data(model);
  initPvSolver(model, data, held);
  ProximalSettings once(1e-12, 0.0, 1);
  measure(
      "pv", a, count, set, [&] { pv(model, data, q, v, tau, held, datas, once); }, error);
  data = Data(model);
  initPvSolver(model, data, held);
  ProximalSettings few(1e-10, 1e-8, 5);
  measure(
      "constrainedABA", a, count, set, [&] { constrainedABA(model, data, q, v, tau, held, datas, few); }, error);
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments a = contest::arguments(argc, argv);
  if (a.workload == "w1") w1(a);
  if (a.workload == "w2") w2(a);
}
