#include "motion.hpp"

#include <fmt/format.h>

#include <chrono>
#include <stdexcept>

#include "mechanician/base/text.hpp"
#include "mechanician/output/json_writer.hpp"
#include "mechanician/report/report.hpp"
#include "mechanician/result/record.hpp"

namespace mechanician::python {

namespace {

class RowsInMemory final : public ResultWriter {
 public:
  explicit RowsInMemory(NativeRun& to) : to_(to) {}
  void row(std::span<const double> row) override { to_.rows.insert(to_.rows.end(), row.begin(), row.end()); }
  void flush(const RunState&) override {}
  void finish(const RunState& state) override {
    to_.words = state.summary;
    to_.events.assign(state.events.begin(), state.events.end());
  }

 private:
  NativeRun& to_;
};

MotionOptions options_of(const System& system, const State& start, const RunWishes& wishes) {
  const RunSettings& stated = system.run_settings();
  MotionOptions options;
  if (!wishes.to && !stated.to)
    throw std::invalid_argument("nothing says how long the run is to be: give `to`, or write it in [run] of the model");
  options.to = wishes.to ? *wishes.to : *stated.to;
  if (!(options.to > start.t))
    throw std::invalid_argument(fmt::format("the run would end at t = {}, but it starts at t = {}",
                                            short_number(options.to), short_number(start.t)));
  options.tolerance = wishes.tolerance.value_or(stated.tolerance);
  if (!(options.tolerance >= 1e-15 && options.tolerance <= 0.1))
    throw std::invalid_argument(
        fmt::format("tolerance is {}: it is from 1e-15 to 0.1", short_number(options.tolerance)));
  const std::string method = wishes.method.value_or(stated.method);
  const std::optional<Method> known = method_of(method);
  if (!known) throw std::invalid_argument(fmt::format("method is `{}`: it is auto, dop853 or bdf", method));
  options.method = *known;
  options.scale = system.scale();
  if (!wishes.scale.empty()) options.scale.resize(static_cast<std::size_t>(system.n()), 0.0);
  for (const auto& [name, value] : wishes.scale) {
    const int i = system.find_coordinate(name);
    if (i < 0) throw std::invalid_argument(fmt::format("scale: the model has no coordinate `{}`", name));
    if (!(value > 0.0)) throw std::invalid_argument(fmt::format("scale of `{}`: it must be positive", name));
    options.scale[static_cast<std::size_t>(i)] = value;
  }
  return options;
}

RunSetup setup_of(const NativeModel& model, const Start& start, const RunWishes& wishes) {
  const System& system = model.system();
  const std::optional<double> every = wishes.every ? wishes.every : system.run_settings().every;
  if (every && !(*every > 0.0)) throw std::invalid_argument("every: it must be positive");
  const State begin = model.accept_start(start, wishes.project);
  RunSetup setup = make_setup(system, begin, options_of(system, begin, wishes), every, wishes.verify);
  setup.columns = wishes.columns;
  return setup;
}

void refuse(const std::optional<Stop>& refusal) {
  if (refusal) throw std::invalid_argument(refusal->message);
}

}  // namespace

NativeRun run_motion(const NativeModel& model, const Start& start, const RunWishes& wishes, bool with_report,
                     const std::function<bool(double, double, double)>& go_on) {
  const System& system = model.system();
  Recorder recorder(system, setup_of(model, start, wishes));
  refuse(recorder.refusal());
  NativeRun run;
  run.header = recorder.header();
  run.columns = recorder.columns().names();
  std::optional<ReportRecorder> report;
  if (with_report) {
    if (!report_page()) throw std::invalid_argument("this build has no page for reports");
    const RunSetup& setup = run.header->setup;
    report.emplace(system, setup, view_for(system, setup.start));
    recorder.watch([&](Integrator& integrator) { report->look(integrator); });
  }
  RowsInMemory writer(run);
  auto last = std::chrono::steady_clock::now();
  recorder.run(writer, [&](const RunProgress& progress) {
    const auto now = std::chrono::steady_clock::now();
    if (now - last < std::chrono::milliseconds(100)) return true;
    last = now;
    return go_on(progress.begin, progress.now, progress.end);
  });
  JsonWriter json;
  json.begin_object();
  json.key("summary");
  write_summary(json, run.words, run.events, run.header->columns);
  json.key("events").begin_array();
  for (const MotionEvent& event : run.events) write_event(json, event, run.header->columns);
  json.end_array().end_object();
  run.summary = json.text();
  if (report) {
    report->finish(recorder.integrator());
    run.report = report_html(*report_page(), {system, run.header->setup.start, *report, run.words, run.events});
  }
  return run;
}

void NativeRun::save(const std::string& file) const {
  const std::optional<ResultFormat> format = format_of(file);
  if (!format)
    throw std::invalid_argument(fmt::format("{}: the ending says the format: .h5, .csv or .json", file));
  const auto writer = make_writer(file, *format, *header);
  const std::size_t width = columns.size();
  for (std::size_t at = 0; at < rows.size(); at += width) writer->row({rows.data() + at, width});
  writer->finish({words, events, std::nullopt});
}

NativeSteps::NativeSteps(const NativeModel& model, const Start& start, const RunWishes& wishes)
    : model_(model),
      setup_(setup_of(model_, start, wishes)),
      columns_(model_.system(), setup_.columns),
      names_(columns_.names()),
      integrator_(model_.system(), setup_.start, setup_.motion) {
  refuse(integrator_.refusal());
}

void NativeSteps::take(double t) {
  columns_.fill_row(integrator_.sample(t), row_);
  ++rows_;
}

bool NativeSteps::advance() {
  if (rows_ == 0) {
    take(setup_.start.t);
    return true;
  }
  const double end = setup_.motion.to;
  if (!setup_.every) {
    if (!integrator_.advance()) return false;
    take(std::min(integrator_.t(), end));
    return true;
  }
  const double next = std::min(setup_.start.t + static_cast<double>(rows_) * *setup_.every, end);
  if (t() >= end) return false;
  while (integrator_.t() < next)
    if (!integrator_.advance()) break;
  const double at = std::min(next, integrator_.t());
  if (!(at > t())) return false;
  take(at);
  return true;
}

}  // namespace mechanician::python
