#include "mechanician/motion/motion_family.hpp"

#include <gtest/gtest.h>

#include <string>

#include "mechanician/model/parameters.hpp"
#include "mechanician/model/read_model.hpp"
#include "mechanician/motion/handed_motion.hpp"
#include "mechanician/motion/integrator.hpp"

namespace mechanician {
namespace {

struct FamilyCase {
  const char* model;
  int parameter;
  double from, to, until;
};
void PrintTo(const FamilyCase& named, std::ostream* out) { *out << named.model; }

struct Ready {
  System system;
  State start;
};
Ready read(const std::string& name) {
  Model model = read_model(std::string(MECHANICIAN_SOURCE_DIR) + "/models/" + name + ".toml");
  const ParameterValues parameters = evaluate_parameters(model);
  State start = state_of(start_state(model, parameters));
  return {System(std::move(model), parameters.values), std::move(start)};
}

struct End {
  Eigen::VectorXd q, qd;
  std::size_t events = 0;
  long steps = 0;
};
End run(Integrator integrator) {
  EXPECT_FALSE(integrator.refusal()) << integrator.refusal()->message;
  while (integrator.advance()) {
  }
  EXPECT_FALSE(integrator.stop().failed()) << integrator.stop().message;
  EXPECT_TRUE(integrator.certificate().holds);
  const Sample end = integrator.sample(integrator.t());
  return {end.q, end.qd, integrator.events().size(), integrator.statistics().steps};
}

class Family : public testing::TestWithParam<FamilyCase> {
 protected:
  std::vector<double> values(const Ready& ready, int k) const {
    std::vector<double> parameters = ready.system.parameters();
    parameters[static_cast<std::size_t>(GetParam().parameter)] =
        GetParam().from + (GetParam().to - GetParam().from) * k / 2.0;
    return parameters;
  }
};

TEST_P(Family, gives_the_motions_of_systems_of_their_own) {
  const Ready ready = read(GetParam().model);
  const MotionOptions options{.to = GetParam().until, .tolerance = 1e-9};
  MotionFamily family(ready.system, ready.start, {GetParam().parameter});
  for (int k = 0; k < 3; ++k) {
    const System own(ready.system.model(), values(ready, k), System::Checked::already);
    family.set_parameters(values(ready, k));
    const End ours = run(Integrator(family, ready.start, options)), theirs = run(Integrator(own, ready.start, options));
    // Errors of either are some hundred tolerances at most.
    EXPECT_LT((ours.q - theirs.q).cwiseAbs().maxCoeff(), 1e3 * options.tolerance) << "value " << k;
    EXPECT_EQ(ours.events, theirs.events) << "value " << k;
  }
}

TEST_P(Family, gives_a_motion_the_same_bits_whatever_came_before) {
  const Ready ready = read(GetParam().model);
  const MotionOptions options{.to = GetParam().until, .tolerance = 1e-8};
  MotionFamily family(ready.system, ready.start, {GetParam().parameter});
  std::vector<End> first;
  for (int k = 0; k < 3; ++k) {
    family.set_parameters(values(ready, k));
    first.push_back(run(Integrator(family, ready.start, options)));
  }
  const std::unique_ptr<MotionFamily> other = family.clone();
  for (int k = 2; k >= 0; --k) {
    other->set_parameters(values(ready, k));
    const End again = run(Integrator(*other, ready.start, options));
    EXPECT_EQ(again.q, first[static_cast<std::size_t>(k)].q) << "value " << k;
    EXPECT_EQ(again.qd, first[static_cast<std::size_t>(k)].qd) << "value " << k;
    EXPECT_EQ(again.steps, first[static_cast<std::size_t>(k)].steps) << "value " << k;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Family,
                         testing::Values(FamilyCase{"double_pendulum", 4, 8.0, 11.0, 1.0},
                                         FamilyCase{"bouncing_ball", 2, 0.5, 0.9, 2.0},
                                         FamilyCase{"rolling_disk", 2, 9.0, 10.0, 0.5},
                                         FamilyCase{"ball_on_incline", 1, 9.0, 10.0, 0.5}),
                         [](const auto& named) { return std::string(named.param.model); });

TEST(HandedMotion, goes_on_where_another_integrator_takes_it_over) {
  for (const char* model : {"double_pendulum", "bouncing_ball"}) {
    const Ready ready = read(model);
    const MotionOptions options{.to = 1.0, .tolerance = 1e-9};
    const End whole = run(Integrator(ready.system, ready.start, options));
    Integrator one(ready.system, ready.start, options), other(ready.system, ready.start, options);
    ASSERT_TRUE(other.can_hand_over()) << model;
    for (int k = 0; k < 5; ++k) one.advance();
    ASSERT_TRUE(one.can_hand_over()) << model;
    const HandedMotion handed = one.hand_over();
    EXPECT_EQ(handed.t, one.t());
    other.take_back(handed);
    EXPECT_EQ(other.t(), handed.t);
    const End end = run(std::move(other));
    EXPECT_LT((end.q - whole.q).cwiseAbs().maxCoeff(), 1e3 * options.tolerance) << model;
    EXPECT_EQ(end.steps, whole.steps) << model;
  }
}

TEST(HandedMotion, is_not_handed_over_in_contact) {
  const Ready ready = read("bouncing_ball");
  std::vector<double> parameters = ready.system.parameters();
  parameters[2] = 0.0;  // the first impact is the last
  const System system(ready.system.model(), parameters, System::Checked::already);
  Integrator integrator(system, ready.start, {.to = 2.0, .tolerance = 1e-9});
  bool in_flight = false;
  while (integrator.advance()) {
    in_flight |= integrator.t() < 0.6;
    EXPECT_EQ(integrator.can_hand_over(), integrator.t() < 0.638) << integrator.t();  // √(2 h/g) = 0.63855
  }
  EXPECT_TRUE(in_flight);
}

}  // namespace
}  // namespace mechanician
