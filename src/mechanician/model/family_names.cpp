// Names with an index: which member is meant, sums, and what is said where an index is wrong. See names.hpp.

#include <fmt/format.h>

#include <cmath>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/definite_conditions.hpp"
#include "mechanician/expression/evaluate_operator.hpp"
#include "mechanician/model/names.hpp"
#include "mechanician/model/source_map.hpp"

namespace mechanician {

namespace {

/// Members are written out one by one: so much text may come of it, and indices may be nested so deeply.
constexpr std::size_t most_work = std::size_t{64} << 20;
constexpr std::size_t work_of_an_index = 100;
constexpr std::size_t deepest = 12;

ParseProblem problem(std::string message, std::string hint = {}) { return {0, 1, std::move(message), std::move(hint)}; }

std::string bounds_text(const std::vector<NameTable::Bounds>& bounds) {
  std::string text;
  for (const auto& [from, to] : bounds) text += fmt::format("{}{}..{}", text.empty() ? "" : ", ", from, to);
  return text;
}

}  // namespace

std::string NameTable::bound_text() const {
  std::string text;
  for (const auto& [index, value] : bound_)
    text += fmt::format("{} {} = {}", text.empty() ? " for" : ",", index, value);
  return text;
}

std::optional<double> NameTable::number_of(const Expr& f) const {
  if (f.is_constant()) return f.value();
  if (f.is_symbol()) return f.symbol().kind == SymbolKind::parameter ? parameter_value(f.symbol().name) : std::nullopt;
  double x[3] = {};
  for (int k = 0; k < row_of(f.op()).arity; ++k) {
    const auto value = number_of(f.arg(k));
    if (!value) return std::nullopt;
    x[k] = *value;
  }
  return evaluate_operator(f.op(), x[0], x[1], x[2]);
}

NameTable::Whole NameTable::whole_number(const Expr& f) const {
  // A condition without a truth value gives no number either.
  const auto value = number_of(with_definite_conditions(std::span(&f, 1)).front());
  if (!value)
    return {std::nullopt, "this must be known when the model is read", "it is made of numbers, parameters and indices"};
  if (!(std::abs(*value) < 1e15) || *value != std::round(*value))
    return {std::nullopt,
            fmt::format("this is {}, and must be a whole number{}{}",
                        std::isnan(*value) ? "not a number" : short_number(*value),
                        std::abs(*value) >= 1e15 ? " below 1e15" : "", bound_text()),
            ""};
  return {static_cast<long>(*value), {}, {}};
}

MemberName NameTable::member(std::string_view name, std::span<const Expr> indices) const {
  const std::string key(name);
  const auto family = families_.find(key);
  const auto rows = constraint_families_.find(key);
  if (family == families_.end() && rows == constraint_families_.end()) {
    if (is_excused(name) || is_constraint_excused(name)) return {std::nullopt, problem({})};
    if (const Entry* e = entry(name))
      return {std::nullopt,
              problem(fmt::format("{} is one {} and has no index", mechanician::quoted(name), in_words(e->kind)))};
    std::vector<std::string> known;
    for (const auto& [other, bounds] : families_) known.push_back(other);
    const std::string near = wants_hints() ? nearest(name, known) : std::string();
    return {
        std::nullopt,
        problem(fmt::format("there is no family {}", mechanician::quoted(name)),
                near.empty()
                    ? fmt::format("families are declared with their bounds, as in coordinates = [\"{}[1..N]\"]", name)
                    : fmt::format("did you mean `{}`?", near))};
  }
  const std::vector<Bounds>& bounds = family != families_.end() ? family->second : rows->second;
  if (bounds.size() != indices.size())
    return {std::nullopt,
            problem(fmt::format("{} has {}, not {}", mechanician::quoted(name),
                                bounds.size() == 1 ? "one index" : fmt::format("{} indices", bounds.size()),
                                indices.size()),
                    fmt::format("it is {}[{}]", name, bounds_text(bounds)))};
  std::string text;
  for (std::size_t k = 0; k < indices.size(); ++k) {
    const Whole index = whole_number(indices[k]);
    if (!index.value)
      return {std::nullopt,
              problem(fmt::format("an index of {}: {}", mechanician::quoted(name), index.problem), index.hint)};
    if (*index.value < bounds[k].from || *index.value > bounds[k].to)
      return {std::nullopt,
              problem(fmt::format("{} has no member {}{}", mechanician::quoted(name), *index.value, bound_text()),
                      fmt::format("its bounds are {}..{}", bounds[k].from, bounds[k].to))};
    text += fmt::format("{}{}", k == 0 ? "" : ",", *index.value);
  }
  return {fmt::format("{}[{}]", name, text), {}};
}

std::optional<ParseProblem> NameTable::for_each(std::span<const IndexRange> ranges, const NameScope& scope,
                                                std::size_t cost, const std::function<bool()>& body) {
  bool going = true;
  const std::function<std::optional<ParseProblem>(std::size_t)> run =
      [&](std::size_t k) -> std::optional<ParseProblem> {
    if (k == ranges.size()) {
      going = body();
      return std::nullopt;
    }
    const IndexRange& range = ranges[k];
    if (bound_.size() >= deepest)
      return ParseProblem{range.offset, range.length, "indices are nested too deeply",
                          fmt::format("{} are possible", deepest)};
    if (is_reserved(range.name) || entry(range.name) || families_.contains(range.name))
      return ParseProblem{
          range.offset, range.length,
          fmt::format("{} cannot be an index: it stands for something else", mechanician::quoted(range.name)),
          "take another letter"};
    for (const auto& [other, value] : bound_)
      if (other == range.name)
        return ParseProblem{range.offset, range.length,
                            fmt::format("the index {} is in use already", mechanician::quoted(range.name)),
                            "take another letter"};
    long bounds[2];
    for (const bool upper : {false, true}) {
      const std::string_view text = upper ? range.to : range.from;
      const std::size_t offset = upper ? range.to_offset : range.from_offset;
      ParsedExpression parsed = parse_expression(text, scope);
      if (!parsed.problems.empty()) {
        parsed.problems.front().offset += offset;
        return parsed.problems.front();
      }
      const Whole whole = whole_number(*parsed.value);
      if (!whole.value)
        return ParseProblem{offset, text.size(),
                            fmt::format("a bound of {}: {}", mechanician::quoted(range.name), whole.problem),
                            whole.hint};
      bounds[upper] = *whole.value;
    }
    // i = 1..0 is nothing, as sums over nothing are.
    if (bounds[1] < bounds[0] - 1)
      return ParseProblem{range.from_offset,
                          range.to_offset + range.to.size() - range.from_offset,
                          fmt::format("the index {} runs backwards, from {} to {}{}", mechanician::quoted(range.name),
                                      bounds[0], bounds[1], bound_text()),
                          {}};
    for (long value = bounds[0]; value <= bounds[1] && going; ++value) {
      const Binding binding(*this, range.name, value);
      if ((work_ += work_of_an_index + (k + 1 == ranges.size() ? cost : 0)) > most_work)
        return ParseProblem{range.offset, range.length,
                            "the families of the model are too large to be written out member by member",
                            "larger ones are not supported yet"};
      if (auto p = run(k + 1)) return p;
    }
    return std::nullopt;
  };
  return run(0);
}

ParsedExpression NameTable::sum(std::span<const IndexRange> ranges, std::string_view body, std::size_t offset,
                                const NameScope& scope) {
  ParsedExpression result;
  std::optional<Expr> total;
  auto problem = for_each(ranges, scope, body.size(), [&] {
    ParsedExpression term = parse_expression(body, scope);
    for (ParseProblem& p : term.problems) {
      p.offset += offset;
      result.problems.push_back(std::move(p));
    }
    if (!result.problems.empty()) return false;
    total = total ? make_raw(Op::add, {*total, *term.value}) : *term.value;
    return true;
  });
  if (problem) result.problems.push_back(*std::move(problem));
  if (result.problems.empty()) result.value = total.value_or(Expr(0.0));
  return result;
}

NameScope NameTable::with_families(NameScope scope, NameScope (NameTable::*same)() const) const {
  scope.member = [this](std::string_view name, std::span<const Expr> indices) { return member(name, indices); };
  // What is summed is read in the scope that the sum stands in; indices are bound for so long only.
  scope.sum = [self = const_cast<NameTable*>(this), same](std::span<const IndexRange> ranges, std::string_view body,
                                                          std::size_t offset) {
    return self->sum(ranges, body, offset, (self->*same)());
  };
  return scope;
}

}  // namespace mechanician
