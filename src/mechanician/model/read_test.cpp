#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "mechanician/expression/print.hpp"
#include "mechanician/model/parameters.hpp"
#include "mechanician/model/read_model.hpp"

namespace mechanician {
namespace {

std::vector<std::string> refusals(std::string_view text) {
  try {
    read_model_text(text, "m.toml");
  } catch (const ModelError& e) {
    std::vector<std::string> said;
    for (const Problem& p : e.problems())
      said.push_back(std::to_string(p.place.line) + ":" + std::to_string(p.place.column) + " " + p.message);
    return said;
  }
  return {};
}
std::string refusal(std::string_view text) {
  const auto said = refusals(text);
  return said.size() == 1 ? said.front()
                          : std::to_string(said.size()) + " problems" + (said.empty() ? "" : ", first " + said.front());
}

constexpr std::string_view bead = R"toml(title = "Bead on a hoop that spins"
coordinates = ["x", "y", "z"]

[parameters]
m  = 0.2
g  = 9.81
R  = 1.0
w  = "2*pi/3"
mu = 0.1

[define]
height = "z + R"
speed  = "sqrt(x'^2 + y'^2 + z'^2)"

[dynamics]
kinetic   = "m/2*(x'^2 + y'^2 + z'^2)"
potential = "m*g*height"
force     = { x = "-0.01*x'" }

[constraints]
hoop  = "x^2 + y^2 + z^2 = R^2"
plane = "x*sin(w*t) = y*cos(w*t)"

[nonideal]
z = "-mu*abs(ideal(z))*z'/(speed + 1e-9)"

[start]
time     = 0.5
position = { x = 0.6, z = -0.8 }
velocity = { y = "w*0.6" }

[run]
to        = 10.0
every     = 0.01
tolerance = 1e-9
method    = "dop853"

[outputs]
energy = "m/2*speed^2 + m*g*height"

[events]
top = { when = "z'", direction = "down", do = "stop" }

[control.circle]
equation  = "x^2 + y^2 = (1 + t/10)^2"
frequency = 5.0
damping   = 0.7

[unknown]
alpha = "t"
beta  = "x, t"
)toml";

TEST(ReadModel, KeepsWhatTheFileSays) {
  const Model model = read_model_text(bead, "bead.toml");
  EXPECT_EQ(model.title, "Bead on a hoop that spins");
  ASSERT_EQ(model.num_coordinates(), 3);
  EXPECT_EQ(model.coordinates[2].name, "z");
  EXPECT_EQ(to_text(model.parameters[3].value), to_text(read_model_text(bead, "").parameters[3].value));
  EXPECT_EQ(model.parameters[4].name, "mu");
  EXPECT_EQ(to_text(*model.kinetic), "m/2*(x'^2 + y'^2 + z'^2)");
  EXPECT_EQ(to_text(*model.potential), "m*g*(z + R)");
  ASSERT_EQ(model.forces.size(), 1u);
  EXPECT_EQ(model.forces[0].name, "x");
  ASSERT_EQ(model.constraints.size(), 2u);
  EXPECT_EQ(model.constraints[0].name, "hoop");
  EXPECT_EQ(to_text(model.constraints[0].residual), "x^2 + y^2 + z^2 - R^2");
  EXPECT_EQ(model.constraints[0].text, "x^2 + y^2 + z^2 = R^2");
  EXPECT_EQ(model.constraints[0].level(), Level::position);
  EXPECT_EQ(model.nonideal[0].name, "z");
  EXPECT_TRUE(model.nonideal[0].value.contains(SymbolKind::ideal_force));
  EXPECT_TRUE(model.nonideal[0].value.contains(SymbolKind::velocity));
  EXPECT_EQ(model.run.to, 10.0);
  EXPECT_EQ(model.run.every, 0.01);
  EXPECT_EQ(model.run.tolerance, 1e-9);
  EXPECT_EQ(model.run.method, "dop853");
  EXPECT_EQ(model.outputs[0].name, "energy");
  ASSERT_EQ(model.events.size(), 1u);
  EXPECT_EQ(model.events[0].direction, EventDirection::down);
  EXPECT_EQ(model.events[0].action, EventAction::stop);
  ASSERT_EQ(model.controls.size(), 1u);
  EXPECT_TRUE(model.controls[0].frequency->is_constant(5.0));
  EXPECT_TRUE(model.controls[0].damping.is_constant(0.7));
  ASSERT_EQ(model.unknowns.size(), 2u);
  EXPECT_EQ(model.unknowns[1].symbol().depends.size(), 2u);
  const StartState start = start_state(model, evaluate_parameters(model));
  EXPECT_EQ(start.time, 0.5);
  EXPECT_EQ(start.q, (std::vector<double>{0.6, 0.0, -0.8}));
  EXPECT_NEAR(start.qd[1], 1.2566370614359172, 1e-15);
}

TEST(ReadModel, KnowsWhereThingsStand) {
  const Model model = read_model_text(bead, "bead.toml");
  EXPECT_EQ(model.coordinates[1].place.line, 2);
  EXPECT_EQ(model.coordinates[1].place.column, 22);
  EXPECT_EQ(model.constraints[1].place.line, 22);
  EXPECT_EQ(model.constraints[1].place.column, 10);
  EXPECT_EQ(model.constraints[1].place.length, 23);
  EXPECT_EQ(model.places.at("kinetic").line, 16);
  EXPECT_EQ(model.places.at("start.position.z").column, 27);
}

TEST(ReadModel, ConstraintsComeInTheOrderOfTheFile) {
  const Model model = read_model_text(R"toml(coordinates = ["x", "y"]
[dynamics]
mass = { x = 1, y = 1 }
[constraints]
zeta = "x = 0"
alpha = "y = 0"
[constraints.mid]
equation = "x + y = 0"
weight = "2 + t"
[constraints.beta]
equation = "x - y = 0"
)toml",
                                      "order.toml");
  std::string names;
  for (const Constraint& c : model.constraints) names += c.name + " ";
  EXPECT_EQ(names, "zeta alpha mid beta ");
  EXPECT_EQ(to_text(*model.constraints[2].weight), "2 + t");
}

TEST(ReadModel, TheKindOfAConstraintIsReadThroughDefinitionsAndBeforeSimplification) {
  const Model model = read_model_text(R"toml(coordinates = ["x", "y"]
[define]
outer = "2*inner"
inner = "x'*y"
[dynamics]
mass = { x = 1, y = 1 }
[constraints]
a = "outer = 1"
b = "x + 0*y'' = 1"
c = "x = 1"
)toml",
                                      "kinds.toml");
  EXPECT_EQ(model.constraints[0].level(), Level::velocity);
  EXPECT_EQ(model.constraints[1].level(), Level::acceleration);
  EXPECT_EQ(model.constraints[2].level(), Level::position);
}

TEST(ReadModel, MassIsAMatrixOrADiagonal) {
  const Model rows = read_model_text(
      "coordinates = [\"x\", \"y\"]\n[dynamics]\nmass = [[2, \"sin(x)\"], [\"sin(x)\", 3.5]]\n", "rows.toml");
  EXPECT_EQ(to_text(rows.mass[0][1]), "sin(x)");
  EXPECT_TRUE(rows.mass[1][1].is_constant(3.5));
  const Model diagonal =
      read_model_text("coordinates = [\"x\", \"y\"]\n[dynamics]\nmass = { y = \"2*y\" }\n", "diagonal.toml");
  EXPECT_TRUE(diagonal.mass[0][0].is_zero());
  EXPECT_EQ(to_text(diagonal.mass[1][1]), "2*y");
}

TEST(ReadModel, AnUnknownFunctionOfTimeHasDerivatives) {
  const Model model = read_model_text(R"toml(coordinates = ["x"]
[dynamics]
mass = { x = 1 }
[constraints]
n = "x' = alpha + alpha'"
[unknown]
alpha = "t"
)toml",
                                      "unknown.toml");
  EXPECT_TRUE(model.constraints[0].residual.contains(SymbolKind::unknown));
  EXPECT_EQ(refusal(R"toml(coordinates = ["x"]
[dynamics]
mass = { x = 1 }
[constraints]
n = "x' = alpha'"
[unknown]
alpha = "x"
)toml"),
            "5:11 `alpha'`: only coordinates and definitions can have primes");
}

TEST(ReadModel, AllReferenceCasesAreRead) {
  int read = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(MECHANICIAN_SOURCE_DIR) / "tests" / "cases")) {
    if (entry.path().extension() != ".toml") continue;
    EXPECT_NO_THROW(read_model(entry.path())) << entry.path();
    ++read;
  }
  EXPECT_GE(read, 50);
}

TEST(ReadModel, FilesThatCannotBeReadAreNoModelErrors) {
  const auto said = [](const std::string& path) -> std::string {
    try {
      read_model(path);
    } catch (const FileError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(said("/nowhere/model.toml"), "cannot read /nowhere/model.toml: No such file or directory");
  EXPECT_EQ(said("/"), "cannot read /: it is a folder");
}

TEST(ReadModel, AFileThatIsTooLargeIsRefusedBySize) {
  std::string text = "coordinates = [\"x\"]\n[dynamics]\nmass = { x = 1 }\n";
  text.resize(largest_file, '\n');
  EXPECT_TRUE(refusals(text).empty());
  text += '\n';
  EXPECT_EQ(refusal(text), "0:0 the file is larger than 16 MiB");
}

TEST(ReadModel, EveryMistakeIsReportedInTheOrderOfTheFile) {
  const auto said = refusals(R"toml(coordinates = ["x"]
[parameters]
m = 0,5
k = "1/0"
[dynamics]
kinetic = "m/2*xx'^2"
[constraints]
rod = "x = "
bar = "x + k = y"
[outputs]
e = "x
)toml");
  EXPECT_EQ(said, (std::vector<std::string>{"3:5 decimals are written with a point, not with a comma",
                                            "6:16 unknown name `xx`",
                                            "8:11 the expression ends where a number or name is expected",
                                            "9:16 unknown name `y`", "11:5 this string is never closed"}));
}

TEST(ReadModel, AMistakeInTheTomlLeadsToNoFurtherOnes) {
  // The coordinates, a parameter and the kinetic energy cannot be read: nothing is called unknown or missing.
  EXPECT_EQ(refusal("coordinates = [\"x\"\n[dynamics]\nkinetic = \"x'^2\"\n"), "1:15 this `[` is never closed");
  EXPECT_EQ(refusal("coordinates = [\"x\"]\n[parameters]\nm = \n[dynamics]\nkinetic = \"m*x'^2\"\n"),
            "3:1 `m` has no value");
  EXPECT_EQ(refusal("coordinates = [\"x\"]\n[dynamics]\nkinetic = x'^2\n"),
            "3:11 an expression must stand in quotation marks");
  EXPECT_EQ(refusal("coordinates = [\"x\"]\n[parameters\nm = 1\n[dynamics]\nkinetic = \"m*x'^2\"\n"),
            "2:1 this bracket is never closed");
  EXPECT_EQ(refusal("coordinates = [\"x\"]\n[dynamics]\nkinetic = \"x'^2\"\n[constraints]\nrod = x\n[nonideal]\nx = "
                    "\"multiplier(rod)\"\n"),
            "5:7 an expression must stand in quotation marks");
}

TEST(ReadModel, ALostClosingMarkInAMatrixSpoilsOnlyTheMatrix) {
  EXPECT_EQ(refusals(R"toml(coordinates = ["x", "y"]
[dynamics]
mass = [
  ["1, "0"],
  ["0", "1"],
]
force = { z = 1 }
)toml"),
            (std::vector<std::string>{"4:9 expected comma or closing ']', saw '0'", "7:11 `z` is no coordinate"}));
}

TEST(ReadModel, NumbersOfManyFormsMeanTheSame) {
  const Model model = read_model_text(R"toml(coordinates = ["x"]
[parameters]
a = 10
b = 1e1
c = 0xA
d = "10."
e1 = "1.e1"
f = 1_0
g = "100*.1"
[dynamics]
mass = { x = 1 }
)toml",
                                      "numbers.toml");
  for (const double value : evaluate_parameters(model).values) EXPECT_EQ(value, 10.0);
}

TEST(ReadModel, TooManyCoordinatesForAMassMatrixAreRefused) {
  std::string text = "coordinates = [";
  for (int i = 0; i < 2001; ++i) text += "\"x" + std::to_string(i) + "\",";
  EXPECT_EQ(refusal(text + "]\n[dynamics]\nmass = { x0 = 1 }\n"),
            "3:1 `mass` is for models of at most 2000 coordinates");
}

}  // namespace
}  // namespace mechanician
