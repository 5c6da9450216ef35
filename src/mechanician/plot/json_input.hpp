#pragma once

/// JSON, value by value from front to back. Nothing is kept but what the caller takes; nesting costs a byte a level.
/// What is no JSON is a FileError with line and column.

#include <memory>
#include <string>
#include <string_view>

#include "mechanician/plot/text_input.hpp"

namespace mechanician {

class JsonInput {
 public:
  explicit JsonInput(std::unique_ptr<TextInput> input) : input_(std::move(input)) {}

  /// Whether the next value begins with this character: { [ or "
  bool next_is(char c);
  /// Takes `{` or `[`.
  void open(char bracket);
  /// In an object or array: whether another member follows; takes the comma before it or the bracket at the end.
  /// `first` is true at the first call and made false.
  bool more(char closing, bool& first);
  /// A key and the colon behind it.
  std::string key();
  std::string string();
  /// A number; nan for null, true, false.
  double number();
  /// Any value.
  void skip();
  /// Nothing but blanks may follow.
  void finish();
  [[noreturn]] void fail(std::string_view message);

 private:
  int next();  ///< the first byte that is no blank, which stays
  void skip_string();

  std::unique_ptr<TextInput> input_;
};

}  // namespace mechanician
