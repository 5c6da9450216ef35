// Mistakes in a model whose families stay as they are written: what is said is what is said of the same model written out.

#include <gtest/gtest.h>

#include "mechanician/expression/print.hpp"
#include "mechanician/model/family_model.hpp"
#include "mechanician/model/read_model.hpp"

namespace mechanician {
namespace {

constexpr const char* sound = R"toml(
coordinates = ["x[1..N]", "a"]
[parameters]
N = 5
m = [1, 2, 3, 4, 5]
[define]
"d[k]" = { for = "k = 1..N", value = "x[k]^2" }
[dynamics]
kinetic = "sum(i = 1..N, m[i]*x[i]'^2/2) + a'^2/2"
potential = "sum(i = 1..N, d[i]) + a^2"
[dynamics.force]
"x[i]" = { for = "i = 1..N", value = "-x[i]'" }
[constraints]
c = "a = x[1]"
[start]
time = 0
[start.position]
"x[i]" = { for = "i = 1..N", value = "i" }
a = 1
[run]
to = 1
every = 0.1
[outputs]
o = "a"
[events]
e = { when = "a" }
)toml";

std::string changed(const std::string& from, const std::string& to) {
  std::string text = sound;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

template <class Read>
std::vector<Problem> problems_of(Read&& read) {
  try {
    read();
  } catch (const ModelError& e) {
    return e.problems();
  }
  return {};
}

TEST(FamilyChecks, TheSoundModelIsRead) {
  EXPECT_NO_THROW(read_model_text(sound, "m.toml"));
  EXPECT_NO_THROW(read_family_model_text(sound, "m.toml"));
}

TEST(FamilyChecks, MistakesAreNamedAsInTheModelWrittenOut) {
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"\"-x[i]'\" }", "\"-x[i]'\", vale = 1 }"},
           {"value = \"-x[i]'\"", "vlue = 1"},
           {"for = \"i = 1..N\", value = \"-", "for = \"N = 1..5\", value = \"-"},
           {"for = \"i = 1..N\", value = \"-", "for = \"a = 1..5\", value = \"-"},
           {"for = \"i = 1..N\", value = \"-", "for = \"i = 1..5, i = 1..5\", value = \"-"},
           {"for = \"i = 1..N\", value = \"-", "for = \"t = 1..5\", value = \"-"},
           {"for = \"i = 1..N\", value = \"-", "for = \"i = 5..1\", value = \"-"},
           {"for = \"i = 1..N\", value = \"-", "for = \"i = 1..N/2\", value = \"-"},
           {"for = \"i = 1..N\", value = \"-", "for = \"i = 1..if(log(-1) < 0, 1, 2)\", value = \"-"},
           {"for = \"k = 1..N\"", "for = \"k = 5..1\""},
           {"sum(i = 1..N, d[i])", "sum(i = 4..1, d[i])"},
           {"sum(i = 1..N, d[i])", "sum(N = 1..4, d[N])"},
           {"+ a^2", "+ a*a'"},
           {"+ a^2", "+ a*x[1]''"},
           {"+ a^2", "+ N'"},
           {"+ a'^2/2", "+ a'^3"},
           {"+ a'^2/2", "+ a'*a''"},
           {"a = x[1]", "N = 5"},
           {"a = 1", "a = \"x[1]\""},
           {"a = 1", "a = \"t\""},
           {"a = 1", "b = 1"},
           {"to = 1", "to = \"N\""},
           {"to = 1", "tow = 1"},
           {"every = 0.1", "every = 0"},
           {"every = 0.1", "every = -1"},
           {"every = 0.1", "tolerance = 2"},
           {"every = 0.1", "tolerance = 0"},
           {"every = 0.1", "method = \"fast\""},
           {"o = \"a\"", "\"o o\" = \"a\""},
           {"o = \"a\"", "o = { value = \"a\" }"},
           {"o = \"a\"", "\"o[i]\" = { for = \"i = 1..2\" }"},
           {"o = \"a\"", "o = \"a'''\""},
           {"e = {", "\"e e\" = {"},
           {"c = \"a", "\"c c\" = \"a"},
           {"\"d[k]\" = {", "t = 1\n\"d[k]\" = {"},
           {"\"d[k]\" = {", "a = 1\n\"d[k]\" = {"},
           {"\"d[k]\" = {", "N = 1\n\"d[k]\" = {"},
           {"\"a\"]", "\"sin\"]"},
           {"[events]", "[evnts]"},
           {"[1, 2, 3, 4, 5]", "[1, 2, inf, 4, 5]"},
           {"[1, 2, 3, 4, 5]", "[1, 2, \"log(-1)\", 4, 5]"},
           {"[1, 2, 3, 4, 5]", "[1, 2, true, 4, 5]"},
       }) {
    SCOPED_TRACE(from + " -> " + to);
    const std::string text = changed(from, to);
    const auto written = problems_of([&] { read_model_text(text, "m.toml"); }),
               found = problems_of([&] { read_family_model_text(text, "m.toml"); });
    ASSERT_FALSE(written.empty());
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found.front().message, written.front().message);
    EXPECT_EQ(found.front().place.line, written.front().place.line);
  }
}

/// One and the same name for two things: said of the family, not of each of its members.
TEST(FamilyChecks, ANameStandsForOneThing) {
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"\"x[1..N]\", \"a\"", "\"x[1..N]\", \"m[1..3]\", \"a\""},
                                                        {"\"d[k]\"", "\"x[k]\""},
                                                        {"\"d[k]\"", "\"m[k]\""}}) {
    const std::string text = changed(from, to);
    const auto found = problems_of([&] { read_family_model_text(text, "m.toml"); });
    ASSERT_FALSE(found.empty()) << to;
    EXPECT_NE(found.front().message.find("stands for two things"), std::string::npos) << found.front().message;
  }
}

TEST(FamilyChecks, AParameterMayBeMadeOfMembersOfLists) {
  const std::string text = changed("N = 5\n", "N = 5\ntotal = \"2*m[2] + sum(i = 1..3, m[i])\"\n");
  const auto total = [&](const ParameterOverrides& set) {
    return read_family_model_text(text, "m.toml", set).parameters.back();
  };
  EXPECT_EQ(total({}), 10.0);
  EXPECT_EQ(total({{"m[2]", 10.0}}), 34.0);
}

/// Each of forty definitions uses the one before twice; 2⁴⁰ readings would not end.
TEST(FamilyChecks, DefinitionsOfDefinitionsAreReadOnce) {
  for (const char* last : {"a", "sum(i = 1..N, i*d[i])", "b40", "nowhere"}) {
    std::string text = changed("[define]\n", "[define]\nb0 = \"" + std::string(last) + "\"\n");
    for (int k = 1; k <= 40; ++k) {
      const std::string line =
          "b" + std::to_string(k) + " = \"(b" + std::to_string(k - 1) + " + b" + std::to_string(k - 1) + ")/2\"\n";
      text.insert(text.find("[define]\n") + 9, line);
    }
    text.replace(text.find("+ a^2"), 5, "+ sum(i = 1..2, b40)");
    const auto found = problems_of([&] { read_family_model_text(text, "m.toml"); });
    const bool sound_one = std::string(last) != "b40" && std::string(last) != "nowhere";
    EXPECT_EQ(found.empty(), sound_one) << last << (found.empty() ? "" : ": " + found.front().message);
  }
}

/// What is wrong in one of very many members is said once, with its place and the member.
TEST(FamilyChecks, OneMemberOfManyIsToBlame) {
  const auto said = [](const std::string& more) {
    const std::string text =
        "coordinates = [\"x[1..N]\"]\n[parameters]\nN = 200000\nw = [1, 2, -3]\n[dynamics]\nkinetic = \"sum(i = 1..N, "
        "x[i]'^2)\"\n" +
        more;
    std::string all;
    for (const Problem& p : problems_of([&] { read_family_model_text(text, "m.toml"); }))
      all += std::to_string(p.place.line) + ":" + std::to_string(p.place.column) + " " + p.message + "\n";
    return all;
  };
  const std::string gap = "[constraints.gap]\nfor = \"i = 1..N\"\nequation = \"x[i] >= 0\"\n",
                    row = "[constraints.row]\nfor = \"i = 1..N\"\nequation = \"x[i] = 0\"\n";
  EXPECT_EQ(said(gap), "");
  EXPECT_EQ(said(gap + "restitution = \"i/100000\"\n"), "10:16 the restitution of `gap[100001]` is 1.00001\n");
  EXPECT_EQ(said(gap + "friction = \"150000 - i\"\nslip = \"x[i]'\"\n"),
            "10:13 the friction of `gap[150001]` is -1; it cannot be negative\n");
  EXPECT_EQ(said(gap + "friction = 1\nslip = \"x[i]*sin(x[i]')\"\n"),
            "11:9 the slip of `gap[1]` is not linear in the velocities\n");
  EXPECT_EQ(said(row + "weight = \"7 - i\"\n"), "10:11 the weight of `row[7]` is 0; a weight is positive and finite\n");
  EXPECT_EQ(said("[constraints.row]\nfor = \"i = 1..3\"\nequation = \"x[i] = 0\"\nweight = \"w[i]\"\n"),
            "10:11 the weight of `row[3]` is -3; a weight is positive and finite\n");
  EXPECT_EQ(said("[constraints.row]\nfor = \"i = 1..N\"\nequation = \"sum(j = 2..i, x[j]) = 0\"\n"),
            "9:13 the constraint `row[1]` mentions no coordinate\n");
  EXPECT_EQ(said("[control.hold]\nfor = \"i = 1..N\"\nequation = \"x[i] = 0\"\nfrequency = \"5 - i\"\n"),
            "10:14 the frequency of `hold[6]` is -1; it cannot be negative\n");
  EXPECT_EQ(said("[start.position]\n\"x[i]\" = { for = \"i = 1..N\", value = \"log(77 - i)\" }\n"),
            "8:39 `start.position.x[77]` is not finite\n");
  EXPECT_EQ(said("[nonideal]\n\"x[i]\" = { for = \"i = 1..N\", value = \"ideal(x[i+1])\" }\n"),
            "8:45 `x` has no member 200001 for i = 200000\n");
  EXPECT_EQ(said("[outputs]\n\"o[i]\" = { for = \"i = 1..N\", value = \"x[i]*y\" }\n"), "8:44 unknown name `y`\n");
  EXPECT_EQ(said("[view.points]\np = { for = \"i = 1..N\", at = [\"x[i]\", \"x[i-1]\"] }\n"),
            "8:40 `x` has no member 0 for i = 1\n");
  EXPECT_EQ(said("[measured]\nconstraints = [\"row[9]\", \"row[200001]\"]\nweight = [[1, 0], [0, 1]]\n" + row),
            "8:27 there is no constraint `row[200001]`\n");
}

/// Where members lead: by lists, by sums, by definitions of definitions.
TEST(FamilyChecks, AnIndexMayBeAMemberOfAList) {
  const Model model = read_model_text(R"toml(
coordinates = ["x[1..4]"]
[parameters]
of = [[1, 3], [4, 2]]
last = "of[2,1]"
[define]
"pair[k]" = { for = "k = 1..2", value = "x[of[k,1]] - x[of[k,2]]" }
"next[2*k]" = { for = "k = 1..2", value = "pair[k] + sum(j = 1..k, j*x[j])" }
[dynamics]
kinetic = "sum(i = 1..last, x[i]'^2)"
potential = "sum(i = 1..2, pair[i]*next[2*i]) + x[sum(j = 1..2, j)]"
)toml",
                                      "m.toml");
  EXPECT_EQ(to_text(*model.potential),
            "(x[1] - x[3])*(x[1] - x[3] + 1*x[1]) + (x[4] - x[2])*(x[4] - x[2] + 1*x[1] + 2*x[2]) + x[3]");
  EXPECT_EQ(model.definitions.back().name, "next[4]");
}

}  // namespace
}  // namespace mechanician
