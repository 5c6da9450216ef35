// What kernels are made of, and what they cannot do yet.

#include "mechanician/large/large_terms.hpp"

#include <gtest/gtest.h>

namespace mechanician {
namespace {

std::string with(const std::string& potential) {
  return "coordinates = [\"x[1..N]\", \"a\"]\n[parameters]\nN = 5\nk = 2\nm = [1, 2, 3, 4, 5]\n[define]\n\"d[c]\" = "
         "{ for = \"c = 1..N\", value = \"x[c]^2\" }\nall = \"sum(i = 1..N, m[i])\"\n[dynamics]\nkinetic = "
         "\"sum(i = 1..N, m[i]*x[i]'^2/2) + a'^2/2\"\npotential = \"" +
         potential + "\"\n";
}

std::string refusal(const std::string& text) {
  try {
    kernel_terms(read_family_model_text(text, "m.toml"));
  } catch (const ModelError& e) {
    return std::to_string(e.problems().front().place.line) + " " + e.problems().front().message;
  }
  return "accepted";
}

/// Sums are taken apart where they stand in products; anything else would be lost without a word.
TEST(LargeTerms, ASumWithinAFunctionOrAConditionIsRefused) {
  for (const char* potential :
       {"if(sum(i = 1..N, x[i]) > 3, a, 2*a)", "a*sign(sum(i = 1..N, x[i]))", "sum(i = 1..N, x[i])^2",
        "1/(2 + sum(i = 1..N, x[i]))", "sum(i = 1..N, x[i])*sum(i = 1..N, x[i])", "min(a, sum(i = 1..N, x[i]))",
        "sum(j = 1..2, abs(sum(i = 1..N, x[i])))"})
    EXPECT_EQ(refusal(with(potential)),
              "11 a sum may be multiplied by numbers and parameters only beyond 100,000 coordinates")
        << potential;
  for (const char* potential :
       {"-(3*sum(i = 1..N, x[i])/(2 + t) - a)*N", "if(t > 1, sum(i = 1..N, x[i]), 2*sum(i = 1..N, d[i]))",
        "a/all + sum(i = 1..N, x[i]/sqrt(all))"})
    EXPECT_EQ(refusal(with(potential)), "accepted") << potential;
}

TEST(LargeTerms, WhatKernelsCannotDoIsNamedWithItsPlace) {
  for (const auto& [text, says] : std::vector<std::pair<std::string, std::string>>{
           {"[nonideal]\na = 1\n", "12 [nonideal] is not supported beyond 100,000 coordinates yet"},
           {"[control.c]\nequation = \"a = 1\"\n", "12 [control] is not supported beyond 100,000 coordinates yet"},
           {"[unknown]\nf = \"t\"\n", "12 [unknown] is not supported beyond 100,000 coordinates yet"},
           {"[constraints]\nc = \"a >= 0\"\n",
            "13 one-sided constraints are not supported beyond 100,000 coordinates yet"},
           {"[constraints]\nc = \"a'' = 0\"\n",
            "13 constraints with accelerations are not supported beyond 100,000 coordinates yet"},
           {"[constraints]\nc = \"sum(i = 1..N, x[i])^2 = a\"\n",
            "13 sums in constraints are not supported beyond 100,000 coordinates yet"},
           {"[constraints.c]\nequation = \"a = 0\"\nweight = 2\n",
            "14 a weight is not supported beyond 100,000 coordinates yet"},
           {"[events]\ne = { when = \"a''\" }\n",
            "13 events with accelerations are not supported beyond 100,000 coordinates yet"},
           {"[outputs]\n\"o[i]\" = { for = \"i = 1..2\", value = \"sum(j = 1..i, x[j])\" }\n",
            "13 a sum that depends on the index `i` around it is not supported beyond 100,000 coordinates"},
           {"[constraints]\nc = \"a = all\"\n", "accepted"}})
    EXPECT_EQ(refusal(with("0") + text), says);
}

/// Taken apart once, it is not taken apart again.
TEST(LargeTerms, TermsStayAsTheyAre) {
  const FamilyModel once = kernel_terms(
      read_family_model_text(with("k*sum(i = 1..N, x[i]) + a") +
                                 "[start.position]\n\"x[i]\" = { for = \"i = 1..N\", value = \"k + sum(j = 1..i, j)\" "
                                 "}\n[outputs]\no = \"sqrt(sum(i = 1..N, x[i]))\"\n",
                             "m.toml"));
  const FamilyModel twice = kernel_terms(once);
  ASSERT_EQ(once.terms.size(), twice.terms.size());
  EXPECT_EQ(once.terms.size(), 6u);
  for (std::size_t k = 0; k < once.terms.size(); ++k) {
    EXPECT_TRUE(same(once.terms[k].body, twice.terms[k].body));
    EXPECT_EQ(once.terms[k].coordinates.size(), twice.terms[k].coordinates.size());
    EXPECT_EQ(once.terms[k].of_sum, twice.terms[k].of_sum);
  }
  EXPECT_EQ(once.outputs[0].sums.size(), twice.outputs[0].sums.size());
}

}  // namespace
}  // namespace mechanician
