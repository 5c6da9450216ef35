/// CSV: a line of names, a line per row. Names and fields may be quoted; commas, semicolons or tabs stand between them.
/// Lines that begin with # are comments; that of `run` at the end says that the result is not whole.

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "mechanician/base/diagnostic.hpp"
#include "mechanician/base/text.hpp"
#include "mechanician/plot/safe_text.hpp"
#include "mechanician/plot/sources_internal.hpp"

namespace mechanician {

namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

/// One field after the other of a record.
class Fields {
 public:
  Fields(std::string_view record, char separator) : record_(record), separator_(separator) {}
  bool more() const { return at_ <= record_.size(); }
  std::size_t offset() const { return at_; }

  /// As it stands there, with its quotation marks.
  std::string_view next() {
    const std::size_t begin = at_;
    std::size_t stop = begin;
    while (stop < record_.size() && (record_[stop] == ' ' || (record_[stop] == '\t' && separator_ != '\t'))) ++stop;
    if (stop < record_.size() && record_[stop] == '"') {
      for (++stop; stop < record_.size(); ++stop) {
        if (record_[stop] != '"') continue;
        if (stop + 1 < record_.size() && record_[stop + 1] == '"')
          ++stop;
        else
          break;
      }
    }
    stop = std::min(record_.find(separator_, stop), record_.size());
    at_ = stop + 1;
    return trimmed(record_.substr(begin, stop - begin));
  }

 private:
  std::string_view record_;
  char separator_;
  std::size_t at_ = 0;
};

std::string unquoted(std::string_view field) {
  if (field.size() < 2 || field.front() != '"' || field.back() != '"') return std::string(field);
  std::string out;
  for (std::size_t i = 1; i + 1 < field.size(); ++i) {
    out += field[i];
    if (field[i] == '"' && field[i + 1] == '"') ++i;
  }
  return out;
}

/// The one that occurs most in the line of names, outside quotation marks and parentheses.
char separator_of(std::string_view names) {
  std::size_t commas = 0, semicolons = 0, tabs = 0;
  bool quoted = false;
  int depth = 0;
  for (const char c : names) {
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    depth += c == '(' ? 1 : c == ')' && depth > 0 ? -1 : 0;
    if (depth > 0) continue;
    commas += c == ',';
    semicolons += c == ';';
    tabs += c == '\t';
  }
  if (tabs > commas && tabs > semicolons) return '\t';
  return semicolons > commas ? ';' : ',';
}

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
    } while (trimmed(record_).empty() || record_.starts_with('#'));
    if (record_.find('\0') != std::string::npos)
      throw FileError(fmt::format("{}: this is neither a table of numbers nor a result of `run`", input_->name()));
    separator_ = separator_of(record_);
    Fields fields(record_, separator_);
    std::size_t numbers = 0;
    while (fields.more()) {
      columns_.push_back(unquoted(fields.next()));
      numbers += number_of(columns_.back()).has_value();
    }
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
      if (trimmed(record_).empty()) continue;
      if (!terminated_ && cut_short()) break;
      Fields fields(record_, separator_);
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
    while (std::count(record_.begin(), record_.end(), '"') % 2 == 1 && record_.size() < longest &&
           !record_.starts_with('#')) {
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
    Fields fields(record_, separator_);
    std::size_t count = 0;
    for (; fields.more(); ++count) fields.next();
    return count < columns_.size();
  }

  void note(ResultRows& rows) const {
    const std::string_view text = trimmed(std::string_view(record_).substr(1));
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
    const std::string inner = unquoted(text);
    if (means_nothing(trimmed(inner))) return std::numeric_limits<double>::quiet_NaN();
    if (const auto value = number_of(trimmed(inner))) return *value;
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
