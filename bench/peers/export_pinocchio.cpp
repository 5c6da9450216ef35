// Pinocchio's forward dynamics of a robot of bench/run --exports and --robot-speed, from its headers: articulated bodies, or where something is held those of its algorithms that are exact.
//
// usage: export_pinocchio ROBOT.joints ROBOT.states [ROBOT.held]
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

struct Held {
  JointIndex joint = 0;
  int rows = 3;
  SE3 place;
};

std::vector<Held> read_held(const char* file) {
  std::ifstream in(file);
  std::size_t count = 0;
  in >> count;
  std::vector<Held> out(count);
  for (Held& h : out) {
    in >> h.joint >> h.rows;
    const Matrix3d R = rows_of(read<9>(in));
    h.place = SE3(R, read<3>(in));
  }
  if (!in) throw std::runtime_error("what is held cannot be read");
  return out;
}

/// Articulated bodies with constraints.
template <class Constraint, class ConstraintData>
void recursive(const Model& model, const States& states, const std::vector<Held>& held) {
  Aligned<Constraint> models;
  for (const Held& h : held) models.emplace_back(model, h.joint, h.place, 0, SE3::Identity());
  Aligned<ConstraintData> datas;
  for (const auto& m : models) datas.emplace_back(m);
  Data data(model);
  const VectorXd tau = VectorXd::Zero(model.nv);
  initPvSolver(model, data, models);
  ProximalSettings once(1e-12, 0.0, 1);
  measure("pv", states, [&](std::size_t k) -> const VectorXd& {
    return pv(model, data, states.q[k], states.v[k], tau, models, datas, once);
  });
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
  const std::vector<Held> held = read_held(argv[3]);
  {
    Aligned<RigidConstraintModel> models;
    for (const Held& h : held)
      models.emplace_back(h.rows == 6 ? CONTACT_6D : CONTACT_3D, model, h.joint, h.place, LOCAL);
    Aligned<RigidConstraintData> datas;
    for (const auto& m : models) datas.emplace_back(m);
    initConstraintDynamics(model, data, models, datas);
    ProximalSettings settings(1e-12, 0.0, 1);
    measure("constraintDynamics", states, [&](std::size_t k) -> const VectorXd& {
      return constraintDynamics(model, data, states.q[k], states.v[k], tau, models, datas, settings);
    });
  }
  const auto of = [&](int rows) {
    return std::all_of(held.begin(), held.end(), [&](const Held& h) { return h.rows == rows; });
  };
  if (of(3)) recursive<PointAnchorConstraintModel, PointAnchorConstraintData>(model, states, held);
  if (of(6)) recursive<FrameAnchorConstraintModel, FrameAnchorConstraintData>(model, states, held);
}
