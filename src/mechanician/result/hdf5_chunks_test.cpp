#include <gtest/gtest.h>

#include <cstring>

#include "mechanician/base/diagnostic.hpp"
#include "mechanician/result/example_for_test.hpp"
#include "mechanician/result/hdf5_file.hpp"
#include "mechanician/result/hdf5_writer.hpp"
#include "mechanician/result/part_file.hpp"

namespace mechanician {
namespace {

Hdf5Dataset matrix(std::uint64_t rows, std::uint64_t columns) {
  return {.path = "m", .rows = rows, .columns = columns, .matrix = true, .names = {}, .about = {}};
}

TEST(Chunks, are_of_64_KiB_to_1_MiB_and_begin_at_64_KiB) {
  EXPECT_FALSE(choose_chunks(matrix(0, 5)));
  EXPECT_FALSE(choose_chunks(matrix(5, 0)));
  EXPECT_FALSE(choose_chunks(matrix(8191, 1)));
  EXPECT_TRUE(choose_chunks(matrix(8192, 1)));
  EXPECT_FALSE(choose_chunks(matrix(1, 8191)));
  EXPECT_TRUE(choose_chunks(matrix(1, 8192)));
  const unsigned seed = 20261116;
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> exponent(0.0, 6.0);
  int tried = 0;
  for (int k = 0; k < 3000; ++k) {
    const auto rows = static_cast<std::uint64_t>(std::pow(10.0, exponent(random)));
    const auto columns = static_cast<std::uint64_t>(std::pow(10.0, exponent(random)));
    const std::uint64_t size = rows * columns * 8;
    const auto chunks = choose_chunks(matrix(rows, columns));
    ASSERT_EQ(chunks.has_value(), size >= 65536) << rows << " x " << columns << ", seed " << seed;
    if (!chunks) continue;
    ++tried;
    ASSERT_LE(chunks->rows, rows);
    ASSERT_LE(chunks->columns, columns);
    ASSERT_GE(chunks->rows * chunks->columns * 8, 65536u) << rows << " x " << columns << ", seed " << seed;
    ASSERT_LE(chunks->rows * chunks->columns * 8, 1048576u) << rows << " x " << columns << ", seed " << seed;
    // Chunks at the edge are filled up: that is no more than a fifth of the whole.
    const auto filled = [](std::uint64_t whole, std::uint64_t part) { return (whole + part - 1) / part * part; };
    EXPECT_LE(static_cast<double>(filled(rows, chunks->rows) * filled(columns, chunks->columns)),
              1.2 * static_cast<double>(rows * columns))
        << rows << " x " << columns << " in " << chunks->rows << " x " << chunks->columns;
  }
  EXPECT_GT(tried, 1000);
}

TEST(Chunks, cost_about_as_much_for_a_column_as_for_a_row) {
  for (const std::uint64_t columns : {500u, 4000u, 90000u}) {
    const auto chunks = choose_chunks(matrix(20000, columns));
    ASSERT_TRUE(chunks);
    EXPECT_LT(chunks->rows, 3 * chunks->columns);
    EXPECT_LT(chunks->columns, 3 * chunks->rows);
  }
}

/// Bytes of a dataset that are different everywhere, some of them hard to compress.
std::string made_up(const Hdf5Dataset& d, unsigned seed) {
  std::mt19937_64 random(seed);
  std::string bytes(d.rows * d.row_size(), 'a');
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (d.type == Hdf5Type::text || i % 8 < 6) bytes[i] = static_cast<char>(i % 3 == 0 ? 'a' + random() % 26 : 'b');
  return bytes;
}

TEST(Chunks, give_back_what_was_written_block_by_block) {
  std::vector<Hdf5Dataset> datasets{
      matrix(4567, 7),
      matrix(123, 4567),
      matrix(1, 100001),
      {.path = "group/v", .type = Hdf5Type::integer, .rows = 50001, .names = {}, .about = "integers"},
      {.path = "group/texts", .type = Hdf5Type::text, .rows = 5000, .columns = 17, .names = {}, .about = {}},
      {.path = "bytes",
       .type = Hdf5Type::bytes,
       .rows = 2,
       .columns = 300001,
       .matrix = true,
       .names = {},
       .about = {}},
      {.path = "small", .rows = 100, .names = {}, .about = {}}};
  datasets[1].path = "wide", datasets[2].path = "row";
  std::vector<std::string> all;
  for (Hdf5Dataset& d : datasets) {
    d.chunks = choose_chunks(d);
    EXPECT_EQ(d.chunks.has_value(), d.path != "small");
    all.push_back(made_up(d, static_cast<unsigned>(all.size())));
  }
  const auto block_of = [](const std::string& bytes, const Hdf5Dataset& d, const Hdf5Block& b) {
    const std::uint64_t cell = d.matrix ? size_of(d.type) : d.row_size();
    std::string block;
    for (std::uint64_t i = b.row; i < b.row + b.rows; ++i)
      block += bytes.substr(i * d.row_size() + b.column * cell, b.columns * cell);
    return block;
  };
  const Folder folder;
  const std::string path = folder / "a.h5";
  create_hdf5(path, datasets, {{"format", std::string("test")}});
  const auto chunks =
      write_chunks(path, datasets, [&](const Hdf5Dataset& d, const Hdf5Block& b, std::span<char> bytes) {
        ASSERT_LE(bytes.size(), 1048576u);
        const auto k = static_cast<std::size_t>(
            std::find_if(datasets.begin(), datasets.end(), [&](const auto& x) { return x.path == d.path; }) -
            datasets.begin());
        const std::string block = block_of(all[k], d, b);
        ASSERT_EQ(block.size(), bytes.size());
        std::memcpy(bytes.data(), block.data(), block.size());
      });
  OpenFile file(path, OpenFile::Mode::write);
  seal_hdf5(file, chunks);
  EXPECT_LT(file.size(), 4'000'000u);  // of 8 million
  const Hdf5Reader reader(path);
  const unsigned seed = 4711;
  std::mt19937 random(seed);
  for (std::size_t k = 0; k + 1 < datasets.size(); ++k) {
    const Hdf5Dataset& d = datasets[k];
    const std::uint64_t columns = d.matrix ? d.columns : 1;
    EXPECT_EQ(reader.bytes(d.path, d.type, {0, d.rows, 0, columns}), all[k]) << d.path;
    for (int i = 0; i < 20; ++i) {
      Hdf5Block b{.row = random() % d.rows, .column = random() % columns};
      b.rows = 1 + random() % (d.rows - b.row), b.columns = 1 + random() % (columns - b.column);
      ASSERT_EQ(reader.bytes(d.path, d.type, b), block_of(all[k], d, b)) << d.path << ", seed " << seed;
    }
    EXPECT_THROW(reader.bytes(d.path, d.type, {0, d.rows + 1, 0, columns}), FileError);
    EXPECT_THROW(reader.bytes(d.path, d.type, {d.rows, ~std::uint64_t{0}, 0, columns}), FileError);
  }
}

class Finished : public ::testing::Test {
 protected:
  std::string write(const std::string& name, int rows, int flushed = 0, RunStatus status = RunStatus::done) const {
    auto w = make_hdf5_writer(folder / name, example_header(system));
    if (flushed > 0) {
      write_rows(*w, columns, 0, flushed);
      RunState state = state_with(RunStatus::incomplete);
      state.checkpoint = checkpoint_at(flushed);
      w->flush(state);
    }
    write_rows(*w, columns, flushed, rows);
    w->finish(state_with(status));
    return folder / name;
  }
  void expect_rows(const std::string& file, int rows) const {
    const Hdf5Reader reader(file);
    const auto t = reader.numbers("t"), lambda = reader.numbers("lambda");
    ASSERT_EQ(t.size(), static_cast<std::size_t>(rows));
    for (int i = 0; i < rows; ++i) {
      const Sample s = example_sample(i);
      ASSERT_EQ(t[static_cast<std::size_t>(i)], s.t);
      ASSERT_EQ(lambda[2 * static_cast<std::size_t>(i) + 1], s.lambda(1));
    }
  }
  const System system = example_system();
  const Columns columns{system};
  const Folder folder;
};

TEST_F(Finished, is_compressed_dataset_by_dataset_by_size) {
  const std::string below = write("below.h5", 8191), above = write("above.h5", 8192);
  const Hdf5Reader small(below), large(above);
  EXPECT_FALSE(small.layout("t", Hdf5Type::number).chunks);
  EXPECT_TRUE(small.layout("q", Hdf5Type::number).chunks);  // twice as wide
  const auto t = large.layout("t", Hdf5Type::number);
  ASSERT_TRUE(t.chunks);
  EXPECT_EQ(t.chunks->rows, 8192u);
  EXPECT_FALSE(large.layout("setup/start_position", Hdf5Type::number).chunks);
  EXPECT_LT(std::filesystem::file_size(above), 8192u * 8u * static_cast<unsigned>(columns.size()) * 7 / 10);
  expect_rows(below, 8191);
  expect_rows(above, 8192);
}

TEST_F(Finished, is_the_same_file_byte_by_byte_when_it_was_interrupted_and_taken_up) {
  const std::string whole = read_file(write("motion.h5", 30000, 20000));
  const std::string file = write("motion.h5", 20100, 20000, RunStatus::interrupted);
  ASSERT_TRUE(Hdf5Reader(file).layout("q", Hdf5Type::number).chunks);
  {
    auto w = make_resuming_hdf5_writer(open_stored_run(file), example_header(system));
    write_rows(*w, columns, 20000, 25000);
    w->flush(state_with(RunStatus::incomplete));
  }  // killed again: the part goes on
  auto w = make_resuming_hdf5_writer(open_stored_run(file), example_header(system));
  write_rows(*w, columns, 20000, 30000);
  w->finish(state_with(RunStatus::done));
  EXPECT_TRUE(read_file(file) == whole);
  w.reset();
  EXPECT_EQ(folder.files(), std::vector<std::string>{"motion.h5"});
}

TEST_F(Finished, keeps_the_rows_where_it_cannot_be_made) {
  const std::string file = folder / "motion.h5", in_the_way = file + ".part.new";
  {
    auto w = make_hdf5_writer(file, example_header(system));
    write_rows(*w, columns, 0, 9000);
    RunState state = state_with(RunStatus::incomplete);
    state.checkpoint = checkpoint_at(9000);
    w->flush(state);
    std::filesystem::create_directory(in_the_way);
    try {
      w->finish(state_with(RunStatus::done));
      FAIL() << "finished";
    } catch (const FileError& e) {
      EXPECT_NE(std::string(e.what()).find("nothing is lost: " + file + ".part has all rows"), std::string::npos)
          << e.what();
    }
  }
  EXPECT_FALSE(std::filesystem::exists(file));
  std::filesystem::remove(in_the_way);
  make_resuming_hdf5_writer(open_stored_run(file), example_header(system))->finish(state_with(RunStatus::done));
  expect_rows(file, 9000);
}

TEST_F(Finished, is_refused_or_right_when_it_is_damaged_anywhere) {
  const std::string file = write("motion.h5", 9000), whole = read_file(file);
  const auto right = Hdf5Reader(file).numbers("qd");
  const unsigned seed = 20261117;
  std::mt19937 random(seed);
  int refused = 0;
  for (int k = 0; k < 60; ++k) {
    std::string bytes = whole;
    if (k % 5 == 0)
      bytes.resize(random() % bytes.size());
    else
      for (int i = 0; i < 20; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
    write_file(file, bytes);
    try {
      EXPECT_TRUE(Hdf5Reader(file).numbers("qd") == right) << "seed " << seed << ", case " << k;
    } catch (const FileError& e) {
      EXPECT_NE(std::string(e.what()).find(file + ": the file is damaged"), std::string::npos) << e.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 20);
}

}  // namespace
}  // namespace mechanician
