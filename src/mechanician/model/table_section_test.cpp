// [tables] of model files. What is said of bad ones is in tests/corpus.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "mechanician/expression/print.hpp"
#include "mechanician/expression/tape.hpp"
#include "mechanician/model/parameters.hpp"
#include "mechanician/model/read_model.hpp"

namespace mechanician {
namespace {

/// The force on x at t, with parameters as they are.
double force(const Model& model, double t, double x = 0.0) {
  std::vector<Expr> inputs{time_symbol(), coordinate("x")};
  std::vector<double> values{t, x};
  const ParameterValues parameters = evaluate_parameters(model);
  for (std::size_t i = 0; i < model.parameters.size(); ++i)
    inputs.push_back(model.parameters[i].symbol()), values.push_back(parameters.values[i]);
  const Expr f = model.forces.at(0).value;
  return Tape(std::span(&f, 1), inputs)(std::span<const double>(values)).front();
}

Model read(const std::string& f, const std::string& more) {
  return read_model_text("coordinates = [\"x\"]\n[dynamics]\nmass = { x = 1 }\nforce = { x = \"" + f + "\" }\n" + more,
                         "test.toml");
}

TEST(TableSection, PointsAreAFunction) {
  const std::string table = "[tables.f]\npoints = [[0, 1], [2, 3], [4, -1]]\n";
  EXPECT_DOUBLE_EQ(force(read("f(t)", table), 1.0), 2.0);
  EXPECT_DOUBLE_EQ(force(read("f(2*t - x)^2 + f'(t)", table), 1.5, 2.0), 4.0 + 1.0);
  EXPECT_TRUE(std::isnan(force(read("f(t)", table), 4.5)));
  EXPECT_EQ(print(read("f(t + 1)", table).forces.at(0).value), "f(t + 1)");
  EXPECT_EQ(read("f(t)", table).tables.size(), 1u);
}

TEST(TableSection, GridsComeInAnyOrder) {
  const Model model = read("g(x, t)",
                           "[tables.g]\narguments = [\"x\", \"y\"]\noutside = \"hold\"\n"
                           "points = [[1, 5, 6], [0, 0, 0], [1, 0, 1], [0, 5, 5]]\n");  // x + y
  EXPECT_DOUBLE_EQ(force(model, 2.0, 0.25), 2.25);
  EXPECT_DOUBLE_EQ(force(model, 9.0, -1.0), 5.0);
}

TEST(TableSection, ParametersAndDefinitionsMayUseThem) {
  const std::string table = "[tables.f]\npoints = [[0, 1], [2, 3], [4, -1]]\n";
  EXPECT_DOUBLE_EQ(force(read("k*t", "[parameters]\nk = \"2*f(a)\"\na = 1\n" + table), 3.0), 12.0);
  const Model model = read("d + d'", "[define]\nd = \"f(2*t)\"\n" + table);
  EXPECT_DOUBLE_EQ(force(model, 0.5), 2.0 + 2.0);
}

TEST(TableSection, FilesHaveSeveralColumns) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "mechanician_table_section_test";
  std::filesystem::create_directories(folder / "data");
  std::ofstream(folder / "data" / "record.csv")
      << "\xEF\xBB\xBF# a record\nname;t;\"a x\";ay\n\na;0;1;2\nb;1;3;-2\nc;2;0;4\n";
  std::ofstream(folder / "model.toml") << R"toml(
coordinates = ["x"]
[tables.record]
file = "data/record.csv"
argument = "t"
value = ["t", "ay"]
[tables.single]
file = "data/record.csv"
argument = "t"
value = "a x"
[dynamics]
mass = { x = 1 }
force = { x = "record.ay(t) + 10*record.t(t) + 100*record.ay'(t) + 1000*single(t)" }
)toml";
  const Model model = read_model(folder / "model.toml");
  EXPECT_DOUBLE_EQ(force(model, 0.5), 0.0 + 5.0 - 400.0 + 2000.0);
  EXPECT_EQ(model.tables.size(), 3u);
  EXPECT_EQ(data_files(folder / "model.toml").size(), 2u);
  // Those of parts, and the parts themselves; a circle of parts ends.
  std::ofstream(folder / "whole.toml") << "[parts.a]\nmodel = \"model.toml\"\n[parts.b]\nmodel = \"whole.toml\"\n";
  const std::vector<std::string> files = data_files(folder / "whole.toml");
  for (const char* name : {"model.toml", "whole.toml", "data/record.csv"})
    EXPECT_NE(std::find(files.begin(), files.end(), (folder / name).string()), files.end()) << name;
  std::filesystem::remove_all(folder);
}

TEST(TableSection, FamiliesUseThemToo) {
  const Model model = read_model_text(R"toml(
coordinates = ["u[1..3]"]
[tables.f]
points = [[0, 0], [10, 10]]
[dynamics]
kinetic = "sum(i = 1..3, u[i]'^2/2)"
force = { "u[i]" = { for = "i = 1..3", value = "f(i + t)" } }
)toml",
                                      "test.toml");
  ASSERT_EQ(model.forces.size(), 3u);
  EXPECT_EQ(print(model.forces[2].value), "f(3 + t)");
}

}  // namespace
}  // namespace mechanician
