#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "mechanician/expression/print.hpp"
#include "mechanician/model/parameters.hpp"
#include "mechanician/model/read_model.hpp"

namespace mechanician {
namespace {

std::vector<std::string> refusals(std::string_view text, const std::string& file = "m.toml") {
  try {
    read_model_text(text, file);
  } catch (const ModelError& e) {
    std::vector<std::string> said;
    for (const Problem& p : e.problems())
      said.push_back(std::to_string(p.place.line) + ":" + std::to_string(p.place.column) + " " + p.message);
    return said;
  }
  return {};
}

/// A model with all its expressions as text: what two ways of writing it have to agree in.
std::string text_of(const Model& model) {
  std::string text;
  const auto add = [&](const std::string& name, const Expr& f) { text += name + ": " + to_text(f) + "\n"; };
  for (const Coordinate& c : model.coordinates) text += c.name + " ";
  for (const Parameter& p : model.parameters) add(p.name, p.value);
  if (model.kinetic) add("kinetic", *model.kinetic);
  if (model.potential) add("potential", *model.potential);
  for (std::size_t i = 0; i < model.mass.size(); ++i) add("mass", model.mass[i][i]);
  for (const Named& f : model.forces) add("force " + f.name, f.value);
  for (const Named& f : model.nonideal) add("nonideal " + f.name, f.value);
  for (const Constraint& c : model.constraints) {
    add(c.name + (c.one_sided ? " one-sided" : ""), c.residual);
    if (c.weight) add("weight", *c.weight);
    if (c.restitution) add("restitution", *c.restitution);
    if (c.friction) add("friction", c.friction->coefficient), add("slip", c.friction->slip.front());
  }
  for (const Control& c : model.controls) add(c.name, c.residual);
  for (const Event& e : model.events) add(e.name, e.when);
  for (const Named& o : model.outputs) add(o.name, o.value);
  for (const auto& [name, f] : model.start.position) add("at " + name, f);
  for (const auto& [name, f] : model.start.velocity) add("with " + name, f);
  if (model.view)
    for (const ViewItem& item : model.view->items)
      for (const ViewVector& p : item.points) add(item.name, p[0]), add(item.name, p[1]);
  return text;
}

TEST(Families, AreTheModelWrittenOutMemberByMember) {
  const Model family = read_model_text(R"toml(
coordinates = ["x[0..N]", "phi", "u[1..2, -1..0]"]
[parameters]
N = 2
m = [1.5, "2*N", 3]
k = [[1, 2], [3, 4]]
[define]
"v[i]" = { for = "i = 0..N", value = "x[i]'^2" }
[dynamics]
kinetic = "sum(i = 0..N, m[i+1]/2*v[i]) + phi'^2/2 + sum(i = 1..2, j = -1..0, u[i,j]'^2)"
potential = "sum(i = 1..N, sum(j = i..N, (x[j] - x[i-1])^2))"
[dynamics.force]
"x[i]" = { for = "i = 1..N", value = "-i*x[i]'" }
phi = "k[2,1]*sin(t)"
[nonideal]
"x[N]" = "-ideal(x[N])*multiplier(rod[2])"
[constraints]
first = "x[0] = 0"
[constraints.rod]
for = "i = 1..N"
equation = "x[i] >= x[i-1] - phi"
restitution = "1/i"
friction = 0.1
slip = "x[i]'"
[constraints.pair]
for = "i = 1..2, j = i..2"
equation = "u[i,-1] = j*u[j,0]"
weight = "k[i,j]"
[control.hold]
for = "i = N..N"
equation = "x[i]' = 1"
[events.pass]
for = "i = 0..1"
when = "x[i] - 1"
[start.position]
"x[i]" = { for = "i = 0..N", value = "0.5*i" }
"u[1,-1]" = 3
[outputs]
"r[i]" = { for = "i = 1..N", value = "x[i] - x[i-1]" }
[view.points]
p = { for = "i = 0..N", at = ["x[i]", "0"] }
[view.lines]
all = ["p[0..N]"]
[view.rods]
link = { for = "i = 1..N", from = "p[i-1]", to = "p[i]" }
)toml",
                                       "family.toml");
  const Model written = read_model_text(R"toml(
coordinates = ["x0", "x1", "x2", "phi", "u1_1", "u10", "u2_1", "u20"]
[parameters]
N = 2
m1 = 1.5
m2 = "2*N"
m3 = 3
k11 = 1
k12 = 2
k21 = 3
k22 = 4
[define]
v0 = "x0'^2"
v1 = "x1'^2"
v2 = "x2'^2"
[dynamics]
kinetic = "(m1/2*v0 + m2/2*v1 + m3/2*v2) + phi'^2/2 + (u1_1'^2 + u10'^2 + u2_1'^2 + u20'^2)"
potential = "((x1 - x0)^2 + (x2 - x0)^2) + (x2 - x1)^2"
[dynamics.force]
x1 = "-1*x1'"
x2 = "-2*x2'"
phi = "k21*sin(t)"
[nonideal]
x2 = "-ideal(x2)*multiplier(rod2)"
[constraints]
first = "x0 = 0"
[constraints.rod1]
equation = "x1 >= x0 - phi"
restitution = "1/1"
friction = 0.1
slip = "x1'"
[constraints.rod2]
equation = "x2 >= x1 - phi"
restitution = "1/2"
friction = 0.1
slip = "x2'"
[constraints.pair11]
equation = "u1_1 = 1*u10"
weight = "k11"
[constraints.pair12]
equation = "u1_1 = 2*u20"
weight = "k12"
[constraints.pair22]
equation = "u2_1 = 2*u20"
weight = "k22"
[control.hold2]
equation = "x2' = 1"
[events.pass0]
when = "x0 - 1"
[events.pass1]
when = "x1 - 1"
[start.position]
x0 = "0.5*0"
x1 = "0.5*1"
x2 = "0.5*2"
u1_1 = 3
[outputs]
r1 = "x1 - x0"
r2 = "x2 - x1"
[view.points]
p0 = ["x0", "0"]
p1 = ["x1", "0"]
p2 = ["x2", "0"]
[view.lines]
all = ["p0", "p1", "p2"]
[view.rods]
link1 = ["p0", "p1"]
link2 = ["p1", "p2"]
)toml",
                                        "written.toml");
  // x[1] and u[1,-1] as they are called above.
  std::string plain;
  for (const char c : text_of(family)) {
    if (c == '[' || c == ']' || c == ',') continue;
    plain += c == '-' && !plain.empty() && plain.size() > 1 && plain[plain.size() - 1] == '1' &&
                     plain[plain.size() - 2] == 'u'
                 ? '_'
             : c == '-' && plain.size() > 1 && plain[plain.size() - 1] == '2' && plain[plain.size() - 2] == 'u' ? '_'
                                                                                                                : c;
  }
  EXPECT_EQ(plain, text_of(written));
}

TEST(Families, HaveTheSizeThatWasAskedFor) {
  constexpr const char* text = R"toml(
coordinates = ["x[1..N]"]
[parameters]
half = 2
N = "2*half"
[dynamics]
kinetic = "sum(i = 1..N, x[i]'^2/2)"
[constraints.row]
for = "i = 2..N"
equation = "x[i] = i*x[i-1]"
)toml";
  EXPECT_EQ(read_model_text(text, "m.toml").num_coordinates(), 4);
  const Model larger = read_model_text(text, "m.toml", {{"half", 5}});
  EXPECT_EQ(larger.num_coordinates(), 10);
  EXPECT_EQ(larger.constraints.back().name, "row[10]");
  EXPECT_EQ(evaluate_parameters(larger, {{"half", 5}}).values.back(), 10.0);
}

TEST(Families, SayWhichIndexIsWrong) {
  const auto with = [](const std::string& coordinates, const std::string& kinetic, const std::string& more = "") {
    const auto said =
        refusals("coordinates = " + coordinates +
                 "\n[parameters]\nN = 4\nh = 0.5\na = [1, 2]\n[dynamics]\nkinetic = \"" + kinetic + "\"\n" + more);
    return said.empty() ? std::string("accepted") : said.front();
  };
  const std::string x = "[\"x[1..N]\"]", good = "sum(i = 1..N, x[i]'^2)";
  EXPECT_EQ(with(x, good), "accepted");
  EXPECT_EQ(with(x, "sum(i = 1..N, x[i+1]'^2)"), "7:26 `x` has no member 5 for i = 4");
  EXPECT_EQ(with(x, "sum(i = 0..N, x[i]'^2)"), "7:26 `x` has no member 0 for i = 0");
  EXPECT_EQ(with(x, "sum(i = 1..N, a[i]*x[i]'^2)"), "7:26 `a` has no member 3 for i = 3");
  EXPECT_EQ(with(x, "x[h]'^2"), "7:12 an index of `x`: this is 0.5, and must be a whole number");
  EXPECT_EQ(with(x, "x[t]'^2"), "7:12 an index of `x`: this must be known when the model is read");
  EXPECT_EQ(with(x, "x[x[1]]'^2"), "7:12 an index of `x`: this must be known when the model is read");
  EXPECT_EQ(with(x, "x'^2"), "7:12 `x` is a family: one of its members is meant");
  EXPECT_EQ(with(x, "x'[1]^2"), "7:12 the prime stands behind the index");
  EXPECT_EQ(with(x, "x[1,2]'^2"), "7:12 `x` has one index, not 2");
  EXPECT_EQ(with(x, "x[1'^2"), "7:13 this bracket is never closed");
  EXPECT_EQ(with(x, "x[]'^2"), "7:14 the expression is empty");
  EXPECT_EQ(with(x, "xx[1]'^2"), "7:12 there is no family `xx`");
  EXPECT_EQ(with(x, "N[1]*x[1]'^2"), "7:12 `N` is one parameter and has no index");
  EXPECT_EQ(with(x, "sum(i = 1..M, x[i]'^2)"), "7:23 unknown name `M`");
  EXPECT_EQ(with(x, "sum(i = N..1, x[i]'^2)"), "7:20 the index `i` runs backwards, from 4 to 1");
  EXPECT_EQ(with(x, "x[1]'^2 + sum(i = 1..0, x[9]'^2)"), "accepted");
  EXPECT_EQ(with(x, "sum(i = 1..N, sum(i = 1..2, x[i]'^2))"), "7:30 the index `i` is in use already");
  EXPECT_EQ(with(x, "sum(N = 1..3, x[N]'^2)"), "7:16 `N` cannot be an index: it stands for something else");
  EXPECT_EQ(with(x, "sum(i, x[i]'^2)"), "7:16 an index is given as name = from..to");
  EXPECT_EQ(with(x, "sum(i = 1, x[i]'^2)"), "7:20 the bounds of an index are written from..to");
  EXPECT_EQ(with(x, "sum(x[1]'^2)"), "7:12 a sum has an index with its bounds, and what is summed");
  EXPECT_EQ(with(x, "x[1]'^2 + i"), "7:22 unknown name `i`");
  EXPECT_EQ(with("[\"x[1..h]\"]", good), "1:22 a bound of `x`: this is 0.5, and must be a whole number");
  EXPECT_EQ(with("[\"x[3..1]\"]", good), "1:19 the family `x` has no members: its bounds are 3..1");
  EXPECT_EQ(with("[\"x[1..1e8]\"]", good), "1:17 the model has 100000000 coordinates; 100000 are possible");
  EXPECT_EQ(with("[\"x[N]\"]", good), "1:19 a family of coordinates is given with its bounds");
  EXPECT_EQ(with("[\"x[1..N]\", \"x[1..2]\"]", good), "1:28 the coordinate `x` is given twice");
  EXPECT_EQ(with("[\"x[1..N\"]", good), "1:22 an index ends with ]");
  EXPECT_EQ(with(x, good, "[constraints.rod]\nfor = \"i = 1..N\"\nequation = \"x[i] = x[i-1]\"\n"),
            "10:20 `x` has no member 0 for i = 1");
  EXPECT_EQ(with(x, good, "[constraints.rod]\nfor = \"i = 1\"\nequation = \"x[i] = 0\"\n"),
            "9:12 the bounds of an index are written from..to");
  EXPECT_EQ(with(x, good, "[start.position]\n\"x[i]\" = { for = \"i = 1..9\", value = 1 }\n"),
            "9:1 `x[5]` is no coordinate");
  EXPECT_EQ(with(x, good, "[start.position]\n\"x[i]\" = { for = \"i = 1..4\", value = 1 }\n\"x[2]\" = 1\n"),
            "10:1 `x[2]` has two start values");
  EXPECT_EQ(with(x, good, "[run.scale]\n\"x[i]\" = { for = \"i = 1..4\", value = 1 }\n\"x[2]\" = 1\n"),
            "10:1 `x[2]` has two scales");
  EXPECT_EQ(with(x, good, "[start.position]\n\"x[j]\" = 1\n"), "9:1 unknown name `j`");
  EXPECT_EQ(with(x, good, "[nonideal]\n\"x[1]\" = \"ideal(x[7])\"\n"), "9:17 `x` has no member 7");
}

TEST(Families, TakeNumbersFromAFileBesideTheModel) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("families_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder / "data");
  std::ofstream(folder / "data" / "masses.csv") << "name, mass,\"length\"\r\na,1.5,0.1\r\nb,2.5,0.2\r\n\r\n";
  std::ofstream(folder / "bad.csv") << "mass\n1\nheavy\n";
  const auto text = [](const std::string& source) {
    return "coordinates = [\"x[1..2]\"]\n[parameters]\nm = " + source +
           "\n[dynamics]\nkinetic = \"sum(i = 1..2, m[i]*x[i]'^2)\"\n";
  };
  const std::string file = (folder / "model.toml").string();
  const Model model = read_model_text(text("{ csv = \"data/masses.csv\", column = \"mass\" }"), file);
  EXPECT_EQ(evaluate_parameters(model).values, (std::vector<double>{1.5, 2.5}));
  const auto said = [&](const std::string& source) {
    const auto all = refusals(text(source), file);
    return all.empty() ? std::string("accepted") : all.front();
  };
  EXPECT_EQ(said("{ csv = \"data/masses.csv\", column = \"mas\" }"), "3:41 `data/masses.csv` has no column `mas`");
  EXPECT_EQ(said("{ csv = \"bad.csv\", column = \"mass\" }"),
            "3:13 line 3 of `bad.csv` has `heavy` in column `mass`, which is no number");
  EXPECT_EQ(said("{ csv = \"none.csv\", column = \"mass\" }"), "3:13 `none.csv` cannot be read");
  EXPECT_EQ(said("{ csv = \"../m.csv\", column = \"mass\" }"),
            "3:13 a CSV file lies in the folder of the model, or below it");
  EXPECT_EQ(said("{ csv = \"/etc/passwd\", column = \"mass\" }"),
            "3:13 a CSV file lies in the folder of the model, or below it");
  std::filesystem::create_symlink("/etc", folder / "out");
  EXPECT_EQ(said("{ csv = \"out/passwd\", column = \"mass\" }"), "3:13 this leads out of the folder of the model");
  EXPECT_EQ(said("{ csv = \"bad.csv\" }"), "3:5 `parameters.m` does not say which column");
  EXPECT_EQ(said("[1, [2]]"), "3:9 the rows of `parameters.m` are not alike");
  EXPECT_EQ(said("[]"), "3:5 `parameters.m` has no members");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace mechanician
