#pragma once

/// A model as Python holds it: what it was read from, and the system that is made of it.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mechanician/instant/accelerate.hpp"
#include "mechanician/instant/system.hpp"
#include "mechanician/output/remarks.hpp"

namespace mechanician::python {

/// What holds in the place of the model's start; what is not named stays.
struct Start {
  std::map<std::string, double> position = {}, velocity = {};
  std::optional<double> time = std::nullopt;
};

struct Answer {
  std::string json;
  std::vector<std::string> refusals, notes;  ///< as the command line says them
};

class NativeModel {
 public:
  /// `file` is read where `text` is absent. Throws ModelError, FileError and std::invalid_argument (names that are no parameters).
  NativeModel(std::string file, std::optional<std::string> text, const std::map<std::string, double>& set);

  const System& system() const { return *system_; }
  const std::string& file() const { return file_; }
  const std::optional<std::string>& text() const { return text_; }
  const std::map<std::string, double>& set() const { return set_; }

  /// Throws std::invalid_argument for a name that is no coordinate.
  State state(const Start& start) const;

  Answer check(const Start& start) const;
  Answer accelerate(const Start& start, bool parts) const;
  std::string equations(const std::string& format) const;  ///< "json", "latex", "text"
  /// The nearest state on the constraints. Throws std::invalid_argument where there is none.
  State project(const State& state) const;
  /// As the command line begins a run: moved where `project` says so. Throws std::invalid_argument with why it is refused.
  State accept_start(const Start& start, bool project) const;

 private:
  std::string file_;
  std::optional<std::string> text_;
  std::map<std::string, double> set_;
  std::shared_ptr<const System> system_;
};

}  // namespace mechanician::python
