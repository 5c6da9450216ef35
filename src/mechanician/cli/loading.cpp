#include "mechanician/cli/loading.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "mechanician/base/read_file.hpp"
#include "mechanician/base/safe_text.hpp"
#include "mechanician/base/text.hpp"
#include "mechanician/cli/saying.hpp"
#include "mechanician/expression/table_hash.hpp"
#include "mechanician/instant/accelerate.hpp"
#include "mechanician/instant/bodies_apart.hpp"
#include "mechanician/instant/project.hpp"
#include "mechanician/model/bodies.hpp"
#include "mechanician/model/plain_model.hpp"
#include "mechanician/model/read_model.hpp"
#include "mechanician/output/remarks.hpp"
#include "mechanician/plot/stored_state.hpp"
#include "mechanician/result/file_clashes.hpp"
#include "mechanician/result/text_sink.hpp"

namespace mechanician {

void assign(std::span<double> x, const Assignments& values, const System& system, const char* option) {
  constexpr int most_compared = 10'000;
  for (const auto& [name, value] : values) {
    const int i = system.find_coordinate(name);
    if (i < 0) {
      std::vector<std::string> known;
      for (int k = 0; k < std::min(system.n(), most_compared); ++k) known.push_back(system.coordinate(k));
      const std::string near = nearest(name, known);
      throw UsageError(fmt::format("{}: the model has no coordinate `{}`{}", option, name,
                                   near.empty() ? "" : fmt::format("; did you mean `{}`?", near)));
    }
    x[static_cast<std::size_t>(i)] = in_si(system.units(), name, value);
  }
}

void refuse_rates(const Assignments& values, const System& system, const char* option) {
  for (const auto& [name, value] : values)
    for (const StateRow& z : system.states())
      if (system.coordinate(z.coordinate) == name)
        throw UsageError(fmt::format("{}: `{}` is a state, whose velocity is what its rate says", option, name));
}

namespace {

/// Names that were set and are no parameters.
void refuse_unknown(const FamilyModel& model) {
  if (model.unknown_overrides.empty()) return;
  const std::string& name = model.unknown_overrides.front();
  const std::vector<std::string> known = parameter_names(model, 10'000);
  const std::string near = nearest(name, known);
  throw UsageError(fmt::format("--set: there is no parameter `{}`{}", name,
                               !near.empty()   ? fmt::format("; did you mean `{}`?", near)
                               : known.empty() ? "; the model has none"
                                               : fmt::format("; the parameters are {}", quote_list(known))));
}

}  // namespace

std::string name_tables(std::span<const Table> tables) {
  return tables.empty() ? std::string() : fmt::format("{:016x}", hash_tables(tables));
}

const ImportedRobot& read_robot(const CommandOptions& options) {
  // Kept: its text and its notes are looked at one after the other.
  static std::map<std::pair<std::string, bool>, ImportedRobot> known;
  const std::pair which(options.model, options.base == "floating");
  if (const auto found = known.find(which); found != known.end()) return found->second;
  const FileText file = read_file(options.model, largest_file);
  if (!file.problem.empty()) throw FileError(fmt::format("cannot read {}: {}", options.model, file.problem));
  return known.emplace(which, import_robot(file.text, options.model, which.second)).first->second;
}

std::optional<std::string> text_with_base(const CommandOptions& options) {
  if (options.base.empty()) return std::nullopt;
  if (!options.model.ends_with(".urdf"))
    throw UsageError(options.model.ends_with(".xml")
                         ? "--base is for .urdf; a body of MJCF that moves freely has a free joint"
                         : "--base is for robots in .urdf");
  return read_robot(options).text;
}

namespace {

/// Whether something is drawn of the model.
bool draws(const CommandOptions& options) {
  return !options.report.empty() || options.kind == "latex" || options.latex_document;
}

}  // namespace

FamilyModel read_stated_model(const CommandOptions& options, const ParameterOverrides& overrides) {
  ParameterOverrides with = overrides;
  if (!draws(options)) with.emplace(nothing_drawn, 1.0);
  if (text_with_base(options) || is_robot(options.model))
    return read_family_model_text(read_robot(options).text, options.model, with);
  return read_family_model(options.model, with);
}

void say_notes(const System& system, const CommandOptions& options) {
  ParameterOverrides overrides(options.set.begin(), options.set.end());
  overrides.emplace(nothing_drawn, 1.0);
  for (const Problem& note : notes_of_model(system.source(), overrides))
    say(Remark{note.message, {}, note.place}, "note", system);
}

namespace {

/// Whether a coordinate, or the velocity x', begins where it is said, for its own part, and nothing else with it.
bool begins_alone(const FamilyModel& model, std::string name) {
  if (name.ends_with('\'')) name.pop_back();
  return model.find(name) >= 0 && (name.find('.') == std::string::npos || !ties_bodies(model.places));
}

}  // namespace

Loaded load(const CommandOptions& options) {
  ParameterOverrides overrides(options.set.begin(), options.set.end());
  FamilyModel model = read_stated_model(options, overrides);
  refuse_unknown(model);
  std::string tables = name_tables(model.tables);
  if (is_robot(options.model) && !options.quiet)  // what is left out of it changes numbers
    for (const std::string& note : read_robot(options).notes) say("note: {}\n", note);
  std::vector<StartValue> given;
  for (const auto& [name, value] : options.position) given.push_back({name, value});
  for (const auto& [name, value] : options.velocity) given.push_back({name + "'", value});
  const auto read = [&](const ParameterOverrides& with) { return read_stated_model(options, with); };
  const bool moves = options.start_from.empty() &&
                     open_starts(
                         given, [&](const std::string& name) { return begins_alone(model, name); },
                         [&](const ParameterOverrides& with) { return read(with).unknown_overrides; }, overrides);
  System system(std::move(model));
  if (options.start_from.empty() && !options.start_at.empty())
    throw UsageError("--at is the time of a row of a result: give --from FILE too");
  std::optional<double> at;
  if (!options.start_at.empty()) at = parse_number(options.start_at, "--at");
  StoredState found;
  Assignments position = options.position, velocity = options.velocity;
  if (moves) {
    // The same model begins elsewhere.
    System moved(read(overrides));
    found = find_start(moved);
    std::erase_if(position, [&](const auto& x) { return overrides.contains(start_parameter(x.first)); });
    std::erase_if(velocity, [&](const auto& x) { return overrides.contains(start_parameter(x.first + "'")); });
    bool same = moved.n() == system.n();
    for (int i = 0; same && i < system.n(); ++i) same = moved.coordinate(i) == system.coordinate(i);
    if (!same) system = std::move(moved);
  } else {
    found = options.start_from.empty() ? find_start(system) : read_stored_state(system, options.start_from, at);
  }
  if (!found.remark.empty() && !options.quiet) say("note: the start comes from a result, and {}\n", found.remark);
  if (!found.begins_otherwise.empty()) {
    begin_as_stored(system, found);
    if (!options.quiet)
      say("note: as in the result that it goes on from, the motion begins with {}\n", found.begins_otherwise);
  }
  State start = std::move(found.state);
  HeldControl sampled;
  if (!system.kernels() && system.equations().control.every &&
      (!options.start_from.empty() || system.start_rules().from)) {
    sampled = {system.start().t, std::move(found.held)};
    if (sampled.efforts.empty() && !options.quiet)
      say("note: the result does not say what sampled control holds there: it samples at the start, and then at its "
          "times\n");
  }
  const auto n = static_cast<std::size_t>(system.n());
  assign({start.q.data(), n}, position, system, "--position");
  refuse_rates(velocity, system, "--velocity");
  assign({start.qd.data(), n}, velocity, system, "--velocity");
  if (!options.time.empty()) start.t = parse_number(options.time, "--time");
  system.set_state_rates(start);
  return {std::move(system), std::move(start), std::move(tables), std::move(sampled)};
}

bool assemble_start(Loaded& loaded, const CommandOptions& options) {
  const System& system = loaded.system;
  if (!options.project_start && !system.start_rules().assemble) return true;
  const Instant instant = accelerate(system, loaded.start, {.diagnose = false});
  if (nothing_to_show(instant) || (instant.violations().empty() && !begins_off(system, loaded.start))) return true;
  const Projection projection = project_start(system, loaded.start);
  if (!projection.converged) {
    say(projection_offer(system, loaded.start, projection), "error", system);
    return false;
  }
  loaded.start = projection.state;
  if (!options.quiet)
    say({fmt::format("the start was moved onto the constraints, by {} at most in a coordinate or velocity",
                     short_number(projection.moved)),
         {},
         {}},
        "note", system);
  return true;
}

void refuse_overwriting(const CommandOptions& o) {
  std::vector<UsedFile> outputs, inputs;
  const auto named = [](const std::string& file) { return file == "-" ? std::string("/dev/stdin") : file; };
  if (!o.output.empty()) outputs.push_back({o.output, fmt::format("-o {}", o.output)});
  if (!o.report.empty()) outputs.push_back({o.report, fmt::format("--report {}", o.report)});
  if (outputs.empty()) return;
  if (!o.model.empty()) {
    inputs.push_back({named(o.model), "the model"});
    for (const std::string& file : data_files(o.model))
      inputs.push_back({file, "a file that the model takes numbers from"});
  }
  if (!o.start_from.empty()) inputs.push_back({o.start_from, "the result that the motion goes on from"});
  if (!o.samples.empty()) inputs.push_back({o.samples, "the file of samples"});
  if (!o.result.empty()) inputs.push_back({named(o.result), "what is to be plotted"});
  if (const auto clash = find_clash(outputs, inputs)) throw UsageError(*clash);
}

void write_out(const std::string& text) {
  const auto sink = make_standard_output_sink();
  sink->append(text);
  sink->finish();
}

void show(const std::string& text) { write_out(safe_lines(text)); }

}  // namespace mechanician
