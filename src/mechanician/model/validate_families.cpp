// The checks of a model as it is stated: those of validate.hpp, made of the members that matter. See expand_internal.hpp.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <set>

#include "mechanician/base/text.hpp"
#include "mechanician/model/expand_internal.hpp"
#include "mechanician/model/names.hpp"
#include "mechanician/model/source_map.hpp"
#include "mechanician/model/validate_internal.hpp"

namespace mechanician {

namespace {

/// What is asked of a value wherever it does not depend on the motion.
bool is_right(double x, std::optional<Term::Part::Kind> kind) {
  using Kind = Term::Part::Kind;
  if (!std::isfinite(x)) return false;
  if (kind == Kind::weight) return x > 0.0;
  if (kind == Kind::restitution) return x >= 0.0 && x <= 1.0;
  if (kind == Kind::cost) return x > 0.0;
  return !kind || kind == Kind::slip || kind == Kind::low || kind == Kind::law || x >= 0.0;
}

/// Start values and scales: each coordinate has one.
std::vector<Problem> find_second_values(const FamilyModel& stated) {
  std::vector<Problem> problems;
  for (const TermKind kind : {TermKind::position, TermKind::velocity, TermKind::scale}) {
    std::vector<std::vector<char>> given(stated.coordinates.size());
    std::vector<int> count(stated.coordinates.size(), 0);
    for (const Term& term : stated.terms)
      if (term.kind == kind) ++count[static_cast<std::size_t>(term.target.family)];
    for (const Term& term : stated.terms) {
      if (term.kind != kind) continue;
      const auto f = static_cast<std::size_t>(term.target.family);
      // x[i, j] for i and j alone names no member twice.
      const auto is_index = [&](const TermIndex& index) {
        return std::any_of(term.target.indices.begin(), term.target.indices.end(),
                           [&](const Expr& at) { return same(at, index.symbol); });
      };
      if (count[f] == 1 && std::all_of(term.indices.begin(), term.indices.end(), is_index)) continue;
      const CoordinateFamily& family = stated.coordinates[f];
      given[f].resize(static_cast<std::size_t>(family.count), 0);
      IndexWalk walk(stated, term.indices);
      IndexValues values(stated, term.target.indices, walk.symbols());
      walk.each({}, [&](std::span<const double> at) {
        const std::span<const double> found = values(at);
        const long number = number_of_member(family.bounds, found);
        if (number < 0 || !given[f][static_cast<std::size_t>(number)]++) return true;
        problems.push_back({term.key,
                            fmt::format("{} has two {}", quoted(member_text(family.name, found)),
                                        kind == TermKind::scale ? "scales" : "start values"),
                            {}});
        return false;
      });
    }
  }
  return problems;
}

}  // namespace

std::vector<std::vector<double>> Expander::suspects(const Term& term) const {
  std::vector<std::vector<double>> found;
  if (whole_ || term.indices.empty()) return found;
  const auto look = [&](const Expr& f, std::optional<Term::Part::Kind> kind, bool positive = false) {
    if ((stated_.kinds_of(f) & ~kind_bit(SymbolKind::parameter)) != 0) return;
    IndexWalk walk(stated_, term.indices);
    IndexValues values(stated_, {f}, walk.symbols());
    if (values.is_constant()) return;
    walk.each({}, [&](std::span<const double> at) {
      const double x = values(at)[0];
      if (is_right(x, kind) && (x > 0.0 || !positive)) return true;
      found.emplace_back(at.begin(), at.end());
      return false;
    });
  };
  if (is_number_of_coordinate(term.kind)) look(term.body, std::nullopt, term.kind == TermKind::scale);
  for (const Term::Part& part : term.parts)
    if (part.kind != Term::Part::Kind::slip) look(part.value, part.kind);
  if (term.kind != TermKind::constraint) return found;
  for (const Measured& measured : stated_.measured)
    for (const std::string& name : measured.constraints) {
      const ParsedName parsed = parse_name(name);
      if (parsed.name != term.name || parsed.indices.size() != term.indices.size()) continue;
      std::vector<double> at;
      std::vector<Expr> symbols;
      for (std::size_t k = 0; k < parsed.indices.size(); ++k) {
        const std::string_view text = parsed.indices[k].text;
        long index = 0;
        std::from_chars(text.data(), text.data() + text.size(), index);
        IndexValues bounds(stated_, {term.indices[k].from, term.indices[k].to}, symbols);
        const std::span<const double> ends = bounds(at);
        at.push_back(static_cast<double>(index));
        if (!(at.back() >= ends[0] && at.back() <= ends[1]) || fmt::format("{}", index) != text) break;
        symbols.push_back(term.indices[k].symbol);
      }
      if (symbols.size() == term.indices.size()) found.push_back(std::move(at));
    }
  return found;
}

void Expander::add_mentioned() {
  std::set<std::pair<int, long>> all;
  for (const auto& [key, symbol] : symbols_) all.insert(key);
  for (std::size_t f = 0; f < stated_.coordinates.size(); ++f)
    for (long k = 0; k < (stated_.mass.empty() ? 1 : stated_.coordinates[f].count); ++k)
      all.emplace(static_cast<int>(f), k);
  for (const Expr& u : stated_.unknowns)
    for (const Expr& x : u.symbol().depends)
      if (x.symbol().kind == SymbolKind::coordinate)
        if (const MemberSymbol* m = stated_.member_of(x)) all.emplace(m->family, 0);
  for (std::size_t f = 0; f < stated_.numbers.size(); ++f) all.emplace(-1 - static_cast<int>(f), 0L);
  for (const auto& [f, k] : all) {
    if (f >= 0) {
      const CoordinateFamily& family = stated_.coordinates[static_cast<std::size_t>(f)];
      model_.coordinates.push_back({stated_.name_of(family.first + k), family.place, family.is_state});
      continue;
    }
    const NumberFamily& list = stated_.numbers[static_cast<std::size_t>(-1 - f)];
    model_.parameters.push_back({list.member_name(static_cast<std::size_t>(k)),
                                 list.values[static_cast<std::size_t>(k)], list.place, list.is_input});
    parameters_.push_back(list.values[static_cast<std::size_t>(k)]);
  }
}

std::vector<Problem> validate_families(const FamilyModel& stated, const Unreadable& unreadable) {
  Expander chosen(stated, false);
  const Model model = chosen.expand();
  std::vector<Problem> found = validate_structure(model, unreadable, false), problems;
  if (found.empty() && !unreadable.touches("parameters"))
    found = validate_values(model, {chosen.parameters()}, unreadable);
  for (Problem& p : find_second_values(stated)) found.push_back(std::move(p));
  // What is said of two members of a family is said once.
  std::set<std::tuple<int, int, std::string>> said;
  for (Problem& p : found) {
    std::string message;  // without indices and values
    bool inside = false;
    for (const char c : p.message) {
      inside = c == '[' || (inside && c != ']');
      if (!inside && std::isalpha(static_cast<unsigned char>(c))) message += c;
    }
    if (said.emplace(p.place.line, p.place.column, p.place.line == 0 ? p.message : message).second)
      problems.push_back(std::move(p));
  }
  return problems;
}

}  // namespace mechanician
