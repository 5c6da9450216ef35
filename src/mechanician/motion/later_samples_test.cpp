// Samples whose accelerations and forces are found later have the bits of those that are found at once; and motions of a system that had one before.

#include <gtest/gtest.h>

#include "mechanician/motion/motion_for_test.hpp"

namespace mechanician {
namespace {

const std::string pendulum = R"toml(coordinates = ["x", "y"]
[dynamics]
kinetic = "x'^2/2 + y'^2/2 + 0.1*x^2*y'^2"
potential = "9.81*y"
force = { x = "-0.1*x'" }
[constraints]
rod = "x^2 + y^2 = 1"
[nonideal]
x = "-0.01*ideal(x)"
[start]
position = { x = 0.6, y = -0.8 }
)toml";

struct Gathered {
  std::vector<std::vector<double>> samples;
  int later = 0;
  long projections = 0;
};

void look(Integrator& integrator, double part, bool may_wait, std::vector<std::vector<double>>& states,
          Gathered& seen) {
  const double t = integrator.step_begin() + part * (integrator.t() - integrator.step_begin());
  if (may_wait)
    if (const auto state = integrator.sample_later(t); !state.empty()) {
      states.emplace_back(state.begin(), state.end());
      states.back().push_back(t);
      seen.samples.emplace_back();
      ++seen.later;
      return;
    }
  states.emplace_back();
  seen.samples.push_back(numbers_of(integrator.sample(t)));
}

Gathered run(const Loaded& model, bool may_wait, MotionOptions options) {
  Integrator integrator = model.integrator(options);
  Gathered seen;
  std::vector<std::vector<double>> states;
  look(integrator, 1.0, may_wait, states, seen);
  while (integrator.advance())
    for (int part = 1; part <= 10; ++part) look(integrator, 0.1 * part, may_wait, states, seen);
  seen.projections = integrator.statistics().projections;
  for (std::size_t k = states.size(); k-- > 0;)  // in any order
    if (!states[k].empty()) seen.samples[k] = numbers_of(integrator.complete_sample(states[k].back(), states[k]));
  return seen;
}

/// Returns how many samples could wait, of how many.
std::pair<int, std::size_t> compare(const Loaded& model, MotionOptions options = {.to = 2.0, .tolerance = 1e-8}) {
  const Gathered at_once = run(model, false, options), later = run(model, true, options);
  EXPECT_EQ(at_once.samples.size(), later.samples.size());
  for (std::size_t k = 0; k < at_once.samples.size(); ++k)
    EXPECT_TRUE(same_bits(at_once.samples[k], later.samples[k])) << "sample " << k;
  EXPECT_EQ(at_once.projections, later.projections);
  return {later.later, later.samples.size()};
}

TEST(LaterSamples, are_those_of_now) {
  const auto [later, all] = compare(Loaded(pendulum));
  EXPECT_EQ(later, static_cast<int>(all));
  const auto [stiff, all_stiff] = compare(Loaded(pendulum), {.to = 2.0, .tolerance = 1e-6, .method = Method::bdf});
  EXPECT_EQ(stiff, static_cast<int>(all_stiff));
}

TEST(LaterSamples, are_taken_now_where_more_than_the_state_decides) {
  // Sides and what contacts do are held; where rows depend on others their choice is; outputs of accelerations may have no value.
  for (const char* more :
       {"[outputs]\npull = \"x'' + y\"\n", "[outputs]\nload = \"multiplier(rod)\"\n",
        "[constraints.floor]\nequation = \"y >= -0.9\"\n", "[constraints.again]\nequation = \"2*x^2 + 2*y^2 = 2\"\n",
        "[control.track]\nequation = \"x = 0.6\"\nfrequency = 2\n"}) {
    const auto [later, all] = compare(Loaded(pendulum + more));
    EXPECT_EQ(later, 0) << more;
    EXPECT_GT(all, 10u);
  }
  EXPECT_EQ(compare(line("-abs(x)", "position = { x = 1 }")).first, 0);
}

TEST(LaterSamples, are_taken_now_where_an_output_has_no_value) {
  const auto [all_of_them, count] = compare(Loaded(pendulum + "[outputs]\nheight = \"y + 1\"\n"));
  EXPECT_EQ(all_of_them, static_cast<int>(count));
  const auto [later, all] = compare(Loaded(pendulum + "[outputs]\nheight = \"log(y + 0.9)\"\n"));
  EXPECT_GT(later, 0);
  EXPECT_LT(later, static_cast<int>(all));
}

TEST(LaterSamples, wait_on_the_way_past_a_singular_configuration_only_where_they_may) {
  const auto [later, all] = compare(load_case("antiparallelogram"), {.to = 3.0, .tolerance = 1e-9});
  EXPECT_GT(later, 0);
  EXPECT_LT(later, static_cast<int>(all));
}

// What is made of a system is kept, and is that of the equations: other values of parameters are not mixed up with it.
TEST(LaterSamples, motions_of_a_system_again_and_with_other_parameters_are_those_of_a_new_one) {
  const std::string text = pendulum + "[parameters]\nk = 1\n";
  const auto with = [&](std::string k) {
    std::string own = text;
    own.replace(own.find("9.81"), 4, "k*9.81").replace(own.find("k = 1"), 5, "k = " + k);
    return own;
  };
  Loaded first(with("1"));
  const Gathered once = run(first, true, {.to = 1.0, .tolerance = 1e-8}),
                 again = run(first, true, {.to = 1.0, .tolerance = 1e-8});
  EXPECT_EQ(once.samples, again.samples);
  Loaded changed(with("1"));
  run(changed, true, {.to = 1.0, .tolerance = 1e-8});
  changed.system.set_parameters(std::vector<double>{2.0});
  const Loaded second(with("2"));
  EXPECT_EQ(run(changed, true, {.to = 1.0, .tolerance = 1e-8}).samples,
            run(second, true, {.to = 1.0, .tolerance = 1e-8}).samples);
}

}  // namespace
}  // namespace mechanician
