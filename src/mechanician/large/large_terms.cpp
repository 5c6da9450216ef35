#include "mechanician/large/large_terms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "mechanician/expression/degree.hpp"
#include "mechanician/expression/differentiate.hpp"
#include "mechanician/expression/rewrite.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/expression/table_lookup.hpp"
#include "mechanician/model/index_values.hpp"
#include "mechanician/model/source_map.hpp"

namespace mechanician {

namespace {

constexpr KindSet of_the_state =
    kind_bit(SymbolKind::coordinate) | kind_bit(SymbolKind::velocity) | kind_bit(SymbolKind::acceleration);

class KernelTerms {
 public:
  explicit KernelTerms(FamilyModel stated) : model_(std::move(stated)) {}

  FamilyModel take() {
    refuse_sections();
    std::vector<Term> terms;
    for (Term& term : model_.terms)
      for (Term& part : terms_of(std::move(term))) terms.push_back(std::move(part));
    model_.terms = std::move(terms);
    for (const Term& term : model_.terms)
      if (has_clock(term.body))
        refuse(term.place, "tables of the time with kinks are not supported beyond 100,000 coordinates yet");
    for (FamilyQuantity& output : model_.outputs) quantity(output);
    for (FamilyEvent& event : model_.events) {
      quantity(event.when);
      if ((kinds_of(event.when) & kind_bit(SymbolKind::acceleration)) != 0)
        refuse(event.when.term.place, "events with accelerations are not supported beyond 100,000 coordinates yet");
    }
    if (!problems_.empty()) throw ModelError(std::move(problems_), model_.source);
    return std::move(model_);
  }

 private:
  /// A table that every member switches with, all at the same times: one switch where it is written out.
  static bool has_clock(const Expr& whole) {
    std::vector<Expr> stack{whole};
    std::unordered_set<const ExprNode*> seen;
    while (!stack.empty()) {
      const Expr f = stack.back();
      stack.pop_back();
      if (!seen.insert(f.node()).second || !f.contains(SymbolKind::time)) continue;
      for (int k = 0; k < f.num_args(); ++k) stack.push_back(f.arg(k));
      for (const int argument : {0, 1})
        if (f.op() == Op::lookup && f.arg(argument).contains(SymbolKind::time) &&
            (f.arg(argument).kinds() & of_the_state) == 0 && breaks_of(f, argument) != Breaks::none)
          return true;
    }
    return false;
  }

  void refuse(const Place& place, std::string message) {
    for (const Problem& p : problems_)
      if (p.place.line == place.line && p.place.column == place.column) return;
    problems_.push_back({place, std::move(message), {}});
  }

  void refuse_sections() {
    const auto section = [&](bool given, const char* name) {
      if (given) refuse(model_.places[name], fmt::format("[{}] is not supported beyond 100,000 coordinates yet", name));
    };
    const auto has = [&](TermKind kind) {
      return std::any_of(model_.terms.begin(), model_.terms.end(), [&](const Term& t) { return t.kind == kind; });
    };
    section(has(TermKind::nonideal), "nonideal");
    section(!model_.measured.empty(), "measured");
    section(has(TermKind::control) || has(TermKind::actuator) || has(TermKind::free_force), "control");
    section(!model_.unknowns.empty(), "unknown");
    section(std::any_of(model_.scalars.begin(), model_.scalars.end(), [](const Parameter& p) { return p.is_mode; }),
            "modes");
    for (const FamilyEvent& event : model_.events)
      if (!event.changes.empty())
        refuse(event.changes.front().place,
               "events that change the system are not supported beyond 100,000 coordinates yet");
    for (const Term& term : model_.terms)
      if (!term.engaged)
        refuse(term.place, "constraints that begin released are not supported beyond 100,000 coordinates yet");
    const auto no_forces = [&](const FamilyQuantity& quantity) {
      if ((model_.kinds_of(quantity.term.body) & all_forces) != 0)
        refuse(quantity.term.place, "forces in outputs and events are not supported beyond 100,000 coordinates yet");
    };
    for (const FamilyQuantity& output : model_.outputs)
      if (!has_forces_of_its_own(output)) no_forces(output);
    for (const FamilyEvent& event : model_.events) no_forces(event.when);
    if (has(TermKind::mass) || !model_.mass.empty())
      refuse(model_.places["mass"], "`mass` is not supported beyond 100,000 coordinates yet: give `kinetic`");
  }

  /// Of rows and coordinates that are named one by one, in an output that is one number: reactions of joints.
  bool has_forces_of_its_own(const FamilyQuantity& output) const {
    constexpr KindSet known = forces_of_coordinates | kind_bit(SymbolKind::multiplier) | kind_bit(SymbolKind::power) |
                              kind_bit(SymbolKind::work);
    if (!output.term.indices.empty() || has_sums(output.term.body)) return false;
    for (const Expr& s : symbols_of(std::span(&output.term.body, 1))) {
      const KindSet kind = kind_bit(s.symbol().kind);
      if ((kind & all_forces) == 0) continue;
      const MemberSymbol* member = model_.member_of(s);
      if ((kind & known) == 0 || (member && !member->indices.empty())) return false;
    }
    return true;
  }

  /// Numbers for parameters, and for sums of numbers that are the same for every member; nothing else is changed.
  Expr with_numbers(const Expr& f) {
    if (!f.contains(SymbolKind::parameter)) return f;
    std::vector<Expr> symbols, values;
    for (const Expr& s : symbols_of(std::span(&f, 1))) {
      const auto number = model_.parameter_numbers.find(s.symbol().name);
      const QuantitySum* sum = model_.sum_of(s);
      if (s.symbol().kind == SymbolKind::parameter && number != model_.parameter_numbers.end())
        symbols.push_back(s), values.emplace_back(model_.parameters[number->second]);
      else if (sum && (sum->kinds & ~kind_bit(SymbolKind::parameter)) == 0 && sum->around.empty())
        if (const double value = IndexValues(model_, {s}, {})({})[0]; std::isfinite(value))
          symbols.push_back(s), values.emplace_back(value);
    }
    if (symbols.empty()) return f;
    Rewriter rewrite(std::span(&f, 1), symbols);
    return rewrite(values).front();
  }

  bool is_sum(const Expr& s) const { return model_.sum_of(s) != nullptr; }
  bool has_sums(const Expr& f) const {
    if (!f.contains(SymbolKind::parameter)) return false;
    const std::vector<Expr> symbols = symbols_of(std::span(&f, 1));
    return std::any_of(symbols.begin(), symbols.end(), [&](const Expr& s) { return is_sum(s); });
  }

  /// f = Σ (what sums stand for) + what is left.
  std::vector<Term> split(const Expr& stated, const Place& place) {
    const Expr f = with_numbers(stated);
    std::vector<Term> terms;
    const auto wrong = [&] {
      refuse(place, "a sum may be multiplied by numbers and parameters only beyond 100,000 coordinates");
      return std::vector<Term>{};
    };
    if (!is_linear_in(f, [&](const Expr& s) { return is_sum(s); })) return wrong();
    std::vector<Replacement> none;
    for (const Expr& s : symbols_of(std::span(&f, 1)))
      if (is_sum(s)) none.push_back({s, 0.0});
    for (const Replacement& r : none) {
      const Expr factor = simplify(derivative(f, r.symbol));
      if (has_sums(factor) || (factor.kinds() & of_the_state) != 0) return wrong();
      for (const Term& summand : model_.sum_of(r.symbol)->terms)
        for (Term& inner : split(summand.body, place)) {
          inner.indices.insert(inner.indices.begin(), summand.indices.begin(), summand.indices.end());
          inner.body = make_simplified(Op::mul, {factor, inner.body});
          inner.of_sum = true;
          terms.push_back(std::move(inner));
        }
    }
    Term rest;
    rest.body = none.empty() ? simplify(f) : substitute(f, none);
    if (!rest.body.is_zero() || terms.empty()) terms.push_back(std::move(rest));
    return terms;
  }

  void complete(Term& term) const { complete_term(model_, term); }

  std::vector<Term> terms_of(Term stated) {
    if (stated.kind == TermKind::constraint) {
      const Place place = stated.place;
      if (stated.one_sided) refuse(place, "one-sided constraints are not supported beyond 100,000 coordinates yet");
      for (const Term::Part& part : stated.parts)
        refuse(part.place, fmt::format("{} is not supported beyond 100,000 coordinates yet",
                                       part.kind == Term::Part::Kind::weight        ? "a weight"
                                       : part.kind == Term::Part::Kind::restitution ? "a restitution"
                                                                                    : "friction"));
      if ((model_.kinds_of(stated.body) & kind_bit(SymbolKind::acceleration)) != 0)
        refuse(place, "constraints with accelerations are not supported beyond 100,000 coordinates yet");
      stated.body = with_numbers(stated.body);  // not simplified: its kind is read off what is written
      if (has_sums(stated.body)) refuse(place, "sums in constraints are not supported beyond 100,000 coordinates yet");
      complete(stated);
      return {std::move(stated)};
    }
    std::vector<Term> terms = split(stated.body, stated.place);
    // What is left beside the sums stands for the whole: a member has one start value, however many terms it is the sum of.
    const bool by_member = stated.kind != TermKind::kinetic && stated.kind != TermKind::potential;
    if (by_member && !terms.empty() && terms.back().of_sum && !stated.of_sum) terms.emplace_back();
    for (Term& term : terms) {
      term.kind = stated.kind, term.target = stated.target, term.place = stated.place, term.key = stated.key;
      term.of_sum |= stated.of_sum;
      term.indices.insert(term.indices.begin(), stated.indices.begin(), stated.indices.end());
      complete(term);
    }
    return terms;
  }

  void quantity(FamilyQuantity& quantity) {
    if (!quantity.sums.empty()) return;  // taken apart before
    Term& whole = quantity.term;
    whole.body = simplify(with_numbers(whole.body));
    complete(whole);
    for (const Expr& s : symbols_of(std::span(&whole.body, 1))) {
      const QuantitySum* stated = model_.sum_of(s);
      if (!stated) continue;
      QuantitySum sum = *stated;
      sum.terms.clear();
      for (const Term& summand : stated->terms)
        for (Term& inner : split(summand.body, whole.place)) {
          inner.kind = TermKind::quantity, inner.place = whole.place, inner.of_sum = true;
          inner.indices.insert(inner.indices.begin(), summand.indices.begin(), summand.indices.end());
          complete(inner);
          refuse_outer(inner, whole);
          sum.terms.push_back(std::move(inner));
        }
      quantity.sums.push_back(std::move(sum));
    }
  }

  /// A sum is worked out once, for all members of what it stands in.
  void refuse_outer(const Term& inner, const Term& whole) {
    std::vector<Expr> parts{inner.body};
    for (const TermIndex& i : inner.indices) parts.push_back(i.from), parts.push_back(i.to);
    for (const auto* list : {&inner.coordinates, &inner.numbers})
      for (const MemberSymbol& m : *list) parts.insert(parts.end(), m.indices.begin(), m.indices.end());
    for (const Expr& used : symbols_of(parts))
      for (const TermIndex& outer : whole.indices)
        if (same(used, outer.symbol))
          refuse(whole.place,
                 fmt::format("a sum that depends on the index {} around it is not supported beyond 100,000 coordinates",
                             quoted(outer.name)));
  }

  KindSet kinds_of(const FamilyQuantity& quantity) const {
    KindSet kinds = quantity.term.body.kinds();
    for (const QuantitySum& sum : quantity.sums) kinds |= sum.kinds;
    return kinds;
  }

  FamilyModel model_;
  std::vector<Problem> problems_;
};

}  // namespace

void complete_term(const FamilyModel& model, Term& term) {
  term.coordinates.clear(), term.numbers.clear();
  for (TermIndex& index : term.indices) index.name = index.symbol.symbol().name;
  std::unordered_set<const ExprNode*> listed;
  for (const Expr& s : symbols_of(std::span(&term.body, 1))) {
    const auto found = model.members.find(s.symbol().name);
    const bool number = s.symbol().kind == SymbolKind::parameter;
    if (found == model.members.end() || number != (found->second.symbol.symbol().kind == SymbolKind::parameter))
      continue;
    if (listed.insert(found->second.symbol.node()).second)
      (number ? term.numbers : term.coordinates).push_back(found->second);
  }
}

FamilyModel kernel_terms(FamilyModel stated) { return KernelTerms(std::move(stated)).take(); }

}  // namespace mechanician
