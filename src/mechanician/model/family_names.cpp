// Names with an index: what they stand for, sums, and definitions put in. See names.hpp.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/family_name.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/expression/rewrite.hpp"
#include "mechanician/model/index_values.hpp"
#include "mechanician/model/names.hpp"
#include "mechanician/model/source_map.hpp"

namespace mechanician {

namespace {

constexpr std::size_t most_indices = 12;  ///< around each other
constexpr int most_sums = 100;            ///< within each other, by definitions

ParseProblem problem(std::string message, std::string hint = {}) { return {0, 1, std::move(message), std::move(hint)}; }

std::vector<Expr> symbols_in(std::span<const TermIndex> indices) {
  std::vector<Expr> symbols;
  for (const TermIndex& index : indices) symbols.push_back(index.symbol);
  return symbols;
}

/// At most 20 ones and minus ones need no brackets: i - 1, 2*i + j.
Expr affine_text(const Affine& f, std::span<const Expr> symbols) {
  std::optional<Expr> sum;
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const double a = f.factors[i];
    if (a == 0.0) continue;
    const Expr part = std::abs(a) == 1.0 ? symbols[i] : Expr(std::abs(a)) * symbols[i];
    sum = !sum ? a < 0.0 ? -part : part : a < 0.0 ? *sum - part : *sum + part;
  }
  if (!sum) return f.constant;
  return f.constant == 0.0 ? *sum : f.constant < 0.0 ? *sum - Expr(-f.constant) : *sum + Expr(f.constant);
}

}  // namespace

// ---- indices

void NameTable::begin(std::vector<TermIndex> indices) {
  domain_ = std::make_shared<const std::vector<TermIndex>>(std::move(indices));
  base_ = 0;
  mentions_.clear(), mentioned_.clear();
}

Expr NameTable::canonical(const Expr& f) const {
  const std::vector<Expr> symbols = symbols_in(*domain_);
  const auto affine = affine_of(f, symbols);
  return affine ? affine_text(*affine, symbols) : f;
}

NameTable::Known NameTable::known(const Expr& f) const {
  constexpr auto problem = "this must be known when the model is read",
                 hint = "it is made of numbers, parameters and indices";
  if ((model_.kinds_of(f) & ~kind_bit(SymbolKind::parameter)) != 0) return {std::nullopt, problem, hint};
  if (!parameter_value || f.is_constant()) return {canonical(f)};
  std::vector<Replacement> numbers;
  for (const Expr& s : symbols_of(std::span(&f, 1))) {
    const Entry* e = entry(s.symbol().name);
    if (!e || !is_number(e->kind)) continue;  // an index, a member of a list, a sum
    if (const auto number = model_.parameter_numbers.find(s.symbol().name);
        number != model_.parameter_numbers.end() && model_.scalars[number->second].is_mode)
      return {std::nullopt,
              fmt::format("{}, and {} is a mode, which events change", problem, mechanician::quoted(s.symbol().name)),
              hint};
    const auto value = parameter_value(s.symbol().name);
    if (!value) return {std::nullopt, is_excused(s.symbol().name) ? "" : problem, hint};
    numbers.push_back({s, *value});
  }
  return {canonical(substitute(f, numbers))};
}

std::optional<ParseProblem> NameTable::add_index(const IndexRange& range, Words words) {
  const auto wrong = [&](std::size_t offset, std::size_t length, std::string message, std::string hint) {
    return ParseProblem{offset, length, std::move(message), std::move(hint)};
  };
  if (domain_->size() >= most_indices)
    return wrong(range.offset, range.length, "indices are nested too deeply",
                 fmt::format("{} are possible", most_indices));
  if (is_reserved(range.name) || entry(range.name) || families_.contains(range.name))
    return wrong(range.offset, range.length,
                 fmt::format("{} cannot be an index: it stands for something else", mechanician::quoted(range.name)),
                 "take another letter");
  if (std::any_of(domain_->begin(), domain_->end(), [&](const TermIndex& i) { return i.name == range.name; }))
    return wrong(range.offset, range.length,
                 fmt::format("the index {} is in use already", mechanician::quoted(range.name)), "take another letter");
  const std::string symbol = definitions ? fmt::format("{}#{}", range.name, ++fresh_) : range.name;
  TermIndex index{range.name, parameter(symbol), 0.0, 0.0, place_of(base_ + range.offset, range.length)};
  for (const bool upper : {false, true}) {
    const std::string_view text = upper ? range.to : range.from;
    const std::size_t offset = upper ? range.to_offset : range.from_offset;
    base_ += offset;
    ParsedExpression parsed = parse_expression(text, scope(words));
    base_ -= offset;
    if (!parsed.problems.empty()) {
      parsed.problems.front().offset += offset;
      return parsed.problems.front();
    }
    const Known bound = known(*parsed.value);
    if (!bound.value)
      return wrong(
          offset, text.size(),
          bound.problem.empty() ? "" : fmt::format("a bound of {}: {}", mechanician::quoted(range.name), bound.problem),
          bound.hint);
    (upper ? index.to : index.from) = *bound.value;
    (upper ? index.to_place : index.from_place) = place_of(base_ + offset, text.size());
  }
  std::vector<TermIndex> inside = *domain_;
  inside.push_back(std::move(index));
  domain_ = std::make_shared<const std::vector<TermIndex>>(std::move(inside));
  return std::nullopt;
}

ParsedExpression NameTable::sum(std::span<const IndexRange> ranges, std::string_view body, std::size_t offset,
                                Words words) {
  const auto around = domain_;
  const auto leave = [&](ParsedExpression result) {
    domain_ = around;
    return result;
  };
  for (const IndexRange& range : ranges)
    if (auto wrong = add_index(range, words)) return leave({std::nullopt, {std::move(*wrong)}});
  if (!check_indices()) return leave({std::nullopt, {ParseProblem{}}});
  base_ += offset;
  ParsedExpression parsed = parse_expression(body, scope(words));
  base_ -= offset;
  for (ParseProblem& p : parsed.problems) p.offset += offset;
  if (!parsed.value) return leave(std::move(parsed));
  const Expr symbol =
      add_sum({domain_->begin() + static_cast<std::ptrdiff_t>(around->size()), domain_->end()}, *parsed.value);
  if (model_.sum_of(symbol)->depth > most_sums)
    return leave({std::nullopt,
                  {{ranges.front().offset, ranges.front().length, "indices are nested too deeply",
                    "sums of definitions that are sums of definitions"}}});
  return leave({symbol, {}});
}

Expr NameTable::add_sum(std::vector<TermIndex> own, const Expr& body) {
  QuantitySum sum;
  sum.symbol = parameter(fmt::format("sum #{}", model_.sums.size()));
  sum.kinds = model_.kinds_of(body);
  std::vector<Expr> all{body};
  for (const TermIndex& index : own) all.push_back(index.from), all.push_back(index.to);
  for (const Expr& s : symbols_of(all))
    if (const QuantitySum* inner = model_.sum_of(s)) sum.depth = std::max(sum.depth, 1 + inner->depth);
  for (const Expr& f : all)
    for (const Expr& index : model_.indices_in(f))
      if (std::none_of(own.begin(), own.end(), [&](const TermIndex& i) { return same(i.symbol, index); }))
        sum.around.push_back(index);
  Term term;
  term.kind = TermKind::quantity;
  term.indices = std::move(own);
  term.body = body;
  term.of_sum = true;
  sum.terms.push_back(std::move(term));
  const Expr symbol = sum.symbol;
  model_.sums.emplace(symbol.symbol().name, std::move(sum));
  return symbol;
}

// ---- members

NameTable::Family* NameTable::find_family(const std::string& name) {
  const auto found = families_.find(name);
  return found == families_.end() ? nullptr : &found->second;
}

MemberName NameTable::no_family(std::string_view name) const {
  if (is_excused(name) || is_constraint_excused(name)) return {std::nullopt, problem({})};
  if (const Entry* e = entry(name))
    return {std::nullopt,
            problem(fmt::format("{} is one {} and has no index", mechanician::quoted(name), in_words(e->kind)))};
  std::vector<std::string> others;
  for (const auto& [other, family] : families_) others.push_back(other);
  const std::string near = wants_hints() ? nearest(name, others) : std::string();
  return {std::nullopt,
          problem(fmt::format("there is no family {}", mechanician::quoted(name)),
                  near.empty()
                      ? fmt::format("families are declared with their bounds, as in coordinates = [\"{}[1..N]\"]", name)
                      : fmt::format("did you mean `{}`?", near))};
}

MemberName NameTable::member(std::string_view name, std::span<const Expr> given, std::size_t offset, std::size_t length,
                             Words words) {
  const std::string key(name);
  const auto found = families_.find(key), row = rows_.find(key);
  // r[1] of a vector is r.x.
  if (const std::vector<Expr>* parts = found == families_.end() ? components(key) : nullptr) {
    const Known index = given.size() == 1 ? known(given.front()) : Known{};
    const double number = index.value && index.value->is_constant() ? index.value->value() : 0.0;
    if (number >= 1.0 && number <= static_cast<double>(parts->size()) && number == std::round(number))
      return {key + "." + "xyz" [static_cast<std::size_t>(number) - 1], {}};
    return {std::nullopt,
            problem(fmt::format("{} has the components 1 to {}", mechanician::quoted(name), parts->size()),
                    "they are numbers here, or x, y and z as in r.x")};
  }
  if (found == families_.end() && row == rows_.end()) {
    // A constraint by itself whose name has an index, as those that stand for bodies and contacts.
    std::string whole;
    for (const Expr& index : given)
      if (const Known number = known(index); number.value) whole += (whole.empty() ? "" : ",") + to_text(*number.value);
    whole = fmt::format("{}[{}]", name, whole);
    bool like = false;
    for (const RowNames& rows : rows_of_) {
      if (rows.set.contains(whole)) return {whole, {}};
      like |= std::any_of(rows.list.begin(), rows.list.end(), [&](const std::string& c) {
        return c.starts_with(key) && c.size() > key.size() && c[key.size()] == '[' && c.ends_with(']');
      });
    }
    if (like)
      return {std::nullopt, problem(fmt::format("there is no constraint {}", mechanician::quoted(whole)),
                                    fmt::format("{} has members with other indices", mechanician::quoted(key)))};
    return no_family(name);
  }
  const Family& family = found != families_.end() ? found->second : row->second;
  if (!family.bounds.empty() && family.bounds.size() != given.size())
    return {
        std::nullopt,
        problem(fmt::format("{} has {}, not {}", mechanician::quoted(name),
                            family.bounds.size() == 1 ? "one index" : fmt::format("{} indices", family.bounds.size()),
                            given.size()),
                fmt::format("it is {}[{}]", name, text_of(family.bounds)))};
  std::vector<Expr> at;
  std::string shown;
  for (const Expr& index : given) {
    const Known whole = known(index);
    if (!whole.value)
      return {std::nullopt, problem(whole.problem.empty()
                                        ? ""
                                        : fmt::format("an index of {}: {}", mechanician::quoted(name), whole.problem),
                                    whole.hint)};
    at.push_back(*whole.value);
    shown += (shown.empty() ? "" : ",") + to_text(at.back());
  }
  const std::string symbol = fmt::format("{}[{}]", name, shown);
  if (family.bounds.empty()) return {symbol, {}};  // has a mistake, or is no parameter: said where it is looked up
  if (is_moving(family.kind))
    model_.members.emplace(symbol, MemberSymbol{coordinate(symbol), family.number, at});
  else if (is_number(family.kind))
    model_.members.emplace(symbol, MemberSymbol{parameter(symbol), family.number, at});
  else if (family.kind == NameKind::definition && words != Words::parameters && !instances_.contains(symbol))
    instances_.emplace(symbol, family.values.empty() ? std::nullopt : std::optional(instance(family, at).front()));
  else if (family.kind == NameKind::vector && words != Words::parameters && !vectors_.contains(symbol))
    vectors_.emplace(symbol, family.values.empty() ? std::vector<Expr>{} : instance(family, at));
  if (row != rows_.end())
    model_.rows.emplace(symbol, MemberSymbol{make_symbol(SymbolKind::multiplier, symbol), row->second.number, at});
  Mention mention{key, at, family.bounds, {}, {}, {}, offset, length};
  if (!family.indices.empty()) {
    mention.whole = indices_of_member(family, at);
    std::vector<Replacement> by;
    std::vector<Expr> ends;
    for (std::size_t k = 0; k < family.indices.size(); ++k) {
      by.push_back({family.indices[k].symbol, mention.whole[k]});
      ends.push_back(family.indices[k].from), ends.push_back(family.indices[k].to);
    }
    ends = rewrite(ends, by);
    for (std::size_t k = 0; k < mention.whole.size(); ++k) {
      mention.least_zero.push_back(mention.whole[k] - ends[2 * k]);
      mention.least_zero.push_back(ends[2 * k + 1] - mention.whole[k]);
    }
  }
  if (mentioned_.insert(fmt::format("{} {}", symbol, static_cast<const void*>(domain_.get()))).second)
    note(std::move(mention));
  return {symbol, {}};
}

void NameTable::note(Mention mention) {
  mention.domain = domain_;
  mention.offset += base_;
  mentions_.push_back(std::move(mention));
}

void NameTable::mention_label(std::string_view name, std::span<const Expr> indices) {
  note({std::string(name), {indices.begin(), indices.end()}, {}, {}, {}});
}

void NameTable::mention_key(const std::string& name, const Family& family, std::span<const Expr> indices,
                            std::string_view said) {
  note({name, {indices.begin(), indices.end()}, family.bounds, {}, {}, std::string(said)});
}

// ---- definitions

bool NameTable::finish_family(Family& family, std::span<const Expr> label) const {
  const std::vector<Expr> symbols = symbols_in(family.indices);
  family.inverse.assign(symbols.size(), {label.size(), 0.0, 0.0});
  for (std::size_t k = 0; k < label.size(); ++k) {
    const auto affine = affine_of(label[k], symbols);
    if (!affine || std::count_if(affine->factors.begin(), affine->factors.end(), [](double a) { return a != 0.0; }) > 1)
      return false;
    for (std::size_t i = 0; i < symbols.size(); ++i)
      if (affine->factors[i] != 0.0 && family.inverse[i].piece == label.size())
        family.inverse[i] = {k, affine->factors[i], affine->constant};
  }
  if (std::any_of(family.inverse.begin(), family.inverse.end(),
                  [&](const Family::Inverse& i) { return i.piece == label.size(); }))
    return false;
  IndexWalk walk(model_, family.indices);
  IndexValues values(model_, {label.begin(), label.end()}, walk.symbols());
  std::vector<IndexBounds> bounds(label.size(), IndexBounds{1, 0});
  const auto box = walk.box();
  bool any = false;
  const auto add = [&](std::size_t k, double low, double high) {
    const IndexBounds b{static_cast<long>(low), static_cast<long>(high)};
    bounds[k] = any ? IndexBounds{std::min(bounds[k].from, b.from), std::max(bounds[k].to, b.to)} : b;
  };
  if (box) {
    for (std::size_t k = 0; k < label.size(); ++k)
      if (const auto range = values.range(k, *box)) add(k, range->first, range->second);
  } else {
    walk.each({}, [&](std::span<const double> at) {
      const std::span<const double> found = values(at);
      for (std::size_t k = 0; k < found.size(); ++k) add(k, found[k], found[k]);
      return any = true;
    });
  }
  family.bounds = std::move(bounds);
  return true;
}

/// What the indices of a definition are where its member at these indices is meant.
std::vector<Expr> NameTable::indices_of_member(const Family& family, std::span<const Expr> at) const {
  std::vector<Expr> result;
  for (const Family::Inverse& inverse : family.inverse) {
    const Expr shifted = inverse.shift == 0.0 ? at[inverse.piece] : at[inverse.piece] - Expr(inverse.shift);
    result.push_back(canonical(std::abs(inverse.factor) == 1.0 ? shifted * Expr(inverse.factor)
                                                               : simplify(shifted / Expr(inverse.factor))));
  }
  return result;
}

std::vector<Expr> NameTable::instance(const Family& family, std::span<const Expr> at) {
  const std::vector<Expr> own = indices_of_member(family, at);
  std::vector<Replacement> by;
  for (std::size_t k = 0; k < own.size(); ++k) by.push_back({family.indices[k].symbol, own[k]});
  return rewrite(family.values, by);
}

std::vector<Expr> NameTable::rewrite(std::span<const Expr> fs, std::span<const Replacement> by) {
  std::vector<Expr> symbols, values;
  const auto put = [&](const Expr& symbol, Expr value) {
    if (same(symbol, value)) return;
    symbols.push_back(symbol), values.push_back(std::move(value));
  };
  for (const Expr& s : symbols_of(fs)) {
    const auto own = std::find_if(by.begin(), by.end(), [&](const Replacement& r) { return same(r.symbol, s); });
    if (own != by.end()) {
      put(s, own->by);
    } else if (const QuantitySum* sum = model_.sum_of(s)) {
      put(s, rewrite_sum(*sum, by));
    } else if (const MemberSymbol* member = model_.member_of(s); member && !member->indices.empty()) {
      const MemberSymbol before = *member;
      MemberSymbol after = before;
      std::string shown;
      for (Expr& index : after.indices) {
        index = canonical(simplify(rewrite(std::span(&index, 1), by).front()));
        shown += (shown.empty() ? "" : ",") + to_text(index);
      }
      const std::string& old = before.symbol.symbol().name;
      const std::string name = fmt::format("{}[{}]", family_of(old), shown);
      after.symbol = make_symbol(before.symbol.symbol().kind, name);
      const bool of_row = (kind_bit(s.symbol().kind) & forces_of_rows) != 0;
      (of_row ? model_.rows : model_.members).emplace(name, std::move(after));
      put(s, s.symbol().kind == SymbolKind::velocity       ? derivative_symbol(coordinate(name))
             : s.symbol().kind == SymbolKind::acceleration ? derivative_symbol(derivative_symbol(coordinate(name)))
                                                           : make_symbol(s.symbol().kind, name));
    }
  }
  if (symbols.empty()) return {fs.begin(), fs.end()};
  Rewriter rewriter(fs, symbols);
  const std::span<const Expr> made = rewriter(values);
  return {made.begin(), made.end()};
}

Expr NameTable::rewrite_sum(const QuantitySum& sum, std::span<const Replacement> by) {
  const Term term = sum.terms.front();  // the table of sums grows meanwhile
  const Expr symbol = sum.symbol;
  std::vector<TermIndex> own = term.indices;
  bool changed = false;
  for (TermIndex& index : own) {
    const std::vector<Expr> ends{index.from, index.to}, made = rewrite(ends, by);
    changed |= !same(made[0], index.from) || !same(made[1], index.to);
    index.from = canonical(simplify(made[0])), index.to = canonical(simplify(made[1]));
  }
  const auto domain = domain_;  // canonical() has to know the indices of the sum
  std::vector<TermIndex> all = *domain_;
  all.insert(all.end(), own.begin(), own.end());
  domain_ = std::make_shared<const std::vector<TermIndex>>(std::move(all));
  const Expr body = rewrite(std::span(&term.body, 1), by).front();
  domain_ = domain;
  if (!changed && same(body, term.body)) return symbol;
  return add_sum(std::move(own), body);
}

}  // namespace mechanician
