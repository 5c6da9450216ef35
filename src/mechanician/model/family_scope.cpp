// What names stand for in a model whose families stay as they are written. See family_scope_internal.hpp.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/differentiate.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/model/family_checks.hpp"
#include "mechanician/model/family_scope_internal.hpp"
#include "mechanician/model/number_fields_internal.hpp"
#include "mechanician/model/source_map.hpp"

namespace mechanician {

namespace {

constexpr auto in_quotes = [](std::string_view text) { return mechanician::quoted(text); };
constexpr KindSet of_the_state =
    kind_bit(SymbolKind::coordinate) | kind_bit(SymbolKind::velocity) | kind_bit(SymbolKind::acceleration);

}  // namespace

bool same_symbol(const Expr& a, const Expr& b) {
  return a.symbol().kind == b.symbol().kind && a.symbol().name == b.symbol().name;
}

NameScope FamilyNames::scope(const std::vector<TermIndex>& indices) {
  NameScope s;
  s.find = [this, indices](std::string_view name, int primes) -> std::optional<Expr> {
    if (name == "t" && primes == 0) return time_symbol();
    for (const TermIndex& i : indices)
      if (i.name == name && primes == 0) return i.symbol;
    const std::string key(name);
    if (const auto number = scalars_.find(key); number != scalars_.end() && primes == 0) return Expr(number->second);
    if (primes > 2) return std::nullopt;
    if (const auto found = mentioned_.find(key);
        found != mentioned_.end() && (primes == 0 || found->second.symbol().kind == SymbolKind::coordinate))
      return primed(found->second, primes);
    if (const auto one = families_.find(key);
        one != families_.end() && model_.coordinates[one->second].bounds.empty()) {
      mention(key, {coordinate(key), static_cast<int>(one->second), {}});
      return primed(coordinate(key), primes);
    }
    if (const auto e = expanded_.find(key); e != expanded_.end() && primes == 0) return e->second;
    if (const auto d = definitions_.find(key); d != definitions_.end() && primes == 0 && d->second.indices.empty())
      return expand(d->second, {}, key);
    return std::nullopt;
  };
  s.explain = [this](std::string_view name, int primes) -> ParseProblem {
    const std::string key(name);
    const bool definition = definitions_.contains(key) || expanded_.contains(key),
               number = scalars_.contains(key) || mentioned_.contains(key);
    if (primes > 2 && (families_.contains(key) || mentioned_.contains(key)))
      return {0, 1,
              fmt::format("`{}{}` has too many primes", name, std::string(static_cast<std::size_t>(primes), '\'')),
              "the highest derivative is marked with two"};
    if (primes > 0 && (definition || number))
      return {0, 1,
              fmt::format("`{}{}`: only a coordinate can have primes", name,
                          std::string(static_cast<std::size_t>(primes), '\'')),
              fmt::format("`{}` is a {}", name, definition ? "defined name" : "parameter")};
    std::vector<std::string> known;
    for (const auto& [other, value] : scalars_) known.push_back(other);
    for (const auto& [other, value] : families_) known.push_back(other);
    const std::string near = nearest(name, known);
    return {0, 1, fmt::format("unknown name {}", in_quotes(name)),
            near.empty() ? "" : fmt::format("did you mean `{}`?", near)};
  };
  s.member = [this](std::string_view name, std::span<const Expr> given) -> MemberName {
    const std::string key(name);
    std::string shown;
    std::vector<Expr> at;
    for (const Expr& e : given) {
      at.push_back(simplify(e));
      if ((at.back().kinds() & (of_the_state | kind_bit(SymbolKind::time))) != 0)
        return {std::nullopt, {0, 1, "an index is made of numbers, parameters and indices", ""}};
      shown += (shown.empty() ? "" : ",") + to_text(at.back());
    }
    const std::string symbol = fmt::format("{}[{}]", key, shown);
    const auto family = families_.find(key), numbers = arrays_.find(key);
    if (const auto d = definitions_.find(key); d != definitions_.end() && !d->second.indices.empty()) {
      if (d->second.indices.size() != at.size())
        return {
            std::nullopt,
            {0, 1, fmt::format("{} has {} indices, not {}", in_quotes(name), d->second.indices.size(), at.size()), ""}};
      const auto f = expand(d->second, at, symbol);
      if (!f)
        return {std::nullopt,
                {0, 1, fmt::format("{} cannot be worked out", in_quotes(name)),
                 "its definition has a mistake, or leads back to itself"}};
      expanded_.insert_or_assign(symbol, *f);
      if (!d->second.bounds.empty()) guard({key, d->second.bounds, at});
      return {symbol, {}};
    }
    if (family == families_.end() && numbers == arrays_.end() && unreadable_.contains(key))
      return {};  // said where it stands
    if (family == families_.end() && numbers == arrays_.end())
      return {std::nullopt, {0, 1, fmt::format("there is no family {}", in_quotes(name)), ""}};
    const auto& bounds =
        family != families_.end() ? model_.coordinates[family->second].bounds : model_.numbers[numbers->second].bounds;
    if (bounds.size() != at.size())
      return {std::nullopt,
              {0, 1, fmt::format("{} has {} indices, not {}", in_quotes(name), bounds.size(), at.size()), ""}};
    if (family != families_.end())
      mention(symbol, {coordinate(symbol), static_cast<int>(family->second), std::move(at)});
    else
      mention(symbol, {parameter(symbol), static_cast<int>(numbers->second), std::move(at)});
    return {symbol, {}};
  };
  s.sum = [this, indices](std::span<const IndexRange> ranges, std::string_view body,
                          std::size_t offset) -> ParsedExpression {
    std::vector<TermIndex> inside = indices;
    const std::size_t around = active_.size();
    for (const IndexRange& range : ranges) {
      if (auto taken = taken_index(range, inside))
        return active_.resize(around), ParsedExpression{std::nullopt, {std::move(*taken)}};
      ParsedExpression from = parse_expression(range.from, scope(inside)),
                       to = parse_expression(range.to, scope(inside));
      for (auto* bound : {&from, &to})
        if (!bound->problems.empty()) {
          bound->problems.front().offset += bound == &from ? range.from_offset : range.to_offset;
          return active_.resize(around), ParsedExpression{std::nullopt, {bound->problems.front()}};
        }
      if (auto backwards = backwards_index(range, *from.value, *to.value))
        return active_.resize(around), ParsedExpression{std::nullopt, {std::move(*backwards)}};
      inside.push_back({range.name, parameter(fresh_index(range.name)), simplify(*from.value), simplify(*to.value)});
      active_.push_back(inside.back().symbol.symbol().name);
    }
    const std::size_t before = guards_.size();
    ParsedExpression parsed = parse_expression(body, scope(inside));
    active_.resize(around);
    const std::vector<Term::Guard> guards(guards_.begin() + static_cast<std::ptrdiff_t>(before), guards_.end());
    guards_.resize(before);
    for (ParseProblem& p : parsed.problems) p.offset += offset;
    if (!parsed.problems.empty()) return {std::nullopt, std::move(parsed.problems)};
    std::vector<TermIndex> own(inside.begin() + static_cast<std::ptrdiff_t>(indices.size()), inside.end());
    for (TermIndex& index : own) index.name = index.symbol.symbol().name;
    auto terms = split(*parsed.value);
    if (!terms)
      return {std::nullopt,
              {{offset, body.size(), "a sum may be multiplied by numbers and parameters only, in a model of this size",
                ""}}};
    for (Term& term : *terms) {
      term.indices.insert(term.indices.begin(), own.begin(), own.end());
      term.guards.insert(term.guards.end(), guards.begin(), guards.end());
      term.of_sum = true;
    }
    const Expr symbol = parameter(fmt::format("sum #{}", sums_.size()));
    sums_.push_back({symbol, std::move(*terms)});
    return {symbol, {}};
  };
  return s;
}

std::optional<ParseProblem> FamilyNames::taken_index(const IndexRange& range,
                                                     const std::vector<TermIndex>& around) const {
  if (std::any_of(around.begin(), around.end(), [&](const TermIndex& i) { return i.name == range.name; }))
    return ParseProblem{range.offset, range.length,
                        fmt::format("the index {} is in use already", in_quotes(range.name)), "take another letter"};
  if (is_reserved(range.name) || scalars_.contains(range.name) || families_.contains(range.name) ||
      arrays_.contains(range.name) || definitions_.contains(range.name))
    return ParseProblem{range.offset, range.length,
                        fmt::format("{} cannot be an index: it stands for something else", in_quotes(range.name)),
                        "take another letter"};
  return std::nullopt;
}

std::optional<ParseProblem> FamilyNames::backwards_index(const IndexRange& range, const Expr& from, const Expr& to) {
  const auto a = number_of(from), b = number_of(to);
  for (const bool upper : {false, true})
    if (const auto& x = upper ? b : a; x && (*x != std::round(*x) || !(std::abs(*x) < 1e15)))
      return ParseProblem{
          upper ? range.to_offset : range.from_offset, (upper ? range.to : range.from).size(),
          fmt::format("a bound of {}: this is {}, and must be a whole number{}", in_quotes(range.name),
                      std::isnan(*x) ? "not a number" : short_number(*x), std::abs(*x) >= 1e15 ? " below 1e15" : ""),
          ""};
  if (!a || !b || *b >= *a - 1.0) return std::nullopt;
  return ParseProblem{range.from_offset, range.to_offset + range.to.size() - range.from_offset,
                      fmt::format("the index {} runs backwards, from {:.0f} to {:.0f}", in_quotes(range.name), *a, *b),
                      ""};
}

std::string FamilyNames::fresh_index(const std::string& name) const {
  std::string fresh = name;
  for (int k = 2; std::find(active_.begin(), active_.end(), fresh) != active_.end(); ++k)
    fresh = fmt::format("{}#{}", name, k);
  return fresh;
}

Expr FamilyNames::primed(Expr x, int primes) {
  for (int k = 0; k < primes; ++k) x = derivative_symbol(x);
  return x;
}

void FamilyNames::mention(const std::string& name, MemberSymbol member) {
  mentioned_.emplace(name, member.symbol);
  members_.emplace(name, std::move(member));
}

std::optional<std::vector<Term>> FamilyNames::split(const Expr& f) {
  std::vector<Term> terms;
  std::vector<Replacement> none;
  if (!is_linear_in(f, [&](const Expr& s) {
        return std::any_of(sums_.begin(), sums_.end(), [&](const Sum& sum) { return same_symbol(s, sum.symbol); });
      }))
    return std::nullopt;
  for (const Expr& s : symbols_of(std::span(&f, 1)))
    for (const Sum& sum : sums_)
      if (same_symbol(s, sum.symbol)) none.push_back({s, 0.0});
  for (const Replacement& r : none) {
    const Expr factor = simplify(derivative(f, r.symbol));
    KindSet kinds = factor.kinds();
    for (const Expr& s : symbols_of(std::span(&factor, 1)))
      for (const Sum& sum : sums_)
        if (same_symbol(s, sum.symbol)) return std::nullopt;
    if ((kinds & of_the_state) != 0) return std::nullopt;
    for (const Sum& sum : sums_)
      if (same_symbol(sum.symbol, r.symbol))
        for (Term term : sum.terms) {
          term.body = make_simplified(Op::mul, {factor, term.body});
          terms.push_back(std::move(term));
        }
  }
  Term rest;
  rest.body = none.empty() ? simplify(f) : substitute(f, none);
  if (!rest.body.is_zero() || terms.empty()) terms.push_back(std::move(rest));
  return terms;
}

void FamilyNames::complete(Term& term) {
  for (const Expr& s : symbols_of(std::span(&term.body, 1))) {
    const auto kind = s.symbol().kind;
    const auto found = members_.find(s.symbol().name);
    if (found == members_.end()) continue;
    auto& list = kind == SymbolKind::parameter ? term.numbers : term.coordinates;
    if (std::none_of(list.begin(), list.end(),
                     [&](const MemberSymbol& m) { return same_symbol(m.symbol, found->second.symbol); }))
      list.push_back(found->second);
  }
  // Those within sums have been handed to the terms of the sums, which are worked out by themselves in quantities.
  if (!term.of_sum || term.kind != TermKind::quantity)
    term.guards.insert(term.guards.end(), guards_.begin(), guards_.end());
}

void FamilyNames::guard(Term::Guard guard) {
  const auto same = [&](const Term::Guard& other) {
    return other.name == guard.name && other.indices.size() == guard.indices.size() &&
           std::equal(other.indices.begin(), other.indices.end(), guard.indices.begin(),
                      [](const Expr& a, const Expr& b) { return to_text(a) == to_text(b); });
  };
  if (std::none_of(guards_.begin(), guards_.end(), same)) guards_.push_back(std::move(guard));
}

std::optional<Expr> FamilyNames::expand(const Definition& definition, const std::vector<Expr>& at,
                                        const std::string& member) {
  constexpr int deepest = 200;
  if (depth_ >= deepest) return std::nullopt;
  // Definitions of definitions would be read ever again; the indices around decide how those of its sums are called.
  const std::string key = fmt::format("{} within {}", member, fmt::join(active_, ","));
  if (const auto known = readings_.find(key); known != readings_.end()) {
    for (const Term::Guard& g : known->second.guards) guard(g);
    return known->second.value;
  }
  readings_.emplace(key, Reading{});  // one that leads back to itself has no value
  // Its own indices, for what they stand for.
  std::vector<TermIndex> inside;
  for (std::size_t k = 0; k < at.size(); ++k) inside.push_back({definition.indices[k], at[k], Expr(0.0), Expr(0.0)});
  std::vector<Term::Guard> before = std::exchange(guards_, {});
  ++depth_;
  ParsedExpression f = parse_expression(definition.text, scope(inside));
  --depth_;
  std::vector<Term::Guard> own = std::exchange(guards_, std::move(before));
  for (const Term::Guard& g : own) guard(g);
  readings_.insert_or_assign(key, Reading{f.value, std::move(own)});
  return f.value;
}

}  // namespace mechanician
