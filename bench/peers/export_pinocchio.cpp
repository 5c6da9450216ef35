// Pinocchio's forward dynamics of a robot of bench/run --exports, from its headers: articulated bodies, or with the tip of the arm held the quickest of its algorithms that are exact.
//
// usage: export_pinocchio ROBOT.joints ROBOT.states [held]
//
// Prints one line of JSON as export_time.c does.

#include <fstream>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/constrained-dynamics.hpp>
#include <pinocchio/algorithm/pv.hpp>
#include <pinocchio/multibody.hpp>

#include "contest.hpp"

namespace {

using namespace pinocchio;
using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;
template <class T>
using Aligned = std::vector<T, Eigen::aligned_allocator<T>>;

template <int N>
Eigen::Matrix<double, N, 1> read(std::istream& in) {
  Eigen::Matrix<double, N, 1> out;
  for (int i = 0; i < N; ++i) in >> out[i];
  return out;
}

Matrix3d rows_of(const Eigen::Matrix<double, 9, 1>& x) { return Eigen::Map<const Matrix3d>(x.data()).transpose(); }

JointModel joint_of(const Eigen::Matrix<double, 6, 1>& axis, bool free) {
  if (free) return JointModelFreeFlyer();
  const Vector3d slide = axis.head<3>(), turn = axis.tail<3>();
  if (turn == Vector3d::UnitX()) return JointModelRX();
  if (turn == Vector3d::UnitY()) return JointModelRY();
  if (turn == Vector3d::UnitZ()) return JointModelRZ();
  if (turn.norm() > 0) return JointModelRevoluteUnaligned(turn);
  if (slide == Vector3d::UnitX()) return JointModelPX();
  if (slide == Vector3d::UnitY()) return JointModelPY();
  if (slide == Vector3d::UnitZ()) return JointModelPZ();
  return JointModelPrismaticUnaligned(slide);
}

Model read_model(const char* file) {
  Model model;
  model.gravity.linear(Vector3d(0, 0, -9.81));
  std::ifstream in(file);
  int count = 0;
  in >> count;
  for (int i = 0; i < count; ++i) {
    int parent = 0, free = 0;
    in >> parent >> free;
    const auto axis = read<6>(in);
    const Matrix3d R = rows_of(read<9>(in));
    const Vector3d p = read<3>(in);
    double mass = 0;
    in >> mass;
    const Vector3d centre = read<3>(in);
    const Matrix3d inertia = rows_of(read<9>(in));
    const JointIndex id = model.addJoint(static_cast<JointIndex>(parent + 1), joint_of(axis, free != 0), SE3(R, p),
                                         "joint" + std::to_string(i));
    model.appendBodyToJoint(id, Inertia(mass, centre, inertia));
  }
  if (!in) throw std::runtime_error("the joints cannot be read");
  return model;
}

struct States {
  std::vector<VectorXd> q, v, a;
};

States read_states(const char* file) {
  States out;
  std::ifstream in(file);
  int count = 0, nq = 0, nv = 0;
  in >> count >> nq >> nv;
  const auto read_vector = [&](int size) {
    VectorXd x(size);
    for (int i = 0; i < size; ++i) in >> x[i];
    return x;
  };
  for (int k = 0; k < count; ++k)
    out.q.push_back(read_vector(nq)), out.v.push_back(read_vector(nv)), out.a.push_back(read_vector(nv));
  if (!in) throw std::runtime_error("the states cannot be read");
  return out;
}

template <class Work>
void measure(const std::string& name, const States& states, Work&& work) {
  double error = 0.0, largest = 0.0;
  for (std::size_t k = 0; k < states.q.size(); ++k) {
    const VectorXd a = work(k);
    largest = std::max(largest, states.a[k].lpNorm<Eigen::Infinity>());
    error = std::max(error, (a - states.a[k]).lpNorm<Eigen::Infinity>());
  }
  const auto t =
      contest::time_calls(static_cast<int>(states.q.size()), [&](int k) { work(static_cast<std::size_t>(k)); });
  contest::report(name, t, error / largest);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const Model model = read_model(argv[1]);
  const States states = read_states(argv[2]);
  Data data(model);
  const VectorXd tau = VectorXd::Zero(model.nv);
  if (argc < 4) {
    measure("aba", states,
            [&](std::size_t k) -> const VectorXd& { return aba(model, data, states.q[k], states.v[k], tau); });
    return 0;
  }
  const SE3 on_link(Matrix3d::Identity(), Vector3d(0, 0, contest::arm_offset[7])),
      on_ground(Matrix3d::Identity(), Eigen::Map<const Vector3d>(contest::arm_tip));
  const JointIndex last = static_cast<JointIndex>(model.njoints - 1);
  {
    Aligned<RigidConstraintModel> held;
    held.emplace_back(CONTACT_3D, model, last, on_link, 0, on_ground, LOCAL);
    Aligned<RigidConstraintData> datas;
    datas.emplace_back(held[0]);
    initConstraintDynamics(model, data, held, datas);
    ProximalSettings settings(1e-12, 0.0, 1);
    measure("constraintDynamics", states, [&](std::size_t k) -> const VectorXd& {
      return constraintDynamics(model, data, states.q[k], states.v[k], tau, held, datas, settings);
    });
  }
  Aligned<PointAnchorConstraintModel> held;
  held.emplace_back(model, last, on_link, 0, on_ground);
  Aligned<PointAnchorConstraintData> datas;
  datas.emplace_back(held[0]);
  data = Data(model);
  initPvSolver(model, data, held);
  ProximalSettings once(1e-12, 0.0, 1);
  measure("pv", states, [&](std::size_t k) -> const VectorXd& {
    return pv(model, data, states.q[k], states.v[k], tau, held, datas, once);
  });
}
