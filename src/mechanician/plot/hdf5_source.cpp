/// HDF5 results: a dataset a quantity, a row per time; read in stretches of rows, of which only what is wanted is kept.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "mechanician/base/diagnostic.hpp"
#include "mechanician/plot/safe_text.hpp"
#include "mechanician/plot/sources_internal.hpp"
#include "mechanician/result/hdf5_file.hpp"
#include "mechanician/result/part_file.hpp"

namespace mechanician {

namespace {

/// In the order of the columns of a CSV result.
constexpr const char* quantities[] = {
    "t",      "q",        "qd",      "qdd",      "Qc",    "Qi",         "Qni",        "Qcontrol",      "lambda",
    "normal", "friction", "outputs", "residual", "power", "work_given", "work_ideal", "work_nonideal", "work_control",
    "work"};

class Hdf5Source final : public ResultSource {
 public:
  explicit Hdf5Source(const std::string& file) : path_(file), reader_(file), file_(file, OpenFile::Mode::read) {
    for (const char* quantity : quantities) {
      if (!reader_.has(quantity)) continue;
      const auto layout = reader_.layout(quantity, Hdf5Type::number);
      std::vector<std::string> names = names_of(quantity);
      if (names.size() != layout.columns) damaged(fmt::format("`{}` has not as many names as columns", quantity));
      for (std::size_t k = 0; k < names.size(); ++k) {
        places_.push_back({datasets_.size(), k});
        columns_.push_back(std::move(names[k]));
      }
      datasets_.push_back(layout);
    }
    if (columns_.empty()) throw FileError(fmt::format("{}: this is no result that `run` has written", path_));
  }

  ResultRows read(std::span<const std::size_t> wanted) override {
    ResultRows rows;
    const std::uint64_t num_rows = count("rows_valid");
    rows.columns.resize(wanted.size());
    for (std::size_t d = 0; d < datasets_.size(); ++d) {
      std::vector<std::pair<std::size_t, std::size_t>> from_to;  // column of the dataset, place among the wanted
      for (std::size_t i = 0; i < wanted.size(); ++i)
        if (places_[wanted[i]].dataset == d) from_to.emplace_back(places_[wanted[i]].column, i);
      if (from_to.empty()) continue;
      if (datasets_[d].rows < num_rows) damaged("it has fewer rows than it says");
      const std::uint64_t width = datasets_[d].columns;
      const std::uint64_t at_once = std::max<std::uint64_t>(1, (std::uint64_t{1} << 17) / width);
      for (std::uint64_t row = 0; row < num_rows; row += at_once) {
        const std::uint64_t n = std::min(at_once, num_rows - row);
        const std::vector<double> values = numbers(datasets_[d], row, n);
        for (const auto& [from, to] : from_to)
          for (std::uint64_t k = 0; k < n; ++k) rows.columns[to].push_back(values[k * width + from]);
      }
    }
    read_events(rows);
    rows.remark = remark_of(reader_.text_attribute("status"), safe_text(reader_.text_attribute("message")));
    return rows;
  }

 private:
  struct Place {
    std::size_t dataset, column;
  };

  [[noreturn]] void damaged(const std::string& why) const {
    throw FileError(fmt::format("{}: the file is damaged: {}", path_, why));
  }

  std::string raw(const Hdf5Reader::Layout& layout, std::uint64_t row, std::uint64_t rows, std::uint64_t size) const {
    const std::uint64_t row_size = layout.columns * size, most = file_.size();
    if (row_size > most || rows > most || rows * row_size > most) damaged("a dataset is larger than the file");
    std::string bytes(static_cast<std::size_t>(rows * row_size), '\0');
    if (!bytes.empty()) file_.read_at(layout.offset + row * row_size, bytes);
    return bytes;
  }

  std::vector<double> numbers(const Hdf5Reader::Layout& layout, std::uint64_t row, std::uint64_t rows) const {
    const std::string bytes = raw(layout, row, rows, sizeof(double));
    std::vector<double> values(bytes.size() / sizeof(double));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }

  std::uint64_t count(const char* name) const {
    const auto layout = reader_.layout(name, Hdf5Type::integer);
    if (layout.rows != 1 || layout.columns != 1) damaged(fmt::format("{} is no number", name));
    std::int64_t value = 0;
    const std::string bytes = raw(layout, 0, 1, sizeof value);
    std::memcpy(&value, bytes.data(), sizeof value);
    if (value < 0) damaged(fmt::format("{} is negative", name));
    return static_cast<std::uint64_t>(value);
  }

  /// Texts padded with zeros.
  std::vector<std::string> texts(const std::string& name, std::uint64_t rows) const {
    const auto layout = reader_.layout(name, Hdf5Type::text);
    if (layout.rows < rows) damaged(fmt::format("`{}` is too short", name));
    const std::string bytes = raw(layout, 0, rows, 1);
    std::vector<std::string> result;
    for (std::uint64_t i = 0; i < rows; ++i) {
      std::string text = bytes.substr(i * layout.columns, layout.columns);
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
    rows.events.resize(num_events);
    const auto kinds = texts("events/kind", num_events), names = texts("events/name", num_events);
    const auto vectors = [&](const char* name, auto member) {
      const auto layout = reader_.layout(name, Hdf5Type::number);
      if (layout.rows < num_events) damaged(fmt::format("`{}` is too short", name));
      const std::vector<double> values = numbers(layout, 0, num_events);
      for (std::size_t i = 0; i < num_events; ++i) {
        const auto begin = values.begin() + static_cast<std::ptrdiff_t>(i * layout.columns);
        (rows.events[i].*member).assign(begin, begin + static_cast<std::ptrdiff_t>(layout.columns));
      }
    };
    std::vector<double> times;
    const auto layout = reader_.layout("events/time", Hdf5Type::number);
    if (layout.rows < num_events) damaged("`events/time` is too short");
    times = numbers(layout, 0, num_events);
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
      if (e.position.size() != rows.coordinates.size()) e.position.clear(), e.velocity_before.clear(), e.velocity_after.clear();
  }

  std::string path_;
  Hdf5Reader reader_;
  OpenFile file_;
  std::vector<Hdf5Reader::Layout> datasets_;
  std::vector<Place> places_;  ///< by column
};

}  // namespace

std::unique_ptr<ResultSource> open_hdf5(const std::string& file) { return std::make_unique<Hdf5Source>(file); }

}  // namespace mechanician
