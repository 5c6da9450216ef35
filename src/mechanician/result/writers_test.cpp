#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "mechanician/result/example_for_test.hpp"
#include "mechanician/result/hdf5_file.hpp"
#include "mechanician/result/hdf5_writer.hpp"
#include "mechanician/result/part_file.hpp"
#include "mechanician/result/text_sink.hpp"

namespace mechanician {
namespace {

/// Brackets and quotation marks balance, and nothing follows: enough for text that a program made.
bool looks_like_json(const std::string& text) {
  std::string open;
  bool in_string = false, done = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (std::isspace(static_cast<unsigned char>(c))) {
      continue;
    } else if (done) {
      return false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      open += c;
    } else if (c == '}' || c == ']') {
      if (open.empty() || open.back() != (c == '}' ? '{' : '[')) return false;
      open.pop_back();
      done = open.empty();
    }
  }
  return done && !in_string;
}

class EveryFormat : public ::testing::TestWithParam<const char*> {
 protected:
  std::string file() const { return folder / (std::string("motion.") + GetParam()); }
  std::unique_ptr<ResultWriter> writer() const {
    return make_writer(file(), format_of(file()).value(), example_header(system));
  }
  const System system = example_system();
  const Columns columns{system};
  const Folder folder;
};

TEST_P(EveryFormat, is_written_beside_and_renamed_at_the_end) {
  auto w = writer();
  write_rows(*w, columns, 0, 3);
  w->flush(state_with(RunStatus::incomplete));
  const std::string part = "motion." + std::string(GetParam()) + ".part";
  EXPECT_EQ(folder.files(), format_of(file()) == ResultFormat::json ? (std::vector<std::string>{part, part + ".new"})
                                                                    : std::vector<std::string>{part});
  w->finish(state_with(RunStatus::done));
  w.reset();
  EXPECT_EQ(folder.files(), std::vector<std::string>{"motion." + std::string(GetParam())});
}

TEST_P(EveryFormat, leaves_an_earlier_result_alone_until_the_end) {
  write_file(file(), "precious");
  {
    auto w = writer();
    write_rows(*w, columns, 0, 3);
    w->flush(state_with(RunStatus::incomplete));
  }
  EXPECT_EQ(read_file(file()), "precious");
  auto w = writer();
  w->finish(state_with(RunStatus::done));
  EXPECT_NE(read_file(file()), "precious");
}

TEST_P(EveryFormat, has_one_writer_at_a_time) {
  auto first = writer();
  try {
    writer();
    FAIL() << "a second writer";
  } catch (const FileError& e) {
    EXPECT_NE(std::string(e.what()).find(file() + ".part"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("another run is writing"), std::string::npos) << e.what();
  }
  first->finish(state_with(RunStatus::done));
  first.reset();
  EXPECT_NO_THROW(writer());
}

TEST_P(EveryFormat, says_why_a_folder_cannot_be_written) {
  const std::string nowhere = folder / ("no/motion." + std::string(GetParam()));
  try {
    make_writer(nowhere, *format_of(nowhere), example_header(system));
    FAIL();
  } catch (const FileError& e) {
    EXPECT_NE(std::string(e.what()).find("No such file or directory"), std::string::npos) << e.what();
  }
  std::filesystem::create_directory(file());
  EXPECT_THROW(writer(), FileError);  // a folder in its place
}

TEST_P(EveryFormat, survives_a_disk_that_fills_up) {
  write_file(file(), "precious");
  // In a process of its own: the limit on the size of files cannot be raised again by everybody.
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{100'000, 100'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    int status = 1;
    try {
      auto w = writer();
      for (int i = 0;; i += 100) {
        write_rows(*w, columns, i, i + 100);
        w->flush(state_with(RunStatus::incomplete));
      }
    } catch (const FileError& e) {
      status = std::string(e.what()).find("File too large") != std::string::npos ? 0 : 2;
    }
    ::_exit(status);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(read_file(file()), "precious");
  // What is left is whole up to the last flush that worked.
  if (std::string(GetParam()) == "json") {
    EXPECT_TRUE(looks_like_json(read_file(file() + ".part")));
  } else if (std::string(GetParam()) == "csv") {
    EXPECT_EQ(read_file(file() + ".part").back(), '\n');
  }
}

INSTANTIATE_TEST_SUITE_P(formats, EveryFormat, ::testing::Values("csv", "json", "h5"),
                         [](const auto& p) { return std::string(p.param); });

TEST(Csv, has_a_line_of_names_and_numbers_that_read_back) {
  const System system = example_system();
  const Folder folder;
  auto w = make_writer(folder / "a.csv", ResultFormat::csv, example_header(system));
  std::vector<double> row;
  const Columns columns(system);
  columns.fill_row(example_sample(0.1), row);
  w->row(row);
  w->finish(state_with(RunStatus::done));
  std::istringstream in(read_file(folder / "a.csv"));
  std::string line;
  ASSERT_TRUE(std::getline(in, line));
  EXPECT_EQ(line.substr(0, 12), "t,x,y,x',y',");
  ASSERT_TRUE(std::getline(in, line));
  std::istringstream numbers(line);
  std::string number;
  std::size_t i = 0;
  for (; std::getline(numbers, number, ','); ++i) EXPECT_EQ(std::stod(number), row.at(i));
  EXPECT_EQ(i, row.size());
  EXPECT_FALSE(std::getline(in, line));
}

TEST(Csv, that_is_not_done_says_so_in_its_last_line) {
  const System system = example_system();
  for (const RunStatus status : {RunStatus::failed, RunStatus::suspect, RunStatus::interrupted, RunStatus::stopped}) {
    const Folder folder;
    auto w = make_writer(folder / "a.csv", ResultFormat::csv, example_header(system));
    RunState state = state_with(status);
    state.summary.message = "why\nnot";
    state.summary.certificate.holds = false;
    state.summary.certificate.reasons = {"why not"};
    w->finish(state);
    const std::string text = read_file(folder / "a.csv");
    const std::string last = text.substr(text.find('\n') + 1);
    if (status == RunStatus::stopped) {  // a stop that the model asked for is its end
      EXPECT_EQ(last, "");
    } else {
      EXPECT_EQ(last.find(fmt::format("# {}: ", name_of(status))), 0u) << last;
      EXPECT_EQ(std::count(last.begin(), last.end(), '\n'), 1) << last;
      EXPECT_NE(last.find("why not"), std::string::npos) << last;
    }
  }
}

TEST(Json, is_valid_after_every_flush) {
  const System system = example_system();
  const Columns columns(system);
  const Folder folder;
  auto w = make_writer(folder / "a.json", ResultFormat::json, example_header(system));
  std::vector<MotionEvent> events;
  for (int i = 0; i < 5; ++i) {
    RunState state = state_with(RunStatus::incomplete);
    // Sometimes there is less to say than before: nothing of the old text may be left.
    if (i == 1) state.summary.notes.assign(100, "a note that is gone again");
    if (i == 3) events.push_back(example_event(3.0));
    state.events = events;
    w->flush(state);
    const std::string text = read_file(folder / "a.json.part");
    EXPECT_TRUE(looks_like_json(text)) << text;
    EXPECT_NE(text.find("\"status\": \"incomplete\""), std::string::npos);
    write_rows(*w, columns, 2 * i, 2 * i + 2);
  }
  RunState state = state_with(RunStatus::done);
  state.events = events;
  w->finish(state);
  const std::string text = read_file(folder / "a.json");
  EXPECT_TRUE(looks_like_json(text)) << text;
  EXPECT_NE(text.find("\"status\": \"done\""), std::string::npos);
  EXPECT_NE(
      text.find("{\"time\": 3, \"kind\": \"singular\", \"constraints\": [\"rod\", \"line\"], \"position\": {\"x\": 1, "
                "\"y\": 2}, \"velocity_before\": {\"x\": 3, \"y\": 4}, \"velocity_after\": {\"x\": 5, \"y\": 6}"),
      std::string::npos)
      << text;
}

TEST(Json, says_null_for_what_is_no_number) {
  const System system = example_system();
  const Folder folder;
  auto w = make_writer(folder / "a.json", ResultFormat::json, example_header(system));
  Sample s = example_sample(0.0);
  s.q << NAN, INFINITY;
  std::vector<double> row;
  Columns(system).fill_row(s, row);
  w->row(row);
  w->finish(state_with(RunStatus::done));
  EXPECT_NE(read_file(folder / "a.json").find("[0, null, null, 2"), std::string::npos);
}

TEST(Number, has_17_digits_and_reads_back) {
  for (const double x : {0.1, 1.0 / 3.0, -1e-308, 4.9e-324, 1.7976931348623157e308, 6.02214076e23, -0.0}) {
    std::string text;
    append_number(text, x);
    EXPECT_EQ(std::strtod(text.c_str(), nullptr), x) << text;
  }
  std::string text;
  append_number(text, 0.1);
  EXPECT_EQ(text, "0.10000000000000001");
}

class Hdf5 : public EveryFormat {};
INSTANTIATE_TEST_SUITE_P(format, Hdf5, ::testing::Values("h5"), [](const auto& p) { return std::string(p.param); });

TEST_P(Hdf5, holds_each_quantity_by_itself_with_what_the_run_was) {
  auto w = writer();
  write_rows(*w, columns, 0, 5000);  // more than there is room for at first
  RunState state = state_with(RunStatus::done);
  const std::vector<MotionEvent> events{example_event(1.0), example_event(2.0)};
  state.events = events;
  w->finish(state);
  const Hdf5Reader reader(file());
  for (const auto& [name, columns_of_it] :
       {std::pair{"t", 1u}, {"q", 2u}, {"lambda", 2u}, {"outputs", 1u}, {"work_given", 1u}}) {
    const auto layout = reader.layout(name, Hdf5Type::number);
    EXPECT_EQ(layout.rows, 5000u) << name;
    EXPECT_EQ(layout.columns, columns_of_it) << name;
  }
  const auto t = reader.numbers("t"), qd = reader.numbers("qd");
  for (int i = 0; i < 5000; ++i) {
    const Sample s = example_sample(i);
    ASSERT_EQ(t[static_cast<std::size_t>(i)], s.t);
    ASSERT_EQ(qd[2 * static_cast<std::size_t>(i) + 1], s.qd(1));
  }
  EXPECT_EQ(reader.numbers("events/time"), (std::vector<double>{1.0, 2.0}));
  EXPECT_EQ(reader.numbers("events/velocity_after"), (std::vector<double>{5, 6, 5, 6}));
  EXPECT_EQ(reader.text_attribute("model"), system.model().source.text);
  EXPECT_EQ(reader.text_attribute("status"), "done");
  EXPECT_EQ(reader.integer_attribute("complete"), 1);
  EXPECT_EQ(reader.number_attribute("to"), 10.0);
  EXPECT_NE(reader.text_attribute("summary").find("\"status\": \"done\""), std::string::npos);
  EXPECT_FALSE(reader.has("checkpoint"));
}

TEST_P(Hdf5, holds_the_names_of_thousands_of_columns) {
  std::string text = "coordinates = [\"x\"]\n[dynamics]\nmass = { x = 1 }\n[outputs]\n";
  for (int i = 0; i < 5000; ++i) text += fmt::format("out{} = \"x\"\n", i);
  const System large(read_model_text(text, "large.toml"), {});
  const State start{0.0, Eigen::VectorXd::Zero(1), Eigen::VectorXd::Zero(1)};
  const ResultHeader header{Columns(large), make_setup(large, start, {.to = 1.0}, 0.5, false)};
  auto w = make_hdf5_writer(file(), header);
  const std::vector<double> row(static_cast<std::size_t>(header.columns.size()), 1.5);
  for (int i = 0; i < 3; ++i) w->row(row);
  w->finish(state_with(RunStatus::done));
  const Hdf5Reader reader(file());
  const auto names = reader.layout("columns/outputs", Hdf5Type::text);
  EXPECT_EQ(names.rows, 5000u);
  EXPECT_EQ(reader.bytes("columns/outputs", Hdf5Type::text, {4321, 1, 0, 1}), "out4321");
  EXPECT_EQ(reader.layout("outputs", Hdf5Type::number).rows, 3u);
}

TEST_P(Hdf5, left_behind_counts_its_valid_rows_and_has_no_time_in_the_others) {
  {
    auto w = writer();
    write_rows(*w, columns, 0, 100);
    w->flush(state_with(RunStatus::incomplete));
    write_rows(*w, columns, 100, 150);  // not flushed: lost
  }
  const Hdf5Reader reader(file() + ".part");
  EXPECT_EQ(reader.text_attribute("status"), "incomplete");
  EXPECT_EQ(reader.integer_attribute("complete"), 0);
  const auto t = reader.numbers("t");
  for (std::size_t i = 0; i < t.size(); ++i) EXPECT_EQ(std::isnan(t[i]), i >= 100) << i;
}

TEST_P(Hdf5, goes_on_from_its_last_checkpoint) {
  {
    auto w = writer();
    for (int rows = 100; rows <= 3000; rows += 100) {
      write_rows(*w, columns, rows - 100, rows);
      RunState state = state_with(RunStatus::incomplete);
      state.checkpoint = checkpoint_at(rows);
      const std::vector<MotionEvent> events(static_cast<std::size_t>(rows / 100), example_event(rows));
      state.events = state.checkpoint->events = events;
      w->flush(state);
    }
    write_rows(*w, columns, 0, 10);  // after the checkpoint: dropped
    w->flush(state_with(RunStatus::incomplete));
  }
  StoredRun run = open_stored_run(file());
  EXPECT_EQ(run.source, file() + ".part");
  EXPECT_EQ(run.checkpoint.rows, 3000);
  EXPECT_EQ(run.checkpoint.motion, (std::vector<double>{1.0, 3000.0}));
  EXPECT_EQ(run.checkpoint.notes, (std::vector<std::string>{"a note", ""}));
  ASSERT_EQ(run.checkpoint.events.size(), 30u);
  const MotionEvent& e = run.checkpoint.events.front();
  EXPECT_EQ(e.constraints, (std::vector<std::string>{"rod", "line"}));
  EXPECT_EQ(e.qd_after, Eigen::VectorXd(Eigen::Vector2d(5, 6)));
  EXPECT_TRUE(e.turning && !e.noise_limited && e.kind == EventKind::singular);
  EXPECT_EQ(run.setup.parameters, std::vector<double>{2.0});
  EXPECT_EQ(run.setup.start.qd, Eigen::VectorXd(Eigen::Vector2d(0.0, 0.1)));
  EXPECT_EQ(run.setup.motion.tolerance, 1e-9);
  EXPECT_FALSE(run.setup.every);

  auto w = make_resuming_hdf5_writer(std::move(run), example_header(system));
  write_rows(*w, columns, 3000, 3500);
  w->finish(state_with(RunStatus::done));
  w.reset();
  EXPECT_EQ(folder.files(), std::vector<std::string>{"motion.h5"});
  const auto t = Hdf5Reader(file()).numbers("t");
  ASSERT_EQ(t.size(), 3500u);
  for (std::size_t i = 0; i < t.size(); ++i) EXPECT_EQ(t[i], static_cast<double>(i));
}

TEST_P(Hdf5, interrupted_can_be_taken_up_and_stays_until_the_new_one_is_done) {
  {
    auto w = writer();
    write_rows(*w, columns, 0, 100);
    RunState state = state_with(RunStatus::incomplete);
    state.checkpoint = checkpoint_at(100);
    w->flush(state);
    write_rows(*w, columns, 500, 501);  // where it was interrupted
    w->finish(state_with(RunStatus::interrupted));
  }
  const std::string before = read_file(file());
  {
    StoredRun run = open_stored_run(file());
    EXPECT_EQ(run.status, RunStatus::interrupted);
    auto w = make_resuming_hdf5_writer(std::move(run), example_header(system));
    write_rows(*w, columns, 100, 110);
  }
  EXPECT_EQ(read_file(file()), before);
  StoredRun run = open_stored_run(file());
  EXPECT_EQ(run.source, file() + ".part");
  EXPECT_EQ(run.checkpoint.rows, 100);
}

TEST_P(Hdf5, that_is_complete_has_nothing_to_go_on_with) {
  for (const RunStatus status : {RunStatus::done, RunStatus::stopped, RunStatus::suspect, RunStatus::failed}) {
    writer()->finish(state_with(status));
    const StoredRun run = open_stored_run(file());
    EXPECT_EQ(run.status, status);
    EXPECT_FALSE(run.part);
    EXPECT_EQ(folder.files(), std::vector<std::string>{"motion.h5"});
  }
}

TEST_P(Hdf5, damaged_anywhere_is_refused_or_harmless) {
  {
    auto w = writer();
    write_rows(*w, columns, 0, 100);
    RunState state = state_with(RunStatus::incomplete);
    state.checkpoint = checkpoint_at(100);
    w->flush(state);
  }
  const std::string whole = read_file(file() + ".part");
  const unsigned seed = 20261115;
  std::mt19937 random(seed);
  int refused = 0;
  for (int k = 0; k < 100; ++k) {
    std::string bytes = whole;
    if (k % 5 == 0)
      bytes.resize(random() % bytes.size());
    else
      for (int i = 0; i < 3; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
    write_file(file() + ".part", bytes);
    try {
      StoredRun run = open_stored_run(file());
      auto w = make_resuming_hdf5_writer(std::move(run), example_header(system));
      w->finish(state_with(RunStatus::done));
      w.reset();
      // What could be used is right: all rows, or none where the checkpoint was hit.
      const auto t = Hdf5Reader(file()).numbers("t");
      EXPECT_TRUE(t.size() == 100 || t.empty()) << "seed " << seed << ", case " << k;
      for (std::size_t i = 0; i < t.size(); ++i) EXPECT_EQ(t[i], static_cast<double>(i));
    } catch (const FileError& e) {
      EXPECT_NE(std::string(e.what()).find(file() + ".part"), std::string::npos) << e.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 20);
}

TEST_P(Hdf5, is_readable_while_it_is_written) {
  auto w = writer();
  write_rows(*w, columns, 0, 100);
  w->flush(state_with(RunStatus::incomplete));
  EXPECT_EQ(Hdf5Reader(file() + ".part").numbers("t")[99], 99.0);
  EXPECT_THROW(open_stored_run(file()), FileError);  // but not to go on with
}

TEST(StoredRun, that_is_none_is_refused_with_the_reason) {
  const Folder folder;
  const auto reason = [&](const std::string& name) {
    try {
      open_stored_run(folder / name);
    } catch (const FileError& e) {
      return std::string(e.what());
    }
    return std::string("nothing");
  };
  EXPECT_NE(reason("none.h5").find("there is no such result"), std::string::npos);
  write_file(folder / "text.h5", "this is some text, long enough to be looked at from its end\n");
  EXPECT_NE(reason("text.h5").find("this is text, no HDF5 file"), std::string::npos) << reason("text.h5");
  write_file(folder / "empty.h5.part", "");
  EXPECT_NE(reason("empty.h5").find("start it again"), std::string::npos);
}

}  // namespace
}  // namespace mechanician
