#include "mechanician/plot/result_source.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "mechanician/base/diagnostic.hpp"
#include "mechanician/plot/plot_data.hpp"
#include "mechanician/result/example_for_test.hpp"
#include "mechanician/result/hdf5_file.hpp"
#include "mechanician/result/part_file.hpp"

namespace mechanician {
namespace {

void write_text(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

std::string refusal(const std::string& path) {
  try {
    const auto source = open_result(path);
    std::vector<std::size_t> all(source->columns().size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    source->read(all);
    return "accepted";
  } catch (const FileError& e) {
    return e.what();
  }
}

class EveryFormat : public testing::TestWithParam<const char*> {};

TEST_P(EveryFormat, reads_back_what_was_written) {
  const System system = example_system("[control.track]\nequation = \"x = sin(t)\"\n");
  const Columns columns(system);
  const Folder folder;
  const std::string file = folder / ("a." + std::string(GetParam()));
  std::vector<std::vector<double>> rows;
  {
    const auto writer = make_writer(file, *format_of(file), example_header(system));
    for (int i = 0; i < 700; ++i) {
      columns.fill_row(example_sample(0.1 * i), rows.emplace_back());
      if (i == 5) rows.back()[3] = std::nan("");
      writer->row(rows.back());
    }
    RunState state;
    const std::vector<MotionEvent> events{example_event(1.0), example_event(2.0)};
    state.events = events;
    state.summary.status = RunStatus::failed;
    state.summary.message = "enough";
    writer->finish(state);
  }
  const auto source = open_result(file);
  ASSERT_EQ(source->columns(), columns.names());
  // Some columns, not in order, one twice.
  const std::vector<std::size_t> wanted{7, 0, 3, 7, source->columns().size() - 1};
  const ResultRows read = source->read(wanted);
  ASSERT_EQ(read.columns.size(), wanted.size());
  for (std::size_t c = 0; c < wanted.size(); ++c) {
    ASSERT_EQ(read.columns[c].size(), rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double written = rows[i][wanted[c]];
      ASSERT_TRUE(read.columns[c][i] == written || (std::isnan(written) && std::isnan(read.columns[c][i])));
    }
  }
  EXPECT_NE(read.remark.find("failed: enough"), std::string::npos) << read.remark;
  if (std::string(GetParam()) == "csv") return;
  ASSERT_EQ(read.events.size(), 2u);
  EXPECT_EQ(read.coordinates, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(read.events[1].time, 2.0);
  EXPECT_EQ(read.events[1].kind, "singular");
  EXPECT_EQ(read.events[1].name, "flat");
  EXPECT_EQ(read.events[1].position, (std::vector<double>{1, 2}));
  EXPECT_EQ(read.events[1].velocity_before, (std::vector<double>{3, 4}));
  EXPECT_EQ(read.events[1].velocity_after, (std::vector<double>{5, 6}));
}

TEST_P(EveryFormat, damaged_anywhere_is_refused_or_read) {
  const System system = example_system();
  const Columns columns(system);
  const Folder folder;
  const std::string file = folder / ("a." + std::string(GetParam()));
  {
    const auto writer = make_writer(file, *format_of(file), example_header(system));
    std::vector<double> row;
    for (int i = 0; i < 4; ++i) {
      columns.fill_row(example_sample(i), row);
      writer->row(row);
    }
    RunState state;
    const std::vector<MotionEvent> events{example_event(1.0)};
    state.events = events;
    state.summary.status = RunStatus::done;
    writer->finish(state);
  }
  const std::string whole = read_file(file);
  constexpr unsigned seed = 20261115;
  std::mt19937 random(seed);
  const std::string likely = "\"\\[]{},:\n#-e.0n\xff\x00";
  for (int round = 0; round < 300; ++round) {
    std::string bytes = whole;
    for (auto k = random() % 3 + 1; k > 0; --k) {
      const std::size_t at = random() % bytes.size();
      if (random() % 4 == 0)
        bytes.resize(at + 1);
      else if (random() % 2 == 0)
        bytes[at] = likely[random() % likely.size()];
      else
        bytes.erase(at, random() % 20);
      if (bytes.empty()) bytes = "x";
    }
    write_text(file, bytes);
    const std::string said = refusal(file);  // anything but a FileError ends the test
    ASSERT_TRUE(said == "accepted" || said.find(file) == 0) << "seed " << seed << " round " << round << ": " << said;
  }
}

INSTANTIATE_TEST_SUITE_P(formats, EveryFormat, testing::Values("csv", "json", "h5"),
                         [](const auto& p) { return std::string(p.param); });

TEST(Hdf5Source, knows_the_names_of_thousands_of_columns) {
  std::string text = "coordinates = [\"x\"]\n[dynamics]\nmass = { x = 1 }\n[outputs]\n";
  for (int i = 0; i < 5000; ++i) text += "out" + std::to_string(i) + " = \"x\"\n";
  const System system(read_model_text(text, "wide.toml"), {});
  const Columns columns(system);
  const Folder folder;
  const std::string file = folder / "wide.h5";
  {
    const State start{0.0, Eigen::VectorXd::Zero(1), Eigen::VectorXd::Zero(1)};
    const auto writer =
        make_writer(file, ResultFormat::hdf5,
                    {columns, make_setup(system, start, {.to = 1.0, .tolerance = 1e-9}, std::nullopt, false)});
    std::vector<double> row(static_cast<std::size_t>(columns.size()));
    std::iota(row.begin(), row.end(), 0.5);
    writer->row(row);
    RunState state;
    state.summary.status = RunStatus::done;
    writer->finish(state);
  }
  const auto source = open_result(file);
  ASSERT_EQ(source->columns(), columns.names());
  const std::vector<std::size_t> wanted{4100, 2};
  const ResultRows rows = source->read(wanted);
  EXPECT_EQ(rows.columns[0], std::vector<double>{4100.5});
  EXPECT_EQ(rows.columns[1], std::vector<double>{2.5});
}

/// A result as versions before chunks have finished it, and as it is while it is written: contiguous.
void write_contiguous(const std::string& file, const std::vector<std::string>& names, std::uint64_t rows,
                      std::uint64_t room, double (*value)(std::uint64_t, std::uint64_t)) {
  const std::vector<std::string> q(names.begin() + 1, names.end());
  const std::vector<Hdf5Dataset> datasets{{"t", Hdf5Type::number, room, 1, false, {"t"}, {}},
                                          {"q", Hdf5Type::number, room, q.size(), true, q, {}},
                                          {"rows_valid", Hdf5Type::integer, 1, 1, false, {}, {}},
                                          {"events_valid", Hdf5Type::integer, 1, 1, false, {}, {}}};
  const auto offsets = create_hdf5(file, datasets, {{"status", std::string("done")}, {"message", std::string()}});
  OpenFile out(file, OpenFile::Mode::write);
  const auto number = [&](std::uint64_t at, auto x) {
    out.write_at(at, {reinterpret_cast<const char*>(&x), sizeof x});
  };
  std::vector<double> row(q.size());
  for (std::uint64_t i = 0; i < rows; ++i) {
    number(offsets[0] + 8 * i, value(i, 0));
    for (std::uint64_t k = 0; k < q.size(); ++k) row[k] = value(i, k + 1);
    out.write_at(offsets[1] + 8 * i * q.size(), {reinterpret_cast<const char*>(row.data()), 8 * q.size()});
  }
  number(offsets[2], static_cast<std::int64_t>(rows));
  number(offsets[3], std::int64_t{0});
  seal_hdf5(out, {});
}

TEST(Hdf5Source, reads_chosen_columns_of_chunks_and_of_contiguous_rows) {
  constexpr std::uint64_t n = 1300, num_rows = 700;
  const auto value = +[](std::uint64_t row, std::uint64_t column) {
    return static_cast<double>(row) + static_cast<double>(column) / 4096.0;
  };
  const System system(
      read_model_text("coordinates = [\"x[1..1299]\"]\n[dynamics]\nkinetic = \"sum(i = 1..1299, x[i]'^2/2)\"\n",
                      "wide.toml"),
      {});
  const Columns columns(system, "x[*]");
  ASSERT_EQ(columns.names().size(), n);
  const Folder folder;
  const std::string file = folder / "wide.h5";
  const State start{0.0, Eigen::VectorXd::Zero(n - 1), Eigen::VectorXd::Zero(n - 1)};
  const auto writer =
      make_writer(file, ResultFormat::hdf5, {columns, make_setup(system, start, {.to = 1.0}, std::nullopt, false)});
  std::vector<double> row(n);
  for (std::uint64_t i = 0; i < num_rows; ++i) {
    for (std::uint64_t k = 0; k < n; ++k) row[k] = value(i, k);
    writer->row(row);
  }
  RunState state;
  writer->flush(state);
  const auto growing = open_result(file + ".part");
  state.summary.status = RunStatus::done;
  writer->finish(state);
  const auto chunks = Hdf5Reader(file).layout("q", Hdf5Type::number).chunks;
  ASSERT_TRUE(chunks);
  EXPECT_LT(chunks->columns, n / 2);
  EXPECT_LT(chunks->rows, num_rows / 2);
  const auto finished = open_result(file);
  write_contiguous(folder / "old.h5", columns.names(), num_rows, num_rows + 50, value);
  const auto old = open_result(folder / "old.h5");

  const std::vector<std::size_t> wanted{n - 1, 0, 512, 1, chunks->columns, chunks->columns + 1, 513, 700};
  for (const auto& source : {&growing, &finished, &old}) {
    ASSERT_EQ((*source)->columns(), columns.names());
    const ResultRows rows = (*source)->read(wanted);
    for (std::size_t c = 0; c < wanted.size(); ++c) {
      ASSERT_EQ(rows.columns[c].size(), num_rows);
      for (std::uint64_t i = 0; i < num_rows; ++i)
        ASSERT_EQ(rows.columns[c][i], value(i, wanted[c])) << wanted[c] << ", row " << i;
    }
  }
}

TEST(CsvSource, is_read_in_pieces_that_do_not_show) {
  // Lines that lie across the ends of pieces, and one that is longer than a piece.
  const Folder folder;
  std::string text = "t,note,v\n";
  for (int i = 0; i < 60000; ++i)
    text += std::to_string(i) + "," + std::string(i == 7 ? 600000 : i % 17, 'x') + "," + std::to_string(2 * i) + "\n";
  write_text(folder / "a.csv", text);
  const auto source = open_result(folder / "a.csv");
  const std::vector<std::size_t> wanted{0, 2};
  const ResultRows rows = source->read(wanted);
  ASSERT_EQ(rows.columns[0].size(), 60000u);
  for (std::size_t i = 0; i < 60000; ++i) {
    ASSERT_EQ(rows.columns[0][i], static_cast<double>(i));
    ASSERT_EQ(rows.columns[1][i], static_cast<double>(2 * i));
  }
}

TEST(CsvSource, names_the_place_of_a_mistake) {
  const Folder folder;
  const std::string file = folder / "a.csv";
  const auto of = [&](const std::string& text) {
    write_text(file, text);
    return refusal(file).substr(0, 400);
  };
  EXPECT_EQ(of("a,b\n1,2\n3,ü4\n"), file + ":3:3: `ü4` is not a number (column `b`)");
  EXPECT_EQ(of("a,ü\nü1,2\n"), file + ":2:1: `ü1` is not a number (column `a`)");
  EXPECT_EQ(of("a,b\n1,2\n3\n4,5\n"), file + ":3: this line has 1 field, but there are 2 columns");
  EXPECT_EQ(of("1,2\n"), file + ":1: the first line must hold the names of the columns; these are numbers");
  EXPECT_EQ(of(""), file + ": the file is empty");
  EXPECT_EQ(of("a,b\n1,\"2\"\n 3 ,4\n"), "accepted");
  EXPECT_EQ(of("\"a\nb\",c\n1,2\n3,x\n"), file + ":4:3: `x` is not a number (column `c`)");
}

TEST(JsonSource, names_the_place_of_a_mistake) {
  const Folder folder;
  const std::string file = folder / "a.json";
  const auto of = [&](const std::string& text) {
    write_text(file, text);
    return refusal(file);
  };
  EXPECT_EQ(of("{\"columns\": [\"t\"],\n \"rows\": [[1],\n [2], x]}"), file + ":3:7: `[` is expected here");
  EXPECT_EQ(of("{\"columns\": [\"t\"],\n \"rows\": [[1 2]]}"), file + ":2:14: `,` or `]` is expected here");
  EXPECT_EQ(of("{\"rows\": [], \"columns\": []}").find(file + ":1:9: the rows come before"), 0u);
  EXPECT_EQ(of("{\"events\": [{\"time\": 1, \"kind\": \"user\"}], \"columns\": [\"t\"], \"rows\": [[1e400]], \"more\": "
               "{\"a\": [1, {}]}}"),
            "accepted");
}

TEST(PlotData, velocities_jump_at_impacts_and_nothing_else_is_made_up) {
  const Folder folder;
  const std::string file = folder / "a.json";
  write_text(file, R"json({"columns": ["t", "z", "z'", "Qc(z)"],
    "rows": [[0, 1, -1, 7], [1, 0.5, -2, 7], [2, 0.25, 3, 8], [3, 2, 1, 9]],
    "events": [{"time": 1.5, "kind": "impact", "position": {"z": 0.125}, "velocity_before": {"z": -3}, "velocity_after": {"z": 4}},
               {"time": 3, "kind": "impact", "position": {"z": 2}, "velocity_before": {"z": 1}, "velocity_after": {"z": -1}},
               {"time": 0.5, "kind": "user", "name": "half", "position": {"z": 0}, "velocity_before": {"z": 0}, "velocity_after": {"z": 0}}]})json");
  const auto source = open_result(file);
  const auto& names = source->columns();
  const PlotData data =
      make_plot_data(*source, default_abscissa(names), {select_shown("z,z',Qc(z),z + z'", names)}, {.straight = true});
  EXPECT_EQ(data.x, (std::vector<double>{0, 1, 1.5, 1.5, 2, 3, 3}));
  EXPECT_EQ(data.panels[0][0].y, (std::vector<double>{1, 0.5, 0.125, 0.125, 0.25, 2, 2}));
  EXPECT_EQ(data.panels[0][1].y, (std::vector<double>{-1, -2, -3, 4, 3, 1, -1}));
  EXPECT_EQ(data.panels[0][3].y, (std::vector<double>{0, -1.5, -2.875, 4.125, 3.25, 3, 1}));
  EXPECT_EQ(data.jump, (std::vector<char>{0, 0, 1, 0, 0, 1, 0}));
  const auto& force = data.panels[0][2].y;
  EXPECT_TRUE(std::isnan(force[2]) && std::isnan(force[3]) && std::isnan(force[6]));
  EXPECT_EQ(force[5], 9);
  ASSERT_EQ(data.events.size(), 3u);
  EXPECT_EQ(data.events[0].label, "half");
  EXPECT_EQ(data.events[0].row, 0.5);
  EXPECT_EQ(data.events[1].row, 2);
}

}  // namespace
}  // namespace mechanician
