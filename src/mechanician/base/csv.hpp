#pragma once

/// CSV as it is read everywhere: a line of names, then a line for each row. Fields may stand in quotation marks (twice a mark
/// within them is one); commas, semicolons or tabs stand between them, whichever the line of names has most of. Lines that begin
/// with # and empty ones do not count.

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace mechanician {

/// Blanks, tabs and carriage returns around it are no part of a field.
std::string_view csv_trimmed(std::string_view text);

/// One field of a record after the other, each as it stands there, with its quotation marks.
class CsvFields {
 public:
  CsvFields(std::string_view record, char separator) : record_(record), separator_(separator) {}
  /// The names in the first record: separators within brackets belong to a name, net[1,2].
  static std::vector<std::string> names(std::string_view record, char separator);

  bool more() const { return at_ <= record_.size(); }
  std::size_t offset() const { return at_; }
  std::string_view next() { return next(false); }

 private:
  std::string_view next(bool brackets);

  std::string_view record_;
  char separator_;
  std::size_t at_ = 0;
};

/// A text in quotation marks, and a text as a field: in quotation marks where something in it would end the field.
std::string csv_quoted(std::string_view text);
std::string csv_field(std::string_view text);
/// Without its quotation marks, where it has some.
std::string csv_unquoted(std::string_view field);
char csv_separator(std::string_view names);
/// A quotation mark that opens and is not closed in this record: it goes on in the next line.
bool csv_is_open(std::string_view record);
/// The whole field as a finite number, in quotation marks or not; nothing otherwise: 1,5 and 1,000 are none.
std::optional<double> csv_number(std::string_view field);

/// What is wrong, and in which line.
class CsvError : public std::runtime_error {
 public:
  CsvError(long line_given, const std::string& what) : std::runtime_error(what), line(line_given) {}
  long line;
};

/// A text in memory, row by row. Every row has a field for each name, or a CsvError is thrown.
class CsvText {
 public:
  explicit CsvText(std::string_view text);

  /// Unquoted; none where the text is empty.
  const std::vector<std::string>& names() const { return names_; }
  /// False at the end.
  bool next();
  const std::vector<std::string_view>& fields() const { return fields_; }
  /// Where the record at hand begins, counted from 1.
  long line() const { return line_; }

 private:
  bool read_record();

  std::string_view text_, record_;
  long line_ = 0, next_line_ = 1;
  char separator_ = ',';
  std::vector<std::string> names_;
  std::vector<std::string_view> fields_;
};

}  // namespace mechanician
