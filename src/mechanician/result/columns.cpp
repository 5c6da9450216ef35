#include "mechanician/result/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <functional>
#include <limits>
#include <span>
#include <stdexcept>

#include "mechanician/base/patterns.hpp"
#include "mechanician/base/text.hpp"
#include "mechanician/motion/stage_model.hpp"
#include "mechanician/result/quantity_names.hpp"

namespace mechanician {

namespace {

/// Lists of all names, and whole states at events, are for systems up to this size.
constexpr long most_listed = 10'000;

/// Of quantity_names.
constexpr std::size_t first_work = 19;

/// Which columns are wanted.
class Choice {
 public:
  explicit Choice(std::string_view patterns) {
    if (!patterns.empty())
      for (const std::string_view p : split_list(patterns)) patterns_.push_back({p, false});
  }
  bool all() const { return patterns_.empty(); }

  /// Whether a name of this form may fit: most patterns are about one quantity.
  bool may_take(std::string_view prefix, std::string_view suffix) const {
    if (all()) return true;
    return std::any_of(patterns_.begin(), patterns_.end(), [&](const Pattern& p) {
      const std::string_view begin = p.text.substr(0, p.text.find_first_of("*?"));
      const std::size_t same = std::min(begin.size(), prefix.size());
      if (begin.substr(0, same) != prefix.substr(0, same)) return false;
      const char last = p.text.empty() ? '\0' : p.text.back();
      return suffix.empty() || last == '*' || last == '?' || last == suffix.back();
    });
  }
  bool takes(std::string_view name) {
    bool take = all();
    for (Pattern& p : patterns_)
      if (fits_pattern(p.text, name)) take = p.used = true;
    return take;
  }
  /// Throws where a pattern fits nothing.
  void finish() const {
    for (const Pattern& p : patterns_)
      if (!p.used) throw std::invalid_argument(fmt::format("no column is called `{}`", p.text));
  }

 private:
  struct Pattern {
    std::string_view text;
    bool used;
  };
  std::vector<Pattern> patterns_;
};

/// Quantities that have an entry for each of the same things.
struct Wrapped {
  const char *quantity, *prefix, *suffix;
};

/// Where names come from: there may be too many of them to be listed.
struct ColumnSource {
  long num_coordinates = 0, num_constraints = 0, num_states = 0;
  std::function<std::string(long)> coordinate, constraint;
  std::function<bool(long)> is_state;
  bool has_control = false;
  std::vector<std::string> normals, frictions, outputs, efforts, errors, actuator_works, modes, engaged;
  std::vector<char> bare;  ///< by constraint: it has no multiplier; empty: none is
};

ColumnSource source_of(const System& system) {
  ColumnSource source;
  source.num_coordinates = system.n();
  source.num_constraints = system.num_constraints();  // their rows come first
  source.num_states = system.num_states();
  std::vector<char> states(source.num_states > 0 ? static_cast<std::size_t>(system.n()) : 0, 0);
  for (const StateRow& z : system.states()) states[static_cast<std::size_t>(z.coordinate)] = 1;
  source.is_state = [states](long i) { return !states.empty() && states[static_cast<std::size_t>(i)] != 0; };
  source.coordinate = [&system](long i) { return system.coordinate(static_cast<int>(i)); };
  source.has_control = system.num_control() > 0;
  source.constraint = [&system](long i) { return system.row_name(static_cast<int>(i)); };
  for (const ContactRow& c : system.has_contacts() ? system.equations().contacts : std::vector<ContactRow>()) {
    if (!c.has_friction) continue;
    const std::string name = system.row_name(c.row);
    const bool bare = system.row(c.row).bare;
    if (bare) source.bare.resize(static_cast<std::size_t>(source.num_constraints), 0);
    if (bare) source.bare[static_cast<std::size_t>(c.row)] = 1;
    if (!bare) source.normals.push_back(fmt::format("normal({})", name));
    for (std::size_t k = 0; k < c.slip.size(); ++k)
      source.frictions.push_back(c.slip.size() == 1 ? fmt::format("friction({})", name)
                                                    : fmt::format("friction({},{})", name, k + 1));
  }
  source.outputs = system.output_names();
  if (source.has_control) {
    for (const ControlEquations::Actuator& a : system.equations().control.actuators)
      source.efforts.push_back(fmt::format("tau({})", a.name)),
          source.actuator_works.push_back(fmt::format("work_control({})", a.name));
    for (int j = system.m(); j < system.num_rows(); ++j)
      source.errors.push_back(fmt::format("e({})", system.row_name(j)));
  }
  if (!system.is_staged()) return source;
  for (const Parameter& p : system.model().parameters)
    if (p.is_mode) source.modes.push_back(p.name);
  for (const std::string& name : names_that_change(system.model()))
    source.engaged.push_back(fmt::format("engaged({})", name));
  return source;
}

}  // namespace

Columns::Columns(const System& system, std::string_view patterns) {
  const ColumnSource source = source_of(system);
  num_coordinates_ = source.num_coordinates, num_constraints_ = source.num_constraints;
  Choice choice(patterns);
  std::vector<ColumnGroup> found;
  // Accelerations and forces are those of what has a mass.
  const auto add = [&](ColumnGroup& group, std::string name, long entry, bool some = false) {
    if (!choice.all() || some || source.num_states > 0) group.chosen.push_back(static_cast<std::uint32_t>(entry));
    group.names.push_back(std::move(name));
  };
  // Each name is made once and tried in all its forms.
  const auto add_wrapped = [&](std::span<const Wrapped> forms, long count,
                               const std::function<std::string(long)>& name_of, const std::vector<char>& without = {},
                               bool by_state = false) {
    const std::size_t first = found.size();
    std::vector<char> viable;
    for (const Wrapped& w : forms) {
      found.push_back({w.quantity, {}, false, {}});
      viable.push_back(choice.may_take(w.prefix, w.suffix));
    }
    if (std::none_of(viable.begin(), viable.end(), [](char v) { return v != 0; })) return;
    std::string whole;
    for (long i = 0; i < count; ++i) {
      if (!without.empty() && without[static_cast<std::size_t>(i)]) continue;
      const std::string name = name_of(i);
      for (std::size_t k = 0; k < forms.size(); ++k) {
        if (!viable[k] || (by_state && k >= 2 && source.is_state(i))) continue;
        whole.assign(forms[k].prefix).append(name).append(forms[k].suffix);
        if (choice.takes(whole)) add(found[first + k], whole, i, !without.empty());
      }
    }
  };
  const auto add_list = [&](const char* quantity, const std::vector<std::string>& names) {
    found.push_back({quantity, {}, false, {}});
    for (std::size_t i = 0; i < names.size(); ++i)
      if (choice.takes(names[i])) add(found.back(), names[i], static_cast<long>(i));
  };
  const auto add_scalar = [&](const char* quantity) {
    if (choice.takes(quantity) || quantity == std::string_view("t")) found.push_back({quantity, {quantity}, true, {}});
  };

  add_scalar("t");
  static constexpr Wrapped by_coordinate[] = {{"q", "", ""},
                                              {"qd", "", "'"},
                                              {"qdd", "", "''"},
                                              {"Qc", "Qc(", ")"},
                                              {"Qi", "Qi(", ")"},
                                              {"Qni", "Qni(", ")"},
                                              {"Qcontrol", "Qcontrol(", ")"}};
  add_wrapped(std::span(by_coordinate).first(source.has_control ? 7 : 6), source.num_coordinates, source.coordinate, {},
              source.num_states > 0);
  static constexpr Wrapped multipliers[] = {{"lambda", "lambda(", ")"}}, powers[] = {{"power", "power(", ")"}},
                           works[] = {{"work", "work(", ")"}};
  add_wrapped(multipliers, source.num_constraints, source.constraint, source.bare);
  add_list("normal", source.normals);
  add_list("friction", source.frictions);
  add_list("tau", source.efforts);
  add_list("e", source.errors);
  if (source.has_control) add_scalar("cost");
  add_list("outputs", source.outputs);
  add_list("modes", source.modes);
  add_list("engaged", source.engaged);
  add_scalar("residual");
  add_wrapped(powers, source.num_constraints, source.constraint, source.bare);
  for (const char* work : {"work_given", "work_ideal", "work_nonideal", "work_control"}) add_scalar(work);
  add_wrapped(works, source.num_constraints, source.constraint, source.bare);
  add_list("work_of_actuators", source.actuator_works);
  choice.finish();
  for (ColumnGroup& group : found) {
    if (group.names.empty()) continue;
    size_ += static_cast<int>(group.names.size());
    const auto* const quantity = std::find(quantity_names.begin(), quantity_names.end(), group.quantity);
    assert(quantity != quantity_names.end());
    quantity_of_.push_back(static_cast<std::uint8_t>(quantity - quantity_names.begin()));
    groups_.push_back(std::move(group));
  }
  if (source.num_coordinates <= most_listed)
    for (long i = 0; i < source.num_coordinates; ++i) coordinates_.push_back(source.coordinate(i));
  if (source.num_constraints <= most_listed)
    for (long i = 0; i < source.num_constraints; ++i) constraints_.push_back(source.constraint(i));
}

std::vector<std::string> Columns::names() const {
  std::vector<std::string> result;
  for (const ColumnGroup& group : groups_) result.insert(result.end(), group.names.begin(), group.names.end());
  return result;
}

bool Columns::has(std::string_view quantity) const {
  return std::any_of(groups_.begin(), groups_.end(), [&](const ColumnGroup& g) { return g.quantity == quantity; });
}

void Columns::fill_row(const Quantities& quantities, std::vector<double>& row) const {
  row.resize(static_cast<std::size_t>(size_));
  double* to = row.data();
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const ColumnGroup& group = groups_[g];
    const double* const from = quantities[quantity_of_[g]].data();
    if (!from) {
      to = std::fill_n(to, group.names.size(), std::numeric_limits<double>::quiet_NaN());
    } else if (group.chosen.empty()) {
      // Behind the outputs stands what [summary] is about.
      to = std::copy_n(from, group.names.size(), to);
    } else {
      for (const std::uint32_t entry : group.chosen) *to++ = from[entry];
    }
  }
  assert(to == row.data() + size_);
}

void Columns::fill_row(const Sample& s, std::vector<double>& row) const {
  const auto vector = [](const Eigen::VectorXd& x) { return std::span(x.data(), static_cast<std::size_t>(x.size())); };
  const auto number = [](const double& x) { return std::span(&x, 1); };
  fill_row({number(s.t),
            vector(s.q),
            vector(s.qd),
            vector(s.qdd),
            vector(s.Qc),
            vector(s.Qc_i),
            vector(s.Qc_ni),
            vector(s.Q_control),
            vector(s.lambda),
            vector(s.normal),
            vector(s.friction),
            vector(s.tau),
            vector(s.error),
            number(s.cost),
            vector(s.outputs),
            vector(s.modes),
            vector(s.engaged),
            number(s.residual),
            vector(s.power),
            number(s.works.given),
            number(s.works.ideal),
            number(s.works.nonideal),
            number(s.works.control),
            vector(s.works.constraints),
            vector(s.works.actuators)},
           row);
}

void Columns::fill_row(double t, std::span<const double> state, std::vector<double>& row) const {
  const auto n = static_cast<std::size_t>(num_coordinates_), m = static_cast<std::size_t>(num_constraints_);
  const std::span<const double> works = state.subspan(2 * n);
  Quantities known{};
  known[0] = std::span(&t, 1), known[1] = state.first(n), known[2] = state.subspan(n, n);
  for (std::size_t k = 0; k < 4; ++k) known[first_work + k] = works.subspan(k, 1);
  known[first_work + 4] = works.subspan(4, m), known[first_work + 5] = works.subspan(4 + m);
  fill_row(known, row);
}

std::vector<char> Columns::in_state() const {
  std::vector<char> known;
  for (std::size_t g = 0; g < groups_.size(); ++g)
    known.insert(known.end(), groups_[g].names.size(), quantity_of_[g] < 3 || quantity_of_[g] >= first_work ? 1 : 0);
  return known;
}

}  // namespace mechanician
