#include "mechanician/exports/c_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <span>
#include <stdexcept>
#include <utility>

#include "mechanician/expression/simplify.hpp"
#include "mechanician/expression/tape.hpp"
#include "mechanician/instant/family_numbers.hpp"
#include "mechanician/instant/open_inputs.hpp"
#include "mechanician/motion/stage_model.hpp"

namespace mechanician {

void refuse_export(const std::string& what) {
  throw std::invalid_argument(fmt::format("the model cannot be exported as C: {}", what));
}

namespace {

const System& checked(const System& system) {
  if (stays_in_families(system))
    refuse_export(fmt::format("it has {} coordinates; straight-line code is for smaller models", system.n()));
  const Equations& eqs = system.equations();
  if (!eqs.measured.empty())
    refuse_export(fmt::format("`{}` is measured: weighted rows need orthogonal factorisations",
                              system.row_name(eqs.measured.front())));
  if (!eqs.unknowns.empty()) refuse_export("it has functions without a value");
  return system;
}

/// Names between which an index runs: `1..N` and the like, anywhere in the text. What is named too often is no harm.
std::vector<std::string> names_in_ranges(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t at = text.find(".."); at != std::string::npos; at = text.find("..", at + 2)) {
    const auto ends = [](char c) {
      return c == '"' || c == '\'' || c == '[' || c == ']' || c == ',' || c == '=' || c == '\n';
    };
    std::size_t from = at, to = at + 2;
    while (from > 0 && !ends(text[from - 1])) --from;
    while (to < text.size() && !ends(text[to])) ++to;
    std::string name;
    for (std::size_t i = from; i <= to; ++i) {
      const bool part = i < to && (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '_');
      if (part) name += text[i];
      if (!part && !name.empty()) names.push_back(std::exchange(name, {}));
    }
  }
  return names;
}

}  // namespace

CFacts::CFacts(const System& whole, const State& given)
    : system(checked(whole)), eqs(whole.equations()), model(whole.model()), start(given) {
  count_rows();
  hold_sides();
  count_contacts();
  check_control();
  find_parameters();
  find_quantities();
  const State stated = system.start();
  starts_as_stated = stated.t == start.t && stated.q == start.q && stated.qd == start.qd;
}

void CFacts::count_rows() {
  std::vector<char> is_state(static_cast<std::size_t>(n()), 0), is_rate(static_cast<std::size_t>(m()), 0);
  for (const StateRow& z : eqs.states) {
    is_state[static_cast<std::size_t>(z.coordinate)] = 1;
    is_rate[static_cast<std::size_t>(z.row)] = 1;
  }
  for (const int states : {0, 1})
    for (int i = 0; i < n(); ++i)
      if (is_state[static_cast<std::size_t>(i)] == states) coordinates.push_back(i);
  num_states = static_cast<int>(eqs.states.size());
  num_coordinates = n() - num_states;
  if (num_coordinates == 0) refuse_export("nothing in it has a mass");
  for (int j = 0; j < m(); ++j) {
    const Row& row = eqs.rows[static_cast<std::size_t>(j)];
    levels.push_back(is_rate[static_cast<std::size_t>(j)]        ? rate
                     : row.kind == RowKind::control              ? control
                     : row.level == mechanician::Level::position ? position
                     : row.level == mechanician::Level::velocity ? velocity
                                                                 : acceleration);
    if (levels.back() == rate) continue;
    rows.push_back(j);
    num_constraints += levels.back() != control;
  }
}

void CFacts::count_contacts() {
  for (const ContactRow& c : eqs.contacts) {
    const Row& row = eqs.rows[static_cast<std::size_t>(c.row)];
    Contact contact;
    contact.row = c.row, contact.name = row.name;
    contact.first_slip = num_slips, contact.num_slips = static_cast<int>(c.slip.size());
    contact.first_guard = num_guards;
    contact.one_sided = row.one_sided, contact.of_velocity = row.level == mechanician::Level::velocity;
    contact.bare = row.bare, contact.limited = c.is_force;
    guard_names.push_back(fmt::format("guard({})", contact.name));
    if (contact.num_slips > 0) guard_names.push_back(fmt::format("slip_guard({})", contact.name));
    for (int k = 0; k < contact.num_slips; ++k)
      slip_names.push_back(contact.num_slips == 1 ? fmt::format("friction({})", contact.name)
                                                  : fmt::format("friction({},{})", contact.name, k + 1));
    num_slips += contact.num_slips;
    num_guards = static_cast<int>(guard_names.size());
    contacts.push_back(contact);
  }
  switches = !contacts.empty() || system.is_staged();
  if (system.is_staged()) changing_rows = rows_that_change(model);
  if (switches && needs_reactions())
    refuse_export("[nonideal] uses forces of constraints, and constraints change on the way");
}

bool CFacts::needs_reactions() const {
  return std::any_of(eqs.C.begin(), eqs.C.end(), [](const Expr& c) {
    return c.contains(SymbolKind::ideal_force) || c.contains(SymbolKind::multiplier);
  });
}

void CFacts::check_control() const {
  if (!has_control()) return;
  if (!contacts.empty())
    refuse_export(
        fmt::format("`{}` is a contact beside control: what it does and the control force decide on each other",
                    contacts.front().name));
  if (needs_reactions() &&
      (!eqs.control.actuators.empty() || eqs.control.has_free || !eqs.control.nominal.empty() || eqs.control.every))
    refuse_export("[nonideal] uses forces of constraints, and the control force presses on them");
  if (!eqs.control.is_plain())
    for (const std::string& name : names_that_change(model))
      if (std::any_of(model.controls.begin(), model.controls.end(), [&](const Control& c) { return c.name == name; }))
        refuse_export(
            fmt::format("events engage or release the requirement `{}`, which C does not follow beside actuators, "
                        "weights or limits",
                        name));
}

void CFacts::find_parameters() {
  const std::size_t count = model.parameters.size();
  is_derived.assign(count, 0), is_structural.assign(count, 0), derived.assign(count, Expr(0.0));
  const std::vector<std::string> ranges = names_in_ranges(system.source().text);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& name = open_input.emplace_back(open_input_name(model, i));
    given_flag.push_back(name.empty() ? -1 : static_cast<int>(given_flag_of(model, i)));
    is_flag.push_back(is_given_flag(model, i));
    if (!model.parameters[i].is_input) continue;
    Expr value = model.parameters[i].symbol();
    for (const Named& d : model.definitions)
      if (!name.empty() && d.name == name) value = d.value;
    input_values.push_back(value);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const Parameter& p = model.parameters[i];
    if (p.is_input) inputs.push_back(static_cast<int>(i));
    if (p.is_mode) modes.push_back(static_cast<int>(i));
    is_structural[i] = std::find(ranges.begin(), ranges.end(), p.name) != ranges.end();
    // Of what is no parameter of its own (names that are defined) nothing can be made again.
    is_derived[i] = p.value.contains(SymbolKind::parameter) && !p.is_input && !p.is_mode;
    for (const Expr& s : symbols_of(std::vector<Expr>{p.value}))
      if (std::none_of(eqs.parameters.begin(), eqs.parameters.end(), [&](const Expr& known) { return same(known, s); }))
        is_derived[i] = 0;
  }
  // A value that was given in the place of what the model says is independent; what is made of it is looked at again.
  for (bool again = true; again;) {
    again = false;
    derive_parameters();
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_derived[i]) continue;
      const double is = system.parameters()[i];
      const double made =
          Tape(std::vector<Expr>{derived[i]}, eqs.parameters)(std::span<const double>(system.parameters()))[0];
      if (std::abs(made - is) <= 1e-12 * std::abs(is)) continue;
      is_derived[i] = 0, again = true;
    }
  }
}

/// In the order in which they need each other.
void CFacts::derive_parameters() {
  const std::size_t count = model.parameters.size();
  std::vector<Replacement> known;
  std::vector<char> done(count, 0);
  for (bool progress = true; progress;) {
    progress = false;
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_derived[i] || done[i]) continue;
      bool ready = true;
      for (const Expr& s : symbols_of(std::vector<Expr>{model.parameters[i].value}))
        for (std::size_t k = 0; k < count && ready; ++k)
          ready = !is_derived[k] || done[k] || model.parameters[k].name != s.symbol().name;
      if (!ready) continue;
      derived[i] = substitute(model.parameters[i].value, known);
      known.push_back({model.parameters[i].symbol(), derived[i]});
      done[i] = 1, progress = true;
    }
  }
  is_derived = done;
}

void CFacts::find_quantities() {
  output_names = system.output_names();
  for (std::size_t i = 0; i < model.num_columns(); ++i) outputs.push_back(model.outputs[i].value);
  std::vector<Expr> all = outputs;
  all.insert(all.end(), input_values.begin(), input_values.end());
  for (const Event& e : model.events) {
    events.push_back(e.when);
    for (const EventChange& c : e.changes) all.push_back(c.value);
  }
  all.insert(all.end(), events.begin(), events.end());
  for (const Expr& s : symbols_of(all)) {
    const SymbolKind kind = s.symbol().kind;
    if (kind == SymbolKind::work)
      refuse_export(
          fmt::format("an output or event uses `work({})`, which is summed up over a motion", s.symbol().name));
    if (kind == SymbolKind::power)
      refuse_export(
          fmt::format("an output or event uses `power({0})`, the power of a single constraint, which C does not "
                      "have: it has its multiplier, as `multiplier({0})`",
                      s.symbol().name));
    if (kind == SymbolKind::multiplier && eqs.has_C && !switches)
      refuse_export(fmt::format("an output or event uses `multiplier({})` beside [nonideal]", s.symbol().name));
    if (kind == SymbolKind::acceleration || kind == SymbolKind::friction || kind == SymbolKind::multiplier ||
        (kind_bit(kind) & (forces_of_coordinates | forces_of_control)) != 0)
      extensions.push_back(s);
  }
}

}  // namespace mechanician
