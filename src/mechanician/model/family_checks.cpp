#include "mechanician/model/family_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/degree.hpp"
#include "mechanician/expression/node.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/model/source_map.hpp"
#include "mechanician/model/validate_internal.hpp"

namespace mechanician {

namespace {

constexpr KindSet of_numbers = kind_bit(SymbolKind::parameter);
constexpr KindSet of_positions = of_numbers | kind_bit(SymbolKind::time) | kind_bit(SymbolKind::coordinate);
constexpr KindSet of_velocities = of_positions | kind_bit(SymbolKind::velocity);

/// What may stand in a term, and what is said where something else does.
struct Rule {
  std::string what;
  KindSet allowed;
  const char* hint;
};

Rule rule_of(const Term& term) {
  constexpr auto no_acceleration = "accelerations can stand in constraints and outputs only";
  const auto target = [&] { return term.target.symbol.symbol().name; };
  switch (term.kind) {
    case TermKind::kinetic:
      return {"the kinetic energy", of_velocities, no_acceleration};
    case TermKind::potential:
      return {"the potential energy", of_positions, "forces that depend on velocities stand under force"};
    case TermKind::force:
      return {fmt::format("the force on {}", quoted(target())), of_velocities, no_acceleration};
    case TermKind::position:
    case TermKind::velocity:
      return {quoted(fmt::format("start.{}.{}", term.kind == TermKind::position ? "position" : "velocity", target())),
              of_numbers, "a start value is made of numbers and parameters"};
    default:
      return {fmt::format("the constraint {}", quoted(term.name)), ~KindSet{0}, ""};
  }
}

const char* in_words(SymbolKind kind) {
  return kind == SymbolKind::coordinate ? "the coordinate"
         : kind == SymbolKind::velocity ? "the velocity"
                                        : "the acceleration";
}

}  // namespace

std::vector<Problem> check_family_model(const FamilyModel& model) {
  std::vector<Problem> problems;
  for (const Term& term : model.terms) {
    const Rule rule = rule_of(term);
    if ((term.body.kinds() & ~rule.allowed) != 0) {
      for (const Expr& s : symbols_of(std::span(&term.body, 1))) {
        const SymbolKind kind = s.symbol().kind;
        if ((kind_bit(kind) & rule.allowed) != 0) continue;
        problems.push_back({term.place,
                            kind == SymbolKind::time ? fmt::format("{} contains the time", rule.what)
                                                     : fmt::format("{} contains {} `{}`", rule.what, in_words(kind),
                                                                   symbol_text(s.symbol())),
                            rule.hint});
        break;
      }
    } else if (term.kind == TermKind::kinetic && !has_degree_at_most(term.body, SymbolKind::velocity, 2)) {
      problems.push_back({term.place, "the kinetic energy is not quadratic in the velocities",
                          "it may have terms of degree 0, 1 and 2 in them"});
    } else if (term.kind == TermKind::constraint && !term.body.contains(SymbolKind::coordinate) &&
               !term.body.contains(SymbolKind::velocity)) {
      problems.push_back({term.place, fmt::format("{} mentions no coordinate", rule.what),
                          "an equation of numbers, parameters and t does not constrain the motion"});
    }
  }
  for (const FamilyQuantity& o : model.outputs) {
    const bool coordinate =
        std::any_of(model.coordinates.begin(), model.coordinates.end(),
                    [&](const CoordinateFamily& c) { return c.name == o.name && c.bounds.size() == o.label.size(); });
    if (coordinate || (o.label.empty() && is_result_column(o.name)))
      problems.push_back({o.term.place,
                          fmt::format("the output {} would be a second column of that name", quoted(o.name)),
                          "take another name"});
  }
  return problems;
}

std::vector<Problem> check_run_settings(const RunSettings& run, const RunPlaces& places) {
  std::vector<Problem> problems;
  if (run.to && !std::isfinite(*run.to)) problems.push_back({places.to, "`run.to` must be a finite number", {}});
  if (run.every && !(*run.every > 0.0 && std::isfinite(*run.every)))
    problems.push_back({places.every, "`run.every` must be positive", "it is the time between two rows of the result"});
  if (!(run.tolerance > 0.0 && run.tolerance < 1.0))
    problems.push_back({places.tolerance, "`run.tolerance` must lie between 0 and 1", "for example 1e-10"});
  const std::vector<std::string> methods{"auto", "dop853", "bdf"};
  if (std::find(methods.begin(), methods.end(), run.method) == methods.end()) {
    const std::string near = nearest(run.method, methods);
    problems.push_back({places.method, fmt::format("there is no method {}", quoted(run.method)),
                        near.empty() ? "it is auto, dop853 or bdf" : fmt::format("did you mean `{}`?", near)});
  }
  return problems;
}

bool is_linear_in(const Expr& f, const std::function<bool(const Expr& symbol)>& chosen) {
  const PostOrder order = post_order(std::span(&f, 1));
  std::vector<char> holds(order.nodes.size(), 0);  // one of the symbols
  for (std::size_t k = 0; k < order.nodes.size(); ++k) {
    const ExprNode* n = order.nodes[k];
    const Expr e = Expr::of(n);
    if (e.is_symbol()) {
      holds[k] = chosen(e);
      continue;
    }
    int count = 0;
    bool first = false;
    for (int a = 0; const ExprNode* arg : n->arguments()) {
      const bool here = holds[static_cast<std::size_t>(order.index.at(arg))] != 0;
      count += here;
      first |= a++ == 0 && here;
    }
    if (count == 0) continue;
    holds[k] = 1;
    switch (n->op) {
      case Op::add:
      case Op::sub:
      case Op::neg:
        break;
      case Op::mul:
        if (count > 1) return false;
        break;
      case Op::div:
        if (!first || count > 1) return false;
        break;
      case Op::select:
        if (first) return false;
        break;
      default:
        return false;
    }
  }
  return true;
}

}  // namespace mechanician
