// DART. It has no call for a constrained acceleration: constraints are impulses within World::step, so that a whole
// step is timed and the acceleration is the change of velocity over the step.

#include <dart/constraint/BallJointConstraint.hpp>
#include <dart/constraint/ConstraintSolver.hpp>
#include <dart/dynamics/BodyNode.hpp>
#include <dart/dynamics/RevoluteJoint.hpp>
#include <dart/dynamics/Skeleton.hpp>
#include <dart/simulation/World.hpp>

#include "contest.hpp"

namespace {

using contest::Arguments;
using contest::Timing;
using dart::constraint::BallJointConstraint;
using dart::dynamics::BodyNode;
using dart::dynamics::RevoluteJoint;
using dart::dynamics::Skeleton;
using dart::dynamics::SkeletonPtr;
using Eigen::Vector3d;

constexpr double step = 1e-4;

BodyNode* add_link(const SkeletonPtr& skeleton, BodyNode* parent, const Vector3d& at, const Vector3d& axis, double mass,
                   const Vector3d& centre, const Vector3d& inertia) {
  const std::string name = std::to_string(skeleton->getNumBodyNodes());
  RevoluteJoint::Properties joint;
  joint.mName = "joint" + name;
  joint.mAxis = axis;
  joint.mT_ParentBodyToJoint.translation() = at;
  BodyNode::Properties body;
  body.mName = "body" + name;
  body.mInertia = dart::dynamics::Inertia(mass, centre, Eigen::Matrix3d(inertia.asDiagonal()));
  return skeleton->createJointAndBodyNodePair<RevoluteJoint>(parent, joint, body).second;
}

dart::simulation::WorldPtr make_world(const Vector3d& gravity) {
  auto world = dart::simulation::World::create();
  world->setGravity(gravity);
  world->setTimeStep(step);
  return world;
}

void w1() {
  const int N = contest::ladder_size;
  const double inertia = contest::rod_inertia, thin = 1e-9;
  const auto world = make_world(Vector3d(0, -contest::gravity, 0));
  const auto skeleton = Skeleton::create("ladder");
  std::vector<BodyNode*> cranks, couplers;
  for (int i = 0; i <= N; ++i) {
    cranks.push_back(add_link(skeleton, nullptr, Vector3d(i, 0, 0), Vector3d::UnitZ(), 1, Vector3d(0, 0.5, 0),
                              Vector3d(inertia, thin, inertia)));
    if (i < N)
      couplers.push_back(add_link(skeleton, cranks[i], Vector3d(0, 1, 0), Vector3d::UnitZ(), 1, Vector3d(0.5, 0, 0),
                                  Vector3d(thin, inertia, inertia)));
  }
  world->addSkeleton(skeleton);
  for (int i = 0; i < N; ++i)
    world->getConstraintSolver()->addConstraint(
        std::make_shared<BallJointConstraint>(couplers[i], cranks[i + 1], Vector3d(i + 1, 1, 0)));
  double error = 0.0;
  const Timing t = contest::time_calls(4, [&](int k) {
    const double angle = contest::ladder_angle(k), speed = contest::ladder_speed, exact = contest::ladder_exact(angle);
    for (auto* body : cranks)
      body->getParentJoint()->setPosition(0, -angle), body->getParentJoint()->setVelocity(0, -speed);
    for (auto* body : couplers)
      body->getParentJoint()->setPosition(0, angle), body->getParentJoint()->setVelocity(0, speed);
    world->step();
    error = std::max(error, std::abs((-cranks[0]->getParentJoint()->getVelocity(0) - speed) / step - exact) / exact);
  });
  contest::report("World::step", t, error);
}

void w2(const Arguments& a) {
  const std::vector<contest::ArmState> states = contest::read_arm_states(a.states.c_str());
  const auto world = make_world(Vector3d(0, 0, -contest::gravity));
  const auto skeleton = Skeleton::create("arm");
  BodyNode* link = nullptr;
  for (int i = 0; i < contest::arm_axes; ++i) {
    const double xy = contest::arm_inertia_xy[i];
    link = add_link(skeleton, link, Vector3d(0, 0, contest::arm_offset[i]),
                    contest::arm_about_y[i] ? Vector3d::UnitY() : Vector3d::UnitZ(), contest::arm_mass[i],
                    Vector3d(0, contest::arm_centre_y, contest::arm_centre_z(i)),
                    Vector3d(xy, xy, contest::arm_inertia_z[i]));
  }
  world->addSkeleton(skeleton);
  for (int i = 0; i < contest::arm_axes; ++i) skeleton->setPosition(i, states[0].q[i]);
  world->getConstraintSolver()->addConstraint(
      std::make_shared<BallJointConstraint>(link, link->getTransform() * Vector3d(0, 0, contest::arm_offset[7])));
  double error = 0.0;
  const Timing t = contest::time_calls(static_cast<int>(states.size()), [&](int k) {
    for (int i = 0; i < contest::arm_axes; ++i)
      skeleton->setPosition(i, states[k].q[i]), skeleton->setVelocity(i, states[k].qd[i]);
    world->step();
    double qdd[contest::arm_axes];
    for (int i = 0; i < contest::arm_axes; ++i) qdd[i] = (skeleton->getVelocity(i) - states[k].qd[i]) / step;
    error = std::max(error, contest::arm_error(states[k], qdd));
  });
  contest::report("World::step", t, error);
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments a = contest::arguments(argc, argv);
  if (a.workload == "w1") w1();
  if (a.workload == "w2") w2(a);
}
