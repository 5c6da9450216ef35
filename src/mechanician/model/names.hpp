#pragma once

/// The names that expressions of a model file may use, and what is said about those they may not.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "mechanician/expression/parse.hpp"

namespace mechanician {

/// Names that no coordinate, parameter, definition or unknown may take: t, pi, the functions, and, or, not.
bool is_reserved(std::string_view name);

enum class NameKind { coordinate, parameter, definition, unknown };
/// "coordinate", "parameter", "defined name", "unknown function"
std::string_view in_words(NameKind kind);

class NameTable {
 public:
  /// The first of two things of the same name stays.
  void add(std::string name, NameKind kind, std::optional<Expr> value);
  /// Gives a name its value later; nothing leaves it without one.
  void set_value(std::string_view name, std::optional<Expr> value);

  void add_constraint(const std::string& name) {
    if (constraint_set_.insert(name).second) constraints_.push_back(name);
  }

  /// Names that may be defined in a part of the file that could not be read: nothing is said about them.
  std::function<bool(std::string_view name)> is_excused = [](std::string_view) { return false; };
  std::function<bool(std::string_view constraint)> is_constraint_excused = [](std::string_view) { return false; };
  /// Looking for the nearest name takes time; off once there are more problems than anyone reads.
  std::function<bool()> wants_hints = [] { return true; };

  /// Everything; without ideal() and multiplier().
  NameScope scope() const;
  /// With ideal() and multiplier().
  NameScope nonideal_scope() const;
  /// Parameters only.
  NameScope parameter_scope() const;

  /// "did you mean `x`?", or empty.
  std::string suggestion(std::string_view name) const;

 private:
  struct Entry {
    NameKind kind;
    std::optional<Expr> value;  ///< absent: has a problem of its own
  };
  const Entry* entry(std::string_view name) const;
  std::optional<Expr> find(std::string_view name, int primes) const;
  ParseProblem explain(std::string_view name, int primes) const;
  ParseProblem explain_in_parameter(std::string_view name, int primes) const;
  std::optional<Expr> find_reaction(std::string_view function, std::string_view name) const;
  ParseProblem explain_reaction(std::string_view function, std::string_view name) const;

  std::unordered_map<std::string, Entry> entries_;
  std::vector<std::string> names_;
  std::vector<std::string> constraints_;
  std::unordered_set<std::string> constraint_set_;
};

}  // namespace mechanician
