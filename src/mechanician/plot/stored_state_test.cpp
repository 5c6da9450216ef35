#include "mechanician/plot/stored_state.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "mechanician/base/diagnostic.hpp"
#include "mechanician/result/record.hpp"

namespace mechanician {
namespace {

constexpr const char* oscillator = R"toml(
coordinates = ["x", "y"]
[dynamics]
kinetic = "x'^2/2 + y'^2/2"
potential = "x^2/2 + 2*y^2"
[start]
position = { x = 1 }
velocity = { y = 0.3 }
)toml";

class StoredStateTest : public testing::Test {
 protected:
  StoredStateTest()
      : folder(std::filesystem::temp_directory_path() /
               ("stored_state_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()))),
        system(read_family_model_text(oscillator, "oscillator.toml")) {
    std::filesystem::create_directories(folder);
  }
  ~StoredStateTest() override { std::filesystem::remove_all(folder); }

  std::string write(const std::string& name, ResultFormat format, double to = 1.0, double every = 0.25) {
    const std::string file = (folder / name).string();
    Recorder recorder(system, make_setup(system, system.start(), {.to = to}, every, false));
    const auto writer = make_writer(file, format, recorder.header());
    recorder.run(*writer);
    return file;
  }
  std::string text(const std::string& name, const std::string& content) {
    const std::string file = (folder / name).string();
    std::ofstream(file) << content;
    return file;
  }
  std::string refusal(const std::string& file, std::optional<double> at = std::nullopt) {
    try {
      read_stored_state(system, file, at);
    } catch (const FileError& e) {
      return e.what();
    }
    return "nothing";
  }

  std::filesystem::path folder;
  System system;
};

TEST_F(StoredStateTest, is_that_of_the_last_row_or_of_the_one_at_a_time_in_every_format) {
  for (const auto& [name, format] :
       {std::pair{"a.csv", ResultFormat::csv}, {"a.json", ResultFormat::json}, {"a.h5", ResultFormat::hdf5}}) {
    SCOPED_TRACE(name);
    const std::string file = write(name, format);
    const StoredState last = read_stored_state(system, file), other = read_stored_state(system, file, 0.5);
    EXPECT_EQ(last.state.t, 1.0);
    EXPECT_NEAR(last.state.q(0), std::cos(1.0), 1e-9);
    EXPECT_NEAR(last.state.qd(1), 0.3 * std::cos(2.0), 1e-9);
    EXPECT_EQ(other.state.t, 0.5);
    EXPECT_NEAR(other.state.q(1), 0.15 * std::sin(1.0), 1e-9);
    // To the bit what was written.
    Integrator integrator(system, system.start(), {.to = 1.0});
    while (integrator.advance()) {
    }
    EXPECT_EQ(last.state.q, integrator.sample(1.0).q);
  }
}

TEST_F(StoredStateTest, a_time_that_was_rounded_is_found) {
  const std::string file = write("a.csv", ResultFormat::csv, 1.0, 0.1);
  EXPECT_EQ(read_stored_state(system, file, 0.3).state.t, 3 * 0.1);
  EXPECT_EQ(read_stored_state(system, file, 0.7).state.t, 7 * 0.1);
}

TEST_F(StoredStateTest, what_is_not_there_is_refused_by_name) {
  const std::string file = write("a.h5", ResultFormat::hdf5);
  EXPECT_NE(refusal(file, 0.6).find("there is no row at t = 0.6: its rows beside it are at t = 0.5 and 0.75"),
            std::string::npos)
      << refusal(file, 0.6);
  EXPECT_NE(refusal(file, 3.0).find("it ends at t = 1"), std::string::npos);
  EXPECT_NE(refusal(file, -1.0).find("it begins at t = 0"), std::string::npos);
  EXPECT_NE(refusal(text("b.csv", "t,x,x',y\n0,1,2,3\n")).find("no column `y'`"), std::string::npos);
  EXPECT_NE(refusal(text("c.csv", "t,x,x',y,y'\n0,1,2,nan,4\n")).find("`y` has no value"), std::string::npos);
  EXPECT_NE(refusal(text("d.csv", "t,x,x',y,y'\n")).find("no row"), std::string::npos);
  EXPECT_NE(refusal((folder / "none.csv").string()).find("there is no such file"), std::string::npos);
}

TEST_F(StoredStateTest, any_table_with_the_right_columns_will_do_and_impacts_go_on_behind) {
  const std::string file = text("e.csv", "y',x,t,other,y,x'\n1,2,0,9,3,4\n5,6,1,9,7,8\n50,60,1,9,70,80\n0,0,2,0,0,0\n");
  const State there = read_stored_state(system, file, 1.0).state;
  EXPECT_EQ(there.q(0), 60.0);
  EXPECT_EQ(there.qd(1), 50.0);
}

TEST_F(StoredStateTest, states_have_no_velocities_of_their_own) {
  system =
      System(read_family_model_text("coordinates = [\"x\"]\n[dynamics]\nkinetic = \"x'^2/2\"\n[states]\nz = { rate = "
                                    "\"x - z\", start = 1 }\n[start]\nvelocity = { x = 1 }\n",
                                    "states.toml"));
  const std::string file = write("s.h5", ResultFormat::hdf5);
  const State there = read_stored_state(system, file).state;
  EXPECT_NEAR(there.q(0), 1.0, 1e-12);
  EXPECT_NEAR(there.q(1), 2.0 * std::exp(-1.0), 1e-8);  // z = t − 1 + 2 exp(−t)
  EXPECT_NEAR(there.qd(1), there.q(0) - there.q(1), 1e-14);
}

TEST_F(StoredStateTest, a_model_names_its_result_in_its_folder) {
  write("a.h5", ResultFormat::hdf5);
  std::string stated(oscillator);
  stated.resize(stated.find("position"));
  const System again(read_family_model_text(stated + "from = \"a.h5\"\nat = 0.75\n", (folder / "m.toml").string()));
  EXPECT_EQ(find_start(again).state.t, 0.75);
  EXPECT_NEAR(find_start(again).state.q(0), std::cos(0.75), 1e-9);
  EXPECT_EQ(find_start(system).state.t, 0.0);
}

}  // namespace
}  // namespace mechanician
