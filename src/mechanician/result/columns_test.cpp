#include "mechanician/result/columns.hpp"

#include <gtest/gtest.h>

#include "mechanician/result/example_for_test.hpp"

namespace mechanician {
namespace {

using Names = std::vector<std::string>;

TEST(Columns, are_those_of_the_contract_in_its_order) {
  const Columns columns(example_system());
  EXPECT_EQ(columns.names(), (Names{"t",
                                    "x",
                                    "y",
                                    "x'",
                                    "y'",
                                    "x''",
                                    "y''",
                                    "Qc(x)",
                                    "Qc(y)",
                                    "Qi(x)",
                                    "Qi(y)",
                                    "Qni(x)",
                                    "Qni(y)",
                                    "lambda(rod)",
                                    "lambda(line)",
                                    "height",
                                    "residual",
                                    "power(rod)",
                                    "power(line)",
                                    "work_given",
                                    "work_ideal",
                                    "work_nonideal",
                                    "work_control",
                                    "work(rod)",
                                    "work(line)"}));
  EXPECT_EQ(columns.size(), 25);
}

TEST(Columns, hold_control_forces_where_there_is_control) {
  const Columns columns(example_system("[control.track]\nequation = \"x = t\"\nfrequency = 2\n"));
  const Names names = columns.names();
  EXPECT_EQ(names[13], "Qcontrol(x)");
  EXPECT_EQ(names[17], "e(track)");
  EXPECT_EQ(names[18], "cost");
  EXPECT_EQ(columns.size(), 29);
  EXPECT_EQ(columns.constraints(), (Names{"rod", "line"}));  // a requirement has no multiplier
}

TEST(Columns, of_a_state_are_those_of_its_sample) {
  const Sample sample = example_sample(0.0);
  std::vector<double> state, whole, row;
  for (const Eigen::VectorXd* x : {&sample.q, &sample.qd}) state.insert(state.end(), x->begin(), x->end());
  const Works& w = sample.works;
  state.insert(state.end(), {w.given, w.ideal, w.nonideal, w.control, w.constraints(0), w.constraints(1)});
  for (const char* chosen : {"", "y', work(line), lambda(*), work_given"}) {
    const Columns columns(example_system(), chosen);
    columns.fill_row(sample, whole);
    columns.fill_row(0.0, state, row);
    const std::vector<char> known = columns.in_state();
    ASSERT_EQ(row.size(), whole.size());
    ASSERT_EQ(known.size(), whole.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
      EXPECT_EQ(known[i] != 0, std::isfinite(row[i])) << columns.names()[i];
      if (known[i]) {
        EXPECT_EQ(row[i], whole[i]) << columns.names()[i];
      }
    }
    EXPECT_EQ(std::count(known.begin(), known.end(), 1), *chosen ? 4 : 11);
  }
}

TEST(Columns, put_every_number_of_a_sample_under_its_name) {
  const Columns columns(example_system());
  std::vector<double> row{1, 2, 3};
  columns.fill_row(example_sample(0.0), row);
  const std::vector<double> expected{0, 1,   1.1, 2,  2.1, 3,   3.1, 4,  4.1, 5,  5.1, 6,   6.1,
                                     8, 8.1, 10,  11, 9,   9.1, 12,  13, 14,  15, 16,  16.1};
  ASSERT_EQ(row.size(), expected.size());
  for (std::size_t i = 0; i < row.size(); ++i) EXPECT_DOUBLE_EQ(row[i], expected[i]) << columns.names()[i];
}

TEST(Columns, of_a_free_particle_have_no_multipliers) {
  Model model = read_model_text("coordinates = [\"x\"]\n[dynamics]\nmass = { x = 1 }\n", "free.toml");
  const Columns columns(System(std::move(model), {}));
  EXPECT_EQ(columns.names(), (Names{"t", "x", "x'", "x''", "Qc(x)", "Qi(x)", "Qni(x)", "residual", "work_given",
                                    "work_ideal", "work_nonideal", "work_control"}));
}

}  // namespace
}  // namespace mechanician
