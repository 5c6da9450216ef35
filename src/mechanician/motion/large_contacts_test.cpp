// Motions with contacts whose phases leave rows out of one system, and measured rows beside friction.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "mechanician/base/read_file.hpp"
#include "mechanician/base/trials_for_test.hpp"
#include "mechanician/instant/accelerate.hpp"
#include "mechanician/instant/contacts.hpp"
#include "mechanician/motion/contact_run_for_test.hpp"
#include "mechanician/motion/integrator.hpp"

namespace mechanician {
namespace {

constexpr double g = 9.81;

/// N masses joined by unit rods in a plane, above a floor under each; written member by member.
std::string chain(int N, const std::string& contact) {
  std::string names, kinetic, potential, constraints, start;
  for (int i = 1; i <= N; ++i) {
    const std::string k = std::to_string(i), l = std::to_string(i - 1);
    names += std::string(i > 1 ? ", " : "") + "\"x" + k + "\", \"z" + k + "\"";
    kinetic += std::string(i > 1 ? " + " : "") + "(x" + k + "'^2 + z" + k + "'^2)/2";
    potential += std::string(i > 1 ? " + " : "") + "9.81*z" + k;
    if (i > 1) constraints += "rod" + k + " = \"(x" + k + " - x" + l + ")^2 + (z" + k + " - z" + l + ")^2 = 1\"\n";
    start += "x" + k + " = \"" + k + "*cos(0.01)\"\nz" + k + " = \"0.1 + " + k + "*sin(0.01)\"\n";
  }
  for (int i = 1; i <= N; ++i) {
    const std::string k = std::to_string(i);
    constraints += "[constraints.floor" + k + "]\nequation = \"z" + k + " >= 0\"\n" + contact;
    if (contact.find("friction") != std::string::npos) constraints += "slip = \"x" + k + "'\"\n";
  }
  return "coordinates = [" + names + "]\n[dynamics]\nkinetic = \"" + kinetic + "\"\npotential = \"" + potential +
         "\"\n[constraints]\n" + constraints + "[start.position]\n" + start;
}

TEST(LargeContacts, a_chain_falls_on_the_floor_and_lies_there) {
  const int N = 40;  // 80 coordinates: factors are sparse
  const Loaded model(chain(N, "restitution = 0\n"));
  Ran run(model, 1.0, 1e-8);
  for (int i = 0; i < N; ++i) {
    EXPECT_GE(run.last.q(2 * i + 1), -1e-9);
    EXPECT_LE(run.last.q(2 * i + 1), 1e-9);
  }
  EXPECT_NEAR(run.last.lambda.sum() - run.last.lambda.head(N - 1).sum(), N * g, 1e-8 * N);
  EXPECT_NEAR(run.integrator.certificate().contacts->impact_lost, g * (0.1 * N + std::sin(0.01) * N * (N + 1) / 2),
              1e-6 * N);
}

TEST(LargeContacts, friction_holds_and_loses_energy) {
  const Loaded model(chain(36, "restitution = 0.3\nfriction = 0.2\n"));
  Ran run(model, 0.25, 1e-8);
  const Certificate c = run.integrator.certificate();
  EXPECT_GE(c.contacts->impact_lost + c.contacts->impact_friction_lost, 0.0);
  EXPECT_GE(run.last.q.minCoeff(), -1e-8);
}

TEST(LargeContacts, a_block_slides_beside_measured_rows_as_without_them) {
  // The weighted row is about another coordinate: it must not change the block, nor hide its friction.
  const Loaded model(R"model(
coordinates = ["s", "n", "w"]
[dynamics]
kinetic = "s'^2 + n'^2 + w'^2/2"
force = { n = "-2*9.81", w = "1" }
[constraints.plane]
equation = "n >= 0"
slip = "s'"
friction = 0.5
[constraints.seen]
equation = "w = 0"
weight = 3
[start]
velocity = { s = 3 }
)model");
  Ran run(model, 1.0, 1e-10);
  EXPECT_NEAR(run.last.q(0), 4.5 / (0.5 * g), 1e-8);
  EXPECT_EQ(run.last.qd(0), 0.0);
  EXPECT_NEAR(run.last.works.nonideal, -9.0, 1e-7);
}

/// A model of bench/models with other numbers: {"N = 30", "N = 6"}.
Loaded load_bench(const std::string& name, const std::vector<std::pair<std::string, std::string>>& changes) {
  std::string text = read_file(MECHANICIAN_SOURCE_DIR "/bench/models/" + name + ".toml").text;
  for (const auto& [from, to] : changes) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
  }
  return Loaded(text);
}

/// What touches solved with all contacts together, on a path of choice.
ContactSolution solve_on(SolvePath path, const System& system, const State& state) {
  Evaluation now = system.evaluate(state);
  std::optional<NotFinite> not_finite = now.not_finite;
  std::vector<Contact> contacts = classify_contacts(system, state, now, size_of(state, now), not_finite);
  EXPECT_FALSE(not_finite);
  now.values.path = path;
  // What control does is a given force for contacts.
  if (system.num_control() > 0) now.values.Q += accelerate(system, state, {.diagnose = false}).solution.Q_control;
  return solve_contacts(system, now.values, std::move(contacts), {});
}

TEST(LargeContacts, chains_fall_one_contact_after_the_other_and_lose_energy_alone) {
  const int N = 34;
  for (const char* e : {"e = 0", "e = 0.5"}) {
    SCOPED_TRACE(e);
    const Loaded model = load_bench("chain_fall", {{"N = 1000", "N = 34"}, {"e = 0", e}});
    Integrator integrator = model.integrator({.to = 0.3, .tolerance = 1e-6});
    const auto energy = [&](const Sample& s) {
      return 0.5 * s.qd.squaredNorm() + g * s.q.tail(N).sum();  // x[1] … x[N], z[1] … z[N]
    };
    double last = energy(integrator.sample(0.0));
    const double size = last;
    while (integrator.advance()) {
      const Sample s = integrator.sample(integrator.t());
      EXPECT_GE(s.q.tail(N).minCoeff(), -1e-9) << "t = " << s.t;
      const double now = energy(s);
      EXPECT_LE(now, last + 1e-9 * size) << "t = " << s.t;
      last = now;
    }
    EXPECT_FALSE(integrator.stop().failed()) << integrator.stop().message;
    const Certificate c = integrator.certificate();
    EXPECT_TRUE(c.holds) << (c.reasons.empty() ? "" : c.reasons.front());
    EXPECT_NEAR(size - last, c.contacts->impact_lost, 1e-7 * size);
    EXPECT_GE(c.contacts->impacts, N);
    EXPECT_LE(c.contacts->penetration, 1e-9);
  }
}

/// Impacts of single contacts are solved with the factors of the motion, where nothing but one-sided constraints acts. A force that
/// is none in numbers leaves them to the general solver, with all contacts.
TEST(LargeContacts, impacts_by_the_factors_of_the_motion_are_those_of_the_general_solver) {
  const std::vector<std::pair<std::string, std::string>> floors{
      {"z[i] >= 0", "e = 0"},
      {"z[i] >= 0", "e = 0.5"},
      {"z[i] >= 0.0004*x[i]", "e = 0.3"},
      {"z[i] >= 0.01*sin(20*t)", "e = 0.4"},
      {"z[i] >= 0.001*sin(3*x[i])", "e = 0"},
  };
  for (std::size_t k = 0; k < std::clamp<std::size_t>(num_trials(5), 2, floors.size()); ++k) {
    const auto& [floor, e] = floors[k];
    SCOPED_TRACE(floor + ", " + e);
    const std::vector<std::pair<std::string, std::string>> plain{
        {"N = 1000", "N = 34"}, {"e = 0", e}, {"z[i] >= 0", floor}};
    auto with_force = plain;
    with_force.push_back({"[start.position]", "[nonideal]\n\"x[1]\" = \"-1e-300*x[1]'\"\n[start.position]"});
    const Loaded quick = load_bench("chain_fall", plain), general = load_bench("chain_fall", with_force);
    Integrator one = quick.integrator({.to = 0.17, .tolerance = 1e-9}),
               other = general.integrator({.to = 0.17, .tolerance = 1e-9});
    const Sample x = run_to_end(one), y = run_to_end(other);
    ASSERT_FALSE(one.stop().failed()) << one.stop().message;
    ASSERT_FALSE(other.stop().failed()) << other.stop().message;
    EXPECT_TRUE(one.certificate().holds);
    ASSERT_EQ(one.events().size(), other.events().size());
    EXPECT_GE(one.events().size(), 20u);
    for (std::size_t i = 0; i < one.events().size(); ++i) {
      const MotionEvent &a = one.events()[i], &b = other.events()[i];
      EXPECT_EQ(a.kind, b.kind) << i;
      EXPECT_NEAR(a.time, b.time, 1e-8) << i;
      EXPECT_EQ(a.constraints, b.constraints) << i;
      EXPECT_LT((a.qd_after - b.qd_after).cwiseAbs().maxCoeff(), 1e-6) << i;
    }
    EXPECT_LT((x.q - y.q).cwiseAbs().maxCoeff(), 1e-7);
    EXPECT_LT((x.qd - y.qd).cwiseAbs().maxCoeff(), 1e-5);
    const Certificate c = one.certificate(), d = other.certificate();
    EXPECT_EQ(c.contacts->impacts, d.contacts->impacts);
    EXPECT_NEAR(c.contacts->impact_lost, d.contacts->impact_lost, 1e-6 * std::abs(d.contacts->impact_lost));
    EXPECT_NEAR(c.contacts->surface_work, d.contacts->surface_work, 1e-6 * std::abs(d.contacts->impact_lost));
    EXPECT_NEAR(c.works.ideal, d.works.ideal, 1e-6 * std::abs(d.works.given));
    EXPECT_LE(c.contacts->penetration, 1e-9);
  }
}

TEST(LargeContacts, a_level_chain_lands_with_all_its_masses_at_once) {
  const Loaded model =
      load_bench("chain_fall", {{"N = 1000", "N = 501"}, {"tilt = 0.001", "tilt = 0"}, {"e = 0", "e = 0.5"}});
  Integrator integrator = model.integrator({.to = 0.28, .tolerance = 1e-9});
  const Sample last = run_to_end(integrator);
  ASSERT_FALSE(integrator.stop().failed()) << integrator.stop().message;
  const double first = std::sqrt(0.2 / g), up = 0.5 * g * first;
  ASSERT_FALSE(integrator.events().empty());
  EXPECT_NEAR(integrator.events().front().time, first, 1e-12);
  EXPECT_EQ(integrator.events().front().constraints.size(), 501u);
  // 0.28 lies in the first rebound, of a duration of 2 up/g.
  const double flown = 0.28 - first;
  ASSERT_LT(flown, 2.0 * up / g);
  for (int i = 0; i < 501; ++i) EXPECT_NEAR(last.q(501 + i), up * flown - 0.5 * g * flown * flown, 1e-11) << i;
  EXPECT_NEAR(integrator.certificate().contacts->impact_lost, 501 * 0.75 * g * 0.1, 1e-8);
}

TEST(LargeContacts, a_net_with_every_feature_accelerates_as_by_the_dense_path) {
  for (const bool contradicting : {false, true}) {
    SCOPED_TRACE(contradicting);
    std::vector<std::pair<std::string, std::string>> changes{{"N = 30", "N = 6"}, {"R = 10", "R = 5"}};
    // Rods that are measured twice, with other lengths.
    if (contradicting)
      changes.push_back(
          {"[constraints.floor]",
           "[constraints.again]\nfor = \"i = 2..4\"\nequation = \"(x[i,N] - x[i-1,N])^2 + (y[i,N] - y[i-1,N])^2 + "
           "(z[i,N] - z[i-1,N])^2 = 1 + 0.1*t^2\"\nweight = 5\n[constraints.floor]"});
    const Loaded model = load_bench("net_features", changes);
    Integrator integrator = model.integrator({.to = 0.12, .tolerance = 1e-8});
    int compared = 0;
    for (double next = 0.013; integrator.advance();) {
      if (integrator.t() < next) continue;
      const Sample s = integrator.sample(next);
      next += 0.017;
      const ContactSolution dense = solve_on(SolvePath::dense, model.system, {s.t, s.q, s.qd});
      ASSERT_EQ(dense.status, SolveStatus::solved);
      ASSERT_EQ(dense.trouble, "");
      const double size = dense.qdd.cwiseAbs().maxCoeff();
      EXPECT_LT((s.qdd - dense.qdd).cwiseAbs().maxCoeff(), 1e-8 * size) << "t = " << s.t;
      ++compared;
    }
    EXPECT_FALSE(integrator.stop().failed()) << integrator.stop().message;
    EXPECT_GE(compared, 5);
    EXPECT_TRUE(integrator.certificate().holds);
  }
}

TEST(LargeContacts, a_net_with_every_feature_moves_as_by_small_steps_of_the_dense_path) {
  const Loaded model = load_bench("net_features", {{"N = 30", "N = 6"}, {"R = 10", "R = 5"}});
  Integrator integrator = model.integrator({.to = 0.02, .tolerance = 1e-10});
  const Sample last = run_to_end(integrator);
  ASSERT_FALSE(integrator.stop().failed()) << integrator.stop().message;
  // Up to the first event, where statuses stay as they are.
  double end = 0.02;
  for (const MotionEvent& event : integrator.events()) end = std::min(end, event.time);
  ASSERT_GT(end, 2e-3);
  const auto f = [&](const State& s) { return solve_on(SolvePath::dense, model.system, s).qdd; };
  State s = model.start;
  constexpr int steps = 10;
  const double h = 0.9 * end / steps;
  for (int k = 0; k < steps; ++k) {
    const auto moved = [&](double part, const Eigen::VectorXd& v, const Eigen::VectorXd& a) {
      return State{s.t + part * h, s.q + part * h * v, s.qd + part * h * a};
    };
    const Eigen::VectorXd a1 = f(s);
    const State s2 = moved(0.5, s.qd, a1);
    const Eigen::VectorXd a2 = f(s2);
    const State s3 = moved(0.5, s2.qd, a2);
    const Eigen::VectorXd a3 = f(s3);
    const State s4 = moved(1.0, s3.qd, a3);
    s = {s.t + h, s.q + h / 6.0 * (s.qd + 2.0 * s2.qd + 2.0 * s3.qd + s4.qd),
         s.qd + h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + f(s4))};
  }
  Integrator again = model.integrator({.to = s.t, .tolerance = 1e-10});
  const Sample there = run_to_end(again);
  EXPECT_LT((there.q - s.q).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_LT((there.qd - s.qd).cwiseAbs().maxCoeff(), 1e-7);
}

TEST(LargeContacts, random_contacts_with_control_and_measured_rows_are_solved_alike_on_both_paths) {
  int compared = 0;
  const unsigned trials = num_trials(60);
  for (unsigned seed = 1; seed <= trials; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937 random(seed);
    const auto number = [&] { return std::to_string(std::uniform_real_distribution<double>(-1.0, 1.0)(random)); };
    const auto chance = [&] { return random() % 2 == 0; };
    const int N = 3 + static_cast<int>(random() % 3);
    const bool friction = chance();
    std::string text = "coordinates = [\"x[1.." + std::to_string(N) + "]\", \"z[1.." + std::to_string(N) +
                       "]\"]\n[dynamics]\nkinetic = \"sum(i = 1.." + std::to_string(N) +
                       ", (1 + 0.2*i)*(x[i]'^2 + z[i]'^2)/2)\"\n";
    std::string forces, start, constraints;
    for (int i = 1; i <= N; ++i) {
      const std::string k = "[" + std::to_string(i) + "]";
      forces += "\"x" + k + "\" = \"3*" + number() + "\"\n\"z" + k + "\" = \"-2 + 4*" + number() + "\"\n";
      start += "\"x" + k + "\" = " + std::to_string(i) + "\n";
      if (chance()) continue;
      constraints += "[constraints.floor" + std::to_string(i) + "]\nequation = \"z" + k + " >= 0\"\n";
      if (friction && chance()) constraints += "friction = 0.3\nslip = \"x" + k + "'\"\n";
    }
    constraints += "[constraints.rod]\nfor = \"i = 2.." + std::to_string(N) +
                   "\"\nequation = \"(x[i] - x[i-1])^2 + (z[i] - z[i-1])^2 = 1\"\n";
    if (chance()) constraints += "[constraints.gauge]\nequation = \"z[1] + z[2] = " + number() + "*t^2\"\nweight = 2\n";
    if (chance()) constraints += "[constraints.other]\nequation = \"z[1] + z[2] = " + number() + "*t^2\"\nweight = 3\n";
    if (chance()) constraints += "[control.drive]\nequation = \"x[2] = 2 + t^2\"\nfrequency = 2\ndamping = 1\n";
    const Loaded model(text + "[dynamics.force]\n" + forces + constraints + "[start.position]\n" + start);
    const ContactSolution dense = solve_on(SolvePath::dense, model.system, model.start),
                          sparse = solve_on(SolvePath::sparse, model.system, model.start);
    ASSERT_EQ(dense.status, sparse.status);
    EXPECT_EQ(dense.trouble, sparse.trouble);
    if (dense.status != SolveStatus::solved || !dense.trouble.empty()) continue;
    const double size = 1.0 + dense.qdd.cwiseAbs().maxCoeff();
    EXPECT_LT((dense.qdd - sparse.qdd).cwiseAbs().maxCoeff(), 1e-11 * size);
    EXPECT_EQ(dense.acting, sparse.acting);
    ++compared;
  }
  EXPECT_GE(compared, static_cast<int>(trials) / 2);
}

}  // namespace
}  // namespace mechanician
