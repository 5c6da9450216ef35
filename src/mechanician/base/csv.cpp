#include "mechanician/base/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "mechanician/base/text.hpp"

namespace mechanician {

std::string_view csv_trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

std::string_view CsvFields::next(bool brackets) {
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
  int depth = 0;
  for (; stop < record_.size() && (record_[stop] != separator_ || depth > 0); ++stop) {
    const char c = record_[stop];
    if (brackets) depth += c == '(' || c == '[' ? 1 : (c == ')' || c == ']') && depth > 0 ? -1 : 0;
  }
  at_ = stop + 1;
  return csv_trimmed(record_.substr(begin, stop - begin));
}

std::vector<std::string> CsvFields::names(std::string_view record, char separator) {
  // A bracket that nothing closes is no bracket.
  const auto count = [&](std::string_view any) {
    return std::count_if(record.begin(), record.end(), [&](char c) { return any.find(c) != std::string_view::npos; });
  };
  const bool brackets = count("([") == count(")]");
  std::vector<std::string> result;
  for (CsvFields fields(record, separator); fields.more();) result.push_back(csv_unquoted(fields.next(brackets)));
  return result;
}

std::string csv_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) out.append(c == '"' ? 2 : 1, c);
  return out + '"';
}

std::string csv_field(std::string_view text) {
  return text.find_first_of(",\"\r\n") == std::string_view::npos ? std::string(text) : csv_quoted(text);
}

std::string csv_unquoted(std::string_view field) {
  if (field.size() < 2 || field.front() != '"' || field.back() != '"') return std::string(field);
  std::string out;
  for (std::size_t i = 1; i + 1 < field.size(); ++i) {
    out += field[i];
    if (field[i] == '"' && field[i + 1] == '"') ++i;
  }
  return out;
}

char csv_separator(std::string_view names) {
  std::size_t commas = 0, semicolons = 0, tabs = 0;
  bool quoted = false;
  int depth = 0;
  for (const char c : names) {
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    depth += c == '(' || c == '[' ? 1 : (c == ')' || c == ']') && depth > 0 ? -1 : 0;
    if (depth > 0) continue;
    commas += c == ',';
    semicolons += c == ';';
    tabs += c == '\t';
  }
  if (tabs > commas && tabs > semicolons) return '\t';
  return semicolons > commas ? ';' : ',';
}

bool csv_is_open(std::string_view record) { return std::count(record.begin(), record.end(), '"') % 2 == 1; }

std::optional<double> csv_number(std::string_view field) {
  const std::string inner = csv_unquoted(field);
  std::string_view digits = csv_trimmed(inner);
  if (digits.starts_with('+') && !digits.starts_with("+-")) digits.remove_prefix(1);
  double value = 0.0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (read.ec != std::errc{} || read.ptr != digits.data() + digits.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

CsvText::CsvText(std::string_view text) : text_(text) {
  if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
  if (!read_record()) return;
  separator_ = csv_separator(record_);
  names_ = CsvFields::names(record_, separator_);
}

bool CsvText::next() {
  if (!read_record()) return false;
  fields_.clear();
  for (CsvFields fields(record_, separator_); fields.more();) fields_.push_back(fields.next());
  if (fields_.size() != names_.size())
    throw CsvError(line_,
                   fmt::format("{} for {}", count_noun(fields_.size(), "value"), count_noun(names_.size(), "column")));
  return true;
}

bool CsvText::read_record() {
  while (!text_.empty()) {
    line_ = next_line_;
    const bool comment = text_.front() == '#';
    std::size_t end = 0;
    do {
      end = std::min(text_.find('\n', end), text_.size());
      record_ = text_.substr(0, end);
      ++next_line_, ++end;
    } while (!comment && csv_is_open(record_) && end < text_.size());
    if (!comment && csv_is_open(record_)) throw CsvError(line_, "a quotation mark is not closed");
    text_.remove_prefix(std::min(end, text_.size()));
    if (!comment && !csv_trimmed(record_).empty()) return true;
  }
  return false;
}

}  // namespace mechanician
