// Reads a model with its families as they are. See family_model.hpp.

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <map>
#include <unordered_map>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/differentiate.hpp"
#include "mechanician/expression/evaluate_operator.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/model/expression_fields.hpp"
#include "mechanician/model/family_model.hpp"
#include "mechanician/model/names.hpp"
#include "mechanician/model/parameters_internal.hpp"
#include "mechanician/model/read_model.hpp"
#include "mechanician/model/toml_source.hpp"

namespace mechanician {

long count_family_coordinates_of(std::string text, const std::string& file, const ParameterOverrides& overrides);

namespace {

constexpr auto in_quotes = [](std::string_view text) { return mechanician::quoted(text); };
constexpr KindSet of_the_state = kind_bit(SymbolKind::coordinate) | kind_bit(SymbolKind::velocity) | kind_bit(SymbolKind::acceleration);

bool same_symbol(const Expr& a, const Expr& b) { return a.symbol().kind == b.symbol().kind && a.symbol().name == b.symbol().name; }

class FamilyReader {
 public:
  FamilyReader(SourceText source, const ParameterOverrides& overrides)
      : text_(source.text), map_(text_), fields_(map_), overrides_(overrides) {
    model_.source = std::move(source);
  }

  FamilyModel read() {
    TomlDocument document = parse_toml(map_);
    root_ = std::move(document.root);
    fields_.problems = std::move(document.problems);
    for (const TomlMember& m : root_.members) {
      static const std::vector<std::string> known{"title", "coordinates", "parameters", "define", "dynamics", "constraints", "start", "run", "view"};
      if (std::find(known.begin(), known.end(), m.name) == known.end())
        fields_.report(m, fmt::format("[{}] is not supported in a model of this size yet", printable(m.name)));
    }
    if (const auto* title = root_.find("title"))
      if (const auto* text = fields_.string(*title, "`title`")) model_.title = *text;
    read_parameters();
    read_coordinates();
    read_definitions();
    if (const TomlValue* dynamics = section("dynamics")) {
      fields_.check_keys(*dynamics, {"kinetic", "potential", "force"}, "in [dynamics] of a model of this size");
      for (const TomlMember& m : dynamics->members) {
        if (m.name == "kinetic" || m.name == "potential") read_energy(m, m.name == "kinetic" ? TermKind::kinetic : TermKind::potential);
        if (m.name == "force") read_by_coordinate(m, TermKind::force);
      }
    }
    if (const TomlValue* constraints = section("constraints"))
      for (const TomlMember& m : constraints->members) read_constraint(m);
    if (const TomlValue* start = section("start")) {
      fields_.check_keys(*start, {"time", "position", "velocity"}, "in [start]");
      for (const TomlMember& m : start->members) {
        if (m.name == "position") read_by_coordinate(m, TermKind::position);
        if (m.name == "velocity") read_by_coordinate(m, TermKind::velocity);
        if (m.name == "time")
          if (const auto f = fields_.expression(m.value, scope({}), "`start.time`"); f && f->is_constant()) model_.start_time = f->value();
      }
    }
    if (const TomlValue* run = section("run")) {
      const auto number = [&](const char* key) -> std::optional<double> {
        const TomlMember* m = run->find(key);
        const auto f = m ? fields_.expression(m->value, scope({}), key) : std::nullopt;
        return f ? number_of(*f) : std::nullopt;
      };
      model_.run.to = number("to"), model_.run.every = number("every");
      if (const auto tolerance = number("tolerance")) model_.run.tolerance = *tolerance;
    }
    if (model_.coordinates.empty() && fields_.problems.empty()) fields_.report(0, 1, "the model has no coordinates");
    if (!fields_.problems.empty()) throw ModelError(std::move(fields_.problems), model_.source);
    return std::move(model_);
  }

  long count() {
    if (text_.find("..") == std::string::npos) return 0;
    TomlDocument document = parse_toml(map_);
    root_ = std::move(document.root);
    read_parameters();
    read_coordinates();
    return fields_.problems.empty() ? model_.num_coordinates() : 0;
  }

 private:
  // ---- names

  /// Terms that a sum stands for, behind a placeholder.
  struct Sum {
    Expr symbol;
    std::vector<Term> terms;
  };

  const TomlValue* section(const std::string& name) {
    const TomlMember* field = root_.find(name);
    return field ? fields_.table(*field, "[" + name + "]") : nullptr;
  }

  NameScope scope(const std::vector<TermIndex>& indices) {
    NameScope s;
    s.find = [this, indices](std::string_view name, int primes) -> std::optional<Expr> {
      if (name == "t" && primes == 0) return time_symbol();
      for (const TermIndex& i : indices)
        if (i.name == name && primes == 0) return i.symbol;
      const std::string key(name);
      if (const auto number = scalars_.find(key); number != scalars_.end() && primes == 0) return Expr(number->second);
      if (const auto found = mentioned_.find(key); found != mentioned_.end()) return primed(found->second, primes);
      if (const auto one = families_.find(key); one != families_.end() && model_.coordinates[one->second].bounds.empty()) {
        mention(key, {coordinate(key), static_cast<int>(one->second), {}});
        return primed(coordinate(key), primes);
      }
      if (const auto d = definitions_.find(key); d != definitions_.end() && primes == 0) {
        ParsedExpression f = parse_expression(d->second, scope(indices));
        return f.value;
      }
      return std::nullopt;
    };
    s.explain = [this](std::string_view name, int) -> ParseProblem {
      std::vector<std::string> known;
      for (const auto& [other, value] : scalars_) known.push_back(other);
      for (const auto& [other, value] : families_) known.push_back(other);
      const std::string near = nearest(name, known);
      return {0, 1, fmt::format("unknown name {}", in_quotes(name)), near.empty() ? "" : fmt::format("did you mean `{}`?", near)};
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
      if (family == families_.end() && numbers == arrays_.end()) return {std::nullopt, {0, 1, fmt::format("there is no family {}", in_quotes(name)), ""}};
      const auto& bounds = family != families_.end() ? model_.coordinates[family->second].bounds : model_.numbers[numbers->second].bounds;
      if (bounds.size() != at.size()) return {std::nullopt, {0, 1, fmt::format("{} has {} indices, not {}", in_quotes(name), bounds.size(), at.size()), ""}};
      if (family != families_.end())
        mention(symbol, {coordinate(symbol), static_cast<int>(family->second), std::move(at)});
      else
        mention(symbol, {parameter(symbol), static_cast<int>(numbers->second), std::move(at)});
      return {symbol, {}};
    };
    s.sum = [this, indices](std::span<const IndexRange> ranges, std::string_view body, std::size_t offset) -> ParsedExpression {
      std::vector<TermIndex> inside = indices;
      for (const IndexRange& range : ranges) {
        ParsedExpression from = parse_expression(range.from, scope(inside)), to = parse_expression(range.to, scope(inside));
        for (auto* bound : {&from, &to})
          if (!bound->problems.empty()) {
            bound->problems.front().offset += bound == &from ? range.from_offset : range.to_offset;
            return {std::nullopt, {bound->problems.front()}};
          }
        inside.push_back({range.name, parameter(range.name), simplify(*from.value), simplify(*to.value)});
      }
      ParsedExpression parsed = parse_expression(body, scope(inside));
      for (ParseProblem& p : parsed.problems) p.offset += offset;
      if (!parsed.problems.empty()) return {std::nullopt, std::move(parsed.problems)};
      const std::vector<TermIndex> own(inside.begin() + static_cast<std::ptrdiff_t>(indices.size()), inside.end());
      auto terms = split(*parsed.value);
      if (!terms) return {std::nullopt, {{offset, body.size(), "a sum may be multiplied by numbers and parameters only, in a model of this size", ""}}};
      for (Term& term : *terms) term.indices.insert(term.indices.begin(), own.begin(), own.end());
      const Expr symbol = parameter(fmt::format("sum #{}", sums_.size()));
      sums_.push_back({symbol, std::move(*terms)});
      return {symbol, {}};
    };
    return s;
  }
  static Expr primed(Expr x, int primes) {
    for (int k = 0; k < primes; ++k) x = derivative_symbol(x);
    return x;
  }
  void mention(const std::string& name, MemberSymbol member) {
    mentioned_.emplace(name, member.symbol);
    members_.emplace(name, std::move(member));
  }

  /// f = Σ (what sums stand for) + what is left; nothing where a sum stands in a product with something that moves.
  std::optional<std::vector<Term>> split(const Expr& f) {
    std::vector<Term> terms;
    std::vector<Replacement> none;
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

  /// The term with what it mentions, for good.
  void add(Term term) {
    for (const Expr& s : symbols_of(std::span(&term.body, 1))) {
      const auto kind = s.symbol().kind;
      const auto found = members_.find(s.symbol().name);
      if (found == members_.end()) continue;
      auto& list = kind == SymbolKind::parameter ? term.numbers : term.coordinates;
      if (std::none_of(list.begin(), list.end(), [&](const MemberSymbol& m) { return same_symbol(m.symbol, found->second.symbol); })) list.push_back(found->second);
    }
    model_.terms.push_back(std::move(term));
  }

  // ---- sections

  std::optional<double> number_of(const Expr& f) {
    const Expr simple = simplify(f);
    if (simple.kinds() != 0) return std::nullopt;
    return evaluate_constant(simple, ParameterIndex{}, std::vector<double>{}).value;
  }

  void read_parameters() {
    const TomlValue* table = section("parameters");
    if (!table) return;
    NameTable names;
    Model numbers;
    for (const TomlMember& m : table->members)
      if (m.value.type != TomlValue::Type::array) names.add(m.name, NameKind::parameter, parameter(m.name));
    for (const TomlMember& m : table->members) {
      if (m.value.type == TomlValue::Type::array)
        read_numbers(m);
      else if (const auto f = fields_.expression(m.value, names.parameter_scope(), in_quotes("parameters." + m.name)))
        numbers.add_parameter(m.name, *f, fields_.place_of(m.value));
    }
    const ParameterEvaluation values = try_evaluate_parameters(numbers, overrides_);
    for (const Problem& p : values.problems) fields_.problems.push_back(p);
    for (std::size_t i = 0; i < numbers.parameters.size(); ++i) {
      scalars_.emplace(numbers.parameters[i].name, values.values.values[i]);
      model_.parameter_names.push_back(numbers.parameters[i].name);
      model_.parameters.push_back(values.values.values[i]);
    }
  }

  void read_numbers(const TomlMember& field) {
    NumberFamily family;
    family.name = field.name;
    for (const TomlValue& item : field.value.items) {
      if (item.type != TomlValue::Type::number) {
        fields_.report(item, "a list of parameters has numbers only, in a model of this size");
        return;
      }
      family.values.push_back(item.number);
    }
    family.bounds = {{1, static_cast<long>(family.values.size())}};
    arrays_.emplace(field.name, model_.numbers.size());
    model_.numbers.push_back(std::move(family));
  }

  void read_coordinates() {
    const TomlMember* field = root_.find("coordinates");
    if (!field) return;
    for (const TomlValue& item : field->value.items) {
      CoordinateFamily family;
      family.place = fields_.place_of(item);
      family.first = model_.num_coordinates();
      const ParsedName name = parse_name(item.text);
      family.name = name.name;
      bool good = item.type == TomlValue::Type::string && name.problems.empty();
      for (const ParsedName::Piece& piece : name.indices) {
        const auto range = split_range(piece);
        long ends[2] = {0, -1};
        for (const bool upper : {false, true}) {
          const ParsedExpression f = parse_expression(range ? (upper ? range->second.text : range->first.text) : "x", scope({}));
          const auto value = f.value ? number_of(*f.value) : std::nullopt;
          good = good && value && *value == std::round(*value) && std::abs(*value) < 2e9;
          if (good) ends[upper] = static_cast<long>(*value);
        }
        good = good && ends[1] >= ends[0];
        family.bounds.push_back({ends[0], ends[1]});
        family.count *= family.bounds.back().count();
      }
      if (!good || families_.contains(family.name) || family.count > 100'000'000) {
        fields_.report(item, "this is no family of coordinates, or one that is given twice", "for example \"x[1..N]\"");
        continue;
      }
      families_.emplace(family.name, model_.coordinates.size());
      model_.coordinates.push_back(std::move(family));
    }
  }

  void read_definitions() {
    const TomlValue* table = section("define");
    if (!table) return;
    for (const TomlMember& m : table->members) {
      if (m.value.type != TomlValue::Type::string || m.name.find('[') != std::string::npos)
        fields_.report(m, "a definition is an expression without an index, in a model of this size");
      else
        definitions_.emplace(m.name, m.value.text);
    }
  }

  void read_energy(const TomlMember& m, TermKind kind) {
    const auto f = fields_.expression(m.value, scope({}), in_quotes(m.name));
    if (!f) return;
    auto terms = split(*f);
    if (!terms) {
      fields_.report(m.value, "a sum may be multiplied by numbers and parameters only, in a model of this size");
      return;
    }
    for (Term& term : *terms) {
      term.kind = kind;
      term.place = fields_.place_of(m.value);
      add(std::move(term));
    }
  }

  /// Indices of `for`, or none.
  std::optional<std::vector<TermIndex>> indices_of(const TomlValue& table) {
    std::vector<TermIndex> indices;
    const TomlMember* range = table.type == TomlValue::Type::table ? table.find("for") : nullptr;
    if (!range) return indices;
    const std::string* text = fields_.string(*range, "`for`");
    if (!text) return std::nullopt;
    const ParsedRanges parsed = parse_ranges(*text);
    if (!parsed.problems.empty()) {
      fields_.report(range->value, parsed.problems.front().message, parsed.problems.front().hint);
      return std::nullopt;
    }
    for (const IndexRange& r : parsed.ranges) {
      const ParsedExpression from = parse_expression(r.from, scope(indices)), to = parse_expression(r.to, scope(indices));
      if (!from.value || !to.value) {
        fields_.report(range->value, (from.value ? to : from).problems.front().message);
        return std::nullopt;
      }
      indices.push_back({r.name, parameter(r.name), simplify(*from.value), simplify(*to.value)});
    }
    return indices;
  }

  void read_constraint(const TomlMember& m) {
    const auto indices = indices_of(m.value);
    if (!indices) return;
    const TomlValue* text = &m.value;
    if (m.value.type == TomlValue::Type::table) {
      fields_.check_keys(m.value, {"for", "equation"}, "in a constraint of a model of this size");
      const TomlMember* equation = m.value.find("equation");
      if (!equation) return fields_.report(m, fmt::format("the constraint {} has no equation", in_quotes(m.name)));
      text = &equation->value;
    }
    const auto e = fields_.equation(*text, scope(*indices), in_quotes(m.name));
    if (!e) return;
    if (e->relation != Relation::equal) return fields_.report(*text, "one-sided constraints are not supported in a model of this size yet");
    Term term;
    term.kind = TermKind::constraint;
    term.name = m.name;
    term.indices = *indices;
    term.body = e->right.is_zero() ? e->left : e->left - e->right;
    term.text = text->text;
    term.place = fields_.place_of(*text);
    if (term.body.contains(SymbolKind::acceleration)) return fields_.report(*text, "constraints with accelerations are not supported in a model of this size yet");
    if (auto parts = split(term.body); !parts || parts->size() != 1 || !parts->front().indices.empty())
      return fields_.report(*text, "sums in constraints are not supported in a model of this size yet");
    add(std::move(term));
  }

  void read_by_coordinate(const TomlMember& field, TermKind kind) {
    const TomlValue* table = fields_.table(field, in_quotes(field.name));
    if (!table) return;
    for (const TomlMember& m : table->members) {
      const auto indices = indices_of(m.value);
      if (!indices) continue;
      const TomlMember* inner = m.value.type == TomlValue::Type::table ? m.value.find("value") : nullptr;
      const ParsedExpression target = parse_expression(m.name, scope(*indices));
      const auto member = target.value && target.value->is_symbol() ? members_.find(target.value->symbol().name) : members_.end();
      if (member == members_.end() || member->second.symbol.symbol().kind != SymbolKind::coordinate) {
        fields_.report(m, target.problems.empty() ? fmt::format("{} is no coordinate", in_quotes(m.name)) : target.problems.front().message);
        continue;
      }
      const auto f = fields_.expression(inner ? inner->value : m.value, scope(*indices), in_quotes(m.name));
      if (!f) continue;
      Term term;
      term.kind = kind;
      term.indices = *indices;
      term.body = simplify(*f);
      term.target = member->second;
      term.place = fields_.place_of(m.value);
      add(std::move(term));
    }
  }

  FamilyModel model_;
  std::string text_;
  SourceMap map_;
  FieldReader fields_;
  const ParameterOverrides overrides_;
  TomlValue root_;
  std::unordered_map<std::string, double> scalars_;
  std::unordered_map<std::string, std::size_t> families_, arrays_;
  std::unordered_map<std::string, std::string> definitions_;
  std::unordered_map<std::string, Expr> mentioned_;
  std::map<std::string, MemberSymbol> members_;
  std::vector<Sum> sums_;
};

}  // namespace

std::string FamilyModel::name_of(long number) const {
  for (const CoordinateFamily& family : coordinates) {
    if (number >= family.first + family.count) continue;
    if (family.bounds.empty()) return family.name;
    long rest = number - family.first;
    std::string text;
    for (auto b = family.bounds.rbegin(); b != family.bounds.rend(); ++b) {
      text = fmt::format("{}{}{}", b->from + rest % b->count(), text.empty() ? "" : ",", text);
      rest /= b->count();
    }
    return fmt::format("{}[{}]", family.name, text);
  }
  return "";
}

long FamilyModel::find(std::string_view name) const {
  const ParsedName parsed = parse_name(name);
  if (!parsed.problems.empty()) return -1;
  for (const CoordinateFamily& family : coordinates) {
    if (family.name != parsed.name || family.bounds.size() != parsed.indices.size()) continue;
    long number = 0;
    for (std::size_t k = 0; k < family.bounds.size(); ++k) {
      long index = 0;
      const std::string_view text = parsed.indices[k].text;
      const auto read = std::from_chars(text.data(), text.data() + text.size(), index);
      if (read.ec != std::errc() || read.ptr != text.data() + text.size() || index < family.bounds[k].from || index > family.bounds[k].to) return -1;
      number = number * family.bounds[k].count() + index - family.bounds[k].from;
    }
    return family.first + number;
  }
  return -1;
}

long count_family_coordinates_of(std::string text, const std::string& file, const ParameterOverrides& overrides) {
  return FamilyReader({file, std::move(text)}, overrides).count();
}

FamilyModel read_family_model_text(std::string_view text, std::string file_name, const ParameterOverrides& overrides) {
  return FamilyReader({printable(file_name, 400), std::string(text)}, overrides).read();
}

}  // namespace mechanician
