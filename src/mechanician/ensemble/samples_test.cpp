#include "mechanician/ensemble/samples.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <stdexcept>

#include "mechanician/base/diagnostic.hpp"

namespace mechanician {
namespace {

std::vector<double> sample(const SamplePlan& plan, std::int64_t k) {
  std::vector<double> values(plan.names().size());
  plan.fill(k, values);
  return values;
}

std::string message_of(const auto& f) {
  try {
    f();
  } catch (const std::exception& e) {
    return e.what();
  }
  return {};
}

TEST(SamplePlan, MultipliesGridsAndListsWithTheLastFastest) {
  const SamplePlan plan({parse_variation("m=1:2:3"), parse_variation("x'=-1,4")}, {});
  ASSERT_EQ(plan.count(), 6);
  EXPECT_EQ(plan.names(), (std::vector<std::string>{"m", "x'"}));
  EXPECT_EQ(sample(plan, 0), (std::vector<double>{1.0, -1.0}));
  EXPECT_EQ(sample(plan, 1), (std::vector<double>{1.0, 4.0}));
  EXPECT_EQ(sample(plan, 2), (std::vector<double>{1.5, -1.0}));
  EXPECT_EQ(sample(plan, 5), (std::vector<double>{2.0, 4.0}));
}

TEST(SamplePlan, EndsAGridExactlyWhereItIsToEnd) {
  const SamplePlan plan({parse_variation("m=0.1:0.7:4")}, {});
  EXPECT_EQ(sample(plan, 0)[0], 0.1);
  EXPECT_EQ(sample(plan, 3)[0], 0.7);
  EXPECT_EQ(sample(SamplePlan({parse_variation("m=3:7:1")}, {}), 0)[0], 3.0);
}

TEST(SamplePlan, GivesSampleKWhateverWasAskedBefore) {
  for (const Sampling sampling : {Sampling::random, Sampling::latin_hypercube, Sampling::sobol}) {
    const SampleOptions options{.count = 100, .seed = 42, .sampling = sampling};
    const SamplePlan plan(
        {parse_variation("a=normal(1,2)"), parse_variation("b=0,1"), parse_variation("c=uniform(-1,1)")}, options);
    ASSERT_EQ(plan.count(), 200);
    const std::vector<double> seventh = sample(plan, 7);
    for (std::int64_t k = 199; k >= 0; --k) sample(plan, k);
    EXPECT_EQ(sample(plan, 7), seventh);
    SampleOptions other = options;
    other.seed = 43;
    EXPECT_NE(sample(SamplePlan({parse_variation("a=normal(1,2)"), parse_variation("b=0,1"),
                                 parse_variation("c=uniform(-1,1)")},
                                other),
                     7),
              seventh);
  }
}

TEST(SamplePlan, HasTheMomentsThatItIsToHave) {
  constexpr std::int64_t count = 20'000;
  for (const Sampling sampling : {Sampling::random, Sampling::latin_hypercube, Sampling::sobol}) {
    const SamplePlan plan({parse_variation("a=normal(3,0.5)"), parse_variation("c=uniform(-1,3)")},
                          {.count = count, .seed = 9, .sampling = sampling});
    double mean[2] = {}, square[2] = {}, product = 0.0;
    for (std::int64_t k = 0; k < count; ++k) {
      const std::vector<double> x = sample(plan, k);
      const double z[2] = {(x[0] - 3.0) / 0.5, (x[1] - 1.0) / std::sqrt(16.0 / 12.0)};
      for (int i = 0; i < 2; ++i) mean[i] += z[i], square[i] += z[i] * z[i];
      product += z[0] * z[1];
    }
    // Five standard errors of independent samples; kurtosis 3 of the normal one.
    const double error = 5.0 / std::sqrt(static_cast<double>(count));
    for (int i = 0; i < 2; ++i) {
      EXPECT_NEAR(mean[i] / count, 0.0, error);
      EXPECT_NEAR(square[i] / count, 1.0, error * std::sqrt(2.0));
    }
    EXPECT_NEAR(product / count, 0.0, error);
  }
}

TEST(SamplePlan, PutsOneValueIntoEachIntervalOfALatinHypercube) {
  const SamplePlan plan(
      {parse_variation("g=1,2"), parse_variation("u=uniform(0,50)"), parse_variation("v=uniform(0,50)")},
      {.count = 50, .seed = 1, .sampling = Sampling::latin_hypercube});
  for (std::int64_t g = 0; g < 2; ++g) {
    std::set<int> u, v;
    for (std::int64_t k = 50 * g; k < 50 * (g + 1); ++k) {
      u.insert(static_cast<int>(sample(plan, k)[1]));
      v.insert(static_cast<int>(sample(plan, k)[2]));
    }
    EXPECT_EQ(u.size(), 50u);
    EXPECT_EQ(v.size(), 50u);
  }
}

TEST(SamplePlan, RefusesWhatMakesNoSense) {
  const auto refused = [](std::vector<Variation> variations, SampleOptions options) {
    return message_of([&] { SamplePlan plan(std::move(variations), options); });
  };
  EXPECT_NE(refused({parse_variation("a=1"), parse_variation("a=2")}, {}).find("`a` is varied twice"),
            std::string::npos);
  EXPECT_NE(refused({parse_variation("a=normal(0,1)")}, {}).find("need --count"), std::string::npos);
  EXPECT_NE(refused({parse_variation("a=1,2")}, {.count = 3}).find("--count is for random values"), std::string::npos);
  EXPECT_NE(refused({parse_variation("a=0:1:9000000000"), parse_variation("b=0:1:9000000000")}, {}).find("too many"),
            std::string::npos);
  EXPECT_NE(refused({}, {}).find("nothing is varied"), std::string::npos);
}

TEST(ParseVariation, SaysWhatIsWrong) {
  for (const auto& [text, part] : {std::pair{"m", "NAME=FROM:TO:COUNT"},
                                   {"=1", "NAME=FROM:TO:COUNT"},
                                   {"m=", "not a finite number"},
                                   {"m=1:2", "FROM:TO:COUNT"},
                                   {"m=1:2:3:4", "FROM:TO:COUNT"},
                                   {"m=1:2:0", "from 1 on"},
                                   {"m=1:2:1.5", "from 1 on"},
                                   {"m=1,nan", "`nan` is not a finite number"},
                                   {"m=normal(1)", "normal(MEAN,SD)"},
                                   {"m=normal(1,-2)", "not negative"},
                                   {"m=uniform(2,1)", "below the first"},
                                   {"m=gamma(2,1)", "no distribution `gamma`"},
                                   {"m=1:2:1000000000000000", "too many points"},
                                   {"m=+-1", "`+-1` is not a finite number"}})
    EXPECT_NE(message_of([t = text] { parse_variation(t); }).find(part), std::string::npos) << text;
}

TEST(ParseSamples, TakesNamesFromTheFirstLine) {
  const SampleTable table = parse_samples("# made by hand\r\nm, \"x'\",y'\r\n1.5,-2,0\n\n3,4e-1,1\n", "s.csv");
  EXPECT_EQ(table.names, (std::vector<std::string>{"m", "x'", "y'"}));
  const SamplePlan plan(table);
  ASSERT_EQ(plan.count(), 2);
  EXPECT_EQ(sample(plan, 1), (std::vector<double>{3.0, 0.4, 1.0}));
}

TEST(ParseSamples, TakesColumnsOfAResultAndNumbersInQuotationMarks) {
  const SampleTable table = parse_samples("\"start(x[2,1])\",start(y'),m\n\"1.5\",+2,\"-3\"\n", "s.csv");
  EXPECT_EQ(table.names, (std::vector<std::string>{"x[2,1]", "y'", "m"}));
  EXPECT_EQ(table.values, (std::vector<double>{1.5, 2.0, -3.0}));
}

TEST(ParseSamples, NamesTheLineOfAMistake) {
  for (const auto& [text, part] :
       {std::pair{"m,x\n1,2\n1,nan\n", "s.csv:3: `nan` in column `x` is not a finite number"},
        {"m,x\n1\n", "s.csv:2: 1 value for 2 columns"},
        {"m,m\n1,2\n", "s.csv:1: the column `m` is there twice"},
        {"x,start(x)\n1,2\n", "s.csv:1: the column `x` is there twice"},
        {"m,\n1,2\n", "s.csv:1: a column has no name"},
        {"m\n", "no samples"},
        {"", "is empty"}})
    EXPECT_NE(message_of([t = text] { parse_samples(t, "s.csv"); }).find(part), std::string::npos) << text;
  EXPECT_THROW(read_samples("/nowhere/s.csv"), FileError);
  EXPECT_THROW(read_samples("/"), FileError);
}

}  // namespace
}  // namespace mechanician
