#include "mechanician/output/remarks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>
#include <set>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/instant/open_loops.hpp"
#include "mechanician/output/readable.hpp"

namespace mechanician {

std::vector<std::string> row_names(const System& system, std::span<const Eigen::Index> rows) {
  std::vector<std::string> names;
  for (const Eigen::Index i : rows) names.push_back(system.row_name(static_cast<int>(i)));
  return names;
}

std::vector<std::string> coordinate_names(const System& system, std::span<const Eigen::Index> coordinates) {
  std::vector<std::string> names;
  for (const Eigen::Index i : coordinates) names.push_back(system.coordinate(static_cast<int>(i)));
  return names;
}

std::string combination(std::span<const std::string> names, std::span<const double> coefficients) {
  constexpr std::size_t most = 24;
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i >= most && names.size() > most + 1) return out + fmt::format(" and {} others", names.size() - i);
    const double c = coefficients[i];
    const double size = std::abs(c);
    if (out.empty())
      out += c < 0 ? "−" : "";
    else
      out += c < 0 ? " − " : " + ";
    // A coefficient within rounding of 1 is not written.
    if (std::abs(size - 1.0) > 1e-9) out += fmt::format("{}·", short_number(size));
    out += names[i];
  }
  return out.empty() ? "0" : out;
}

std::string state_text(const System& system, const State& state) {
  constexpr int most = 12;
  std::string out = fmt::format("t = {}", short_number(state.t));
  for (int i = 0; i < system.n() && i < most; ++i)
    out += fmt::format(", {} = {}", system.coordinate(i), short_number(state.q(i)));
  for (int i = 0; i < system.n() && i < most; ++i)
    out += fmt::format(", {}' = {}", system.coordinate(i), short_number(state.qd(i)));
  return system.n() > most ? out + ", …" : out;
}

std::string render(const Remark& remark, std::string_view severity, const SourceText& source) {
  std::string out = source.file.empty() ? "model" : source.file;
  if (remark.place.line > 0) out += fmt::format(":{}:{}", remark.place.line, remark.place.column);
  out += fmt::format(": {}: {}", severity, remark.text);
  for (const std::string& line : remark.details) out += fmt::format("\n    {}", line);
  return out;
}

namespace {

/// A direction as a proportion: "x : y = 1 : −1", entries that are nothing left out.
std::string proportion(const System& system, const Eigen::VectorXd& v) {
  std::vector<std::string> names, parts;
  constexpr std::size_t most_names = 12;
  const double most = v.cwiseAbs().maxCoeff();
  for (Eigen::Index i = 0; i < v.size(); ++i) {
    if (std::abs(v(i)) <= 1e-9 * most) continue;
    if (names.size() == most_names) {
      names.emplace_back("…"), parts.emplace_back("…");
      break;
    }
    names.push_back(system.coordinate(static_cast<int>(i)));
    parts.push_back(short_number(v(i) / most));
  }
  if (names.size() == 1) return names.front();
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) out += (i ? " : " : "") + names[i];
  out += " = ";
  for (std::size_t i = 0; i < parts.size(); ++i) out += (i ? " : " : "") + parts[i];
  return out;
}

Place row_place(const System& system, Eigen::Index i) { return system.row(static_cast<int>(i)).place; }

/// Where [nonideal] asks for a multiplier.
Place place_of_multiplier(const Model& model) {
  for (const Named& c : model.nonideal)
    if (c.value.contains(SymbolKind::multiplier)) return c.place;
  return {};
}

Remark mass_remark(const System& system, const Instant& instant) {
  const MassCheck& mass = instant.solution.mass;
  const Place place = system.place_of_mass();
  if (instant.solution.status == SolveStatus::mass_not_symmetric)
    return {fmt::format("the mass matrix is not symmetric: its entries ({0}, {1}) and ({1}, {0}) differ",
                        system.coordinate(static_cast<int>(mass.asymmetric_row)),
                        system.coordinate(static_cast<int>(mass.asymmetric_column))),
            {},
            place};
  Remark remark{fmt::format("the mass matrix has the negative eigenvalue {}: no mechanical system has one",
                            short_number(mass.negative_eigenvalue)),
                {},
                place};
  remark.details.push_back(fmt::format("its direction: {}", proportion(system, mass.negative_direction)));
  remark.details.push_back(fmt::format("at {}", state_text(system, instant.state)));
  return remark;
}

Remark conflict_remark(const System& system, const Instant& instant) {
  Remark remark{"the constraints contradict each other at this state: no motion satisfies them all", {}, {}};
  if (!instant.diagnosis) return remark;
  constexpr std::size_t most = 8;
  const auto& conflicts = instant.diagnosis->conflicts;
  for (std::size_t k = 0; k < conflicts.size() && k < most; ++k) {
    const Conflict& c = conflicts[k];
    const std::vector<std::string> names = row_names(system, c.rows);
    const std::vector<double> y(c.coefficients.begin(), c.coefficients.end());
    if (names.size() == 1)
      remark.details.push_back(fmt::format("`{}` cannot hold: no acceleration enters it, and it would require 0 = {}",
                                           names[0], short_number(c.residual)));
    else
      remark.details.push_back(fmt::format("{} cannot hold together (any {} of them can): {} would require 0 = {}",
                                           quote_list(names),
                                           names.size() - 1 == 1 ? "one" : std::to_string(names.size() - 1),
                                           combination(names, y), short_number(c.residual)));
    if (k == 0) remark.place = row_place(system, c.rows.back());
  }
  if (conflicts.size() > most)
    remark.details.push_back(
        fmt::format("and {} more conflicting sets (all of them with --json)", conflicts.size() - most));
  remark.details.push_back(fmt::format("at {}", state_text(system, instant.state)));
  remark.details.emplace_back(
      "drop or correct one constraint of each set; if they are measurements, give them weights");
  return remark;
}

Remark unmet_remark(const System& system, const Instant& instant) {
  Remark remark{"control requirements cannot be met at this state", {}, {}};
  const bool actuators = !system.equations().control.actuators.empty();
  for (const ControlAnswer::Refusal& r : instant.control->refused) {
    std::vector<Eigen::Index> rows;
    for (const Eigen::Index j : r.rows) rows.push_back(system.m() + j);
    const std::vector<std::string> names = row_names(system, rows);
    if (names.size() == 1)
      remark.details.push_back(
          fmt::format("nothing that {} can do influences `{}`, whose acceleration misses what is asked "
                      "for by {}",
                      actuators ? "the actuators" : "a control force", names[0], short_number(r.missing)));
    else
      remark.details.push_back(fmt::format(
          "{} contradict each other, {}: together they miss what is asked for by {}", quote_list(names),
          actuators ? "with what the actuators can do" : "beside the constraints", short_number(r.missing)));
    if (remark.place.line == 0) remark.place = row_place(system, rows.back());
  }
  remark.details.push_back(fmt::format("at {}", state_text(system, instant.state)));
  remark.details.emplace_back(
      actuators ? "add an actuator that does, drop a requirement, or give it a weight: then it is met "
                  "as far as possible"
                : "drop a requirement, or give it a weight: then it is met as far as possible");
  return remark;
}

Remark not_unique_remark(const System& system, const Instant& instant) {
  const Solution& s = instant.solution;
  const std::vector<std::string> names = coordinate_names(system, s.undetermined);
  Remark remark{fmt::format("the acceleration is not unique: mass and constraints leave {} undetermined",
                            names.empty() ? "a direction of several coordinates" : quote_list(names)),
                {},
                {}};
  for (Eigen::Index k = 0; k < s.undetermined_directions.cols() && k < 6; ++k)
    remark.details.push_back(fmt::format("free direction: {}", proportion(system, s.undetermined_directions.col(k))));
  if (s.status == SolveStatus::unsolvable || !s.solvable) {
    remark.text = fmt::format(
        "no acceleration exists: a force acts on {} where there is neither mass nor constraint to balance it",
        quote_list(names));
    remark.details.push_back("give these coordinates mass, or constrain them");
  } else {
    remark.details.push_back(
        "any motion along it satisfies the equations; give these coordinates mass, or constrain them");
  }
  // What forces or rods hold, and no mass: rods do not where they are in line, and their gradients vanish.
  const InstantValues& v = instant.values;
  const auto is_held = [&](Eigen::Index i) {
    bool held = system.forces_depend_on(static_cast<int>(i));
    for (Eigen::Index j = 0; j < v.A.rows(); ++j)
      for (const SparseRows::Entry& e : v.A.row(j)) held |= e.col == i;
    return held;
  };
  std::vector<std::string> massless;
  for (const Eigen::Index i : s.undetermined)
    if (v.M(i, i) == 0.0 && is_held(i)) massless.push_back(system.coordinate(static_cast<int>(i)));
  if (massless.empty()) return remark;
  remark.details.push_back(fmt::format(
      "{} no mass: what springs, dampers, resistors or rods hold without mass moves by a balance of forces, "
      "a law of first order in time",
      quote_list(massless) + (massless.size() == 1 ? " has" : " have")));
  remark.details.push_back(
      fmt::format("what to do: state such laws under [states], {0} = {{ rate = \"...\", start = ... }} with the "
                  "velocity that the balance of "
                  "forces says, and leave {0} out of the coordinates; or give masses that are small against the others",
                  massless.front()));
  return remark;
}

/// Velocities jump: what they will be, in the place of an acceleration.
Remark impact_remark(const System& system, const Instant& instant) {
  std::vector<std::string> closing;
  for (const Contact& c : instant.contacts)
    if (c.status == ContactStatus::impact) closing.push_back(system.row_name(c.values.row));
  Remark remark{fmt::format("there is an impact at this state, and no acceleration: {} with its gap closing",
                            quote_list(closing)),
                {},
                {}};
  if (closing.size() > 1)
    remark.text = fmt::format("there is an impact at this state, and no acceleration: {} with their gaps closing",
                              quote_list(closing));
  const Impact& impact = *instant.impact;
  if (impact.status != SolveStatus::solved || !impact.trouble.empty()) {
    remark.details.push_back(impact.trouble.empty() ? std::string(describe(impact.status)) : impact.trouble);
    return remark;
  }
  State after = instant.state;
  after.qd = impact.qd_after;
  remark.details.push_back(fmt::format("before: {}", state_text(system, instant.state)));
  remark.details.push_back(fmt::format("after:  {}", state_text(system, after)));
  if (instant.violations().empty()) remark.details.push_back("`run` goes on after it");
  return remark;
}

}  // namespace

std::vector<Remark> refusals(const System& system, const Instant& instant) {
  std::vector<Remark> result;
  if (instant.not_finite) {
    result.push_back({instant.not_finite->message(),
                      {fmt::format("at {}", state_text(system, instant.state))},
                      instant.not_finite->place});
    return result;
  }
  if (!instant.multiplier_not_unique.empty()) {
    result.push_back({fmt::format("[nonideal] uses the multiplier of {}, which is not unique at this state",
                                  quote_list(instant.multiplier_not_unique)),
                      {"the constraint depends on others; use ideal(COORDINATE), the ideal force, which is unique"},
                      place_of_multiplier(system.model())});
    return result;
  }
  if (instant.impact) {
    result.push_back(impact_remark(system, instant));
    return result;
  }
  if (!instant.contact_trouble.empty()) {
    result.push_back({instant.contact_trouble, {fmt::format("at {}", state_text(system, instant.state))}, {}});
    return result;
  }
  const Solution& s = instant.solution;
  if (s.status == SolveStatus::inconsistent && !instant.contact_conflict.empty()) {
    result.push_back({fmt::format("{} cannot hold together at this state: no motion satisfies them all",
                                  quote_list(row_names(system, instant.contact_conflict))),
                      {fmt::format("at {}", state_text(system, instant.state))},
                      row_place(system, instant.contact_conflict.back())});
    return result;
  }
  switch (s.status) {
    case SolveStatus::solved:
      break;
    case SolveStatus::not_finite:
      result.push_back(
          {"a number of the equations is not finite", {fmt::format("at {}", state_text(system, instant.state))}, {}});
      break;
    case SolveStatus::mass_not_symmetric:
    case SolveStatus::mass_indefinite:
      result.push_back(mass_remark(system, instant));
      break;
    case SolveStatus::weights_not_definite: {
      Place place = instant.values.measured.empty() ? Place{} : row_place(system, instant.values.measured.front());
      result.push_back({"the weights of the measured constraints are not symmetric and positive definite",
                        {"a weight is 1/variance, a positive number"},
                        place});
      break;
    }
    case SolveStatus::inconsistent:
      result.push_back(conflict_remark(system, instant));
      if (!s.unique) result.push_back(not_unique_remark(system, instant));
      break;
    case SolveStatus::unsolvable:
    case SolveStatus::not_unique:
      result.push_back(not_unique_remark(system, instant));
      break;
    case SolveStatus::requirements_not_met:
      result.push_back(unmet_remark(system, instant));
      break;
    case SolveStatus::form_not_applicable:
      result.push_back({"this form needs a positive definite mass matrix, and it is singular here",
                        {"use --form F4, F5 or auto"},
                        {}});
      break;
  }
  return result;
}

std::vector<Remark> start_refusals(const System& system, const Instant& instant) {
  std::vector<Remark> result;
  constexpr std::size_t most = 20;
  const std::vector<RowResidual> violations = instant.violations();
  for (const RowResidual& r : violations) {
    if (result.size() == most) {
      result.push_back({fmt::format("… and {} residuals of other constraints", violations.size() - most), {}, {}});
      break;
    }
    const RowTraits& row = system.row(r.row);
    const std::string name = system.row_name(r.row);
    const bool velocity = r.of_rate || row.level == Level::velocity;
    std::string text = fmt::format("the start {} violates constraint `{}`: residual {}",
                                   velocity ? "velocity" : "position", name, short_number(r.value));
    if (r.of_rate) text += " in its rate";
    if (row.one_sided)
      text = fmt::format("the start {} violates one-sided constraint `{}` by {}", velocity ? "velocity" : "position",
                         name, short_number(-r.value));
    result.push_back({std::move(text),
                      row.text.empty() ? std::vector<std::string>{} : std::vector<std::string>{row.text}, row.place});
  }
  return result;
}

Remark projection_offer(const System& system, const State& given, const Projection& p) {
  if (!p.converged) {
    Remark remark{"no state on the constraints was found near this start", {}, {}};
    if (p.not_finite) remark.details.push_back(p.not_finite->message());
    constexpr std::size_t most = 12;
    std::vector<std::string> unmet;
    const std::vector<OpenJoint> open = find_open_joints(system, p);
    for (const OpenJoint& joint : open) {
      const std::string angle =
          fmt::format("{} rad ({}°)", short_number(joint.angle), short_number(joint.angle * 180.0 / std::numbers::pi));
      unmet.push_back(
          fmt::format("joint `{}` by {}{}{}", joint.name, joint.length > 1e-8 ? short_number(joint.length) + " m" : "",
                      joint.length > 1e-8 && joint.angle > 1e-8 ? " and " : "", joint.angle > 1e-8 ? angle : ""));
    }
    for (std::size_t k = 0; open.empty() && k < p.unmet.size(); ++k)
      unmet.push_back(fmt::format("`{}` by {}", system.row_name(p.unmet[k]), short_number(p.off[k])));
    const std::size_t count = unmet.size();
    if (count > most) unmet.resize(most), unmet.push_back(fmt::format("and {} more", count - most));
    if (!unmet.empty())
      remark.details.push_back(
          open.empty() ? fmt::format("not met{}: {}", p.unmet_rates ? " in velocities" : "", fmt::join(unmet, ", "))
                       : fmt::format("the loop stays open, at best: {}", fmt::join(unmet, ", ")));
    if (const InTheWay held = find_in_the_way(system, given, p); !held.names.empty())
      remark.details.push_back(
          fmt::format("[start] holds what {} on; let go of {}{}", p.unmet.size() == 1 ? "this depends" : "these depend",
                      held.each_is_enough && held.names.size() > 1 ? "one of " : "", quote_list(held.names, 8)));
    return remark;
  }
  Remark remark{"the nearest state on the constraints (command `project`):", {}, {}};
  const auto changed = [&](const char* section, const Eigen::VectorXd& from, const Eigen::VectorXd& to) {
    constexpr int most = 200;
    const double moved = (from - to).cwiseAbs().maxCoeff();
    if (moved <= 1e-12) return;
    if (system.n() > most)
      return remark.details.push_back(fmt::format("{}: largest change {}", section, short_number(moved)));
    std::string values;
    for (int i = 0; i < system.n(); ++i)
      values += fmt::format("{}{} = {}", i ? ", " : "", key_text(system.coordinate(i)), number_text(to(i)));
    remark.details.push_back(fmt::format("{} = {{ {} }}", section, values));
  };
  if (system.n() > 0) {
    changed("position", given.q, p.state.q);
    changed("velocity", given.qd, p.state.qd);
  }
  return remark;
}

std::vector<Remark> warnings(const System& system, const Instant& instant) {
  std::vector<Remark> result;
  // Of a family what is said of one member is said of all.
  constexpr std::size_t most = 20;
  const auto each = [&](std::size_t count, auto&& say) {
    for (std::size_t k = 0; k < count; ++k) {
      if (k < most) {
        say(k);
        continue;
      }
      result.push_back({fmt::format("the same of {} other constraints (--json has them all)", count - most), {}, {}});
      return;
    }
  };
  std::vector<int> vanishing, integrable;
  for (int i = 0; i < system.m(); ++i) {
    if (system.row(i).vanishes) vanishing.push_back(i);
    if (system.row(i).integrable) integrable.push_back(i);
  }
  each(vanishing.size(), [&](std::size_t k) {
    result.push_back(
        {fmt::format("constraint `{}` holds identically: it constrains nothing", system.row_name(vanishing[k])),
         {},
         system.row(vanishing[k]).place});
  });
  each(integrable.size(), [&](std::size_t k) {
    const int i = integrable[k];
    result.push_back(
        {fmt::format(
             "constraint `{}` on velocities is integrable: it is the rate of a function of the coordinates and time",
             system.row_name(i)),
         {"stated on positions it would also fix the constant of integration"},
         system.row(i).place});
  });
  if (!instant.shared.empty())
    result.push_back({instant.shared, {"rigid contacts allow other accelerations at this state"}, {}});
  if (!instant.diagnosis) return result;
  const Diagnosis& d = *instant.diagnosis;
  std::vector<Eigen::Index> zero = d.zero_rows;
  std::erase_if(zero, [&](Eigen::Index i) { return system.row(static_cast<int>(i)).vanishes; });
  each(zero.size(), [&](std::size_t k) {
    const Eigen::Index i = zero[k];
    result.push_back(
        {fmt::format("constraint `{}` does not act at this state: its gradient vanishes within rounding",
                     system.row_name(static_cast<int>(i))),
         {"a constraint written as a square loses its force on the constraint itself; write it without the square"},
         row_place(system, i)});
  });
  std::vector<const Dependence*> depends;
  for (const Dependence& dep : d.depends)
    if (!dep.on.empty()) depends.push_back(&dep);
  each(depends.size(), [&](std::size_t k) {
    const Dependence& dep = *depends[k];
    // Where b contradicts, the row depends on the others but the constraint does not follow from them.
    const char* verb = instant.solution.consistent ? "follows from others here" : "has a row that depends on others";
    result.push_back({fmt::format("constraint `{0}` {1}: {0} = {2}", system.row_name(static_cast<int>(dep.row)), verb,
                                  combination(row_names(system, dep.on), dep.coefficients)),
                      {},
                      row_place(system, dep.row)});
  });
  if (d.rank_doubtful) {
    std::string gap = std::isfinite(d.rank_gap) ? short_number(d.rank_gap) : "infinite";
    result.push_back(
        {fmt::format("the rank {} of the constraints is a near decision (gap {})", d.rank, gap),
         {"rows that are nearly dependent are counted by a tolerance; forces and multipliers may be inaccurate"},
         {}});
  }
  // A row of zeros has no force, whatever its multiplier.
  std::vector<Eigen::Index> open;
  for (const Eigen::Index i : d.multipliers_undetermined)
    if (std::find(d.zero_rows.begin(), d.zero_rows.end(), i) == d.zero_rows.end()) open.push_back(i);
  if (!open.empty() && instant.solution.consistent)
    result.push_back(
        {fmt::format(
             "the multipliers of {} are not unique (those of least norm are given); the constraint force is unique",
             quote_list(row_names(system, open))),
         {},
         {}});
  if (instant.solution.has_acceleration() && instant.control)
    for (std::size_t j = 0; j < instant.control->met.size(); ++j) {
      if (instant.control->met[j]) continue;
      const int row = system.m() + static_cast<int>(j);
      result.push_back(
          {fmt::format("control requirement `{}` is not met: its acceleration misses what is asked for by {}",
                       system.row_name(row), short_number(instant.control->missing(static_cast<Eigen::Index>(j)))),
           {},
           system.row(row).place});
    }
  if (instant.solution.has_acceleration() && !instant.solution.consistent)
    result.push_back(
        {"the measured constraints contradict each other: the acceleration is the weighted compromise", {}, {}});
  return result;
}

}  // namespace mechanician
