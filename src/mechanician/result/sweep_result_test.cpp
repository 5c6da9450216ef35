#include "mechanician/result/sweep_result.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "mechanician/base/diagnostic.hpp"
#include "mechanician/result/example_for_test.hpp"
#include "mechanician/result/hdf5_file.hpp"
#include "mechanician/result/sweep_example_for_test.hpp"

namespace mechanician {
namespace {

using Begin = SweepStore::Begin;

/// The statistics of motions of which these values were kept; those without a number have failed.
SweepStatistics statistics_of(const std::vector<double>& values) {
  const auto count = static_cast<int>(values.size());
  const SweepSetup setup = example_sweep(count);
  SweepBlock block = example_block(0, count);
  block.kept = values;
  for (std::size_t i = 0; i < values.size(); ++i)
    block.result.outcome[i] = std::isnan(values[i]) ? Outcome::failed : Outcome::done;
  SweepStore store(setup);
  store.append(block);
  const auto all = calc_statistics(store, setup);
  EXPECT_EQ(all.size(), 1u);
  return all.at(0);
}

TEST(SweepStatistics, AreThoseOfTheMotionsThatHaveANumber) {
  // By hand: of 1, 2, 3, 10 the quantile p lies 3p places above the first.
  constexpr double inf = std::numeric_limits<double>::infinity();
  const SweepStatistics s = statistics_of({3.0, sweep_none, 1.0, inf, 10.0, 2.0});
  EXPECT_EQ(s.name, "lambda(rod)");
  EXPECT_EQ(s.count, 4);
  EXPECT_EQ(s.mean, 4.0);
  EXPECT_DOUBLE_EQ(s.deviation, std::sqrt(50.0 / 3.0));
  const std::vector<double> by_hand{1.0, 1.15, 1.75, 2.5, 4.75, 8.95, 10.0};
  ASSERT_EQ(s.quantiles.size(), by_hand.size());
  for (std::size_t i = 0; i < by_hand.size(); ++i) EXPECT_DOUBLE_EQ(s.quantiles[i], by_hand[i]) << i;
}

TEST(SweepStatistics, OfEachQuantityAreItsOwn) {
  SweepSetup setup = example_sweep(8);
  setup.kept_names = {"a", "b", "c"};
  SweepStore store(setup);
  for (const int first : {0, 4}) {
    SweepBlock block = example_block(first, 4);
    block.kept.clear();
    for (int i = first; i < first + 4; ++i) {
      block.result.outcome[static_cast<std::size_t>(i - first)] = Outcome::done;
      for (const double by : {1.0, 10.0, -100.0}) block.kept.push_back(by * i);
    }
    store.append(block);
  }
  const auto all = calc_statistics(store, setup);
  ASSERT_EQ(all.size(), 3u);
  for (const auto& [k, by] : {std::pair{0, 1.0}, {1, 10.0}, {2, -100.0}}) {
    const SweepStatistics& s = all[static_cast<std::size_t>(k)];
    EXPECT_EQ(s.name, setup.kept_names[static_cast<std::size_t>(k)]);
    EXPECT_EQ(s.count, 8);
    EXPECT_EQ(s.mean, 3.5 * by);
    EXPECT_EQ(s.quantiles.back(), by > 0.0 ? 7.0 * by : 0.0);
  }
}

TEST(SweepStatistics, LoseNoDigitsBesideALargeMean) {
  const SweepStatistics s = statistics_of({1e9, 1e9 + 1.0, 1e9 + 2.0});
  EXPECT_EQ(s.mean, 1e9 + 1.0);
  EXPECT_EQ(s.deviation, 1.0);
}

TEST(SweepStatistics, OfOneMotionHaveNoDeviationAndOfNoneNothing) {
  const SweepStatistics one = statistics_of({-2.5}), none = statistics_of({sweep_none, sweep_none});
  EXPECT_EQ(one.count, 1);
  EXPECT_EQ(one.mean, -2.5);
  EXPECT_TRUE(std::isnan(one.deviation));
  EXPECT_EQ(one.quantiles, std::vector<double>(7, -2.5));
  EXPECT_EQ(none.count, 0);
  EXPECT_TRUE(std::isnan(none.mean) && std::isnan(none.quantiles[3]));
}

TEST(SweepResult, CountsOutcomesAndStepsOfAllMotions) {
  const SweepSetup setup = example_sweep(100);
  SweepStore store(setup);
  store.append(example_block(40, 60)), store.append(example_block(0, 40));
  store.sort();
  const SweepCounts counts = count_motions(store, setup);
  EXPECT_EQ(counts.motions, 100);
  EXPECT_EQ(counts.steps, 99 * 100 / 2);
  EXPECT_EQ(counts.stopped, 0);
  // 3, 10, …, 94; of 5, 16, …, 93 all but 38, which has failed.
  EXPECT_EQ(counts.failed, 14);
  EXPECT_EQ(counts.suspect, 8);
  EXPECT_DOUBLE_EQ(counts.violation, 99e-12);
}

TEST(SweepResult, ListsReasonsInTheOrderOfMotionsWithTheirSamples) {
  const SweepSetup setup = example_sweep(30);
  SweepStore store(setup);
  store.append(example_block(15, 15)), store.append(example_block(0, 15));
  store.sort();
  const auto reasons = find_reasons(store, 4);
  std::vector<std::int64_t> motions;
  for (const SweepReason& r : reasons) motions.push_back(r.motion);
  EXPECT_EQ(motions, (std::vector<std::int64_t>{3, 5, 10, 16}));
  EXPECT_EQ(reasons[1].text, "doubtful");
  EXPECT_EQ(sample_text(store, setup, 16), "m = 16, start(x') = -16");
  EXPECT_EQ(find_reasons(store, 100).size(), 7u) << "3, 10, 17, 24 and 5, 16, 27";
}

TEST(SweepResult, CutsALongReasonBetweenCharacters) {
  const SweepSetup setup = example_sweep(1);
  for (std::size_t lead = 236; lead < 244; ++lead) {
    SweepBlock block = example_block(0, 1);
    block.result.outcome[0] = Outcome::failed;
    for (std::size_t i = 0; i < 50; ++i) block.result.reason[0] += "φ";
    block.result.reason[0].insert(0, lead, 'x');
    SweepStore store(setup);
    store.append(block);
    const std::string text = find_reasons(store, 1).at(0).text;
    ASSERT_TRUE(text.ends_with("…"));
    const std::string kept = text.substr(0, text.size() - std::string("…").size());
    EXPECT_TRUE(block.result.reason[0].starts_with(kept) && kept.size() <= 240 && kept.size() >= 239);
    EXPECT_EQ((kept.size() - std::min(kept.size(), lead)) % 2, 0u) << "half a character, " << lead;
  }
}

TEST(CheckComplete, FindsMotionsThatAreMissingOrThereTwice) {
  const SweepSetup setup = example_sweep(30);
  const auto message_of = [&](const std::vector<std::pair<int, int>>& blocks) {
    SweepStore store(setup);
    for (const auto& [first, count] : blocks) store.append(example_block(first, count));
    store.sort();
    try {
      check_complete(store, setup);
    } catch (const FileError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(message_of({{20, 10}, {0, 20}}), "");
  EXPECT_NE(message_of({{0, 10}, {11, 19}}).find("motion 10 is there nowhere"), std::string::npos);
  EXPECT_NE(message_of({{0, 10}, {9, 21}}).find("motion 9 is there twice"), std::string::npos);
  EXPECT_NE(message_of({{0, 29}}).find("29 of 30 motions"), std::string::npos);
  EXPECT_NE(message_of({}).find("0 of 30 motions"), std::string::npos);
}

std::string csv_of(const SweepStore& store, const SweepSetup& setup) {
  std::string text;
  write_sweep_csv(store, setup, [&](std::string_view part) { text += part; });
  return text;
}

TEST(SweepCsv, HasALineForEachMotionWithItsReason) {
  const SweepSetup setup = example_sweep(6);
  SweepStore store(setup);
  store.append(example_block(3, 3)), store.append(example_block(0, 3));
  store.sort();
  const std::string text = csv_of(store, setup);
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    lines.push_back(text.substr(at, text.find('\n', at) - at));
  ASSERT_EQ(lines.size(), 7u);
  EXPECT_EQ(lines[0], "m,start(x'),t,x,x',lambda(rod),outcome,steps,served,violation,balance,reason");
  EXPECT_EQ(lines[1], "0,-0,0.10000000000000001,0,0,0,done,0,0,0,0.5,");
  EXPECT_TRUE(lines[4].starts_with("3,-3,0.10000000000000001,30,300,nan,failed,3,1,"));
  EXPECT_TRUE(lines[4].ends_with(",0.5,\"motion 3 says \"\"no\"\", and again\"")) << lines[4];
  EXPECT_TRUE(lines[6].ends_with(",0.5,\"doubtful\"")) << lines[6];
}

TEST(SweepCsv, HasNoTwoColumnsOfOneName) {
  SweepSetup setup = example_sweep(1);
  setup.sample_names = {"m", "steps"};
  setup.coordinates = {"outcome"};
  setup.kept_names = {"m"};
  SweepStore store(setup);
  store.append(example_block(0, 1));
  const std::string text = csv_of(store, setup);
  EXPECT_EQ(text.substr(0, text.find('\n')),
            "m,value(steps),t,value(outcome),outcome',value(m),outcome,steps,served,violation,balance,reason");
  setup.kept_names = {"u[1,2]"};
  EXPECT_NE(csv_of(store, setup).find(",\"u[1,2]\",outcome,"), std::string::npos);
}

TEST(SweepHdf5, DoesNotDependOnTheOrderInWhichBlocksCome) {
  const Folder folder;
  const SweepSetup setup = example_sweep(60);
  const auto made_in_order = [&](const std::string& name, std::vector<int> firsts) {
    SweepStore store(setup, folder / name, 0, Begin::anew);
    for (const int first : firsts) store.append(example_block(first, 20));
    store.sort();
    check_complete(store, setup);
    write_sweep_hdf5(store, setup, nullptr);
    store.finish();
    return read_file(folder / name);
  };
  EXPECT_EQ(made_in_order("a.h5", {0, 20, 40}), made_in_order("b.h5", {40, 0, 20}));
  EXPECT_EQ(folder.files(), (std::vector<std::string>{"a.h5", "b.h5"})) << "no part is left";

  const Hdf5Reader reader(folder / "a.h5");
  const auto q = reader.numbers("q"), samples = reader.numbers("samples"), kept = reader.numbers("outputs");
  ASSERT_EQ(q.size(), 60u);
  ASSERT_EQ(samples.size(), 120u);
  for (std::size_t k = 0; k < 60; ++k) {
    EXPECT_EQ(q[k], 10.0 * static_cast<double>(k));
    EXPECT_EQ(samples[2 * k + 1], -static_cast<double>(k));
    const bool has_failed = example_outcome(static_cast<std::int64_t>(k)) == Outcome::failed;
    EXPECT_TRUE(has_failed ? std::isnan(kept[k]) : kept[k] == example_kept(static_cast<std::int64_t>(k))) << k;
  }
  EXPECT_EQ(reader.column_names("samples"), setup.sample_names);
  // Samples of motions that are suspect or failed, from several blocks.
  std::vector<double> wanted;
  for (std::int64_t k = 0; k < 60; ++k)
    if (example_outcome(k) != Outcome::done)
      wanted.push_back(static_cast<double>(k)), wanted.push_back(-static_cast<double>(k));
  EXPECT_EQ(reader.numbers("reasons/samples"), wanted);
  EXPECT_EQ(reader.text_attribute("kind"), "sweep");
  EXPECT_EQ(reader.integer_attribute("failed"), 9);
  const auto values = reader.numbers("statistics/values");
  ASSERT_EQ(values.size(), 10u);
  EXPECT_EQ(values[0], 51.0) << "motions that have not failed";
}

}  // namespace
}  // namespace mechanician
