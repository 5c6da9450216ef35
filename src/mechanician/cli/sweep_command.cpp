#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>
#include <thread>

#include "mechanician/base/patterns.hpp"
#include "mechanician/base/safe_text.hpp"
#include "mechanician/base/text.hpp"
#include "mechanician/base/version.hpp"
#include "mechanician/cli/commands.hpp"
#include "mechanician/cli/loading.hpp"
#include "mechanician/cli/progress.hpp"
#include "mechanician/cli/run_parts.hpp"
#include "mechanician/cli/standard_error.hpp"
#include "mechanician/cli/sweep_progress.hpp"
#include "mechanician/ensemble/kept_values.hpp"
#include "mechanician/ensemble/make_runner.hpp"
#include "mechanician/expression/table_hash.hpp"
#include "mechanician/model/read_model.hpp"
#include "mechanician/motion/stage_model.hpp"
#include "mechanician/output/json_writer.hpp"
#include "mechanician/plot/stored_state.hpp"
#include "mechanician/result/sweep_result.hpp"
#include "mechanician/result/text_sink.hpp"

namespace mechanician {

namespace {

std::int64_t parse_whole(const std::string& text, const char* option, std::int64_t least) {
  std::int64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size() || value < least)
    throw UsageError(fmt::format("{}: `{}` is not a whole number from {} on", option, text, least));
  return value;
}

template <class Enum>
Enum parse_word(const std::string& text, const char* option, std::initializer_list<Enum> known) {
  std::vector<std::string> names;
  for (const Enum value : known) {
    names.emplace_back(name_of(value));
    if (names.back() == text) return value;
  }
  throw UsageError(fmt::format("{} {}: it is one of {}", option, text, quote_list(names)));
}

/// Samples or a model that are not what they should be, in files that could be read: exit status 1.
class BadSamples : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

SweepSetup setup_of(const CommandOptions& o) {
  if (o.vary.empty() && o.samples.empty())
    throw UsageError(
        "sweep: nothing is varied: give --vary NAME=FROM:TO:COUNT, or --samples FILE.csv\nTry `mechanician sweep "
        "--help`.");
  if (!o.vary.empty() && !o.samples.empty()) throw UsageError("--vary and --samples: give one of them");
  SweepSetup setup;
  setup.version = version();
  for (const auto& [name, value] : o.set) setup.set[name] = value;
  for (const auto& [name, value] : o.position) setup.position[name] = value;
  for (const auto& [name, value] : o.velocity) setup.velocity[name] = value;
  for (const auto& [name, value] : o.scale) setup.scale[name] = value;
  if (!o.time.empty()) setup.time = parse_number(o.time, "--time");
  if (o.start_from.empty() && !o.start_at.empty())
    throw UsageError("--at is the time of a row of a result: give --from FILE too");
  setup.as_given = o.as_given;
  setup.vary = o.vary;
  if (!o.samples.empty()) {
    for (const auto& [name, given] :
         {std::pair{"--count", !o.count.empty()}, {"--seed", !o.seed.empty()}, {"--sampling", !o.sampling.empty()}})
      if (given) throw UsageError(fmt::format("{}: --samples says what the samples are", name));
    std::error_code error;
    const auto whole = std::filesystem::absolute(o.samples, error);
    setup.samples_file = error ? o.samples : whole.string();
  }
  if (!o.count.empty()) setup.samples.count = parse_whole(o.count, "--count", 1);
  if (!o.seed.empty()) setup.samples.seed = static_cast<std::uint64_t>(parse_whole(o.seed, "--seed", 0));
  if (!o.sampling.empty())
    setup.samples.sampling =
        parse_word(o.sampling, "--sampling", {Sampling::random, Sampling::latin_hypercube, Sampling::sobol});
  if (!o.device.empty()) setup.device = parse_word(o.device, "--device", {Device::automatic, Device::cpu, Device::gpu});
  for (const std::string& list : o.keep)
    for (const std::string_view name : split_list(list)) setup.keep.emplace_back(name);
  if (o.method == "rk4") {
    setup.options.method = EnsembleMethod::rk4;
    if (o.step.empty()) throw UsageError("--method rk4 needs --step H");
    setup.options.step = parse_number(o.step, "--step");
    if (!(setup.options.step > 0.0)) throw UsageError(fmt::format("--step {}: it must be positive", o.step));
    if (!o.tolerance.empty()) throw UsageError("--tolerance is for adaptive methods: rk4 has steps of one size");
  } else {
    if (!o.step.empty()) throw UsageError("--step is for --method rk4: adaptive methods choose their steps");
    if (!o.method.empty()) {
      const auto method = method_of(o.method);
      if (!method) throw UsageError(fmt::format("--method {}: it is rk4, auto, dop853 or bdf", o.method));
      setup.options.adaptive = *method;
    }
  }
  if (!o.tolerance.empty()) {
    setup.options.tolerance = parse_number(o.tolerance, "--tolerance");
    if (const std::string wrong = wrong_tolerance(setup.options.tolerance); !wrong.empty())
      throw UsageError(fmt::format("--tolerance {}: {}", o.tolerance, wrong));
  }
  return setup;
}

/// Inputs that are expressions and are varied become numbers, at first those of the first motion. True: there are some.
bool open_inputs(const SamplePlan& plan, const Model& model, std::map<std::string, double>& set) {
  std::vector<double> first(plan.names().size());
  plan.fill(0, first);
  bool any = false;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const std::string& name = plan.names()[i];
    const bool number = std::any_of(model.parameters.begin(), model.parameters.end(),
                                    [&](const Parameter& p) { return p.name == name; });
    if (!number && model.places.contains("inputs." + name)) set[name] = first[i], any = true;
  }
  return any;
}

/// Starts of joints that are constraints become parameters, which the bodies begin by. True: there are some.
bool open_starts_of_joints(SweepSetup& setup, const SamplePlan& plan, const Model& model,
                           const std::function<Model(const ParameterOverrides&)>& read) {
  std::vector<double> first(plan.names().size());
  plan.fill(0, first);
  std::vector<StartValue> given;
  for (std::size_t i = 0; i < first.size(); ++i) given.push_back({plan.names()[i], first[i]});
  for (const auto& [name, value] : setup.position) given.push_back({name, value});
  for (const auto& [name, value] : setup.velocity) given.push_back({name + "'", value});
  const auto is_own = [&](std::string name) {
    if (std::any_of(model.parameters.begin(), model.parameters.end(),
                    [&](const Parameter& p) { return p.name == name; }))
      return true;
    if (name.ends_with('\'')) name.pop_back();
    return model.find_coordinate(name) >= 0 && (name.find('.') == std::string::npos || !ties_bodies(model.places));
  };
  const auto known = [&](const ParameterOverrides& set) {
    const Model with = read(set);
    std::vector<std::string> unknown;
    for (const auto& one : set)
      if (std::none_of(with.parameters.begin(), with.parameters.end(),
                       [&](const Parameter& p) { return p.name == one.first; }))
        unknown.push_back(one.first);
    return unknown;
  };
  if (!open_starts(given, is_own, known, setup.set)) return false;
  std::erase_if(setup.position, [&](const auto& x) { return setup.set.contains(start_parameter(x.first)); });
  std::erase_if(setup.velocity, [&](const auto& x) { return setup.set.contains(start_parameter(x.first + "'")); });
  return true;
}

/// What the model says where the command line does not.
void complete(SweepSetup& setup, const Model& model, const State& start, const CommandOptions& o) {
  if (o.tolerance.empty()) setup.options.tolerance = model.run.tolerance;
  if (const std::string wrong = wrong_tolerance(setup.options.tolerance); !wrong.empty())
    throw UsageError(fmt::format("`run.tolerance` of the model cannot be met, or means nothing: {}", wrong));
  if (o.method.empty()) {
    setup.options.adaptive = method_of(model.run.method).value_or(Method::automatic);
  }
  if (o.to.empty() && !model.run.to)
    throw ModelError({{{},
                       "nothing says how long the motions are to be",
                       "write `to = 10.0` in the section [run], or give --to 10"}},
                     model.source);
  setup.options.to = o.to.empty() ? *model.run.to : parse_number(o.to, "--to");
  if (!(setup.options.to > start.t))
    throw UsageError(fmt::format("the motions would end at t = {}, but they start at t = {}",
                                 short_number(setup.options.to), short_number(start.t)));
  // Beyond that a step would not move the time, and steps could not be counted.
  constexpr double eps = std::numeric_limits<double>::epsilon();
  if (setup.options.method == EnsembleMethod::rk4 &&
      !(setup.options.step > 4.0 * eps * std::max(std::abs(start.t), std::abs(setup.options.to))))
    throw UsageError(fmt::format("--step {}: it is lost in the rounding of the time, which goes to {}", o.step,
                                 short_number(setup.options.to)));
}

std::shared_ptr<const SamplePlan> plan_of(SweepSetup& setup, bool check_hash) {
  if (setup.samples_file.empty()) {
    std::vector<Variation> variations;
    for (const std::string& text : setup.vary) try {
        variations.push_back(parse_variation(text));
      } catch (const std::invalid_argument& e) {
        throw UsageError(fmt::format("--vary {}", e.what()));
      }
    return std::make_shared<SamplePlan>(std::move(variations), setup.samples);
  }
  SampleTable table;
  try {
    table = read_samples(setup.samples_file);
  } catch (const std::invalid_argument& e) {
    throw BadSamples(e.what());
  }
  const std::uint64_t hash = hash_samples(table);
  if (check_hash && hash != setup.samples_hash)
    throw BadSamples(fmt::format("{}: these are not the samples that the sweep was begun with", setup.samples_file));
  setup.samples_hash = hash;
  return std::make_shared<SamplePlan>(std::move(table));
}

void take_stored_start(SweepSetup& setup, const Model& model, const ParameterValues& parameters,
                       const CommandOptions& o) {
  const System system(model, parameters.values);
  std::optional<double> at;
  if (!o.start_at.empty()) at = parse_number(o.start_at, "--at");
  const StoredState stored = o.start_from.empty() ? find_start(system) : read_stored_state(system, o.start_from, at);
  if (!stored.begins_otherwise.empty())
    throw UsageError(
        fmt::format("the result that the motions go on from has {}, and motions of a sweep begin as the model says: "
                    "`run --from` goes on with that",
                    stored.begins_otherwise));
  const State& state = stored.state;
  for (int i = 0; i < system.n(); ++i) {
    setup.position.emplace(system.coordinate(i), state.q(i));  // what is given stays
    setup.velocity.emplace(system.coordinate(i), state.qd(i));
  }
  if (!setup.time) setup.time = state.t;
}

/// A sweep that can be run.
struct Prepared {
  SweepSetup setup;
  std::unique_ptr<BlockMaker> maker;
};

Prepared prepare(const CommandOptions& o, const std::string& resume) {
  Prepared made;
  SweepSetup& setup = made.setup;
  const bool again = !resume.empty();
  if (again && !o.model.empty()) {
    setup = read_sweep_setup(resume);
    if (const auto own = text_with_base(o);
        (own ? *own : read_model(o.model, setup.set).source.text) != setup.model.text)
      throw BadSamples(fmt::format("{}: this is not the model of the sweep in {}; leave it out", o.model, resume));
  }
  setup = again ? read_sweep_setup(resume) : setup_of(o);
  if (!again && !o.output.empty()) setup.format = o.output.ends_with(".h5") ? "h5" : "csv";
  const auto text = again ? std::nullopt : text_with_base(o);
  const auto read = [&](const ParameterOverrides& set) {
    if (again) return read_model_text(setup.model.text, setup.model.file, set);
    return text ? read_model_text(*text, o.model, set) : read_model(o.model, set);
  };
  Model model = read(setup.set);
  std::shared_ptr<const SamplePlan> plan;
  try {
    plan = plan_of(setup, again);
    if (!again && open_inputs(*plan, model, setup.set)) model = read(setup.set);
    if (!again && open_starts_of_joints(setup, *plan, model, read)) model = read(setup.set);
    // Joints that are constraints begin where parameters say.
    std::vector<std::string> names = plan->names();
    for (std::string& name : names)
      if (setup.set.contains(start_parameter(name))) name = start_parameter(name);
    const ParameterValues parameters = evaluate_parameters(model, setup.set);
    const std::uint64_t parameters_hash = hash_numbers(parameters.values) ^ hash_tables(model.tables);
    if (again && setup.parameters_hash != parameters_hash)
      throw BadSamples(fmt::format("{}: a file that it takes numbers from is not what it was when the sweep was begun",
                                   setup.model.file));
    setup.parameters_hash = parameters_hash;
    State start = state_of(start_state(model, parameters));
    if (!again)
      for (auto* given : {&setup.position, &setup.velocity, &setup.scale})
        for (auto& [name, value] : *given) value = in_si(model.units, name, value);
    // A start from a result is kept as what the command line gives: a sweep that is taken up again needs no result.
    if (!again && (model.start.from || !o.start_from.empty())) take_stored_start(setup, model, parameters, o);
    for (const auto& [values, x] : {std::pair{&setup.position, &start.q}, {&setup.velocity, &start.qd}})
      for (const auto& [name, value] : *values) {
        const int i = model.find_coordinate(name);
        if (i < 0)
          throw UsageError(
              fmt::format("--{}: the model has no coordinate `{}`", x == &start.q ? "position" : "velocity", name));
        (*x)(i) = value;
      }
    for (const auto& [name, value] : setup.scale) {
      if (model.find_coordinate(name) < 0)
        throw UsageError(fmt::format("--scale: the model has no coordinate `{}`", name));
      model.run.scale.insert_or_assign(name, value);
    }
    if (setup.time) start.t = *setup.time;
    if (!again) complete(setup, model, start, o);
    setup.model = model.source;
    const System system(std::move(model), parameters.values);
    refuse_rates({setup.velocity.begin(), setup.velocity.end()}, system, "--velocity");
    system.set_state_rates(start);
    const StartOverrides overrides{.parameters = setup.set,
                                   .position = setup.position,
                                   .velocity = setup.velocity,
                                   .time = setup.time,
                                   .as_given = setup.as_given};
    SampleStarts starts(system_at_start(system), names, overrides);
    const KeptValues kept(system, setup.keep);
    setup.options.summarise = kept.keeps_summary();
    setup.options.summarise_only = kept.summary_kept(system.summary().size());
    auto runner = make_runner(system, start, setup.options,
                              {.device = !again                       ? setup.device
                                         : setup.computed_on == "gpu" ? Device::gpu
                                                                      : Device::cpu,
                               .varied = starts.changing(),
                               .motions = plan->count()});
    setup.computed_on = runner->device();
    made.maker = std::make_unique<BlockMaker>(system, plan, std::move(starts), setup.keep, std::move(runner));
    setup.motions = plan->count();
    setup.begin = made.maker->time();
    setup.sample_names.clear(), setup.coordinates.clear();
    for (const std::string& name : plan->names()) {
      const bool is_start =
          system.model().find_coordinate(name.ends_with('\'') ? name.substr(0, name.size() - 1) : name) >= 0;
      setup.sample_names.push_back(is_start ? fmt::format("start({})", name) : name);
    }
    for (int i = 0; i < system.n(); ++i) setup.coordinates.push_back(system.coordinate(i));
    setup.kept_names = made.maker->kept_names();
  } catch (const std::invalid_argument& e) {
    if (plan && !setup.samples_file.empty()) throw BadSamples(fmt::format("{}: {}", setup.samples_file, e.what()));
    throw UsageError(e.what());
  }
  return made;
}

/// What is said on standard error at the end.
std::string summary(const SweepStore& store, const SweepSetup& setup, const SweepCounts& all) {
  std::string text = fmt::format("{}: {} done", count_noun(static_cast<std::size_t>(all.motions), "motion"),
                                 all.motions - all.suspect - all.stopped - all.failed);
  for (const auto& [count, what] :
       {std::pair{all.stopped, "stopped by an event"}, {all.suspect, "suspect"}, {all.failed, "failed"}})
    if (count > 0) text += fmt::format(", {} {}", count, what);
  text += '\n';
  constexpr std::size_t most = 10;
  for (const SweepReason& r : find_reasons(store, most))
    text += fmt::format("  motion {} ({}): {}\n", r.motion, sample_text(store, setup, r.motion), r.text);
  if (const std::int64_t more = all.suspect + all.failed - static_cast<std::int64_t>(most); more > 0)
    text += fmt::format("  … and {} more, in the result\n", more);
  for (const SweepStatistics& s : calc_statistics(store, setup)) {
    if (s.count == 0) continue;  // no motion came to its end, or none has a value
    text += fmt::format("{}: mean {}, standard deviation {}, median {}, 5 % below {}, 5 % above {}\n", s.name,
                        short_number(s.mean), short_number(s.deviation), short_number(s.quantiles[3]),
                        short_number(s.quantiles[1]), short_number(s.quantiles[5]));
  }
  if (!setup.coordinates.empty()) text += fmt::format("largest constraint violation: {:.1e}\n", all.violation);
  return text;
}

Exit exit_of(const SweepCounts& all) {
  if (all.failed == all.motions) return Exit::stopped;
  return all.failed + all.suspect == all.motions ? Exit::suspect : Exit::done;
}

Exit sweep(const CommandOptions& o, Ranks* ranks) {
  const bool first = !ranks || ranks->rank() == 0;
  const bool quiet = o.quiet || !first;
  if (!o.output.empty() && !o.output.ends_with(".h5") && !o.output.ends_with(".csv"))
    throw UsageError(fmt::format("-o {}: the ending says the format: .h5 or .csv", o.output));
  if (!o.resume.empty()) {
    for (const auto& [name, given] : {std::pair{"-o", !o.output.empty()},
                                      {"--vary", !o.vary.empty()},
                                      {"--samples", !o.samples.empty()},
                                      {"--count", !o.count.empty()},
                                      {"--seed", !o.seed.empty()},
                                      {"--sampling", !o.sampling.empty()},
                                      {"--method", !o.method.empty()},
                                      {"--step", !o.step.empty()},
                                      {"--to", !o.to.empty()},
                                      {"--tolerance", !o.tolerance.empty()},
                                      {"--scale", !o.scale.empty()},
                                      {"--device", !o.device.empty()},
                                      {"--keep", !o.keep.empty()},
                                      {"--as-given", o.as_given},
                                      {"--set", !o.set.empty()},
                                      {"--position", !o.position.empty()},
                                      {"--velocity", !o.velocity.empty()},
                                      {"--time", !o.time.empty()},
                                      {"--from", !o.start_from.empty()}})
      if (given) throw UsageError(fmt::format("--resume takes everything from the file: {} cannot be given", name));
  } else if (o.model.empty()) {
    throw UsageError("sweep: MODEL is required\nTry `mechanician sweep --help`.");
  }
  const int threads =
      o.threads.empty() ? 0 : static_cast<int>(std::min<std::int64_t>(parse_whole(o.threads, "--threads", 1), 4096));
  std::string file = o.resume.empty() ? o.output : o.resume;
  if (ranks && file.empty()) throw UsageError("sweep: under mpirun the result needs a file: give -o FILE.h5");
  Prepared prepared = prepare(o, o.resume);
  const SweepSetup& setup = prepared.setup;
  if (!quiet && setup.version != version())
    say("{}: note: begun by version {}, goes on with {}: the last digits may differ\n", file, setup.version, version());
  // Until here there is nothing to be kept, and a signal ends the process at once.
  const InterruptFlag interrupt;

  // The first process owns the result; the others may begin their parts when it has made sure of it.
  std::unique_ptr<SweepStore> store;
  const auto begin = o.resume.empty() ? SweepStore::Begin::anew : SweepStore::Begin::again;
  if (file.empty()) {
    store = std::make_unique<SweepStore>(setup);
  } else if (!ranks) {
    store = std::make_unique<SweepStore>(setup, file, 0, begin);
  } else {
    if (first) store = std::make_unique<SweepStore>(setup, file, 0, begin);
    file = ranks->broadcast(first ? store->part().path() : std::string());
    if (!first) store = std::make_unique<SweepStore>(setup, file, ranks->rank(), begin);
  }
  Work work(setup.motions, first ? store->done() : std::vector<MotionRange>{},
            preferred_block(prepared.maker->runner(), setup.motions));
  if (!quiet && !o.resume.empty()) say("{}: {} of {} motions are left\n", file, work.left(), setup.motions);

  SweepBar bar(quiet || o.json ? SweepBar::Mode::silent : SweepBar::Mode::if_terminal);
  auto synced = std::chrono::steady_clock::now();
  SweepCounts computed;  // in this call, over all ranks
  double seconds = 0.0;
  std::optional<double> raised_at;
  bool waiting = false;
  const SweepEnd end = run_sweep(
      *prepared.maker, work, {.threads = threads, .motions = setup.motions},
      [&](const SweepBlock& block) {
        store->append(block);
        if (const auto now = std::chrono::steady_clock::now(); now - synced > std::chrono::seconds(10))
          synced = now, store->sync();
      },
      [&](const SweepProgress& progress) {
        computed = progress.now, seconds = progress.seconds;
        bar.update(progress);
        if (!interrupt.raised()) return true;
        // Silence would look as if the signal were lost.
        if (!raised_at) raised_at = progress.seconds;
        if (!quiet && !waiting && progress.seconds - *raised_at > 1.0) {
          bar.clear();
          say("mechanician: interrupted: motions that are under way have three seconds to come to their end\n");
          waiting = true;
        }
        return false;
      },
      ranks);
  bar.clear();
  store->sync();
  std::int32_t interrupted = end.interrupted;
  if (ranks) ranks->broadcast(&interrupted, sizeof interrupted);
  if (interrupted && !file.empty()) {
    if (!quiet)
      say("mechanician: interrupted; what was computed is kept\nmechanician: `mechanician sweep --resume {}` does the "
          "rest\n",
          file);
    return Exit::interrupted;
  }

  if (interrupted && !quiet)
    say("mechanician: interrupted: {} of {} motions were computed\n", computed.motions, setup.motions);

  if (ranks && first) store->gather();
  store->sort();
  if (first && !interrupted) check_complete(*store, setup);
  if (setup.format == "h5") {
    write_sweep_hdf5(*store, setup, ranks);
  } else if (first && !(o.json && file.empty())) {
    if (file.empty()) {
      const auto sink = make_standard_output_sink();
      write_sweep_csv(*store, setup, [&](std::string_view text) { sink->append(text); });
      sink->finish();
    } else {
      write_sweep_csv(*store, setup);
    }
  }
  if (!first) return Exit::done;
  const SweepCounts all = count_motions(*store, setup);
  if (!quiet) {
    const std::string text = summary(*store, setup, all);
    say("{}{} steps in {:.3g} s: {:.3g} steps/s on {}{}, {}\n", text, computed.steps, seconds,
        static_cast<double>(computed.steps) / std::max(seconds, 1e-9),
        ranks ? fmt::format("{} ranks × ", ranks->size()) : "",
        count_noun(static_cast<std::size_t>(end.threads), "thread"),
        prepared.maker->runner().lanes() > 1
            ? fmt::format("{}, {} lanes", setup.computed_on, prepared.maker->runner().lanes())
            : setup.computed_on);
  } else if (all.failed + all.suspect > 0 && first) {
    say("mechanician: {} failed and {} suspect of {} motions\n", all.failed, all.suspect, all.motions);
  }
  if (!file.empty()) store->finish();
  if (o.json) {
    JsonWriter json;
    json.begin_object();
    const auto whole = [&](const char* name, std::int64_t value) {
      json.key(name).value(static_cast<Eigen::Index>(value));
    };
    whole("motions", all.motions), whole("failed", all.failed), whole("suspect", all.suspect),
        whole("stopped", all.stopped), whole("steps", all.steps);
    json.key("seconds").value(seconds);
    json.key("steps_per_second").value(static_cast<double>(computed.steps) / std::max(seconds, 1e-9));
    json.key("device").value(setup.computed_on);
    json.key("lanes").value(prepared.maker->runner().lanes());
    json.key("threads").value(end.threads);
    json.key("ranks").value(ranks ? ranks->size() : 1);
    json.key("largest_constraint_violation").value(all.violation);
    json.end_object();
    write_out(json.text());
  }
  return interrupted ? Exit::interrupted : exit_of(all);
}

/// Message and exit status of what a sweep can throw.
std::pair<std::string, Exit> describe_trouble() {
  try {
    throw;
  } catch (const ModelError& e) {
    return {e.what(), Exit::refused};
  } catch (const BadSamples& e) {
    // What stands in a file of samples must not steer the terminal, nor fill it.
    return {fmt::format("mechanician: {}", elided(safe_text(e.what()), 600)), Exit::refused};
  } catch (const UsageError& e) {
    return {fmt::format("mechanician: {}", e.what()), Exit::usage};
  } catch (const ReaderGone&) {
    return {{}, Exit::file};
  } catch (const FileError& e) {
    return {fmt::format("mechanician: {}", e.what()), Exit::file};
  } catch (const std::bad_alloc&) {
    return {"mechanician: out of memory", Exit::file};
  } catch (const std::exception& e) {
    return {fmt::format("mechanician: internal error: {}", e.what()), Exit::refused};
  }
}

}  // namespace

Exit run_sweep_command(const CommandOptions& options) {
  std::unique_ptr<Ranks> ranks;
  try {
    ranks = Ranks::join();
  } catch (const std::runtime_error& e) {
    throw UsageError(e.what());
  }
  try {
    return sweep(options, ranks.get());
  } catch (...) {
    const auto [text, exit] = describe_trouble();
    if (ranks && ranks->rank() != 0) {
      // What is wrong for all is said by the first; it ends this process meanwhile.
      std::this_thread::sleep_for(std::chrono::seconds(2));
    }
    if (!text.empty()) say("{}\n", text);
    if (ranks) ranks->abort(static_cast<int>(exit));
    return exit;
  }
}

}  // namespace mechanician
