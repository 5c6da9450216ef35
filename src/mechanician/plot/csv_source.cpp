/// CSV (base/csv.hpp), read in pieces. A comment of `run` at the end says that the result is not whole.

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "mechanician/base/csv.hpp"
#include "mechanician/base/diagnostic.hpp"
#include "mechanician/base/safe_text.hpp"
#include "mechanician/base/text.hpp"
#include "mechanician/plot/sources_internal.hpp"

namespace mechanician {

namespace {

bool means_nothing(std::string_view field) {
  return field.empty() || field == "NA" || field == "N/A" || field == "null" || field == "-";
}

class CsvSource final : public ResultSource {
 public:
  explicit CsvSource(std::unique_ptr<TextInput> input) : input_(std::move(input)) {
    if (input_->first(3) == "\xEF\xBB\xBF")
      for (int i = 0; i < 3; ++i) input_->get();
    do {
      if (!read_record()) throw FileError(fmt::format("{}: the file is empty", input_->name()));
    } while (csv_trimmed(record_).empty() || record_.starts_with('#'));
    if (record_.find('\0') != std::string::npos)
      throw FileError(fmt::format("{}: this is neither a table of numbers nor a result of `run`", input_->name()));
    separator_ = csv_separator(record_);
    columns_ = CsvFields::names(record_, separator_);
    const auto numbers = static_cast<std::size_t>(std::count_if(
        columns_.begin(), columns_.end(), [](const std::string& name) { return number_of(name).has_value(); }));
    if (numbers == columns_.size())
      throw FileError(fmt::format("{}:{}: the first line must hold the names of the columns; these are numbers",
                                  input_->name(), record_line_));
  }

  ResultRows read(std::span<const std::size_t> wanted) override {
    ResultRows rows;
    rows.columns.resize(wanted.size());
    // Where the number of a field goes, field by field in the order of the file.
    std::vector<std::vector<std::size_t>> places(columns_.size());
    std::size_t last = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      places[wanted[i]].push_back(i);
      last = std::max(last, wanted[i]);
    }
    while (read_record()) {
      if (record_.starts_with('#')) {
        note(rows);
        continue;
      }
      if (csv_trimmed(record_).empty()) continue;
      if (!terminated_ && cut_short()) break;
      CsvFields fields(record_, separator_);
      for (std::size_t field = 0; field < columns_.size(); ++field) {
        if (!fields.more()) wrong_count(field);
        const std::size_t offset = fields.offset();
        const std::string_view text = fields.next();
        if (places[field].empty()) continue;
        const double value = number_in(text, offset, field);
        for (const std::size_t place : places[field]) rows.columns[place].push_back(value);
      }
      if (fields.more()) {
        std::size_t count = columns_.size();
        for (; fields.more(); ++count) fields.next();
        wrong_count(count);
      }
    }
    return rows;
  }

 private:
  /// A line, and the next ones where a quotation mark is still open; false at the end.
  bool read_record() {
    TextInput::Line line;
    record_line_ = input_->line();
    if (!input_->read_line(line)) return false;
    record_ = line.text;
    terminated_ = line.terminated;
    constexpr std::size_t longest = std::size_t{1} << 20;  // of what begins with a mark that nothing closes
    while (csv_is_open(record_) && record_.size() < longest && !record_.starts_with('#')) {
      if (!input_->read_line(line)) break;
      record_ += '\n';
      record_ += line.text;
      terminated_ = line.terminated;
    }
    if (!record_.empty() && record_.back() == '\r') record_.pop_back();
    return true;
  }

  /// The last line of a run that was killed: it ends anywhere.
  bool cut_short() const {
    if (input_->name().ends_with(".part")) return true;
    CsvFields fields(record_, separator_);
    std::size_t count = 0;
    for (; fields.more(); ++count) fields.next();
    return count < columns_.size();
  }

  void note(ResultRows& rows) const {
    const std::string_view text = csv_trimmed(std::string_view(record_).substr(1));
    for (const std::string_view status : {"suspect", "failed", "interrupted", "incomplete"})
      if (text.starts_with(status) && text.substr(status.size()).starts_with(": "))
        rows.remark = remark_of(status, safe_text(text.substr(status.size() + 2)));
  }

  [[noreturn]] void wrong_count(std::size_t count) const {
    throw FileError(fmt::format("{}:{}: this line has {}, but there are {}", input_->name(), record_line_,
                                count_noun(count, "field"), count_noun(columns_.size(), "column")));
  }

  double number_in(std::string_view text, std::size_t offset, std::size_t field) const {
    const std::optional<double> plain = number_of(text);
    if (plain) return *plain;
    const std::string inner = csv_unquoted(text);
    if (means_nothing(csv_trimmed(inner))) return std::numeric_limits<double>::quiet_NaN();
    if (const auto value = number_of(csv_trimmed(inner))) return *value;
    throw FileError(fmt::format("{}:{}:{}: `{}` is not a number (column `{}`)", input_->name(), record_line_,
                                count_code_points(std::string_view(record_).substr(0, offset)) + 1,
                                safe_text(elided(text, 40)), safe_text(columns_[field])));
  }

  std::unique_ptr<TextInput> input_;
  std::string record_;
  long record_line_ = 0;
  bool terminated_ = false;
  char separator_ = ',';
};

}  // namespace

std::unique_ptr<ResultSource> open_csv(std::unique_ptr<TextInput> input) {
  return std::make_unique<CsvSource>(std::move(input));
}

}  // namespace mechanician
