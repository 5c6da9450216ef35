#pragma once

/// The names that expressions of a model file may use, and what is said about those they may not.

#include <functional>
#include <optional>
#include <span>
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

  /// x[1..N]: its members are added one by one as "x[1]", …
  struct Bounds {
    long from, to;
  };
  void add_family(const std::string& name, std::vector<Bounds> bounds) { families_.emplace(name, std::move(bounds)); }
  bool is_family(const std::string& name) const { return families_.contains(name); }
  void add_constraint_family(const std::string& name, std::vector<Bounds> bounds) {
    constraint_families_.emplace(name, std::move(bounds));
  }

  /// Within the life of this an index stands for a number.
  class Binding {
   public:
    Binding(NameTable& names, std::string index, long value) : names_(names) {
      names.bound_.emplace_back(std::move(index), value);
    }
    ~Binding() { names_.bound_.pop_back(); }
    Binding(const Binding&) = delete;
    Binding& operator=(const Binding&) = delete;

   private:
    NameTable& names_;
  };
  /// Values of indices, for messages: " for i = 3", or empty.
  std::string bound_text() const;
  /// Calls `body` for every set of values of the indices, later ones running faster; bounds of an index may contain earlier
  /// ones. Stops where body returns false, or with a problem (offsets as in the ranges).
  /// `cost`: length of the text that is read each time.
  std::optional<ParseProblem> for_each(std::span<const IndexRange> ranges, const NameScope& scope, std::size_t cost,
                                       const std::function<bool()>& body);
  /// A whole number from an expression of indices and parameters; else what is wrong with it.
  struct Whole {
    std::optional<long> value;
    std::string problem, hint;
  };
  Whole whole_number(const Expr& f) const;
  /// Values of parameters, where they are known.
  std::function<std::optional<double>(const std::string& parameter)> parameter_value = [](const std::string&) {
    return std::nullopt;
  };
  std::vector<std::pair<std::string, long>> bound() const { return bound_; }
  MemberName member(std::string_view name, std::span<const Expr> indices) const;

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
  std::optional<double> number_of(const Expr& f) const;
  ParsedExpression sum(std::span<const IndexRange> ranges, std::string_view body, std::size_t offset,
                       const NameScope& scope);
  /// `same`: what makes this scope.
  NameScope with_families(NameScope scope, NameScope (NameTable::*same)() const) const;
  std::optional<Expr> find_reaction(std::string_view function, std::string_view name) const;
  ParseProblem explain_reaction(std::string_view function, std::string_view name) const;

  std::unordered_map<std::string, Entry> entries_;
  std::unordered_map<std::string, std::vector<Bounds>> families_, constraint_families_;
  std::vector<std::pair<std::string, long>> bound_;
  std::size_t work_ = 0;  ///< of writing out members, in bytes of text
  std::vector<std::string> names_;
  std::vector<std::string> constraints_;
  std::unordered_set<std::string> constraint_set_;
};

}  // namespace mechanician
