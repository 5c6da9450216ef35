/// HDF5 results: a dataset a quantity, a row per time; read in blocks around the columns that are wanted. Finished
/// results are in chunks, each of which is read once; those that are being written are contiguous.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "mechanician/base/diagnostic.hpp"
#include "mechanician/base/safe_text.hpp"
#include "mechanician/plot/sources_internal.hpp"
#include "mechanician/result/hash_internal.hpp"
#include "mechanician/result/hdf5_file.hpp"
#include "mechanician/result/quantity_names.hpp"
#include "mechanician/result/run_checkpoint.hpp"

namespace mechanician {

namespace {

class Hdf5Source final : public ResultSource {
 public:
  explicit Hdf5Source(const std::string& file) : path_(file), reader_(file) {
    for (const std::string_view name : quantity_names) {
      const std::string quantity{name};
      if (!reader_.has(quantity)) continue;
      const auto layout = reader_.layout(quantity, Hdf5Type::number);
      std::vector<std::string> names = names_of(quantity);
      if (names.size() != layout.columns) damaged(fmt::format("`{}` has not as many names as columns", quantity));
      for (std::size_t k = 0; k < names.size(); ++k) {
        places_.push_back({datasets_.size(), k});
        columns_.push_back(std::move(names[k]));
      }
      datasets_.push_back({quantity, layout});
    }
    if (columns_.empty()) throw FileError(fmt::format("{}: this is no result that `run` has written", path_));
  }

  ResultRows read(std::span<const std::size_t> wanted) override {
    ResultRows rows;
    const std::uint64_t num_rows = count("rows_valid");
    rows.columns.resize(wanted.size());
    std::vector<Wanted> of_dataset;
    for (std::size_t d = 0; d < datasets_.size(); ++d) {
      of_dataset.clear();
      for (std::size_t i = 0; i < wanted.size(); ++i)
        if (places_[wanted[i]].dataset == d) of_dataset.push_back({places_[wanted[i]].column, i});
      if (of_dataset.empty()) continue;
      if (datasets_[d].layout.rows < num_rows) damaged("it has fewer rows than it says");
      std::sort(of_dataset.begin(), of_dataset.end(),
                [](const Wanted& a, const Wanted& b) { return a.column < b.column; });
      check_rows(d);
      read_columns(datasets_[d], num_rows, of_dataset, rows);
    }
    read_events(rows);
    rows.remark = remark_of(reader_.text_attribute("status"), safe_text(reader_.text_attribute("message")));
    return rows;
  }

 private:
  struct Place {
    std::size_t dataset, column;
  };

  struct Dataset {
    std::string name;
    Hdf5Reader::Layout layout;
  };
  struct Wanted {
    std::size_t column, to;  ///< of the dataset; its place in the result
  };

  /// Of a result that is not finished, the rows before its last checkpoint, as --resume checks them; chunks have checks of their own.
  void check_rows(std::size_t d) const {
    const Dataset& dataset = datasets_[d];
    if (dataset.layout.chunks || !reader_.has("checkpoint")) return;
    const auto slots = reader_.layout("checkpoint", Hdf5Type::bytes);
    StoredCheckpoint last;
    for (std::uint64_t i = 0; i < slots.rows; ++i) {
      const auto found = checkpoint_of(reader_.bytes("checkpoint", Hdf5Type::bytes, {i, 1, 0, slots.columns}));
      if (found && found->sequence > last.sequence) last = *found;
    }
    const auto checked = static_cast<std::uint64_t>(last.checkpoint.rows);
    if (last.checkpoint.row_hashes.size() != datasets_.size() || checked > dataset.layout.rows) return;
    Hash hash;
    const std::uint64_t columns = dataset.layout.columns, at_once = std::max<std::uint64_t>(1, (1u << 17) / columns);
    for (std::uint64_t row = 0; row < checked; row += at_once)
      hash.add(reader_.bytes(dataset.name, Hdf5Type::number, {row, std::min(at_once, checked - row), 0, columns}));
    if (hash.value() != last.checkpoint.row_hashes[d])
      damaged(fmt::format("rows of `{}` are not as they were written", dataset.name));
  }

  /// Band by band: the columns of a chunk, or what a page of the file holds of a row.
  void read_columns(const Dataset& d, std::uint64_t num_rows, std::span<const Wanted> wanted, ResultRows& rows) const {
    const auto& chunks = d.layout.chunks;
    const std::uint64_t width = chunks ? chunks->columns : 512;
    while (!wanted.empty()) {
      const std::uint64_t end = (wanted.front().column / width + 1) * width;
      std::size_t n = 0;
      while (n < wanted.size() && wanted[n].column < end) ++n;
      Hdf5Block b{.column = wanted[0].column, .columns = wanted[n - 1].column - wanted[0].column + 1};
      // Some 1 MiB, in whole chunks.
      std::uint64_t at_once = std::max<std::uint64_t>(1, (std::uint64_t{1} << 17) / b.columns);
      if (chunks) at_once = std::max<std::uint64_t>(1, at_once / chunks->rows) * chunks->rows;
      for (; b.row < num_rows; b.row += b.rows) {
        b.rows = std::min(at_once, num_rows - b.row);
        const std::vector<double> values = reader_.numbers(d.name, b);
        for (const Wanted& w : wanted.first(n))
          for (std::uint64_t k = 0; k < b.rows; ++k)
            rows.columns[w.to].push_back(values[k * b.columns + (w.column - b.column)]);
      }
      wanted = wanted.subspan(n);
    }
  }

  [[noreturn]] void damaged(const std::string& why) const {
    throw FileError(fmt::format("{}: the file is damaged: {}", path_, why));
  }

  std::uint64_t count(const char* name) const {
    const auto layout = reader_.layout(name, Hdf5Type::integer);
    if (layout.rows != 1 || layout.columns != 1) damaged(fmt::format("{} is no number", name));
    std::int64_t value = 0;
    std::memcpy(&value, reader_.bytes(name, Hdf5Type::integer, {0, 1, 0, 1}).data(), sizeof value);
    if (value < 0) damaged(fmt::format("{} is negative", name));
    return static_cast<std::uint64_t>(value);
  }

  /// Texts padded with zeros.
  std::vector<std::string> texts(const std::string& name, std::uint64_t rows) const {
    const std::uint64_t size = reader_.layout(name, Hdf5Type::text).columns;
    const std::string bytes = reader_.bytes(name, Hdf5Type::text, {0, rows, 0, 1});
    std::vector<std::string> result;
    for (std::uint64_t i = 0; i < rows; ++i) {
      std::string text = bytes.substr(i * size, size);
      text.resize(std::min(text.find('\0'), text.size()));
      result.push_back(std::move(text));
    }
    return result;
  }

  std::vector<std::string> names_of(const std::string& quantity) const {
    const std::string dataset = "columns/" + quantity;
    if (reader_.has("columns") && reader_.has(dataset))
      return texts(dataset, reader_.layout(dataset, Hdf5Type::text).rows);
    return reader_.column_names(quantity);
  }

  void read_events(ResultRows& rows) const {
    const std::uint64_t num_events = count("events_valid");
    if (num_events == 0) return;
    const auto kinds = texts("events/kind", num_events), names = texts("events/name", num_events);
    rows.events.resize(num_events);
    const auto vectors = [&](const char* name, auto member) {
      const auto layout = reader_.layout(name, Hdf5Type::number);
      const std::vector<double> values = reader_.numbers(name, {0, num_events, 0, layout.columns});
      for (std::size_t i = 0; i < num_events; ++i) {
        const auto begin = values.begin() + static_cast<std::ptrdiff_t>(i * layout.columns);
        (rows.events[i].*member).assign(begin, begin + static_cast<std::ptrdiff_t>(layout.columns));
      }
    };
    const std::vector<double> times = reader_.numbers("events/time", {0, num_events, 0, 1});
    for (std::size_t i = 0; i < num_events; ++i) {
      rows.events[i].time = times[i];
      rows.events[i].kind = kinds[i];
      rows.events[i].name = names[i];
    }
    vectors("events/position", &ResultEvent::position);
    vectors("events/velocity_before", &ResultEvent::velocity_before);
    vectors("events/velocity_after", &ResultEvent::velocity_after);
    // Chosen columns need not be all coordinates; of many the names stand with `q` only.
    rows.coordinates = reader_.column_names("events/position");
    if (rows.coordinates.empty() && reader_.has("q")) rows.coordinates = names_of("q");
    for (ResultEvent& e : rows.events)
      if (e.position.size() != rows.coordinates.size())
        e.position.clear(), e.velocity_before.clear(), e.velocity_after.clear();
  }

  std::string path_;
  Hdf5Reader reader_;
  std::vector<Dataset> datasets_;
  std::vector<Place> places_;  ///< by column
};

}  // namespace

std::unique_ptr<ResultSource> open_hdf5(const std::string& file) { return std::make_unique<Hdf5Source>(file); }

}  // namespace mechanician
