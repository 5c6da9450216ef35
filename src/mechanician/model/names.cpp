#include "mechanician/model/names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/family_name.hpp"
#include "mechanician/expression/force_names.hpp"
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
  return name == "t" || name == "pi" || name == "and" || name == "or" || name == "not" || name == "wrap" ||
         find_function(name) != nullptr;
}

std::string_view in_words(NameKind kind) {
  switch (kind) {
    case NameKind::coordinate:
      return "coordinate";
    case NameKind::state:
      return "state";
    case NameKind::parameter:
      return "parameter";
    case NameKind::input:
      return "input";
    case NameKind::definition:
      return "defined name";
    case NameKind::unknown:
      return "unknown function";
    case NameKind::constraint:
      return "constraint";
    case NameKind::vector:
      return "vector";
    case NameKind::table:
      return "table";
  }
  return "";
}

void NameTable::add(std::string name, NameKind kind, std::optional<Expr> value) {
  if (entries_.emplace(name, Entry{kind, std::move(value)}).second) names_.push_back(std::move(name));
}

void NameTable::set_value(std::string_view name, std::optional<Expr> value) {
  const auto found = entries_.find(std::string(name));
  // A coordinate or parameter of the same name, which is an error reported elsewhere, stays what it is.
  if (found != entries_.end() && !is_moving(found->second.kind) && !is_number(found->second.kind))
    found->second.value = std::move(value);
}

const NameTable::Entry* NameTable::entry(std::string_view name) const {
  const auto found = entries_.find(std::string(name));
  return found == entries_.end() ? nullptr : &found->second;
}

std::optional<Expr> NameTable::find(std::string_view name, int primes, Words words) {
  if (primes == 0)
    for (auto i = domain_->rbegin(); i != domain_->rend(); ++i)
      if (i->name == name) return i->symbol;
  const bool parameters_only = words == Words::parameters;
  if (name == "t" && primes == 0 && !parameters_only) return time_symbol();
  const auto primed = [&](Expr x) {
    for (int k = 0; k < primes; ++k) x = derivative_symbol(x);
    return x;
  };
  if (const auto part = component(name)) {
    if (parameters_only || part->number >= part->of->size()) return std::nullopt;
    return time_derivative((*part->of)[part->number], primes);
  }
  if (name.ends_with(']')) {
    const std::string key(name);
    if (const auto member = model_.members.find(key); member != model_.members.end()) {
      const Expr& symbol = member->second.symbol;
      const bool is_coordinate = symbol.symbol().kind == SymbolKind::coordinate;
      if (parameters_only && is_coordinate) return std::nullopt;
      return is_coordinate && primes <= 2 ? std::optional(primed(symbol))
             : primes == 0                ? std::optional(symbol)
                                          : std::nullopt;
    }
    const auto made = instances_.find(key);
    if (made == instances_.end() || !made->second || parameters_only) return std::nullopt;
    return time_derivative(*made->second, primes);
  }
  const Entry* e = entry(name);
  if (!e || !e->value || (parameters_only && !is_number(e->kind))) return std::nullopt;
  if (primes == 0) return e->value;
  if (is_moving(e->kind) && primes <= 2) return primed(*e->value);
  if (e->kind == NameKind::definition) return time_derivative(*e->value, primes);
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

void NameTable::set_vector(std::string_view name, std::vector<Expr> components) {
  const auto found = entries_.find(std::string(name));
  if (found == entries_.end() || found->second.kind == NameKind::coordinate ||
      found->second.kind == NameKind::parameter)
    return;
  found->second.kind = NameKind::vector, found->second.value = std::nullopt;
  found->second.parts = std::move(components);
}

const std::vector<Expr>* NameTable::components(const std::string& name) const {
  if (name.ends_with(']')) {
    const auto made = vectors_.find(name);
    return made == vectors_.end() || made->second.empty() ? nullptr : &made->second;
  }
  const Entry* e = entry(name);
  return e && e->kind == NameKind::vector && !e->parts.empty() ? &e->parts : nullptr;
}

std::optional<NameTable::Component> NameTable::component(std::string_view name) const {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot + 2 != name.size() || entries_.contains(std::string(name)))
    return std::nullopt;
  const char last = name.back();
  if (last < 'x' || last > 'z') return std::nullopt;
  const std::vector<Expr>* parts = components(std::string(name.substr(0, dot)));
  if (!parts) return std::nullopt;
  return Component{parts, static_cast<std::size_t>(last - 'x')};
}

std::optional<std::vector<Expr>> NameTable::vector(std::string_view name, int primes) {
  const std::vector<Expr>* parts = components(std::string(name));
  if (!parts) return std::nullopt;
  std::vector<Expr> result;
  for (const Expr& part : std::vector<Expr>(*parts)) {
    auto f = time_derivative(part, primes);
    if (!f) return std::nullopt;
    result.push_back(*std::move(f));
  }
  return result;
}

Measure NameTable::measure(std::string_view name, int primes) const {
  if (primes == 0 && std::any_of(domain_->begin(), domain_->end(), [&](const TermIndex& i) { return i.name == name; }))
    return {Measure::Kind::number};
  if (name == "t") return measure_of_time();
  std::string base(name);
  if (component(name)) base.resize(base.rfind('.'));
  base.resize(family_of(base).size());
  const Measure* known = find_measure(base);
  return known ? rate(*known, primes) : Measure{};
}

ParseProblem NameTable::explain(std::string_view name, int primes, Words words) const {
  const std::string primed = std::string(name) + std::string(static_cast<std::size_t>(std::min(primes, 9)), '\'');
  const std::string family(family_of(name));
  const Entry* e = entry(name);
  std::optional<NameKind> kind = e ? std::optional(e->kind) : std::nullopt;
  if (name.ends_with(']') && families_.contains(family)) kind = families_.at(family).kind;
  if (words == Words::parameters) {
    if (name == "t") return problem("a parameter cannot depend on t", "what changes with time stands in [define]");
    if (kind && !is_number(*kind))
      return problem(fmt::format("a parameter cannot be made of the {} {}", in_words(*kind), mechanician::quoted(name)),
                     "a parameter is made of numbers and other parameters; other expressions stand in [define]");
  }
  if (name == "t") return problem(fmt::format("`{}`: time has no derivative", primed));
  if (const auto part = component(name))
    return part->number >= part->of->size() ? problem(fmt::format("{} is a vector of the plane: it has no z",
                                                                  mechanician::quoted(name.substr(0, name.rfind('.')))))
                                            : problem(fmt::format("`{}` has too many primes", primed),
                                                      "primes may be as many as lead from positions to accelerations");
  if (const std::size_t dot = name.rfind('.'); dot != std::string_view::npos && !e)
    if (components(std::string(name.substr(0, dot))))
      return problem(fmt::format("{} has no component {}", mechanician::quoted(name.substr(0, dot)),
                                 mechanician::quoted(name.substr(dot + 1))),
                     "the components of a vector are x, y and z");
  if (components(std::string(name)))
    return problem(fmt::format("`{}` has too many primes", primed),
                   "primes may be as many as lead from positions to accelerations");
  // Nothing is known of a family whose bounds could not be read.
  if (name.ends_with(']') && kind && families_.at(family).bounds.empty()) return silent();
  if (kind) {
    if (e && !e->value) return silent();
    if (*kind == NameKind::vector && name.ends_with(']')) return silent();  // it has a mistake of its own
    if (const auto made = instances_.find(std::string(name)); made != instances_.end() && !made->second)
      return silent();
    if (is_moving(*kind))
      return problem(fmt::format("`{}` has too many primes", primed),
                     fmt::format("the highest derivative is {}''", name));
    if (*kind == NameKind::definition)
      return problem(
          fmt::format("`{}` has too many primes", primed),
          "accelerations and forces have no derivative: primes may be as many as lead from positions to accelerations");
    return problem(fmt::format("`{}`: only coordinates and definitions can have primes", primed),
                   fmt::format("`{}` is a{} {}", name, *kind == NameKind::input ? "n" : "", in_words(*kind)));
  }
  if (is_excused(name)) return silent();
  if (tables_.contains(name)) return explain_table(name);
  if (families_.contains(family))
    return problem(fmt::format("{} is a family: one of its members is meant", mechanician::quoted(name)),
                   fmt::format("write {}[...]", name));
  std::string hint = wants_hints() ? did_you_mean(name, names_) : std::string();
  if (hint.empty() && wants_hints()) hint = did_you_mean(name, std::vector<std::string>{"t", "pi"});
  if (hint.empty() && name == "e") hint = "the number e is written exp(1)";
  if (hint.empty()) hint = "names are coordinates, or stand in [parameters] or [define]";
  return problem(fmt::format("unknown name {}", mechanician::quoted(name)), std::move(hint));
}

std::optional<Expr> NameTable::find_reaction(std::string_view function, std::string_view name, Words words) const {
  const std::string key(name);
  const ForceName* const force = find_force(function);
  if (words == Words::reactions && !is_reaction(force->kind)) return std::nullopt;
  if (force->of() == ForceName::Of::coordinate) {
    const auto member = model_.members.find(key);
    if (member != model_.members.end() && member->second.symbol.symbol().kind == SymbolKind::coordinate)
      return make_symbol(force->kind, key);
    return std::nullopt;
  }
  const auto& known = rows_of_[static_cast<std::size_t>(force->of())].set;
  if (known.contains(key) || (model_.rows.contains(key) && known.contains(std::string(family_of(key)))))
    return make_symbol(force->kind, key);
  return std::nullopt;
}

ParseProblem NameTable::explain_reaction(std::string_view function, std::string_view name, Words words) const {
  if (words == Words::reactions && !is_reaction(find_force(function)->kind))
    return problem(fmt::format("`{}` cannot stand in [nonideal]", function),
                   "forces of the ideal case are ideal() and multiplier(); the others follow from what stands here");
  const ForceName::Of of = find_force(function)->of();
  if (of == ForceName::Of::coordinate) {
    if (!entry(name) && is_excused(name)) return silent();
    std::vector<std::string> coordinates;
    for (const std::string& n : names_)
      if (is_moving(entries_.at(n).kind)) coordinates.push_back(n);
    return problem(fmt::format("{}() takes a coordinate, and {} is none", function, mechanician::quoted(name)),
                   wants_hints() ? did_you_mean(name, coordinates) : "");
  }
  if (is_constraint_excused(name)) return silent();
  const std::vector<std::string>& rows = rows_of_[static_cast<std::size_t>(of)].list;
  std::string hint = wants_hints() ? did_you_mean(name, rows) : "";
  // A joint is made of several.
  std::vector<std::string> parts;
  for (const std::string& row : rows)
    if (row.starts_with(std::string(name) + ".")) parts.push_back(row);
  if (!parts.empty())
    hint = fmt::format("of {} there {} {}", mechanician::quoted(name), parts.size() == 1 ? "is" : "are",
                       quote_list(parts));
  return problem(fmt::format("{}() takes {} {}, and {} is none", function, of == ForceName::Of::actuator ? "an" : "a",
                             in_words(of), mechanician::quoted(name)),
                 std::move(hint));
}

NameScope NameTable::scope(Words words) {
  NameScope s{[this, words](std::string_view name, int primes) { return find(name, primes, words); },
              [this, words](std::string_view name, int primes) { return explain(name, primes, words); }};
  // What control costs is called by no name, unless something else has it.
  if (words == Words::forces && !rows_of_[static_cast<std::size_t>(ForceName::Of::requirement)].list.empty())
    s.find = [find = s.find](std::string_view name, int primes) {
      auto found = find(name, primes);
      if (!found && name == "cost" && primes == 0) found = make_symbol(SymbolKind::control_cost, "cost");
      return found;
    };
  if (words == Words::reactions || words == Words::forces) {
    s.reaction = [this, words](std::string_view function, std::string_view name) {
      return find_reaction(function, name, words);
    };
    s.explain_reaction = [this, words](std::string_view function, std::string_view name) {
      return explain_reaction(function, name, words);
    };
  }
  s.member = [this, words](std::string_view name, std::span<const Expr> indices, std::size_t offset,
                           std::size_t length) { return member(name, indices, offset, length, words); };
  if (words != Words::parameters) s.vector = [this](std::string_view name, int primes) { return vector(name, primes); };
  if (units) s.measure = [this](std::string_view name, int primes) { return measure(name, primes); };
  s.sum = [this, words](std::span<const IndexRange> ranges, std::string_view body, std::size_t offset) {
    return sum(ranges, body, offset, words);
  };
  s.function = [this](std::string_view name, int primes) { return find_function_of(name, primes); };
  s.explain_function = [this](std::string_view name, int primes) { return explain_function(name, primes); };
  return s;
}

// ---- tables

std::optional<NamedFunction> NameTable::find_function_of(std::string_view name, int primes) const {
  const auto found = tables_.find(name);
  if (found == tables_.end() || !found->second) return std::nullopt;
  const Table& table = *found->second;
  if (primes > 0 && (table.num_arguments() > 1 || primes > table.degree())) return std::nullopt;
  NamedFunction function{table.num_arguments(), [table, primes](std::span<const Expr> x) {
                           return x.size() == 1 ? table(x[0], primes) : table(x[0], x[1]);
                         }};
  if (const auto given = table_measures_.find(name); given != table_measures_.end()) {
    function.arguments = given->second;
    function.value = function.arguments.back();
    function.arguments.pop_back();
    for (int k = 0; k < primes; ++k) function.value = product(function.value, function.arguments[0], -1.0);
  }
  return function;
}

std::optional<ParseProblem> NameTable::explain_function(std::string_view name, int primes) const {
  if (is_excused(name)) return silent();
  const auto found = tables_.find(name);
  if (found != tables_.end()) {
    if (!found->second) return explain_table(name);
    const Table& table = *found->second;
    const std::string primed = std::string(name) + std::string(static_cast<std::size_t>(std::min(primes, 9)), '\'');
    if (table.num_arguments() > 1)
      return problem(fmt::format("`{}`: a table of two arguments takes no primes", primed),
                     "by which of them it is differentiated would not be said");
    return problem(fmt::format("`{}` has too many primes", primed),
                   table.degree() == 0 ? "steps have no slope"
                                       : fmt::format("between its points this table is of degree {}", table.degree()));
  }
  std::vector<std::string> names;
  for (const auto& [known, table] : tables_) names.push_back(known);
  const std::string near = nearest(name, names);
  if (near.empty()) return std::nullopt;
  return problem(fmt::format("unknown function {}", mechanician::quoted(name)),
                 fmt::format("did you mean `{}`?", near));
}

ParseProblem NameTable::explain_table(std::string_view name) const {
  const auto found = tables_.find(name);
  if (found->second)
    return problem(fmt::format("the table {} needs its {} in parentheses", mechanician::quoted(name),
                               found->second->num_arguments() > 1 ? "arguments" : "argument"),
                   fmt::format("write {}({})", name, found->second->num_arguments() > 1 ? "..., ..." : "..."));
  // Its columns, where it has some.
  std::vector<std::string> columns;
  for (const auto& [known, table] : tables_)
    if (known.starts_with(std::string(name) + ".")) columns.push_back(known);
  if (columns.empty()) return silent();
  return problem(fmt::format("the table {} has several columns: one of them is meant", mechanician::quoted(name)),
                 fmt::format("write {}(...)", columns.front()));
}

}  // namespace mechanician
