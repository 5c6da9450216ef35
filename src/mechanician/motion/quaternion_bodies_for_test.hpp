#pragma once

/// Random rigid bodies whose orientation is a quaternion, free and joined, and what others say about their motion: Euler's
/// equations with a rotation matrix, the equations of Newton and Euler with joints, conserved quantities.

#include <fmt/format.h>

#include <Eigen/Dense>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "mechanician/instant/system.hpp"
#include "mechanician/model/read_model.hpp"
#include "mechanician/motion/motion_for_test.hpp"

namespace mechanician {

struct Body {
  double m = 1.0;
  Eigen::Vector3d J{1, 1, 1};  ///< principal, about the centre of mass
};

/// Point `at_a` of body a and point `at_b` of body b coincide; b = −1: the ground.
struct Joint {
  int a = 0, b = -1;
  Eigen::Vector3d at_a{0, 0, 0}, at_b{0, 0, 0};
};

struct Bodies {
  std::vector<Body> bodies;
  std::vector<Joint> joints;
  double gravity = 0.0;  ///< along −z

  // A state.
  std::vector<Eigen::Quaterniond> e;
  std::vector<Eigen::Vector3d> x, v, omega;  ///< centre of mass, its velocity, spin in the body's own axes

  Eigen::Matrix3d R(int k) const { return e[static_cast<std::size_t>(k)].toRotationMatrix(); }
  int count() const { return static_cast<int>(bodies.size()); }
};

/// Which of them: bodies, joints to the ground and to each other.
enum class Joining { free, top, chain, floating_chain, loop, hinge };

/// Parameters of the model and start are those of `Bodies`; the text depends on the kind and the number alone.
inline std::string text_of(int count, const std::vector<Joint>& joints) {
  std::string coordinates, parameters = "g = 1.0\n", define, kinetic, potential, constraints, position;
  for (int k = 0; k < count; ++k) {
    const std::string i = std::to_string(k);
    for (const char* c : {"x", "y", "z", "a", "b", "c", "d"}) coordinates += fmt::format("\"{}{}\",", c, i);
    parameters += fmt::format("m{0} = 1.0\nJ{0}1 = 1.0\nJ{0}2 = 1.0\nJ{0}3 = 1.0\n", i);
    const auto put = [&](std::string text) {
      std::string result;
      for (const char ch : text) (ch == '#' ? result += i : result += ch);
      return result;
    };
    define +=
        put("w#1 = \"2*(a#*b#' - b#*a#' + d#*c#' - c#*d#')\"\nw#2 = \"2*(a#*c#' - c#*a#' + b#*d#' - d#*b#')\"\n"
            "w#3 = \"2*(a#*d#' - d#*a#' + c#*b#' - b#*c#')\"\n");
    define +=
        put("R#11 = \"a#^2+b#^2-c#^2-d#^2\"\nR#12 = \"2*(b#*c#-a#*d#)\"\nR#13 = \"2*(b#*d#+a#*c#)\"\n"
            "R#21 = \"2*(b#*c#+a#*d#)\"\nR#22 = \"a#^2-b#^2+c#^2-d#^2\"\nR#23 = \"2*(c#*d#-a#*b#)\"\n"
            "R#31 = \"2*(b#*d#-a#*c#)\"\nR#32 = \"2*(c#*d#+a#*b#)\"\nR#33 = \"a#^2-b#^2-c#^2+d#^2\"\n");
    kinetic += put(k ? " + " : "") + put("m#*(x#'^2+y#'^2+z#'^2)/2 + (J#1*w#1^2 + J#2*w#2^2 + J#3*w#3^2)/2");
    potential += put(k ? " + " : "") + put("m#*g*z#");
    constraints += put("unit# = \"a#^2+b#^2+c#^2+d#^2 = 1\"\n");
    position += put("a# = 1.0\n");
  }
  for (std::size_t j = 0; j < joints.size(); ++j) {
    const auto point = [&](int body, const char* of, int axis) {
      std::string s = fmt::format("{}{}", "xyz"[axis], body);
      for (int c = 0; c < 3; ++c) s += fmt::format(" + R{}{}{}*{}{}{}", body, axis + 1, c + 1, of, j, c);
      return s;
    };
    for (int c = 0; c < 3; ++c) parameters += fmt::format("p{0}{1} = 0.0\nr{0}{1} = 0.0\n", j, c);
    for (int axis = 0; axis < 3; ++axis)
      constraints += fmt::format("joint{}{} = \"{} = {}\"\n", j, "xyz"[axis], point(joints[j].a, "p", axis),
                                 joints[j].b < 0 ? fmt::format("r{}{}", j, axis) : point(joints[j].b, "r", axis));
  }
  coordinates.pop_back();
  return fmt::format(
      "coordinates = [{}]\n[parameters]\n{}[define]\n{}[dynamics]\nkinetic = \"{}\"\npotential = \"{}\"\n"
      "[constraints]\n{}[start.position]\n{}",
      coordinates, parameters, define, kinetic, potential, constraints, position);
}

inline std::vector<double> parameters_of(const Bodies& s) {
  std::vector<double> values{s.gravity};
  for (const Body& b : s.bodies) values.insert(values.end(), {b.m, b.J(0), b.J(1), b.J(2)});
  for (const Joint& j : s.joints)
    for (int c = 0; c < 3; ++c) values.insert(values.end(), {j.at_a(c), j.at_b(c)});
  return values;
}

/// ė = ½ e ∘ (0, ω)
inline Eigen::Vector4d rate_of(const Eigen::Quaterniond& e, const Eigen::Vector3d& w) {
  const Eigen::Quaterniond r = e * Eigen::Quaterniond(0.0, w(0), w(1), w(2));
  return 0.5 * Eigen::Vector4d(r.w(), r.x(), r.y(), r.z());
}

inline State state_of(const Bodies& s) {
  State state{0.0, Eigen::VectorXd(7 * s.count()), Eigen::VectorXd(7 * s.count())};
  for (int k = 0; k < s.count(); ++k) {
    const auto i = static_cast<std::size_t>(k);
    state.q.segment(7 * k, 7) << s.x[i], s.e[i].w(), s.e[i].x(), s.e[i].y(), s.e[i].z();
    state.qd.segment(7 * k, 7) << s.v[i], rate_of(s.e[i], s.omega[i]);
  }
  return state;
}

/// 2 Eᵀ: ω = spin_of(e, ė) and ω̇ = spin_of(e, ë).
inline Eigen::Vector3d spin_of(const Eigen::Vector4d& e, const Eigen::Vector4d& r) {
  return 2.0 * Eigen::Vector3d(e(0) * r(1) - e(1) * r(0) + e(3) * r(2) - e(2) * r(3),
                               e(0) * r(2) - e(2) * r(0) + e(1) * r(3) - e(3) * r(1),
                               e(0) * r(3) - e(3) * r(0) + e(2) * r(1) - e(1) * r(2));
}

inline Bodies with_state(Bodies s, const Eigen::VectorXd& q, const Eigen::VectorXd& qd) {
  for (int k = 0; k < s.count(); ++k) {
    const auto i = static_cast<std::size_t>(k);
    const Eigen::Vector4d e = q.segment(7 * k + 3, 4);
    s.x[i] = q.segment(7 * k, 3), s.v[i] = qd.segment(7 * k, 3);
    s.e[i] = Eigen::Quaterniond(e(0), e(1), e(2), e(3));
    s.omega[i] = spin_of(e, qd.segment(7 * k + 3, 4));
  }
  return s;
}

inline double energy_of(const Bodies& s) {
  double sum = 0.0;
  for (std::size_t i = 0; i < s.bodies.size(); ++i)
    sum += 0.5 * s.bodies[i].m * s.v[i].squaredNorm() + 0.5 * s.omega[i].dot(s.bodies[i].J.cwiseProduct(s.omega[i])) +
           s.bodies[i].m * s.gravity * s.x[i].z();
  return sum;
}

/// About a point at rest.
inline Eigen::Vector3d angular_momentum_of(const Bodies& s, const Eigen::Vector3d& about) {
  Eigen::Vector3d sum = Eigen::Vector3d::Zero();
  for (std::size_t i = 0; i < s.bodies.size(); ++i)
    sum += s.bodies[i].m * (s.x[i] - about).cross(s.v[i]) +
           s.R(static_cast<int>(i)) * s.bodies[i].J.cwiseProduct(s.omega[i]);
  return sum;
}

inline Eigen::Matrix3d cross_matrix(const Eigen::Vector3d& a) {
  return (Eigen::Matrix3d() << 0, -a(2), a(1), a(2), 0, -a(0), -a(1), a(0), 0).finished();
}

/// (v̇, ω̇) of all bodies by the equations of Newton and Euler: M is diagonal, and rows are those of the joints. By an orthogonal
/// factorisation in the mass metric; redundant joints do no harm.
inline Eigen::VectorXd newton_euler(const Bodies& s) {
  const int n = 6 * s.count(), m = 3 * static_cast<int>(s.joints.size());
  Eigen::VectorXd root(n), force(n), b = Eigen::VectorXd::Zero(m);
  Eigen::MatrixXd A = Eigen::MatrixXd::Zero(m, n);
  for (int k = 0; k < s.count(); ++k) {
    const Body& body = s.bodies[static_cast<std::size_t>(k)];
    const Eigen::Vector3d w = s.omega[static_cast<std::size_t>(k)];
    root.segment(6 * k, 3).setConstant(1.0 / std::sqrt(body.m));
    root.segment(6 * k + 3, 3) = body.J.cwiseSqrt().cwiseInverse();
    force.segment(6 * k, 3) << 0.0, 0.0, -body.m * s.gravity;
    force.segment(6 * k + 3, 3) = -w.cross(body.J.cwiseProduct(w));
  }
  for (int j = 0; j < m / 3; ++j) {
    const Joint& joint = s.joints[static_cast<std::size_t>(j)];
    const auto side = [&](int k, const Eigen::Vector3d& p, double sign) {
      const Eigen::Matrix3d R = s.R(k);
      const Eigen::Vector3d w = s.omega[static_cast<std::size_t>(k)];
      A.block(3 * j, 6 * k, 3, 3) += sign * Eigen::Matrix3d::Identity();
      A.block(3 * j, 6 * k + 3, 3, 3) -= sign * R * cross_matrix(p);
      b.segment(3 * j, 3) -= sign * (R * w.cross(w.cross(p)));
    };
    side(joint.a, joint.at_a, 1.0);
    if (joint.b >= 0) side(joint.b, joint.at_b, -1.0);
  }
  const Eigen::VectorXd u = root.cwiseProduct(force);
  if (m == 0) return root.cwiseProduct(u);
  Eigen::MatrixXd Z = A * root.asDiagonal();
  for (int j = 0; j < m; ++j) {
    const double size = Z.row(j).norm();
    if (size > 0.0) Z.row(j) /= size, b(j) /= size;
  }
  // The state is on the joints as far as a motion is: dependent rows are so almost.
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> cod(m, n);
  cod.setThreshold(1e-7);
  cod.compute(Z);
  return root.cwiseProduct(u + cod.solve(b - Z * u));
}

/// The same from q̈.
inline Eigen::VectorXd accelerations_of(const Bodies& s, const Eigen::VectorXd& q, const Eigen::VectorXd& qdd) {
  Eigen::VectorXd result(6 * s.count());
  for (int k = 0; k < s.count(); ++k)
    result.segment(6 * k, 6) << qdd.segment(7 * k, 3), spin_of(q.segment(7 * k + 3, 4), qdd.segment(7 * k + 3, 4));
  return result;
}

/// A body that turns freely, by Euler's equations with its rotation matrix: R and ω after a time, by extrapolated steps of fourth
/// order.
struct Turned {
  Eigen::Matrix3d R;
  Eigen::Vector3d omega;
};
inline Turned turn_freely(const Turned& at, const Eigen::Vector3d& J, double time, int steps) {
  const auto rate = [&](const Turned& a) {
    return Turned{a.R * cross_matrix(a.omega), (-a.omega.cross(J.cwiseProduct(a.omega))).cwiseQuotient(J)};
  };
  const auto plus = [](const Turned& a, double f, const Turned& r) {
    return Turned{a.R + f * r.R, a.omega + f * r.omega};
  };
  const auto move = [&](Turned to, int count) {
    const double h = time / count;
    for (int i = 0; i < count; ++i) {
      const Turned a = rate(to), b = rate(plus(to, h / 2, a)), c = rate(plus(to, h / 2, b)), d = rate(plus(to, h, c));
      to = plus(plus(plus(plus(to, h / 6, a), h / 3, b), h / 3, c), h / 6, d);
    }
    return to;
  };
  const Turned fine = move(at, 2 * steps);
  return plus(plus(fine, 1.0 / 15.0, fine), -1.0 / 15.0, move(at, steps));
}

/// Joints of a kind, without their places.
inline std::vector<Joint> joints_of(Joining kind, int count) {
  std::vector<Joint> joints;
  const bool grounded = kind == Joining::top || kind == Joining::chain;
  if (grounded) joints.push_back({.a = 0, .b = -1});
  if (kind == Joining::free || kind == Joining::top) return joints;
  for (int k = 1; k < count; ++k) joints.push_back({.a = k, .b = k - 1});
  if (kind == Joining::loop || kind == Joining::hinge) joints.push_back({.a = 0, .b = count - 1});
  return joints;
}

/// Orientations, spins, masses and places at random, on the joints and moving with them. Lengths of about `length`, masses of
/// about `mass`, spins of about 1, principal inertias of which the largest is up to `ratio` times the smallest.
class RandomBodies {
 public:
  RandomBodies(Joining kind, int count, std::mt19937_64& random) : kind_(kind), random_(random) {
    made_.bodies.resize(static_cast<std::size_t>(count));
    made_.joints = joints_of(kind, count);
  }

  Bodies make(double length, double mass, double ratio) {
    Bodies s = made_;
    const auto count = s.bodies.size();
    s.e.resize(count), s.x.resize(count), s.v.resize(count), s.omega.resize(count);
    s.gravity = kind_ == Joining::free ? 0.0 : length * uniform(0.0, 5.0);
    for (std::size_t i = 0; i < count; ++i) {
      s.bodies[i].m = mass * std::exp(uniform(-1.0, 1.0));
      for (int c = 0; c < 3; ++c)
        s.bodies[i].J(c) = 0.3 * s.bodies[i].m * length * length * std::pow(ratio, -uniform(0.0, 1.0));
      Eigen::Vector4d e = normal4();
      // Now and then one of those orientations that people begin with.
      if (uniform(0.0, 1.0) < 0.05) e = Eigen::Vector4d::Unit(static_cast<int>(uniform(0.0, 4.0)));
      if (uniform(0.0, 1.0) < 0.05) e += 1e-4 * normal4() - e * uniform(0.0, 0.5), e(3) *= 1e-6;
      e.normalize();
      s.e[i] = Eigen::Quaterniond(e(0), e(1), e(2), e(3));
      s.omega[i] = normal3();
    }
    for (std::size_t j = 0; j < s.joints.size(); ++j)
      s.joints[j].at_a = length * normal3(),
      s.joints[j].at_b = s.joints[j].b < 0 ? length * normal3() : length * normal3();
    place(s, length);
    return s;
  }

 private:
  double uniform(double a, double b) { return std::uniform_real_distribution<double>(a, b)(random_); }
  Eigen::Vector3d normal3() { return {normal_(random_), normal_(random_), normal_(random_)}; }
  Eigen::Vector4d normal4() { return {normal_(random_), normal_(random_), normal_(random_), normal_(random_)}; }

  /// Along the tree of the joints; what closes a loop gets its point and its spins from what is there.
  void place(Bodies& s, double length) {
    const bool closed = kind_ == Joining::loop || kind_ == Joining::hinge;
    const std::size_t tree = s.joints.size() - (closed ? 1 : 0);
    for (std::size_t i = 0; i < s.bodies.size(); ++i) s.x[i] = length * normal3(), s.v[i] = length * normal3();
    const auto settle = [&] {
      for (std::size_t j = 0; j < tree; ++j) {
        const Joint& joint = s.joints[j];
        const auto a = static_cast<std::size_t>(joint.a);
        Eigen::Vector3d point = joint.at_b, speed = Eigen::Vector3d::Zero();
        if (joint.b >= 0) {
          const auto b = static_cast<std::size_t>(joint.b);
          point = s.x[b] + s.R(joint.b) * joint.at_b;
          speed = s.v[b] + s.R(joint.b) * s.omega[b].cross(joint.at_b);
        }
        s.x[a] = point - s.R(joint.a) * joint.at_a;
        s.v[a] = speed - s.R(joint.a) * s.omega[a].cross(joint.at_a);
      }
    };
    settle();
    if (!closed) return;
    // The last joint closes where it is: its point on the last body is that of the first.
    Joint& last = s.joints.back();
    const auto b = static_cast<std::size_t>(last.b);
    const Eigen::Vector3d point = s.x[0] + s.R(0) * last.at_a;
    last.at_b = s.R(last.b).transpose() * (point - s.x[b]);
    // Spins that let it stay closed: one Newton step, which is exact since all is linear in them.
    const auto gap = [&] {
      settle();
      return Eigen::Vector3d(s.v[0] + s.R(0) * s.omega[0].cross(last.at_a) - s.v[b] -
                             s.R(last.b) * s.omega[b].cross(last.at_b));
    };
    const auto n = static_cast<Eigen::Index>(3 * s.bodies.size());
    const Eigen::Vector3d off = gap();
    Eigen::MatrixXd slope(3, n);
    for (Eigen::Index c = 0; c < n; ++c) {
      double& w = s.omega[static_cast<std::size_t>(c / 3)](c % 3);
      const double before = w;
      w = 0.0;
      const Eigen::Vector3d zero = gap();
      w = 1.0;
      slope.col(c) = gap() - zero;
      w = before;
    }
    const Eigen::VectorXd d = slope.completeOrthogonalDecomposition().solve(off);
    for (Eigen::Index c = 0; c < n; ++c) s.omega[static_cast<std::size_t>(c / 3)](c % 3) -= d(c);
    settle();
  }

  Joining kind_;
  Bodies made_;
  std::mt19937_64& random_;
  std::normal_distribution<double> normal_;
};

}  // namespace mechanician
