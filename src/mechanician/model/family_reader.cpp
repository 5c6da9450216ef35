// Reads a model with its families as they are. See family_model.hpp.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/model/family_checks.hpp"
#include "mechanician/model/family_model.hpp"
#include "mechanician/model/family_scope_internal.hpp"
#include "mechanician/model/number_fields_internal.hpp"
#include "mechanician/model/read_model.hpp"
#include "mechanician/model/toml_source.hpp"

namespace mechanician {

long count_family_coordinates_of(std::string text, const std::string& file, const ParameterOverrides& overrides);

namespace {

constexpr auto in_quotes = [](std::string_view text) { return mechanician::quoted(text); };
constexpr std::size_t most_numbers = 100'000'000;  ///< of a list
constexpr auto what_a_name_is = "a name is a letter or _, then letters, digits and _";
class FamilyReader : private FamilyNames {
 public:
  FamilyReader(SourceText source, const ParameterOverrides& overrides)
      : text_(source.text), map_(text_), fields_(map_), overrides_(overrides) {
    model_.source = std::move(source);
  }

  FamilyModel read() {
    TomlDocument document = parse_toml(map_);
    root_ = std::move(document.root);
    fields_.problems = std::move(document.problems);
    fields_.check_keys(root_,
                       {"title", "coordinates", "parameters", "define", "dynamics", "constraints", "nonideal", "start",
                        "run", "outputs", "measured", "control", "unknown", "events", "view"},
                       "at the top of the file");
    for (const char* name : {"nonideal", "measured", "control", "unknown"})
      if (const TomlMember* m = root_.find(name))
        fields_.report(*m, fmt::format("[{}] is not supported in a model of this size yet", name));
    if (const auto* title = root_.find("title"))
      if (const auto* text = fields_.string(*title, "`title`")) model_.title = *text;
    read_parameters();
    read_coordinates();
    read_definitions();
    if (const TomlValue* dynamics = section("dynamics")) {
      fields_.check_keys(*dynamics, {"kinetic", "potential", "force"}, "in [dynamics] of a model of this size");
      if (!dynamics->find("kinetic") && !dynamics->find("mass") && fields_.problems.empty())
        fields_.report(*root_.find("dynamics"), "[dynamics] has no `kinetic`",
                       "for example kinetic = \"sum(i = 1..N, m/2*x[i]'^2)\"");
      for (const TomlMember& m : dynamics->members) {
        if (m.name == "kinetic" || m.name == "potential")
          read_energy(m, m.name == "kinetic" ? TermKind::kinetic : TermKind::potential);
        if (m.name == "force") read_by_coordinate(m, TermKind::force);
      }
    } else if (!root_.find("dynamics")) {
      fields_.report(0, 1, "the model has no [dynamics]",
                     "it needs a section [dynamics] with kinetic = \"sum(i = 1..N, m/2*x[i]'^2)\"");
    }
    if (const TomlValue* constraints = section("constraints"))
      for (const TomlMember& m : constraints->members) read_constraint(m);
    if (const TomlValue* start = section("start")) {
      fields_.check_keys(*start, {"time", "position", "velocity"}, "in [start]");
      for (const TomlMember& m : start->members) {
        if (m.name == "position") read_by_coordinate(m, TermKind::position);
        if (m.name == "velocity") read_by_coordinate(m, TermKind::velocity);
        if (m.name == "time")
          if (const auto f = fields_.expression(m.value, scope({}), "`start.time`")) {
            if (const auto time = number_of(*f); time && std::isfinite(*time))
              model_.start_time = *time;
            else
              fields_.report(m.value, time ? "`start.time` is not finite" : "`start.time` must be a number",
                             "a start value is made of numbers and parameters");
          }
      }
    }
    read_run();
    if (const TomlValue* outputs = section("outputs"))
      for (const TomlMember& m : outputs->members) read_output(m);
    if (const TomlValue* events = section("events"))
      for (const TomlMember& m : events->members) read_event(m);
    if (model_.coordinates.empty() && fields_.problems.empty()) fields_.report(0, 1, "the model has no coordinates");
    for (Problem& p : check_family_model(model_))
      if (!fields_.is_full()) fields_.problems.push_back(std::move(p));
    if (!fields_.problems.empty()) throw ModelError(std::move(fields_.problems), model_.source);
    return std::move(model_);
  }

  long count() {
    if (text_.find("..") == std::string::npos) return 0;
    TomlDocument document = parse_toml(map_);
    root_ = std::move(document.root);
    only_sizes_ = true;
    read_parameters();
    read_coordinates();
    return fields_.problems.empty() ? model_.num_coordinates() : 0;
  }

 private:
  const TomlValue* section(const std::string& name) {
    const TomlMember* field = root_.find(name);
    return field ? fields_.table(*field, "[" + name + "]") : nullptr;
  }

  void add(Term term) {
    complete(term);
    model_.terms.push_back(std::move(term));
  }

  void read_parameters() {
    const TomlValue* table = section("parameters");
    if (!table) return;
    for (const TomlMember& m : table->members)
      if (!is_name(m.name) || is_reserved(m.name))
        fields_.report(m, fmt::format("{} cannot be the name of a parameter", in_quotes(m.name)),
                       is_name(m.name) ? "it is part of the language" : what_a_name_is);
    declare_lists(*table);
    const auto [numbers, found] = read_scalars(*table, sizes_, fields_, overrides_);
    for (const Problem& p : found.problems) fields_.problems.push_back(p);
    for (std::size_t i = 0; i < numbers.parameters.size(); ++i) {
      scalars_.emplace(numbers.parameters[i].name, found.values.values[i]);
      model_.parameter_names.push_back(numbers.parameters[i].name);
      model_.parameters.push_back(found.values.values[i]);
    }
    sizes_.parameter_value = [this](const std::string& name) -> std::optional<double> {
      const auto scalar = scalars_.find(name);
      return scalar == scalars_.end() ? std::nullopt : std::optional(scalar->second);
    };
    if (only_sizes_) return;
    for (const TomlMember& m : table->members)
      if (m.value.type == TomlValue::Type::array || m.value.type == TomlValue::Type::table) read_numbers(m);
    for (const auto& [name, value] : overrides_)
      if (!scalars_.contains(name) && !set_member(name, value)) model_.unknown_overrides.push_back(name);
  }

  /// Parameters that are made of members of lists: those of lists of numbers are known before all others.
  void declare_lists(const TomlValue& table) {
    const bool used = std::any_of(table.members.begin(), table.members.end(), [](const TomlMember& m) {
      return m.value.type == TomlValue::Type::string && m.value.text.find('[') != std::string::npos;
    });
    if (!used) return;
    FieldReader silent(map_);  // what is wrong is said where the list is read
    for (const TomlMember& m : table.members) {
      if (m.value.type != TomlValue::Type::array && m.value.type != TomlValue::Type::table) continue;
      const auto list = read_list(m, silent, model_.source.file, most_numbers);
      if (!list || std::any_of(list->items.begin(), list->items.end(),
                               [](const TomlValue* x) { return x->type != TomlValue::Type::number; }))
        continue;
      std::vector<double> values = list->numbers;
      for (const TomlValue* item : list->items) values.push_back(item->number);
      const auto columns = static_cast<long>(list->columns), size = static_cast<long>(values.size());
      std::vector<NameTable::Bounds> bounds{{1, columns > 0 ? size / columns : size}};
      if (columns > 0) bounds.push_back({1, columns});
      sizes_.add_family(m.name, bounds);
      for (long k = 0; k < size; ++k) {
        const std::string name = columns > 0 ? fmt::format("{}[{},{}]", m.name, k / columns + 1, k % columns + 1)
                                             : fmt::format("{}[{}]", m.name, k + 1);
        const auto set = overrides_.find(name);
        sizes_.add(name, NameKind::parameter,
                   Expr(set == overrides_.end() ? values[static_cast<std::size_t>(k)] : set->second));
      }
    }
  }

  /// m[3] of a list.
  bool set_member(const std::string& name, double value) {
    const ParsedName parsed = parse_name(name);
    const auto list = arrays_.find(std::string(parsed.name));
    return parsed.problems.empty() && list != arrays_.end() && set_number(model_.numbers[list->second], parsed, value);
  }

  /// A list, a list of lists, or a column of a CSV file.
  void read_numbers(const TomlMember& field) {
    unreadable_.insert(field.name);
    auto list = read_list(field, fields_, model_.source.file, most_numbers);
    if (!list) return;
    NumberFamily family;
    family.name = field.name;
    family.values = std::move(list->numbers);
    for (const TomlValue* item : list->items) {
      const std::size_t k = family.values.size();
      const std::string name = list->columns > 0
                                   ? fmt::format("{}[{},{}]", field.name, k / list->columns + 1, k % list->columns + 1)
                                   : fmt::format("{}[{}]", field.name, k + 1);
      const auto f = fields_.expression(*item, scope({}), in_quotes("parameters." + name));
      const auto value = f ? number_of(*f) : std::nullopt;
      if (f && !value) fields_.report(*item, "a list of parameters is made of numbers and parameters");
      if (value && !std::isfinite(*value))
        fields_.report(*item, fmt::format("the parameter {} is not finite", in_quotes(name)));
      if (!value || !std::isfinite(*value)) return;
      family.values.push_back(*value);
    }
    unreadable_.erase(field.name);
    const std::size_t columns = std::max<std::size_t>(1, list->columns);
    family.bounds = {{1, static_cast<long>(family.values.size() / columns)}};
    if (list->columns > 0) family.bounds.push_back({1, static_cast<long>(columns)});
    arrays_.emplace(field.name, model_.numbers.size());
    model_.numbers.push_back(std::move(family));
  }

  void read_coordinates() {
    const TomlMember* field = root_.find("coordinates");
    if (!field) return;
    for (const TomlValue& item : field->value.items) {
      const CoordinateBounds read = read_coordinate_bounds(item.text, sizes_);
      const bool single = read.bounds.empty(), reserved = single && is_reserved(read.name);
      if (item.type == TomlValue::Type::string && !read.problem &&
          (reserved || (single ? scalars_.contains(read.name) : arrays_.contains(read.name)))) {
        fields_.report(
            item,
            reserved ? fmt::format("{} cannot be the name of a coordinate", in_quotes(read.name))
                     : fmt::format("{} stands for two things: a coordinate and a parameter", in_quotes(read.name)),
            reserved ? fmt::format("{} is part of the language", read.name) : "");
        continue;
      }
      if (item.type != TomlValue::Type::string || read.problem || families_.contains(read.name) || read.count > 1e8) {
        fields_.report(item, "this is no family of coordinates, or one that is given twice", "for example \"x[1..N]\"");
        continue;
      }
      CoordinateFamily family;
      family.place = fields_.place_of(item);
      family.first = model_.num_coordinates();
      family.name = read.name;
      family.count = static_cast<long>(read.count);
      for (const auto& [from, to] : read.bounds) family.bounds.push_back({from, to});
      families_.emplace(family.name, model_.coordinates.size());
      model_.coordinates.push_back(std::move(family));
    }
  }

  void read_definitions() {
    const TomlValue* table = section("define");
    if (!table) return;
    for (const TomlMember& m : table->members) {
      Definition definition;
      std::string name = m.name;
      unreadable_.insert(std::string(parse_name(m.name).name));
      const TomlValue* value = &m.value;
      if (m.name.find('[') != std::string::npos) {
        const ParsedName parsed = parse_name(m.name);
        const auto ranges = indices_of(m.value);
        const TomlMember* inner = m.value.type == TomlValue::Type::table ? m.value.find("value") : nullptr;
        if (!ranges) continue;
        if (m.value.type == TomlValue::Type::table)
          fields_.check_keys(m.value, {"for", "value"}, fmt::format("in {}", in_quotes("define." + m.name)));
        if (!parsed.problems.empty() || !inner || parsed.indices.size() != ranges->size() || ranges->empty()) {
          fields_.report(m, fmt::format("the definition {} does not say what its index runs over", in_quotes(m.name)),
                         fmt::format("write \"{}\" = {{ for = \"i = 1..N\", value = \"...\" }}", printable(m.name)));
          continue;
        }
        name = std::string(parsed.name), value = &inner->value;
        bool plain = true;
        for (std::size_t k = 0; k < ranges->size(); ++k) {
          const TermIndex& index = (*ranges)[k];
          plain &= parsed.indices[k].text == index.name;
          definition.indices.push_back(index.name);
          const auto from = number_of(index.from), to = number_of(index.to);
          if (from && to && definition.bounds.size() == k)
            definition.bounds.push_back({static_cast<long>(*from), static_cast<long>(*to)});
        }
        if (definition.bounds.size() != ranges->size()) definition.bounds.clear();
        if (!plain) {
          fields_.report(m,
                         "the indices of a definition are those of its `for`, in their order, in a model of this size");
          continue;
        }
      }
      const bool single = definition.indices.empty(),
                 coordinate =
                     families_.contains(name) && model_.coordinates[families_.at(name)].bounds.empty() == single;
      if (!is_name(name) || (single && is_reserved(name))) {
        fields_.report(m, fmt::format("{} cannot be the name of a defined name", in_quotes(name)),
                       is_name(name) ? "it is part of the language" : what_a_name_is);
        continue;
      }
      if (coordinate || (single ? scalars_.contains(name) : arrays_.contains(name))) {
        fields_.report(m, fmt::format("{} stands for two things: a {} and a defined name", in_quotes(name),
                                      coordinate ? "coordinate" : "parameter"));
        continue;
      }
      if (value->type == TomlValue::Type::number) definition.text = fmt::format("{}", value->number);
      if (value->type == TomlValue::Type::string) definition.text = value->text;
      if (definition.text.empty() || !definitions_.emplace(name, std::move(definition)).second) {
        fields_.report(m, fmt::format("{} is no definition, or one that is given twice", in_quotes(m.name)));
        continue;
      }
      unreadable_.erase(name);
    }
    // What is wrong in one is said there, not where it is used.
    for (const TomlMember& m : table->members) {
      if (unreadable_.contains(std::string(parse_name(m.name).name))) continue;
      const auto indices = m.value.type == TomlValue::Type::table ? indices_of(m.value) : std::vector<TermIndex>{};
      const TomlMember* inner = m.value.type == TomlValue::Type::table ? m.value.find("value") : nullptr;
      if (indices && (inner ? inner->value : m.value).type == TomlValue::Type::string)
        fields_.expression(inner ? inner->value : m.value, scope(*indices), in_quotes("define." + m.name));
    }
    guards_.clear();
  }

  void read_energy(const TomlMember& m, TermKind kind) {
    guards_.clear(), active_.clear();
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
    active_.clear();
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
      const auto wrong = [&](const ParseProblem& p) {
        if (!p.message.empty())
          fields_.report(raw_offset(text_, range->value.begin, p.offset),
                         raw_offset(text_, range->value.begin, p.offset + p.length), p.message, p.hint);
        return std::nullopt;
      };
      if (const auto taken = taken_index(r, indices)) return wrong(*taken);
      ParsedExpression from = parse_expression(r.from, scope(indices)), to = parse_expression(r.to, scope(indices));
      for (const bool upper : {false, true})
        if (ParsedExpression& bound = upper ? to : from; !bound.problems.empty()) {
          bound.problems.front().offset += upper ? r.to_offset : r.from_offset;
          return wrong(bound.problems.front());
        }
      if (const auto backwards = backwards_index(r, *from.value, *to.value)) return wrong(*backwards);
      indices.push_back({r.name, parameter(r.name), simplify(*from.value), simplify(*to.value)});
      active_.push_back(r.name);
    }
    return indices;
  }

  /// What is given for all members together: { for = ..., value = ... }, or one expression.
  const TomlValue* value_of(const TomlMember& m, const std::string& path) {
    if (m.value.type != TomlValue::Type::table || !m.value.find("for")) return &m.value;
    fields_.check_keys(m.value, {"for", "value"}, fmt::format("in {}", in_quotes(path + "." + m.name)));
    if (const TomlMember* inner = m.value.find("value")) return &inner->value;
    fields_.report(m, fmt::format("{} has no value", in_quotes(m.name)), "give value = \"...\"");
    return nullptr;
  }

  bool check_name(const TomlMember& m, std::string_view name, std::string_view what) {
    if (!is_name(name))
      fields_.report(m, fmt::format("{} cannot be the name of {}", in_quotes(m.name), what), what_a_name_is);
    return is_name(name);
  }

  void read_run() {
    const TomlValue* run = section("run");
    if (!run) return;
    fields_.check_keys(*run, {"to", "every", "tolerance", "method"}, "in [run]");
    RunPlaces places;
    const auto number = [&](const char* key, Place& place) -> std::optional<double> {
      const TomlMember* m = run->find(key);
      if (!m) return std::nullopt;
      place = fields_.place_of(m->value);
      // Parameters are numbers here: whether one is mentioned is seen in a scope in which they are names.
      const std::string path = in_quotes(fmt::format("run.{}", key));
      bool named = false;
      NameScope names = scope({});
      names.find = [&, inner = names.find](std::string_view name, int primes) {
        const auto found = inner(name, primes);
        named |= found.has_value();
        return found;
      };
      const auto f = fields_.expression(m->value, names, path);
      const auto value = f && !named ? number_of(*f) : std::nullopt;
      if (f && !value)
        fields_.report(m->value, fmt::format("{} must be a number", path),
                       "parameters and other names cannot be used here");
      return value;
    };
    model_.run.to = number("to", places.to), model_.run.every = number("every", places.every);
    if (const auto tolerance = number("tolerance", places.tolerance)) model_.run.tolerance = *tolerance;
    if (const auto* method = run->find("method")) {
      places.method = fields_.place_of(method->value);
      if (const auto* text = fields_.string(*method, "`run.method`")) model_.run.method = *text;
    }
    for (Problem& p : check_run_settings(model_.run, places)) fields_.problems.push_back(std::move(p));
    model_.run_places = {places.to, places.tolerance};
  }

  void read_constraint(const TomlMember& m) {
    if (!check_name(m, m.name, "a constraint")) return;
    guards_.clear();
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
    if (e->relation != Relation::equal)
      return fields_.report(*text, "one-sided constraints are not supported in a model of this size yet");
    Term term;
    term.kind = TermKind::constraint;
    term.name = m.name;
    term.indices = *indices;
    term.body = e->right.is_zero() ? e->left : e->left - e->right;
    term.text = text->text;
    term.place = fields_.place_of(*text);
    if (term.body.contains(SymbolKind::acceleration))
      return fields_.report(*text, "constraints with accelerations are not supported in a model of this size yet");
    if (auto parts = split(term.body); !parts || parts->size() != 1 || !parts->front().indices.empty())
      return fields_.report(*text, "sums in constraints are not supported in a model of this size yet");
    add(std::move(term));
  }

  /// An expression with sums in it, for every set of the indices.
  std::optional<FamilyQuantity> read_quantity(const TomlValue& value, std::vector<TermIndex> indices,
                                              const std::string& what) {
    guards_.clear();
    const auto f = fields_.expression(value, scope(indices), what);
    if (!f) return std::nullopt;
    FamilyQuantity quantity;
    for (const Expr& s : symbols_of(std::span(&*f, 1)))
      for (const Sum& sum : sums_) {
        if (!same_symbol(s, sum.symbol)) continue;
        quantity.sums.push_back({sum.symbol, sum.terms});
        for (Term& term : quantity.sums.back().terms) {
          term.kind = TermKind::quantity, term.place = fields_.place_of(value);
          std::vector<Expr> parts{term.body};
          for (const TermIndex& i : term.indices) parts.push_back(i.from), parts.push_back(i.to);
          for (const Expr& used : symbols_of(parts))
            for (const TermIndex& outer : indices)
              if (same_symbol(used, outer.symbol) &&
                  std::none_of(term.indices.begin(), term.indices.end(),
                               [&](const TermIndex& i) { return i.name == outer.name; })) {
                fields_.report(
                    value,
                    fmt::format("a sum that depends on the index {} around it is not supported in a model of this size",
                                in_quotes(outer.name)));
                return std::nullopt;
              }
          complete(term);
        }
      }
    quantity.term.kind = TermKind::quantity;
    quantity.term.indices = std::move(indices);
    quantity.term.body = simplify(*f);
    quantity.term.place = fields_.place_of(value);
    complete(quantity.term);
    guards_.clear();
    return quantity;
  }

  void read_output(const TomlMember& m) {
    const auto indices = indices_of(m.value);
    if (!indices) return;
    const TomlValue* value = value_of(m, "outputs");
    auto quantity = value ? read_quantity(*value, *indices, in_quotes("outputs." + m.name)) : std::nullopt;
    const ParsedName name = parse_name(m.name);
    if (!quantity || !check_name(m, name.indexed ? name.name : m.name, "an output")) return;
    quantity->name = m.name;
    if (name.indexed) {
      if (!name.problems.empty()) return fields_.report(m, name.problems.front().message, name.problems.front().hint);
      quantity->name = std::string(name.name);
      for (const ParsedName::Piece& piece : name.indices) {
        const ParsedExpression f = parse_expression(piece.text, scope(*indices));
        if (!f.value) return fields_.report(m, f.problems.front().message, f.problems.front().hint);
        quantity->label.push_back(simplify(*f.value));
      }
    } else if (!indices->empty()) {
      return fields_.report(m, fmt::format("the output {} has no index, though it says `for`", in_quotes(m.name)),
                            "write its name with the index, as in \"e[i]\"");
    }
    model_.outputs.push_back(std::move(*quantity));
  }

  void read_event(const TomlMember& m) {
    if (!check_name(m, m.name, "an event")) return;
    const TomlValue* table = fields_.table(m, in_quotes("events." + m.name));
    const auto indices = table ? indices_of(*table) : std::nullopt;
    if (!indices) return;
    const EventChoice choice = read_event_choice(m, *table, fields_);
    FamilyEvent event;
    event.direction = choice.direction, event.action = choice.action;
    const TomlMember* when = table->find("when");
    if (!when)
      return fields_.report(m, fmt::format("the event {} has no `when`", in_quotes(m.name)),
                            "give an expression that passes zero, as in when = \"x\"");
    auto quantity = read_quantity(when->value, *indices, in_quotes("events." + m.name));
    if (!quantity) return;
    quantity->name = m.name;
    for (const TermIndex& index : *indices) quantity->label.push_back(index.symbol);
    event.when = std::move(*quantity);
    std::vector<Expr> bodies{event.when.term.body};
    for (const QuantitySum& sum : event.when.sums)
      for (const Term& term : sum.terms) bodies.push_back(term.body);
    for (const Expr& f : bodies)
      if (f.contains(SymbolKind::acceleration))
        return fields_.report(when->value, "events with accelerations are not supported in a model of this size yet");
    model_.events.push_back(std::move(event));
  }

  void read_by_coordinate(const TomlMember& field, TermKind kind) {
    const TomlValue* table = fields_.table(field, in_quotes(field.name));
    if (!table) return;
    const std::string path = kind == TermKind::force ? "dynamics.force" : "start." + field.name;
    for (const TomlMember& m : table->members) {
      guards_.clear();
      const auto indices = indices_of(m.value);
      const TomlValue* value = indices ? value_of(m, path) : nullptr;
      if (!value) continue;
      const ParsedExpression target = parse_expression(m.name, scope(*indices));
      const auto member =
          target.value && target.value->is_symbol() ? members_.find(target.value->symbol().name) : members_.end();
      if (member == members_.end() || member->second.symbol.symbol().kind != SymbolKind::coordinate) {
        const bool unknown = target.problems.empty() || target.problems.front().message.starts_with("unknown name");
        fields_.report(
            m, unknown ? fmt::format("{} is no coordinate", in_quotes(m.name)) : target.problems.front().message);
        continue;
      }
      const auto f = fields_.expression(*value, scope(*indices), in_quotes(path + "." + m.name));
      if (!f) continue;
      auto terms = split(*f);
      if (!terms) {
        fields_.report(*value, "a sum may be multiplied by numbers and parameters only, in a model of this size");
        continue;
      }
      // What is left beside the sums stands for the whole: a member has one start value, however many terms it is the sum of.
      if (terms->back().of_sum) terms->emplace_back();
      for (Term& term : *terms) {
        term.kind = kind;
        term.indices.insert(term.indices.begin(), indices->begin(), indices->end());
        term.body = simplify(term.body);
        term.target = member->second;
        term.place = fields_.place_of(*value);
        term.key = fields_.place_of(m);
        add(std::move(term));
      }
    }
  }

  std::string text_;
  SourceMap map_;
  FieldReader fields_;
  const ParameterOverrides overrides_;
  TomlValue root_;
  NameTable sizes_;  ///< parameters alone, for bounds
  bool only_sizes_ = false;
};

}  // namespace

long count_family_coordinates_of(std::string text, const std::string& file, const ParameterOverrides& overrides) {
  return FamilyReader({file, std::move(text)}, overrides).count();
}

FamilyModel read_family_model_text(std::string_view text, std::string file_name, const ParameterOverrides& overrides) {
  return FamilyReader({printable(file_name, 400), std::string(text)}, overrides).read();
}

}  // namespace mechanician
