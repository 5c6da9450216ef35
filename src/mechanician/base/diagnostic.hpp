#pragma once

/// Mistakes in a model file, each with its place, and their presentation.
///
///     pendulum.toml:12:17: error: unknown name `lenght`
///        12 | rod = "x^2 + y^2 = lenght^2"
///           |                    ^^^^^^
///           = did you mean `length`?

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace mechanician {

/// A stretch of a file. Lines and columns count from 1, columns in code points; line 0 means that no place is known.
struct Place {
  int line = 0;
  int column = 0;
  int length = 1;
};

struct Problem {
  Place place;
  std::string message;
  std::string hint;  ///< what would be right; may be empty
};

/// The text that places refer to.
struct SourceText {
  std::string file;  ///< as the user named it
  std::string text;
};

/// Problems in the order of their places, rendered for a person.
std::string render(const std::vector<Problem>& problems, const SourceText& source);

/// A model cannot be used as it is written. what() is the rendered list.
class ModelError : public std::runtime_error {
 public:
  ModelError(std::vector<Problem> problems, const SourceText& source);
  const std::vector<Problem>& problems() const { return *problems_; }

 private:
  std::shared_ptr<const std::vector<Problem>> problems_;
};

/// A file cannot be read or written; exit status 3.
class FileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace mechanician
