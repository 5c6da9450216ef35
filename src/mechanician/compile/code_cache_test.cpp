#include "mechanician/compile/code_cache.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <thread>

#include "mechanician/compile/random_program_for_test.hpp"

namespace mechanician {
namespace {

namespace fs = std::filesystem;

class Cache : public testing::Test {
 protected:
  Cache() {
    std::string name = (fs::temp_directory_path() / "mechanician_cache_XXXXXX").string();
    directory = ::mkdtemp(name.data());
  }
  ~Cache() override {
    ::chmod(directory.c_str(), 0700);
    fs::remove_all(directory);
  }
  std::string directory;
  const CodeKey key{1, 2};
  const std::vector<std::string> objects{"an object", std::string(10000, 'x'), ""};
};

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

TEST_F(Cache, GivesBackWhatWasKept) {
  const CodeCache cache(directory + "/deep/er");
  EXPECT_FALSE(cache.find(key));
  cache.keep(key, objects);
  EXPECT_EQ(cache.find(key), objects);
  EXPECT_FALSE(cache.find({1, 3}));
  EXPECT_FALSE(cache.find({2, 2}));
}

TEST_F(Cache, DoesNotUseAFileWithAnyByteChangedOrAnyLengthAndReplacesIt) {
  const CodeCache cache(directory);
  cache.keep(key, objects);
  const std::string path = cache.path_of(key), good = read(path);
  for (std::size_t i = 0; i < good.size(); i += i < 100 ? 1 : 499)
    for (const char flip : {'\x01', '\x80', '\xff'}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ flip);
      write(path, bad);
      ASSERT_FALSE(cache.find(key)) << "byte " << i;
    }
  for (std::size_t size = 0; size < good.size(); size += size < 100 ? 1 : 499) {
    write(path, good.substr(0, size));
    ASSERT_FALSE(cache.find(key)) << "length " << size;
  }
  write(path, good + "x");
  EXPECT_FALSE(cache.find(key));
  cache.keep(key, objects);
  EXPECT_EQ(cache.find(key), objects);
}

TEST_F(Cache, DoesNotUseTheFileOfAnotherKey) {
  const CodeCache cache(directory);
  cache.keep(key, objects);
  fs::copy(cache.path_of(key), cache.path_of({5, 6}));
  EXPECT_FALSE(cache.find({5, 6}));
}

TEST_F(Cache, DoesNotUseAFileThatOthersCanWriteOrThatIsALink) {
  const CodeCache cache(directory);
  cache.keep(key, objects);
  const std::string path = cache.path_of(key);
  ::chmod(path.c_str(), 0620);
  EXPECT_FALSE(cache.find(key));
  ::chmod(path.c_str(), 0602);
  EXPECT_FALSE(cache.find(key));
  ::chmod(path.c_str(), 0600);
  EXPECT_TRUE(cache.find(key));
  fs::rename(path, directory + "/elsewhere");
  fs::create_symlink(directory + "/elsewhere", path);
  EXPECT_FALSE(cache.find(key));
}

TEST_F(Cache, IsNotThereWhereItsDirectoryCannotBe) {
  write(directory + "/file", "");
  for (const std::string& place :
       {std::string(), directory + "/file", directory + "/file/below", std::string("/proc/x")}) {
    const CodeCache cache(place);
    cache.keep(key, objects);
    EXPECT_FALSE(cache.find(key)) << place;
  }
  // Something else in the place of the file.
  const CodeCache cache(directory);
  fs::create_directories(cache.path_of(key) + "/inside");
  cache.keep(key, objects);
  EXPECT_FALSE(cache.find(key));
}

TEST_F(Cache, IsReadWhereItCannotBeWritten) {
  const CodeCache cache(directory);
  cache.keep(key, objects);
  ::chmod(directory.c_str(), 0500);
  const auto is_right = [&] {
    cache.keep({7, 7}, objects);
    return cache.find(key) == objects && !cache.find({7, 7});
  };
  if (::geteuid() != 0) {
    EXPECT_TRUE(is_right());
    return;
  }
  // Root writes everywhere: somebody else tries.
  constexpr uid_t nobody = 65534;
  ASSERT_EQ(::chown(directory.c_str(), nobody, nobody), 0);
  ASSERT_EQ(::chown(cache.path_of(key).c_str(), nobody, nobody), 0);
  const pid_t child = ::fork();
  if (child == 0) ::_exit(::setuid(nobody) == 0 && is_right() ? 0 : 1);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_FALSE(cache.find(key)) << "that of somebody else";
}

TEST_F(Cache, ForgetsWhatWasNotUsedForLongest) {
  const CodeCache cache(directory, 40000);
  const std::vector<std::string> one{std::string(10000, 'x')};
  for (std::uint64_t i = 0; i < 3; ++i) {
    cache.keep({i, 0}, one);
    // Files of the same instant have no order.
    const auto old = fs::file_time_type::clock::now() - std::chrono::hours(10 - static_cast<int>(i));
    fs::last_write_time(cache.path_of({i, 0}), old);
  }
  EXPECT_TRUE(cache.find({0, 0}));  // used now
  cache.keep({3, 0}, one);
  EXPECT_TRUE(cache.find({0, 0}));
  EXPECT_FALSE(cache.find({1, 0}));
  EXPECT_TRUE(cache.find({3, 0}));
  cache.keep({4, 0}, std::vector<std::string>{std::string(50000, 'x')});  // larger than all of it
  EXPECT_FALSE(cache.find({4, 0}));
}

TEST_F(Cache, RemovesWhatKilledProcessesLeft) {
  const CodeCache cache(directory);
  const std::string left = directory + "/" + key.text() + ".1.0.part",
                    fresh = directory + "/" + key.text() + ".2.0.part";
  write(left, "x");
  write(fresh, "x");
  fs::last_write_time(left, fs::file_time_type::clock::now() - std::chrono::hours(2));
  cache.keep(key, objects);
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(fresh));
}

TEST_F(Cache, TouchesNothingOfOthersInItsFolder) {
  std::vector<std::string> foreign;
  const std::string hex = CodeKey{3, 4}.text();
  for (const std::string& name :
       {std::string("motion.h5.part"), std::string("motion.csv.part"), std::string("sweep.h5.part-1"),
        std::string("1.0.part"), std::string("a.object"), hex + ".part", hex + ".1.part", hex + ".1.2.h5.part",
        hex + "0.1.2.part", hex + ".a.0.part", "x" + hex + ".1.0.part", hex + "x.object", hex.substr(1) + ".object",
        hex + ".1.0.part.new"}) {
    foreign.push_back(directory + "/" + name);
    write(foreign.back(), std::string(1000, 'x'));
    fs::last_write_time(foreign.back(), fs::file_time_type::clock::now() - std::chrono::hours(100));
  }
  CodeCache(directory).keep(key, objects);
  CodeCache(directory, 11000).keep({5, 5}, objects);  // has to forget something
  EXPECT_FALSE(fs::exists(CodeCache(directory).path_of(key)) && fs::exists(CodeCache(directory).path_of({5, 5})));
  for (const std::string& file : foreign) EXPECT_TRUE(fs::exists(file)) << file;
}

TEST_F(Cache, IsSharedByThreadsAndProcessesThatWriteAndReadTheSameFiles) {
  const auto contents = [](std::uint64_t k) {
    return std::vector<std::string>{std::string(20000 + 100 * k, static_cast<char>('a' + k))};
  };
  const auto use = [&](std::uint64_t seed) {
    const CodeCache cache(directory);
    std::mt19937_64 random(seed);
    for (int i = 0; i < 300; ++i) {
      const std::uint64_t k = random() % 4;
      if (random() % 2) cache.keep({k, 1}, contents(k));
      if (const auto found = cache.find({k, 1}); found && *found != contents(k)) return false;
    }
    return true;
  };
  std::vector<pid_t> children;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(use(seed) ? 0 : 1);
    children.push_back(child);
  }
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::uint64_t seed = 10; seed < 13; ++seed) threads.emplace_back([&, seed] { wrong += use(seed) ? 0 : 1; });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  for (const auto& entry : fs::directory_iterator(directory)) EXPECT_EQ(entry.path().extension(), ".object");
}

TEST(CodeKey, DiffersForProgramsThatDifferAnywhere) {
  std::mt19937_64 random(4);
  const Program program = random_program(random);
  std::set<std::string> keys{code_key(program, {}).text()};
  std::size_t count = 1;
  const auto add = [&](const Program& p, const ObjectOptions& options = {}) {
    keys.insert(code_key(p, options).text());
    ++count;
  };
  for (std::size_t i = 0; i < program.steps.size(); ++i)
    for (int field = 0; field < 4; ++field) {
      Program p = program;
      Step& s = p.steps[i];
      if (field == 0)
        s.action = s.action == Action::fma ? Action::fms : Action::fma;
      else
        (field == 1 ? s.a : field == 2 ? s.b : s.c) ^= 1;
      add(p);
    }
  for (std::size_t i = 0; i < program.constants.size(); ++i) {
    Program p = program;
    p.constants[i] = 77;
    add(p);
  }
  for (std::size_t i = 0; i < program.outputs.size(); ++i) {
    Program p = program;
    p.outputs[i] ^= 1;
    add(p);
  }
  Program p = program;
  p.outputs.pop_back();
  add(p);
  p = program;
  ++p.num_inputs;
  add(p);
  add(program, {.level = CodeLevel::quick});
  add(program, {.lanes = 8});
  add(program, {.steps_per_part = 100});
  EXPECT_EQ(keys.size(), count);
  EXPECT_EQ(code_key(program, {}), code_key(program, {}));
}

TEST(CacheDirectory, IsThatOfTheEnvironment) {
  const auto value = [](const char* name) { return std::string(std::getenv(name) ? std::getenv(name) : ""); };
  const std::string own = value("MECHANICIAN_CACHE"), base = value("XDG_CACHE_HOME"), home = value("HOME");
  ::setenv("HOME", "/h", 1);
  ::setenv("XDG_CACHE_HOME", "/c", 1);
  ::setenv("MECHANICIAN_CACHE", "m", 1);
  EXPECT_EQ(cache_directory(), "m");
  ::unsetenv("MECHANICIAN_CACHE");
  EXPECT_EQ(cache_directory(), "/c/mechanician");
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(cache_directory(), "/h/.cache/mechanician");
  ::unsetenv("HOME");
  EXPECT_EQ(cache_directory(), "");
  const auto restore = [](const char* name, const std::string& x) {
    x.empty() ? ::unsetenv(name) : ::setenv(name, x.c_str(), 1);
  };
  restore("MECHANICIAN_CACHE", own);
  restore("XDG_CACHE_HOME", base);
  restore("HOME", home);
}

}  // namespace
}  // namespace mechanician
