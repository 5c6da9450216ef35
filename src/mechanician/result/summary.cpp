#include "mechanician/result/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "mechanician/base/text.hpp"
#include "mechanician/output/json_writer.hpp"

namespace mechanician {

namespace {

constexpr std::array<std::string_view, 6> status_names{"incomplete", "done",    "stopped",
                                                       "failed",     "suspect", "interrupted"};

constexpr std::size_t most_listed = 12;  // events and works that a person wants to read

std::string joined(const std::vector<std::string>& items, const char* separator) {
  return fmt::format("{}", fmt::join(items, separator));
}

/// "12,345"
std::string grouped(long count) {
  std::string digits = std::to_string(count);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > (count < 0 ? 1 : 0); at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

std::string counted(long count, const char* noun) {
  return fmt::format("{} {}{}", grouped(count), noun, count == 1 ? "" : "s");
}

/// Largest work first; what is nothing beside the others, or no more than the balance is off, is left out.
std::vector<std::string> works_that_count(const Certificate& c, const Columns& columns) {
  const Eigen::VectorXd& work = c.works.constraints;
  if (columns.constraints().size() != static_cast<std::size_t>(work.size())) return {};  // too many to be listed
  double size = std::max({std::abs(c.kinetic_start), std::abs(c.kinetic_end), std::abs(c.works.given)});
  if (work.size() > 0) size = std::max(size, work.cwiseAbs().maxCoeff());
  std::vector<Eigen::Index> order;
  for (Eigen::Index i = 0; i < work.size(); ++i)
    if (std::abs(work(i)) > std::max(1e-9 * size, 3.0 * c.balance_largest)) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](Eigen::Index i, Eigen::Index j) { return std::abs(work(i)) > std::abs(work(j)); });
  std::vector<std::string> result;
  for (const Eigen::Index i : order) {
    if (result.size() == most_listed) {
      result.push_back(fmt::format("and {} more", order.size() - most_listed));
      break;
    }
    result.push_back(fmt::format("{} {}", columns.constraints()[static_cast<std::size_t>(i)], short_number(work(i))));
  }
  return result;
}

/// Of a large system there may be too many names, or no numbers.
void write_named(JsonWriter& json, const std::vector<std::string>& names, const Eigen::VectorXd& x) {
  if (names.size() == static_cast<std::size_t>(x.size()))
    json.named(names, x);
  else
    json.null();
}

std::string event_text(const MotionEvent& e) {
  std::string out = fmt::format("t = {:.10g}", e.time);
  if (!e.name.empty()) out += " " + e.name;
  if (e.kind != EventKind::user && e.kind != EventKind::singular) out += fmt::format(" {}", name_of(e.kind));
  std::vector<std::string> words;
  if (!e.constraints.empty()) words.push_back(quote_list(e.constraints, 4));
  if (e.kind == EventKind::singular) {
    words.push_back(fmt::format("σ = {:.2g}", e.sigma));
    if (e.dimension > 1) words.push_back(fmt::format("rank drops by {}", e.dimension));
    if (e.turning) words.push_back("turning");
    if (e.noise_limited) words.push_back("limited by rounding");
  }
  return words.empty() ? out : fmt::format("{} ({})", out, joined(words, "; "));
}

void append_events(std::string& out, std::span<const MotionEvent> events, bool singular) {
  std::vector<std::string> items;
  std::size_t count = 0;
  for (const MotionEvent& e : events) {
    if ((e.kind == EventKind::singular) != singular) continue;
    if (++count <= most_listed) items.push_back(event_text(e));
  }
  if (count == 0) return;
  if (count > most_listed) items.push_back(fmt::format("and {} more", count - most_listed));
  out += fmt::format("  {}: {}\n", singular ? "singular configurations" : "events", joined(items, ", "));
}

/// What [summary] asks for, a line for each; of a large family the first ones.
void append_values(std::string& out, std::span<const SummaryValue> values) {
  constexpr std::size_t most = 40;
  for (const SummaryValue& v : values.first(std::min(values.size(), most)))
    out += fmt::format("  {} = {}\n", v.name, std::isnan(v.value) ? "no value" : fmt::format("{:.10g}", v.value));
  if (values.size() > most) out += fmt::format("  and {} more of [summary]\n", values.size() - most);
}

}  // namespace

std::string_view name_of(RunStatus status) { return status_names[static_cast<std::size_t>(status)]; }

std::optional<RunStatus> status_of(std::string_view name) {
  for (std::size_t i = 0; i < status_names.size(); ++i)
    if (status_names[i] == name) return static_cast<RunStatus>(i);
  return std::nullopt;
}

std::string trust_line(const Summary& s) {
  const Certificate& c = s.certificate;
  const std::string so_far = s.complete() ? "the run" : fmt::format("what was computed up to t = {:.10g}", s.end);
  if (!c.holds) return fmt::format("{} is not to be trusted: {}", so_far, joined(c.reasons, "; "));
  std::string why = "constraints held, works and energy balance";
  why += c.global_error ? fmt::format(", a second run differs by {:.2g}", *c.global_error)
                        : std::string("; how errors grow, --verify tells");
  return fmt::format("{} passes its checks: {}", so_far, why);
}

std::string summary_text(const Summary& s, std::span<const MotionEvent> events, const Columns& columns) {
  const Certificate& c = s.certificate;
  const Statistics& n = s.statistics;
  std::string out = fmt::format("{}: t = {:.10g} to {:.10g} in {}, {} rejected, {}, {}, {:.3g} s\n", name_of(s.status),
                                s.begin, s.end, counted(n.steps, "step"), grouped(n.rejected),
                                counted(n.evaluations, "evaluation"), counted(s.rows, "row"), s.wall_time);
  if (n.robust > 0)
    out += fmt::format("  accelerations: {}, {} of them by the robust path\n", c.path, grouped(n.robust));
  if (columns.num_constraints() > 0)
    out += fmt::format("  largest constraint violation: {:.2g} in positions, {:.2g} in velocities\n",
                       c.position_violation, c.velocity_violation);
  if (c.measured_residual > 0.0)
    out += fmt::format("  measured constraints are off by up to {:.2g}\n", c.measured_residual);
  out += fmt::format("  kinetic energy {} to {}; work of given forces {}, ideal {}, non-ideal {}, control {}\n",
                     short_number(c.kinetic_start), short_number(c.kinetic_end), short_number(c.works.given),
                     short_number(c.works.ideal), short_number(c.works.nonideal), short_number(c.works.control));
  out += fmt::format("  balance of energy and work: {:.2g} at the end, at most {:.2g} (allowed {:.2g})\n", c.balance,
                     c.balance_largest, c.balance_allowed);
  if (const auto works = works_that_count(c, columns); !works.empty())
    out += fmt::format("  work by constraint: {}\n", joined(works, ", "));
  if (c.contacts) {
    const ContactCertificate& k = *c.contacts;
    out += fmt::format(
        "  contacts: {}, {}; energy lost in impacts {}, by their friction {}, given by moving surfaces {}\n",
        counted(k.phases, "phase"), counted(k.impacts, "impact"), short_number(k.impact_lost),
        short_number(k.impact_friction_lost), short_number(k.surface_work));
    if (k.friction_lost)
      out += fmt::format("  energy lost by friction, impacts included: {}\n", short_number(*k.friction_lost));
    out += fmt::format("  one-sided constraints: violated by at most {:.2g}; conditions of the minimum met to {:.2g}\n",
                       k.penetration, k.optimality);
  }
  if (c.mode_work) out += fmt::format("  energy put in by changes of modes: {}\n", short_number(*c.mode_work));
  append_values(out, s.values);
  append_events(out, events, true);
  append_events(out, events, false);
  for (const std::string& note : s.notes) out += fmt::format("  note: {}\n", note);
  return out + trust_line(s) + "\n";
}

void write_event(JsonWriter& json, const MotionEvent& e, const Columns& columns) {
  json.begin_object();
  json.key("time").value(e.time);
  json.key("kind").value(name_of(e.kind));
  json.key("constraints").list(e.constraints);
  write_named(json.key("position"), columns.coordinates(), e.q);
  write_named(json.key("velocity_before"), columns.coordinates(), e.qd_before);
  write_named(json.key("velocity_after"), columns.coordinates(), e.qd_after);
  if (!e.name.empty()) json.key("name").value(e.name);
  if (e.kind == EventKind::singular) {
    json.key("sigma").value(e.sigma);
    json.key("dimension").value(e.dimension);
    json.key("turning").value(e.turning);
    json.key("noise_limited").value(e.noise_limited);
  }
  json.end_object();
}

void write_summary(JsonWriter& json, const Summary& s, std::span<const MotionEvent> events, const Columns& columns) {
  const Certificate& c = s.certificate;
  const Statistics& n = s.statistics;
  json.begin_object();
  json.key("status").value(name_of(s.status));
  json.key("message").value(s.message);
  json.key("begin").value(s.begin);
  json.key("end").value(s.end);
  json.key("rows").value(s.rows);
  json.key("method").value(s.method);
  json.key("tolerance").value(s.tolerance);
  json.key("steps").value(n.steps);
  json.key("rejected").value(n.rejected);
  json.key("evaluations").value(n.evaluations);
  json.key("robust_evaluations").value(n.robust);
  json.key("path").value(c.path);
  json.key("projections").value(n.projections);
  json.key("jacobians").value(n.jacobians);
  json.key("switches").value(n.switches);
  json.key("restarts").value(n.restarts);
  json.key("crossings").value(n.crossings);
  json.key("crossing_times").begin_array();
  for (const MotionEvent& e : events)
    if (e.kind == EventKind::singular) json.value(e.time);
  json.end_array();
  json.key("events").value(static_cast<long>(events.size()));
  json.key("largest_constraint_violation").value(std::max(c.position_violation, c.velocity_violation));
  json.key("position_violation").value(c.position_violation);
  json.key("velocity_violation").value(c.velocity_violation);
  json.key("measured_residual").value(c.measured_residual);
  json.key("kinetic_start").value(c.kinetic_start);
  json.key("kinetic_end").value(c.kinetic_end);
  json.key("work_given").value(c.works.given);
  json.key("work_ideal").value(c.works.ideal);
  json.key("work_nonideal").value(c.works.nonideal);
  json.key("work_control").value(c.works.control);
  write_named(json.key("work_by_constraint"), columns.constraints(), c.works.constraints);
  json.key("balance").value(c.balance);
  json.key("balance_largest").value(c.balance_largest);
  json.key("balance_allowed").value(c.balance_allowed);
  if (c.contacts) {
    const ContactCertificate& k = *c.contacts;
    json.key("phases").value(k.phases);
    json.key("impacts").value(k.impacts);
    json.key("energy_lost_in_impacts").value(k.impact_lost);
    json.key("energy_lost_in_impact_friction").value(k.impact_friction_lost);
    json.key("energy_lost_in_friction");
    k.friction_lost ? json.value(*k.friction_lost) : json.null();
    json.key("work_of_moving_surfaces_in_impacts").value(k.surface_work);
    json.key("one_sided_violation").value(k.penetration);
    json.key("optimality").value(k.optimality);
    json.key("complementarity").value(k.complementarity);
  }
  if (c.mode_work) json.key("work_of_mode_changes").value(*c.mode_work);
  json.key("global_error");
  c.global_error ? json.value(*c.global_error) : json.null();
  if (!s.values.empty()) {
    json.key("values").begin_object();
    for (const SummaryValue& v : s.values) {
      json.key(v.name);
      std::isnan(v.value) ? json.null() : json.value(v.value);
    }
    json.end_object();
  }
  json.key("trusted").value(c.holds);
  json.key("reasons").list(c.reasons);
  json.key("notes").list(s.notes);
  json.key("wall_time").value(s.wall_time);
  json.end_object();
}

}  // namespace mechanician
