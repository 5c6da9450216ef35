#include "mechanician/model/names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mechanician/base/text.hpp"
#include "mechanician/model/source_map.hpp"

namespace mechanician {

namespace {

std::string did_you_mean(std::string_view name, std::span<const std::string> candidates) {
  const std::string near = nearest(name, candidates);
  return near.empty() ? std::string() : fmt::format("did you mean `{}`?", near);
}

ParseProblem problem(std::string message, std::string hint = {}) { return {0, 1, std::move(message), std::move(hint)}; }

/// A problem that has been reported elsewhere.
ParseProblem silent() { return problem({}); }

}  // namespace

bool is_reserved(std::string_view name) {
  return name == "t" || name == "pi" || name == "and" || name == "or" || name == "not" ||
         find_function(name) != nullptr;
}

std::string_view in_words(NameKind kind) {
  switch (kind) {
    case NameKind::coordinate:
      return "coordinate";
    case NameKind::parameter:
      return "parameter";
    case NameKind::definition:
      return "defined name";
    case NameKind::unknown:
      return "unknown function";
  }
  return "";
}

void NameTable::add(std::string name, NameKind kind, std::optional<Expr> value) {
  if (entries_.emplace(name, Entry{kind, std::move(value)}).second) names_.push_back(std::move(name));
}

void NameTable::set_value(std::string_view name, std::optional<Expr> value) {
  const auto found = entries_.find(std::string(name));
  // A coordinate or parameter of the same name, which is an error reported elsewhere, stays what it is.
  if (found != entries_.end() && found->second.kind != NameKind::coordinate &&
      found->second.kind != NameKind::parameter)
    found->second.value = std::move(value);
}

const NameTable::Entry* NameTable::entry(std::string_view name) const {
  const auto found = entries_.find(std::string(name));
  return found == entries_.end() ? nullptr : &found->second;
}

std::string NameTable::suggestion(std::string_view name) const {
  return wants_hints() ? did_you_mean(name, names_) : std::string();
}

std::optional<Expr> NameTable::find(std::string_view name, int primes) const {
  if (name == "t" && primes == 0) return time_symbol();
  for (auto b = bound_.rbegin(); b != bound_.rend(); ++b)
    if (b->first == name && primes == 0) return Expr(static_cast<double>(b->second));
  const Entry* e = entry(name);
  if (!e || !e->value) return std::nullopt;
  if (primes == 0) return e->value;
  if (e->kind == NameKind::coordinate && primes <= 2) {
    const Expr velocity = derivative_symbol(*e->value);
    return primes == 1 ? velocity : derivative_symbol(velocity);
  }
  // alpha' of a function of time alone is its derivative.
  if (e->kind == NameKind::unknown && primes <= 2) {
    const auto& depends = e->value->symbol().depends;
    if (depends.size() == 1 && depends.front().symbol().kind == SymbolKind::time) {
      Expr derivative = *e->value;
      for (int i = 0; i < primes; ++i) derivative = unknown_derivative(derivative, depends.front());
      return derivative;
    }
  }
  return std::nullopt;
}

ParseProblem NameTable::explain(std::string_view name, int primes) const {
  const std::string primed = std::string(name) + std::string(static_cast<std::size_t>(std::min(primes, 9)), '\'');
  if (name == "t") return problem(fmt::format("`{}`: time has no derivative", primed));
  if (const Entry* e = entry(name)) {
    if (!e->value) return silent();
    if (e->kind == NameKind::coordinate)
      return problem(fmt::format("`{}` has too many primes", primed),
                     fmt::format("the highest derivative is {}''", name));
    return problem(fmt::format("`{}`: only a coordinate can have primes", primed),
                   fmt::format("`{}` is a {}", name, in_words(e->kind)));
  }
  if (is_excused(name)) return silent();
  if (families_.contains(std::string(name)))
    return problem(fmt::format("{} is a family: one of its members is meant", mechanician::quoted(name)),
                   fmt::format("write {}[...]", name));
  std::string hint = wants_hints() ? did_you_mean(name, names_) : std::string();
  if (hint.empty() && wants_hints()) hint = did_you_mean(name, std::vector<std::string>{"t", "pi"});
  if (hint.empty() && name == "e") hint = "the number e is written exp(1)";
  if (hint.empty()) hint = "names are coordinates, or stand in [parameters] or [define]";
  return problem(fmt::format("unknown name {}", mechanician::quoted(name)), std::move(hint));
}

ParseProblem NameTable::explain_in_parameter(std::string_view name, int primes) const {
  const Entry* e = entry(name);
  if (name == "t") return problem("a parameter cannot depend on t", "what changes with time stands in [define]");
  if (e && e->kind != NameKind::parameter)
    return problem(fmt::format("a parameter cannot be made of the {} {}", in_words(e->kind), mechanician::quoted(name)),
                   "a parameter is made of numbers and other parameters; other expressions stand in [define]");
  return explain(name, primes);
}

std::optional<Expr> NameTable::find_reaction(std::string_view function, std::string_view name) const {
  if (function == "ideal") {
    const Entry* e = entry(name);
    if (e && e->kind == NameKind::coordinate) return make_symbol(SymbolKind::ideal_force, std::string(name));
    return std::nullopt;
  }
  if (constraint_set_.contains(std::string(name))) return make_symbol(SymbolKind::multiplier, std::string(name));
  return std::nullopt;
}

ParseProblem NameTable::explain_reaction(std::string_view function, std::string_view name) const {
  if (function == "ideal") {
    if (!entry(name) && is_excused(name)) return silent();
    std::vector<std::string> coordinates;
    for (const std::string& n : names_)
      if (entries_.at(n).kind == NameKind::coordinate) coordinates.push_back(n);
    return problem(fmt::format("ideal() takes a coordinate, and {} is none", mechanician::quoted(name)),
                   wants_hints() ? did_you_mean(name, coordinates) : "");
  }
  if (is_constraint_excused(name)) return silent();
  return problem(fmt::format("multiplier() takes a constraint, and {} is none", mechanician::quoted(name)),
                 wants_hints() ? did_you_mean(name, constraints_) : "");
}

NameScope NameTable::scope() const {
  return with_families({[this](std::string_view name, int primes) { return find(name, primes); },
                        [this](std::string_view name, int primes) { return explain(name, primes); }},
                       &NameTable::scope);
}

NameScope NameTable::nonideal_scope() const {
  NameScope scope{[this](std::string_view name, int primes) { return find(name, primes); },
                  [this](std::string_view name, int primes) { return explain(name, primes); }};
  scope.reaction = [this](std::string_view function, std::string_view name) { return find_reaction(function, name); };
  scope.explain_reaction = [this](std::string_view function, std::string_view name) {
    return explain_reaction(function, name);
  };
  return with_families(std::move(scope), &NameTable::nonideal_scope);
}

NameScope NameTable::parameter_scope() const {
  return with_families({[this](std::string_view name, int primes) -> std::optional<Expr> {
                          if (const auto found = find(name, primes); found && found->is_constant())
                            return found;  // an index
                          const Entry* e = entry(name);
                          return e && e->kind == NameKind::parameter && primes == 0 ? e->value : std::nullopt;
                        },
                        [this](std::string_view name, int primes) { return explain_in_parameter(name, primes); }},
                       &NameTable::parameter_scope);
}

}  // namespace mechanician
