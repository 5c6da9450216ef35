#include "mechanician/base/read_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace mechanician {
namespace {

namespace fs = std::filesystem;

class ReadFile : public testing::Test {
 protected:
  ReadFile() {
    std::string name = (fs::temp_directory_path() / "readXXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~ReadFile() override { fs::remove_all(folder_); }
  std::string path(const char* name) const { return (folder_ / name).string(); }
  fs::path folder_;
};

TEST_F(ReadFile, WholeFilesOfAnySize) {
  for (const std::size_t size : {0u, 1u, 65535u, 65536u, 65537u, 200000u}) {
    const std::string text(size, 'x');
    std::ofstream(path("a")) << text;
    EXPECT_EQ(read_file(path("a")).text, text);
    EXPECT_EQ(read_file(path("a"), 1000).text.size(), std::min<std::size_t>(size, 1001));
  }
  EXPECT_FALSE(read_file("/proc/self/status").text.empty());
}

TEST_F(ReadFile, NothingElse) {
  EXPECT_EQ(read_file(path("none")).problem, "No such file or directory");
  EXPECT_EQ(read_file(path(".")).problem, "it is a folder");
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(read_file(path("pipe")).problem, "it is a pipe, and this must be a file");
  EXPECT_EQ(read_file("/dev/zero").problem, "it is a device, and this must be a file");
}

TEST_F(ReadFile, WhatWasReadIsKeptAndCompared) {
  std::ofstream(path("a")) << "one";
  std::vector<FileRead> read;
  {
    FilesKept outer;
    {
      FilesKept kept;
      read_file(path("a")), read_file(path("none")), read_file(path("a"), 1);
      read = kept.take();
    }
    read_file(path("a"));
    EXPECT_EQ(outer.take().size(), 1u);
  }
  read_file(path("a"));
  ASSERT_EQ(read.size(), 3u);
  for (const FileRead& file : read) EXPECT_TRUE(file.is_unchanged());
  std::ofstream(path("a")) << "onf";  // beyond what the third one saw
  EXPECT_FALSE(read[0].is_unchanged());
  EXPECT_TRUE(read[2].is_unchanged());
  std::ofstream(path("none")) << "";
  EXPECT_FALSE(read[1].is_unchanged());
}

}  // namespace
}  // namespace mechanician
