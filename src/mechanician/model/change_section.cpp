/// What events do: stop the run, release and engage constraints and requirements, change modes. See model_reader.hpp.

#include <fmt/format.h>

#include "mechanician/base/text.hpp"
#include "mechanician/model/model_reader.hpp"

namespace mechanician {

namespace {

constexpr std::string_view blank = " \t\r\n";

std::size_t skip_blank(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of(blank, at), text.size());
}

/// Without what is blank at its end.
std::string_view trimmed(std::string_view text) {
  const std::size_t last = text.find_last_not_of(blank);
  return last == std::string_view::npos ? std::string_view() : text.substr(0, last + 1);
}

}  // namespace

void ModelReader::read_engaged(const TomlValue& table, Term& term) {
  const TomlMember* engaged = table.find("engaged");
  if (!engaged) return;
  if (engaged->value.type != TomlValue::Type::boolean)
    fields_.report(engaged->value, fmt::format("`engaged` is true or false, not {}", in_words(engaged->value.type)),
                   "with engaged = false it begins released, and an event engages it");
  else
    term.engaged = engaged->value.number != 0.0;
}

void ModelReader::read_action(const TomlValue& item, const std::vector<TermIndex>& indices, FamilyEvent& event) {
  if (item.type != TomlValue::Type::string)
    return fields_.report(item, fmt::format("`do` is a string or a list of strings, not {}", in_words(item.type)),
                          R"(for example do = "stop" or do = ["gear = 2", "release clutch"])");
  const std::string_view text = trimmed(item.text);
  const std::size_t begin = skip_blank(text, 0), end = std::min(text.find_first_of(blank, begin), text.size());
  const std::string_view word = text.substr(begin, end - begin);
  if (word == "record" && end == text.size()) return;
  if (word == "stop" && end == text.size()) {
    event.action = EventAction::stop;
    return;
  }
  std::optional<FamilyChange> change;
  if (const std::size_t equals = text.find('='); equals != std::string_view::npos) {
    change = read_mode_change(item, equals, indices);
  } else if (word == "release" || word == "engage") {
    change = read_row_change(item, skip_blank(text, end), indices);
    if (change && word == "engage") change->what = EventChange::What::engage;
  } else {
    fields_.report(item, fmt::format("`do` cannot be {}", mechanician::quoted(item.text)),
                   R"(it is record, stop, "release NAME", "engage NAME" or "MODE = value", or a list of these)");
  }
  if (change) event.changes.push_back(std::move(*change));
}

std::optional<FamilyChange> ModelReader::read_row_change(const TomlValue& item, std::size_t at,
                                                         const std::vector<TermIndex>& indices) {
  const std::string_view text = trimmed(item.text);
  const std::string given(text.substr(std::min(at, text.size())));
  ParsedName parsed = parse_name(given);
  // Constraints of bodies are written out: sole[2] is the name of one.
  if (const TomlMember* rows = root_.find("constraints"); rows && rows->value.find(given)) {
    parsed = ParsedName();
    parsed.name = given;
  }
  const auto wrong = [&](std::string message, std::string hint = {}) -> std::optional<FamilyChange> {
    fields_.report(fields_.place_in(item, at, std::max<std::size_t>(text.size() - at, 1)), message, hint);
    return std::nullopt;
  };
  if (at >= text.size()) return wrong("this does not say what is released or engaged", "give the name of a constraint");
  if (!parsed.problems.empty()) return wrong(parsed.problems.front().message, parsed.problems.front().hint);
  std::vector<std::string> known;
  const TomlMember* row = nullptr;
  for (const char* section : {"constraints", "control"})
    if (const TomlMember* table = root_.find(section))
      for (const TomlMember& m : table->value.members) {
        known.push_back(m.name);
        if (m.name == parsed.name || (parsed.indexed && m.name == text.substr(at))) row = &m;
      }
  if (!row) {
    if (unreadable_.covers("constraints." + parsed.name) || unreadable_.covers("control." + parsed.name))
      return std::nullopt;
    const std::string near = nearest(parsed.name, known);
    return wrong(fmt::format("there is no constraint or control requirement {}", mechanician::quoted(parsed.name)),
                 near.empty() ? "constraints and control requirements can be released and engaged"
                              : fmt::format("did you mean `{}`?", near));
  }
  const TomlMember* range = row->value.type == TomlValue::Type::table ? row->value.find("for") : nullptr;
  if (parsed.indexed && !range && row->name == text.substr(at))
    return FamilyChange{.name = row->name, .place = fields_.place_in(item, at, text.size() - at)};
  if (parsed.indexed && !range)
    return wrong(fmt::format("{} is one constraint and has no index", mechanician::quoted(parsed.name)));
  FamilyChange change;
  change.name = parsed.name, change.place = fields_.place_in(item, at, text.size() - at);
  names_.begin(indices);
  names_.place_of = [this, &item, at](std::size_t offset, std::size_t length) {
    return fields_.place_in(item, at + offset, length);
  };
  for (const ParsedName::Piece& piece : parsed.indices) {
    const ParsedExpression f = parse_expression(piece.text, names_.scope(Words::parameters));
    if (!f.problems.empty()) {
      if (f.problems.front().message.empty()) return std::nullopt;
      return wrong(f.problems.front().message, f.problems.front().hint);
    }
    const NameTable::Known index = names_.known(*f.value);
    if (!index.value)
      return index.problem.empty()
                 ? std::nullopt
                 : wrong(fmt::format("an index of {}: {}", mechanician::quoted(parsed.name), index.problem),
                         index.hint);
    change.indices.push_back(*index.value);
  }
  if (const auto own = range ? indices_of(row->value) : std::nullopt;
      own && parsed.indexed && own->size() != change.indices.size())
    return wrong(fmt::format("{} has {}, not {}", mechanician::quoted(parsed.name),
                             own->size() == 1 ? "one index" : fmt::format("{} indices", own->size()),
                             change.indices.size()));
  names_.begin(indices);
  names_.mention_label(parsed.name, change.indices);
  return names_.check_members() ? std::optional(std::move(change)) : std::nullopt;
}

std::optional<FamilyChange> ModelReader::read_mode_change(const TomlValue& item, std::size_t equals,
                                                          const std::vector<TermIndex>& indices) {
  const std::string_view text = item.text;
  FamilyChange change;
  change.what = EventChange::What::set;
  const std::size_t begin = skip_blank(text, 0);
  change.name = std::string(trimmed(text.substr(begin, equals - begin)));
  change.place = fields_.place_in(item, begin, std::max<std::size_t>(change.name.size(), 1));
  const auto number = model_.parameter_numbers.find(change.name);
  if (number == model_.parameter_numbers.end() || !model_.scalars[number->second].is_mode) {
    if (unreadable_.covers("modes." + change.name)) return std::nullopt;
    std::vector<std::string> modes;
    for (const Parameter& p : model_.scalars)
      if (p.is_mode) modes.push_back(p.name);
    const std::string near = nearest(change.name, modes);
    const bool parameter = number != model_.parameter_numbers.end();
    fields_.report(
        change.place,
        parameter ? fmt::format("{} is a parameter, and events change modes only", mechanician::quoted(change.name))
                  : fmt::format("there is no mode {}", mechanician::quoted(change.name)),
        !near.empty() ? fmt::format("did you mean `{}`?", near)
                      : "what events may change stands in [modes], with the value that it begins with");
    return std::nullopt;
  }
  names_.begin(indices);
  const std::size_t at = equals + 1;
  names_.place_of = [this, &item, at](std::size_t offset, std::size_t length) {
    return fields_.place_in(item, at + offset, length);
  };
  ParsedExpression f = parse_expression(text.substr(at), names_.scope(Words::forces));
  for (ParseProblem& p : f.problems) {
    p.offset += at;
    report_in(item, p);
  }
  if (!names_.check_members() || !f.problems.empty() || !f.value) return std::nullopt;
  change.value = *f.value;
  return change;
}

}  // namespace mechanician
