#include "mechanician/result/sweep_store.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "mechanician/result/example_for_test.hpp"
#include "mechanician/result/sweep_example_for_test.hpp"

namespace mechanician {
namespace {

using Begin = SweepStore::Begin;

/// First and last motion of each record, as they lie.
std::vector<std::pair<std::int64_t, std::int64_t>> ranges_of(const SweepStore& store) {
  std::vector<std::pair<std::int64_t, std::int64_t>> result;
  for (const MotionRange& r : store.done()) result.emplace_back(r.first, r.first + r.count - 1);
  return result;
}
using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// Compares all that the store has of every record with what was put in.
void expect_as_made(const SweepStore& store, const SweepSetup& setup) {
  const auto quantities = quantities_of(setup);
  std::vector<char> bytes;
  const auto numbers_of = [&](const SweepStore::Record& record, std::string_view name) {
    const auto found =
        std::find_if(quantities.begin(), quantities.end(), [&](const SweepQuantity& q) { return q.name == name; });
    store.read(record, static_cast<std::size_t>(found - quantities.begin()), bytes);
    std::vector<double> result(bytes.size() / 8);
    for (std::size_t i = 0; i < result.size(); ++i) {
      std::int64_t whole = 0;
      std::memcpy(found->whole ? static_cast<void*>(&whole) : static_cast<void*>(&result[i]), bytes.data() + 8 * i, 8);
      if (found->whole) result[i] = static_cast<double>(whole);
    }
    return result;
  };
  for (const auto& record : store.records()) {
    const SweepBlock made = example_block(record.first, static_cast<int>(record.count));
    EXPECT_EQ(numbers_of(record, "samples"), made.samples);
    EXPECT_EQ(numbers_of(record, "q"), made.result.q);
    EXPECT_EQ(numbers_of(record, "qd"), made.result.qd);
    EXPECT_EQ(numbers_of(record, "violation"), made.result.violation);
    const auto outcomes = numbers_of(record, "outcome"), steps = numbers_of(record, "steps"),
               kept = numbers_of(record, "outputs");
    std::vector<std::pair<std::int64_t, std::string>> reasons;
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      EXPECT_EQ(outcomes[i], static_cast<double>(made.result.outcome[i]));
      EXPECT_EQ(steps[i], static_cast<double>(made.result.steps[i]));
      EXPECT_TRUE(kept[i] == made.kept[i] || (std::isnan(kept[i]) && std::isnan(made.kept[i])))
          << kept[i] << ' ' << made.kept[i];
      if (made.result.outcome[i] != Outcome::done)
        reasons.emplace_back(record.first + static_cast<std::int64_t>(i), made.result.reason[i]);
    }
    std::vector<std::pair<std::int64_t, std::string>> found;
    for (const SweepReason& r : store.reasons(record)) found.emplace_back(r.motion, r.text);
    EXPECT_EQ(found, reasons);
  }
}

TEST(SweepStore, InMemoryGivesBackWhatWasAppended) {
  const SweepSetup setup = example_sweep(30);
  SweepStore store(setup);
  for (const int first : {20, 0, 10}) store.append(example_block(first, 10));
  EXPECT_EQ(ranges_of(store), (Ranges{{20, 29}, {0, 9}, {10, 19}}));
  store.sort();
  EXPECT_EQ(ranges_of(store), (Ranges{{0, 9}, {10, 19}, {20, 29}}));
  expect_as_made(store, setup);
}

TEST(SweepStore, GoesOnAfterAProcessThatWasKilled) {
  const Folder folder;
  const std::string file = folder / "s.h5";
  const SweepSetup setup = example_sweep(30);
  {
    SweepStore store(setup, file, 0, Begin::anew);
    store.append(example_block(10, 10));
    store.append(example_block(0, 4));
  }
  EXPECT_EQ(encode(read_sweep_setup(file)), encode(setup));
  {
    SweepStore store(setup, file, 0, Begin::again);
    EXPECT_EQ(ranges_of(store), (Ranges{{10, 19}, {0, 3}}));
    store.append(example_block(4, 6));
  }
  SweepStore store(setup, file, 0, Begin::again);
  EXPECT_EQ(ranges_of(store), (Ranges{{10, 19}, {0, 3}, {4, 9}}));
  expect_as_made(store, setup);
}

TEST(SweepStore, ABlockThatIsCutOffOrDamagedIsDoneAgain) {
  const SweepSetup setup = example_sweep(30);
  const Folder folder;
  const std::string file = folder / "s.h5", part = file + ".part";
  std::vector<std::uintmax_t> sizes;
  {
    SweepStore store(setup, file, 0, Begin::anew);
    sizes.push_back(std::filesystem::file_size(part));
    for (const int first : {0, 10, 20}) {
      store.append(example_block(first, 10));
      sizes.push_back(std::filesystem::file_size(part));
    }
  }
  const std::string whole = read_file(part);
  const auto left_of = [&](const std::string& bytes) {
    write_file(part, bytes);
    SweepStore store(setup, file, 0, Begin::again);
    const std::size_t left = store.records().size();
    // What is not whole is gone, so that what follows is.
    EXPECT_EQ(std::filesystem::file_size(part), sizes[left]);
    return left;
  };
  for (std::uintmax_t size = sizes[0]; size <= whole.size(); size += 37)
    EXPECT_EQ(left_of(whole.substr(0, size)), size >= sizes[3]   ? 3u
                                              : size >= sizes[2] ? 2u
                                              : size >= sizes[1] ? 1u
                                                                 : 0u)
        << size;
  for (std::uintmax_t at = sizes[1]; at < sizes[2]; at += 41) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    EXPECT_EQ(left_of(damaged), 1u) << at;
  }
}

TEST(SweepStore, TakesUpWhatOtherRanksHaveWritten) {
  const Folder folder;
  const std::string file = folder / "s.h5";
  const SweepSetup setup = example_sweep(40);
  {
    SweepStore first(setup, file, 0, Begin::anew);
    SweepStore second(setup, file, 1, Begin::anew), third(setup, file, 2, Begin::anew);
    first.append(example_block(0, 10)), second.append(example_block(20, 10)), third.append(example_block(10, 10));
    first.gather();
    first.sort();
    EXPECT_EQ(ranges_of(first), (Ranges{{0, 9}, {10, 19}, {20, 29}}));
    // Of three processes each has its own; of two, the first copies what the third has left.
    std::vector<bool> of_three, of_two;
    for (const auto& r : first.records())
      of_three.push_back(first.is_mine(r, 3)), of_two.push_back(first.is_mine(r, 2));
    EXPECT_EQ(of_three, (std::vector<bool>{true, false, false}));
    EXPECT_EQ(of_two, (std::vector<bool>{true, true, false}));
    expect_as_made(first, setup);
  }
  {
    SweepStore first(setup, file, 0, Begin::again);
    EXPECT_EQ(first.records().size(), 3u);
  }
  EXPECT_EQ(other_parts(file).size(), 2u);
  // A new sweep has nothing to do with them.
  SweepStore first(setup, file, 0, Begin::anew);
  EXPECT_TRUE(first.records().empty());
  EXPECT_TRUE(other_parts(file).empty());
}

TEST(SweepStore, PartsOfAnotherSweepAreNotMixedIn) {
  const Folder folder;
  const std::string file = folder / "s.h5";
  SweepSetup setup = example_sweep(40), other = setup;
  other.samples.seed = 8;
  {
    SweepStore first(setup, file, 0, Begin::anew);
    SweepStore second(other, file, 1, Begin::anew);
    first.append(example_block(0, 10)), second.append(example_block(10, 10));
  }
  {
    SweepStore first(setup, file, 0, Begin::again);
    EXPECT_EQ(ranges_of(first), (Ranges{{0, 9}}));
  }
  EXPECT_THROW(SweepStore(other, file, 0, Begin::again), FileError);
}

TEST(SweepStore, TwoSweepsDoNotWriteOneResult) {
  const Folder folder;
  const std::string file = folder / "s.h5";
  const SweepSetup setup = example_sweep(10);
  SweepStore store(setup, file, 0, Begin::anew), second(setup, file, 1, Begin::anew);
  store.append(example_block(0, 10));
  EXPECT_THROW(SweepStore(setup, file, 0, Begin::anew), FileError);
  EXPECT_THROW(SweepStore(setup, file, 0, Begin::again), FileError);
  EXPECT_THROW(SweepStore(setup, file, 1, Begin::again), FileError);
  expect_as_made(store, setup);
}

TEST(SweepStore, LeavesFilesOfOthersAlone) {
  const Folder folder;
  const std::string file = folder / "s.csv";
  write_file(file + ".part-1", "precious");
  write_file(file + ".part-2", "mechanician sweep 1\nold");
  write_file(file + ".part-3", "");
  EXPECT_EQ(other_parts(file).size(), 2u);
  const SweepStore store(example_sweep(10), file, 0, SweepStore::Begin::anew);
  EXPECT_TRUE(std::filesystem::exists(file + ".part-1"));
  EXPECT_FALSE(std::filesystem::exists(file + ".part-2") || std::filesystem::exists(file + ".part-3"));
}

TEST(ReadSweepSetup, SaysWhatIsNotThere) {
  const Folder folder;
  const std::string file = folder / "s.h5";
  const auto message = [&] {
    try {
      read_sweep_setup(file);
    } catch (const FileError& e) {
      return std::string(e.what());
    }
    return std::string("nothing");
  };
  EXPECT_NE(message().find("no sweep was interrupted there"), std::string::npos) << message();
  write_file(file, "");
  EXPECT_NE(message().find("it is empty"), std::string::npos) << message();
  write_file(file, "x");
  EXPECT_NE(message().find("this is text"), std::string::npos) << message();
  write_file(file + ".part", "");
  EXPECT_NE(message().find("it holds nothing"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(file + ".part"));
  write_file(file + ".part", "\x89HDF\r\n\x1a\n");
  EXPECT_NE(message().find("run --resume"), std::string::npos) << message();
  for (const std::string& text : {std::string("mechanician sweep 1\n"), std::string(100, 'x')}) {
    write_file(file + ".part", text);
    EXPECT_NE(message().find("no unfinished sweep, or it is damaged"), std::string::npos) << message();
  }
}

TEST(ReadSweepSetup, FollowsALinkToAResultThatIsNotThereYet) {
  const Folder folder;
  std::filesystem::create_directory(folder / "far");
  const std::string link = folder / "link.h5";
  std::filesystem::create_symlink("far/target", link);
  const SweepSetup setup = example_sweep(10);
  { SweepStore store(setup, link, 0, Begin::anew); }
  EXPECT_TRUE(std::filesystem::exists(folder / "far/target.part"));
  EXPECT_EQ(encode(read_sweep_setup(link)), encode(setup));
}

}  // namespace
}  // namespace mechanician
