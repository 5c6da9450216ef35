#include "mechanician/result/file_clashes.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "mechanician/base/diagnostic.hpp"
#include "mechanician/result/part_file.hpp"
#include "mechanician/result/text_sink.hpp"

namespace mechanician {
namespace {

namespace fs = std::filesystem;

class FileClashes : public testing::Test {
 protected:
  FileClashes() {
    std::string name = (fs::temp_directory_path() / "clashXXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    write("model.toml", "a");
    fs::create_directory(folder_ / "sub");
  }
  ~FileClashes() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }
  std::string read(const std::string& name) const {
    std::ifstream in(path(name));
    return {std::istreambuf_iterator<char>(in), {}};
  }
  unsigned permissions(const std::string& name) const {
    struct stat s {};
    return ::stat(path(name).c_str(), &s) == 0 ? s.st_mode & 0777u : 0;
  }
  bool clash(const std::string& output, const std::string& input = "model.toml") const {
    const UsedFile out{path(output), "-o"}, in{path(input), "the model"};
    return find_clash({&out, 1}, {&in, 1}).has_value();
  }
  bool clash_of_outputs(const std::string& a, const std::string& b) const {
    const UsedFile out[] = {{path(a), "-o"}, {path(b), "--report"}};
    return find_clash(out, {}).has_value();
  }

  fs::path folder_;
};

TEST_F(FileClashes, InputsByEveryPath) {
  EXPECT_FALSE(clash("other.toml"));
  EXPECT_TRUE(clash("model.toml"));
  EXPECT_TRUE(clash("sub/../model.toml"));
  EXPECT_TRUE(clash("./model.toml"));
  fs::create_symlink("model.toml", path("link.csv"));
  fs::create_symlink("../link.csv", path("sub/link2.csv"));
  fs::create_hard_link(path("model.toml"), path("hard.csv"));
  fs::create_symlink("sub", path("folder"));
  fs::create_symlink("nothing.csv", path("dangling.csv"));
  EXPECT_TRUE(clash("link.csv"));
  EXPECT_TRUE(clash("sub/link2.csv"));
  EXPECT_TRUE(clash("folder/link2.csv"));
  EXPECT_TRUE(clash("hard.csv"));
  EXPECT_TRUE(clash("model.toml", "link.csv"));
  EXPECT_FALSE(clash("dangling.csv"));
  EXPECT_FALSE(clash("link.csv", "sub/nothing"));
}

TEST_F(FileClashes, PartAndScratchOfAnOutputToo) {
  write("a.csv.part", "x"), write("b.csv.part.new", "x");
  EXPECT_TRUE(clash("a.csv", "a.csv.part"));
  EXPECT_TRUE(clash("b.csv", "b.csv.part.new"));
  EXPECT_FALSE(clash("c.csv", "a.csv.part"));
  fs::create_symlink("model.toml", path("d.csv.part"));
  EXPECT_TRUE(clash("d.csv"));
}

TEST_F(FileClashes, TwoOutputsThatAreNotThereYet) {
  EXPECT_TRUE(clash_of_outputs("new.html", "new.html"));
  EXPECT_TRUE(clash_of_outputs("new.html", "sub/../new.html"));
  EXPECT_FALSE(clash_of_outputs("new.html", "sub/new.html"));
  fs::create_symlink("../new.html", path("sub/link.html"));
  EXPECT_TRUE(clash_of_outputs("new.html", "sub/link.html"));
  EXPECT_TRUE(clash_of_outputs("new.html", "new.html.part"));
}

TEST_F(FileClashes, WriteProtectedFilesStay) {
  ::chmod(path("model.toml").c_str(), 0444);
  EXPECT_THROW(make_file_sink(path("model.toml")), FileError);
  EXPECT_EQ(read("model.toml"), "a");
  EXPECT_FALSE(fs::exists(path("model.toml.part")));
}

TEST_F(FileClashes, WhoMayReadStays) {
  for (const unsigned mode : {0600u, 0640u, 0664u, 0666u, 0200u, 0755u}) {
    ::chmod(path("model.toml").c_str(), mode);
    const auto sink = make_file_sink(path("model.toml"));
    EXPECT_EQ(permissions("model.toml.part"), mode);
    sink->append("b");
    sink->finish();
    EXPECT_EQ(permissions("model.toml"), mode);
  }
  PartFile part(path("model.toml"));
  part.make_scratch();
  EXPECT_EQ(permissions("model.toml.part.new"), 0755u);
}

TEST_F(FileClashes, NothingIsWrittenThroughLinksAtOurNames) {
  fs::create_symlink("model.toml", path("r.csv.part"));
  EXPECT_THROW(make_file_sink(path("r.csv")), FileError);
  EXPECT_EQ(read("model.toml"), "a");
  fs::create_symlink("model.toml", path("s.csv.part.new"));
  PartFile part(path("s.csv"));
  part.make_scratch();
  EXPECT_FALSE(fs::is_symlink(path("s.csv.part.new")));
  EXPECT_EQ(read("model.toml"), "a");
}

TEST_F(FileClashes, WithATailThereIsAWholePartAtEveryMoment) {
  std::string body;
  {
    const auto sink = make_file_sink(path("a.json"));
    for (int k = 0; k < 20; ++k) {
      const std::string text = std::to_string(k) + ",", tail(static_cast<std::size_t>(k % 5 * 7 + 1), '.');
      // Whoever has opened it before sees what it was, whole: nothing is written into it.
      std::ifstream before(path("a.json.part"));
      const std::string seen = k > 0 ? read("a.json.part") : "";
      sink->append_with_tail(text, tail);
      EXPECT_EQ(std::string(std::istreambuf_iterator<char>(before), {}), seen);
      body += text;
      EXPECT_EQ(read("a.json.part"), body + tail);
    }
    sink->append("end");
    sink->finish();
  }
  EXPECT_EQ(read("a.json"), body + "end");
  EXPECT_FALSE(fs::exists(path("a.json.part")) || fs::exists(path("a.json.part.new")));
}

TEST_F(FileClashes, APartStaysUntilThereIsSomethingNew) {
  write("old.csv.part", "rows");
  { const auto sink = make_file_sink(path("old.csv")); }
  EXPECT_EQ(read("old.csv.part"), "rows");
  make_file_sink(path("old.csv"))->append("r");
  EXPECT_EQ(read("old.csv.part"), "r");
}

}  // namespace
}  // namespace mechanician
