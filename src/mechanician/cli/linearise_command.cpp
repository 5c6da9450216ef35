#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "mechanician/base/patterns.hpp"
#include "mechanician/base/text.hpp"
#include "mechanician/base/version.hpp"
#include "mechanician/cli/commands.hpp"
#include "mechanician/cli/loading.hpp"
#include "mechanician/cli/run_parts.hpp"
#include "mechanician/cli/saying.hpp"
#include "mechanician/instant/open_inputs.hpp"
#include "mechanician/motion/stage_model.hpp"
#include "mechanician/output/linearise_output.hpp"
#include "mechanician/report/mode_report.hpp"
#include "mechanician/report/report.hpp"
#include "mechanician/result/matrix_file.hpp"
#include "mechanician/result/text_sink.hpp"

namespace mechanician {

namespace {

std::vector<std::string> names_of(const std::vector<std::string>& texts) {
  std::vector<std::string> names;
  for (const std::string& text : texts)
    for (const std::string_view name : split_list(text))
      if (!name.empty()) names.emplace_back(name);
  return names;
}

enum class FileKind { none, json, hdf5 };
FileKind kind_of(const std::string& file) {
  if (file.empty()) return FileKind::none;
  if (file.ends_with(".json")) return FileKind::json;
  if (file.ends_with(".h5")) return FileKind::hdf5;
  throw UsageError(fmt::format("-o {}: the ending says the format: .json or .h5", file));
}

/// What is said where there is no linearisation.
Exit refuse(const Loaded& loaded, const std::string& why, Place place, Exit exit = Exit::refused) {
  say(Remark{why, {}, place}, "error", loaded.system);
  return exit;
}

void write_file(const std::string& file, const System& system, const LineariseReport& report) {
  const Linearisation& l = report.linear;
  const auto count = static_cast<Eigen::Index>(report.spectrum.eigenvalues.size());
  Eigen::MatrixXd eigenvalues(count, 5);
  for (Eigen::Index k = 0; k < count; ++k) {
    const Eigenvalue& e = report.spectrum.eigenvalues[static_cast<std::size_t>(k)];
    eigenvalues.row(k) << e.value.real(), e.value.imag(), e.frequency(), e.damping(), e.uncertainty;
  }
  const std::vector<int> modes = list_modes(report, report.shown_modes);
  Eigen::MatrixXd re(system.n(), static_cast<Eigen::Index>(modes.size())),
      im = re, numbers(static_cast<Eigen::Index>(modes.size()), 1);
  for (std::size_t k = 0; k < modes.size(); ++k) {
    const Eigen::VectorXcd shape = mode_shape(report, modes[k]);
    re.col(static_cast<Eigen::Index>(k)) = shape.real(), im.col(static_cast<Eigen::Index>(k)) = shape.imag();
    numbers(static_cast<Eigen::Index>(k), 0) = modes[k];
  }
  std::vector<std::string> coordinates;
  for (int i = 0; i < system.n(); ++i) coordinates.push_back(system.coordinate(i));
  std::vector<NamedMatrix> matrices{{"A", l.A, l.states},
                                    {"B", l.B, report.inputs},
                                    {"C", l.C, l.states},
                                    {"D", l.D, report.inputs},
                                    {"eigenvalues", eigenvalues, {"re", "im", "frequency", "damping", "uncertainty"}},
                                    {"modes/re", re, {}, "a row for each coordinate, a column for each mode"},
                                    {"modes/im", im},
                                    {"modes/eigenvalue", numbers, {}, "which eigenvalue, counted from 0"},
                                    {"drift", l.drift},
                                    {"q", l.state.q},
                                    {"qd", l.state.qd}};
  if (report.floquet) {
    const auto& m = report.floquet->multipliers.eigenvalues;
    Eigen::MatrixXd multipliers(static_cast<Eigen::Index>(m.size()), 3);
    for (std::size_t k = 0; k < m.size(); ++k)
      multipliers.row(static_cast<Eigen::Index>(k)) << m[k].value.real(), m[k].value.imag(), m[k].uncertainty;
    matrices.push_back({"monodromy", report.floquet->monodromy, l.states});
    matrices.push_back({"multipliers", multipliers, {"re", "im", "uncertainty"}});
  }
  for (std::size_t k = 0; k < report.along.size(); ++k) {
    const auto& [linear, spectrum] = report.along[k];
    const std::string at = fmt::format("along/{}/", k);
    Eigen::MatrixXd values(static_cast<Eigen::Index>(spectrum.eigenvalues.size()), 2), t(1, 1);
    for (std::size_t i = 0; i < spectrum.eigenvalues.size(); ++i)
      values.row(static_cast<Eigen::Index>(i)) << spectrum.eigenvalues[i].value.real(),
          spectrum.eigenvalues[i].value.imag();
    t(0, 0) = linear.state.t;
    for (NamedMatrix m :
         {NamedMatrix{"t", t}, NamedMatrix{"A", linear.A, linear.states}, NamedMatrix{"B", linear.B},
          NamedMatrix{"C", linear.C}, NamedMatrix{"D", linear.D}, NamedMatrix{"eigenvalues", values, {"re", "im"}}}) {
      m.path = at + m.path;
      matrices.push_back(std::move(m));
    }
  }
  write_matrices(
      file, matrices,
      {{"states", l.states}, {"inputs", report.inputs}, {"outputs", report.outputs}, {"coordinates", coordinates}},
      {{"kind", std::string("linearisation")},
       {"version", std::string(version())},
       {"t", l.state.t},
       {"at", std::string(name_of(l.at))}});
}

/// Times of --at, of --every, and --period, as numbers.
struct Times {
  std::optional<double> at, every, to, period;
};

Times parse_times(const CommandOptions& o) {
  Times times;
  if (!o.at.empty()) times.at = parse_number(o.at, "--at");
  if (!o.every.empty()) times.every = parse_number(o.every, "--every");
  if (!o.to.empty()) times.to = parse_number(o.to, "--to");
  if (!o.period.empty()) times.period = parse_number(o.period, "--period");
  if (times.every && !(*times.every > 0.0)) throw UsageError(fmt::format("--every {}: it must be positive", o.every));
  if (times.period && !(*times.period > 0.0))
    throw UsageError(fmt::format("--period {}: it must be positive", o.period));
  if (times.to && !times.every) throw UsageError("--to: it says how far --every goes");
  if (times.period && times.every) throw UsageError("--period and --every: give one of them");
  return times;
}

/// Follows the motion through some times, increasing. False: it came to no such time, and what happened is said.
template <class Do>
bool follow(const Loaded& loaded, const MotionOptions& options, const std::vector<double>& times, Do&& see) {
  Integrator motion(loaded.system, loaded.start, options);
  if (motion.refusal()) {
    say(Remark{motion.refusal()->message, {}, motion.refusal()->place}, "error", loaded.system);
    return false;
  }
  std::size_t next = 0;
  const auto see_until = [&](double t) {
    for (; next < times.size() && times[next] <= t; ++next) {
      const Sample s = motion.sample(times[next]);
      see(s);
    }
  };
  while (next < times.size() && motion.advance()) see_until(motion.t());
  if (next == times.size()) return true;
  say(
      Remark{
          motion.stop().message.empty() ? "the motion ended before" : motion.stop().message, {}, motion.stop().place},
      "error", loaded.system);
  return false;
}

}  // namespace

Exit run_linearise(const CommandOptions& o) {
  const FileKind kind = kind_of(o.output);
  const Times times = parse_times(o);
  const RunOptions run = parse_motion_options(o);
  const LineariseOptions options{names_of(o.inputs), names_of(o.outputs), names_of(o.states)};
  refuse_report(o);
  LineariseReport report;
  report.inputs = options.inputs, report.outputs = options.outputs;
  if (!o.modes.empty()) {
    const double modes = parse_number(o.modes, "--modes");
    if (!(modes >= 0.0) || modes != std::floor(modes) || modes > 1e6)
      throw UsageError(fmt::format("--modes {}: a whole number", o.modes));
    report.shown_modes = static_cast<int>(modes);
  }
  Loaded loaded = load(o);
  // What is linearised is what acts at the time: events release, engage and change modes.
  std::optional<System> stage;
  std::optional<Lineariser> lineariser;
  const auto begin_stage = [&](System there) {
    lineariser.reset();
    stage = std::move(there);
    lineariser.emplace(*stage, options);
  };
  // Inputs that are expressions are numbers here, those that they are at the state.
  const bool held = std::any_of(options.inputs.begin(), options.inputs.end(),
                                [&](const std::string& name) { return is_expression_input(loaded.system, name); });
  const auto begin_at = [&](const Sample& s) {
    if (!held && !loaded.system.is_staged()) return;
    begin_stage(system_in_stage(with_inputs_held(loaded.system, options.inputs, State{s.t, s.q, s.qd}), s));
  };
  const auto begin_at_start = [&] {
    begin_stage(system_at_start(with_inputs_held(loaded.system, options.inputs, loaded.start)));
  };
  try {
    begin_at_start();
  } catch (const std::invalid_argument& e) {
    throw UsageError(fmt::format("linearise: {}", e.what()));
  }
  if (!accept_start(loaded, o)) return Exit::refused;
  if (held) begin_at_start();  // which may have been moved

  MotionOptions motion;
  motion.tolerance = run.tolerance.value_or(loaded.system.run_settings().tolerance);
  motion.method = run.method.value_or(method_of(loaded.system.run_settings().method).value_or(Method::automatic));
  motion.scale = loaded.system.scale();
  State state = loaded.start;
  std::optional<Sample> there;
  if (times.at && *times.at != loaded.start.t) {
    if (!(*times.at > loaded.start.t))
      throw UsageError(fmt::format("--at {}: the motion starts at t = {}", o.at, short_number(loaded.start.t)));
    motion.to = *times.at;
    const auto see = [&](const Sample& s) {
      state = {s.t, s.q, s.qd};
      begin_at(s);
      if (loaded.system.is_staged()) there = s;
    };
    if (!follow(loaded, motion, {*times.at}, see)) return Exit::stopped;
  }
  const SpectrumOptions with_shapes{.vectors = o.modes != "0"};
  const System shown = *stage;
  report.linear = lineariser->at(state);
  if (!report.linear.refusal.empty()) return refuse(loaded, report.linear.refusal, report.linear.place);
  for (const std::string& note : report.linear.notes) say(Remark{note, {}, {}}, "note", loaded.system);
  if (const std::string why = refuse_spectrum(report.linear); !why.empty()) return refuse(loaded, why, {});
  report.spectrum = find_spectrum(report.linear, with_shapes);
  report.transfers = find_transfer_functions(report.linear);

  if (times.every) {
    const std::optional<double> to = times.to ? times.to : loaded.system.run_settings().to;
    if (!to) throw UsageError("--every: nothing says how far; give --to");
    if (!(*to > state.t))
      throw UsageError(fmt::format("--to {}: it must be later than t = {}", o.to, short_number(state.t)));
    std::vector<double> at;
    for (int k = 1; state.t + k * *times.every <= *to * (1.0 + 1e-14); ++k) {
      at.push_back(std::min(state.t + k * *times.every, *to));
      if (k > 100'000) throw UsageError(fmt::format("--every {}: more than 100,000 times", o.every));
    }
    motion.to = *to;
    Loaded from{loaded.system, state};
    if (there) set_stage(from.system, *there);
    std::string refusal;
    Place place;
    const bool came = follow(from, motion, at, [&](const Sample& s) {
      if (!refusal.empty()) return;
      begin_at(s);
      Linearisation linear = lineariser->at(State{s.t, s.q, s.qd});
      if (!linear.refusal.empty())
        refusal = fmt::format("at t = {}: {}", short_number(s.t), linear.refusal), place = linear.place;
      Spectrum spectrum = linear.refusal.empty() ? find_spectrum(linear, {.vectors = false}) : Spectrum{};
      report.along.emplace_back(std::move(linear), std::move(spectrum));
    });
    if (!refusal.empty()) return refuse(loaded, refusal, place);
    if (!came) return Exit::stopped;
  }
  if (times.period && loaded.system.is_staged() && stage->num_rows() < loaded.system.num_rows())
    return refuse(loaded, "--period: constraints or requirements are released there, and events change them", {});
  if (times.period) {
    // Over a period inputs are what the model says.
    if (held) lineariser.emplace(there ? system_in_stage(loaded.system, *there) : system_at_start(loaded.system));
    report.floquet =
        find_multipliers(*lineariser, state, {*times.period, motion.tolerance, motion.method, motion.scale});
    if (!report.floquet->refusal.empty())
      return refuse(loaded, report.floquet->refusal, report.floquet->place,
                    report.floquet->stopped ? Exit::stopped : Exit::refused);
  }
  if (!o.report.empty()) {
    const auto sink = make_file_sink(o.report);
    sink->append(mode_report_html(*report_page(), shown, report));
    sink->finish();
  }
  if (kind == FileKind::hdf5) write_file(o.output, shown, report);
  const std::string json = o.json || kind == FileKind::json ? linearise_json(shown, report) : std::string();
  if (kind == FileKind::json) {
    const auto sink = make_file_sink(o.output);
    sink->append(json);
    sink->finish();
  }
  o.json ? write_out(json) : show(linearise_text(shown, report));
  return Exit::done;
}

}  // namespace mechanician
