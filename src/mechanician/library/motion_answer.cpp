#include "mechanician/library/motion_answer.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <span>
#include <stdexcept>

#include "mechanician/base/text.hpp"
#include "mechanician/instant/open_inputs.hpp"
#include "mechanician/library/instant_answer.hpp"
#include "mechanician/library/now_and_then.hpp"
#include "mechanician/motion/inputs.hpp"
#include "mechanician/motion/motion.hpp"
#include "mechanician/motion/motion_family.hpp"
#include "mechanician/motion/motion_steps.hpp"
#include "mechanician/output/json_writer.hpp"
#include "mechanician/report/report.hpp"
#include "mechanician/result/record.hpp"

namespace mechanician {

struct MotionAnswer::Data {
  System system;
  ResultHeader header;
  std::shared_ptr<const std::vector<std::string>> names;
  std::vector<double> rows = {};
  Summary summary = {};
  std::vector<MotionEvent> events = {};
  std::string report = {};
  std::mutex one_at_a_time = {};  ///< samples of the motion, rows that are completed
  std::unique_ptr<Motion> motion = {};
  // Rows that lack what follows from their states, and what finds it; none: all are there.
  std::vector<std::size_t> open_rows = {};
  std::vector<double> open_states = {};
  std::unique_ptr<Recorder> recorder = {};

  void complete() {
    const std::lock_guard lock(one_at_a_time);
    if (open_rows.empty()) return;
    const std::size_t size = open_states.size() / open_rows.size(), width = names->size();
    std::vector<double> row;
    for (std::size_t k = 0; k < open_rows.size(); ++k) {
      double* const to = rows.data() + open_rows[k] * width;
      header.columns.fill_row(recorder->integrator().complete_sample(*to, {open_states.data() + k * size, size}), row);
      std::copy(row.begin(), row.end(), to);
    }
    open_rows = {}, open_states = {};
    recorder.reset();
  }
};

namespace {

/// What finds the rest of rows later takes 50 to 250 KB, as some hundred rows do: with fewer it is not worth it, and programs may keep thousands of short motions.
constexpr std::size_t rows_that_wait = 256;

/// For a model with inputs, which vary.
std::unique_ptr<MotionFamily> family_for_inputs(const System& of, const State& start) {
  return has_open_inputs(of) ? std::make_unique<MotionFamily>(of, start, of.inputs_from_outside()) : nullptr;
}

std::size_t place_of(const std::vector<std::string>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) throw std::out_of_range(fmt::format("there is no column `{}`", name));
  return static_cast<std::size_t>(found - names.begin());
}

class RowsInMemory final : public ResultWriter {
 public:
  explicit RowsInMemory(MotionAnswer::Data& to) : to_(to) {}
  void row(std::span<const double> row) override { to_.rows.insert(to_.rows.end(), row.begin(), row.end()); }
  bool takes_states() const override { return true; }
  void row_of_state(std::span<const double> known, std::span<const double> state) override {
    to_.open_rows.push_back(to_.rows.size() / known.size());
    to_.open_states.insert(to_.open_states.end(), state.begin(), state.end());
    row(known);
  }
  void flush(const RunState&) override {}
  void finish(const RunState& state) override {
    to_.summary = state.summary;
    to_.events.assign(state.events.begin(), state.events.end());
  }

 private:
  MotionAnswer::Data& to_;
};

MotionOptions options_of(const System& system, const State& start, const MotionRequest& request) {
  const RunSettings& stated = system.run_settings();
  MotionOptions options;
  if (!request.to && !stated.to)
    throw std::invalid_argument("nothing says how long the run is to be: give `to`, or write it in [run] of the model");
  options.to = request.to ? *request.to : *stated.to;
  if (!(options.to > start.t))
    throw std::invalid_argument(fmt::format("the run would end at t = {}, but it starts at t = {}",
                                            short_number(options.to), short_number(start.t)));
  options.tolerance = request.tolerance.value_or(stated.tolerance);
  if (!(options.tolerance >= 1e-15 && options.tolerance <= 0.1))
    throw std::invalid_argument(
        fmt::format("tolerance is {}: it is from 1e-15 to 0.1", short_number(options.tolerance)));
  const std::string method = request.method.value_or(stated.method);
  const std::optional<Method> known = method_of(method);
  if (!known) throw std::invalid_argument(fmt::format("method is `{}`: it is auto, dop853 or bdf", method));
  options.method = *known;
  options.scale = system.scale();
  if (!request.scale.empty()) options.scale.resize(static_cast<std::size_t>(system.n()), 0.0);
  for (const auto& [name, value] : request.scale) {
    const int i = system.find_coordinate(name);
    if (i < 0) throw std::invalid_argument(fmt::format("scale: the model has no coordinate `{}`", name));
    if (!(value > 0.0)) throw std::invalid_argument(fmt::format("scale of `{}`: it must be positive", name));
    options.scale[static_cast<std::size_t>(i)] = value;
  }
  return options;
}

RunSetup setup_of(const System& system, const MotionRequest& request) {
  const std::optional<double> every = request.every ? request.every : system.run_settings().every;
  if (every && !(*every > 0.0)) throw std::invalid_argument("every: it must be positive");
  const State begin =
      accepted_start(system, start_of(system, request.position, request.velocity, request.time), request.project);
  RunSetup setup = make_setup(system, begin, options_of(system, begin, request), every, request.verify);
  setup.columns = request.columns;
  return setup;
}

/// Rows that would fill the memory of the machine are not begun.
void refuse_too_many_rows(const RunSetup& setup, std::size_t width) {
  if (!setup.every) return;
  const double rows = (setup.motion.to - setup.start.t) / *setup.every,
               bytes = rows * static_cast<double>(width * sizeof(double));
  const double memory = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  if (memory > 0.0 && bytes > 0.8 * memory)
    throw std::invalid_argument(
        fmt::format("{} rows of {} columns need {} GB, more than this machine has: choose a longer `every` or fewer "
                    "`columns`, or let the command line write a file",
                    short_number(rows), width, short_number(bytes * 1e-9)));
}

/// Numbers that a run to its end will have, as far as it is known beforehand; of a long one the first part.
std::size_t room_for_rows(const RunSetup& setup, std::size_t width) {
  if (!setup.every) return 0;
  constexpr double most = 8e6;
  return static_cast<std::size_t>(
      std::min(((setup.motion.to - setup.start.t) / *setup.every + 2.0) * static_cast<double>(width), most));
}

void refuse(const std::optional<Stop>& refusal) {
  if (refusal) throw std::invalid_argument(refusal->message);
}

}  // namespace

double NamedSample::value(std::string_view column) const { return row_[place_of(*names_, column)]; }

MotionAnswer System::integrate(const MotionRequest& request) const {
  auto made = std::make_unique<Recorder>(*this, setup_of(*this, request));
  Recorder& recorder = *made;
  refuse(recorder.refusal());
  const auto names = std::make_shared<const std::vector<std::string>>(recorder.columns().names());
  // Rows, and states that what is left open follows from.
  refuse_too_many_rows(recorder.header().setup, names->size() + static_cast<std::size_t>(2 * n() + num_constraints()));
  auto data = std::shared_ptr<MotionAnswer::Data>(
      new MotionAnswer::Data{.system = *this, .header = recorder.header(), .names = names});
  std::optional<ReportRecorder> report;
  if (request.report) {
    if (!report_page()) throw std::invalid_argument("this build has no page for reports");
    const RunSetup& setup = data->header.setup;
    report.emplace(*this, setup, view_for(*this, setup.start));
    recorder.watch([&](Integrator& integrator) { report->look(integrator); });
  }
  data->rows.reserve(room_for_rows(data->header.setup, data->names->size()));
  RowsInMemory writer(*data);
  NowAndThen now_and_then;
  double said = std::numeric_limits<double>::quiet_NaN();  // the time that the caller knows of
  recorder.run(writer, [&](const RunProgress& progress) {
    if (!request.progress || !now_and_then.is_time()) return true;
    said = progress.now;
    return request.progress(progress.begin, progress.now, progress.end);
  });
  if (const double at = data->summary.end;
      request.progress && data->summary.status != RunStatus::interrupted && at != said)
    request.progress(data->header.setup.start.t, at, data->header.setup.motion.to);
  if (report) {
    report->finish(recorder.integrator());
    data->report = report_html(*report_page(), {*this, data->header.setup.start, *report, data->summary, data->events});
  }
  recorder.watch({});
  if (!data->open_rows.empty()) data->recorder = std::move(made);
  if (data->open_rows.size() < rows_that_wait) data->complete();
  return MotionAnswer(std::move(data));
}

const std::vector<std::string>& MotionAnswer::columns() const { return *data_->names; }
std::size_t MotionAnswer::num_rows() const { return data_->rows.size() / data_->names->size(); }
std::span<const double> MotionAnswer::rows_so_far() const { return data_->rows; }
std::span<const double> MotionAnswer::rows() const {
  data_->complete();
  return data_->rows;
}

std::vector<std::size_t> MotionAnswer::left_open() const {
  const std::lock_guard lock(data_->one_at_a_time);
  std::vector<std::size_t> open;
  if (data_->open_rows.empty()) return open;
  const std::vector<char> known = data_->header.columns.in_state();
  for (std::size_t k = 0; k < known.size(); ++k)
    if (!known[k]) open.push_back(k);
  return open;
}

std::vector<double> MotionAnswer::column(std::string_view name) const {
  const std::size_t at = place_of(*data_->names, name), width = data_->names->size();
  if (const auto open = left_open(); std::binary_search(open.begin(), open.end(), at)) data_->complete();
  std::vector<double> values;
  for (std::size_t k = at; k < data_->rows.size(); k += width) values.push_back(data_->rows[k]);
  return values;
}

NamedSample MotionAnswer::sample(double t) const {
  const RunSetup& setup = data_->header.setup;
  const std::lock_guard lock(data_->one_at_a_time);
  if (!data_->motion)
    data_->motion = std::make_unique<Motion>(mechanician::integrate(data_->system, setup.start, setup.motion));
  std::vector<double> row;
  data_->header.columns.fill_row(data_->motion->sample(t), row);
  return {data_->names, std::move(row)};
}

std::string_view MotionAnswer::status() const { return name_of(data_->summary.status); }
bool MotionAnswer::trusted() const {
  return data_->summary.status == RunStatus::done || data_->summary.status == RunStatus::stopped;
}
std::string MotionAnswer::message() const { return data_->summary.message; }
const std::vector<MotionEvent>& MotionAnswer::events() const { return data_->events; }
const Certificate& MotionAnswer::certificate() const { return data_->summary.certificate; }
const std::string& MotionAnswer::report() const { return data_->report; }

std::string MotionAnswer::summary_json() const {
  JsonWriter json;
  json.begin_object();
  json.key("summary");
  write_summary(json, data_->summary, data_->events, data_->header.columns);
  json.key("events").begin_array();
  for (const MotionEvent& event : data_->events) write_event(json, event, data_->header.columns);
  json.end_array().end_object();
  return json.text();
}

void MotionAnswer::write(const std::string& file) const {
  const std::optional<ResultFormat> format = format_of(file);
  if (!format) throw std::invalid_argument(fmt::format("{}: the ending says the format: .h5, .csv or .json", file));
  const auto writer = make_writer(file, *format, data_->header);
  const std::size_t width = data_->names->size();
  data_->complete();
  for (std::size_t at = 0; at < data_->rows.size(); at += width) writer->row({data_->rows.data() + at, width});
  writer->finish({data_->summary, data_->events, std::nullopt});
}

struct MotionStepper::Data {
  Data(const System& of, const MotionRequest& request)
      : stated(of),
        setup(setup_of(of, request)),
        columns(of, setup.columns),
        names(columns.names()),
        family(family_for_inputs(of, setup.start)),
        integrator(family ? Integrator(*family, setup.start, setup.motion) : Integrator(of, setup.start, setup.motion)),
        progress(request.progress) {}
  const System& system() const { return family ? family->system() : integrator.system(); }
  /// Whether the caller wants to go on.
  bool goes_on() {
    return !progress || !now_and_then.is_time() || progress(setup.start.t, integrator.t(), setup.motion.to);
  }
  Sample sample(double t) {
    Sample sample = integrator.sample(t);
    if (!restarted) return sample;
    Works& now = sample.works;
    now.given += past.given, now.ideal += past.ideal, now.nonideal += past.nonideal, now.control += past.control;
    now.constraints += past.constraints;
    return sample;
  }
  void take(double t) {
    columns.fill_row(sample(t), row);
    ++rows;
  }

  /// Where the last row is. The last step may have gone beyond it: it is left, and another motion begins there.
  State leave() {
    if (rows == 0) return setup.start;
    const Sample now = sample(row.front());
    past = now.works, restarted = true;
    return {now.t, now.q, now.qd};
  }
  /// Other values of inputs that are numbers, or other inputs that are expressions in the model and numbers now: both from the last row on.
  void go_on_under(std::span<const double> values);
  void go_on_with(const ParameterOverrides& numbers);

  System stated;                   ///< with expressions where the model has them
  ParameterOverrides opened = {};  ///< inputs that are expressions in the model and numbers now
  RunSetup setup;
  Columns columns;
  std::vector<std::string> names;
  std::unique_ptr<MotionFamily> family;  ///< of a model with inputs, which vary
  Integrator integrator;
  std::function<bool(double, double, double)> progress;
  NowAndThen now_and_then = {};
  std::vector<double> row;
  long rows = 0;
  bool restarted = false;
  Works past = {};                ///< done before an input was set
  std::optional<Stop> stop = {};  ///< why it cannot go on with what was set
};

MotionStepper::MotionStepper(const System& system, const MotionRequest& request)
    : data_(std::make_unique<Data>(system, request)) {
  refuse(data_->integrator.refusal());
}
MotionStepper::~MotionStepper() = default;
MotionStepper::MotionStepper(MotionStepper&&) noexcept = default;

bool MotionStepper::advance() {
  Data& d = *data_;
  if (d.stop) return false;
  if (d.rows == 0) {
    d.take(d.setup.start.t);
    return true;
  }
  const double end = d.setup.motion.to;
  if (!d.setup.every) {
    if (!d.integrator.advance()) return false;
    d.take(std::min(d.integrator.t(), end));
    return true;
  }
  const double now = d.row.front(),
               next = std::min(d.setup.start.t + static_cast<double>(d.rows) * *d.setup.every, end);
  if (now >= end) return false;
  while (d.integrator.t() < next) {
    if (!d.goes_on()) return false;
    if (!d.integrator.advance()) break;
  }
  const double at = std::min(next, d.integrator.t());
  if (!(at > now)) return false;
  d.take(at);
  return true;
}

const std::vector<std::string>& MotionStepper::columns() const { return data_->names; }
const std::vector<double>& MotionStepper::row() const { return data_->row; }
bool MotionStepper::failed() const { return data_->stop || data_->integrator.stop().failed(); }
std::string MotionStepper::message() const {
  return data_->stop ? data_->stop->message : data_->integrator.stop().message;
}

void MotionStepper::Data::go_on_under(std::span<const double> values) {
  State state = leave();
  family->set_parameters(values);
  family->system().set_state_rates(state);
  if ((stop = find_wrong_parameters(family->system(), state))) return;
  integrator = Integrator(*family, std::move(state), setup.motion);
  stop = integrator.refusal();
}

void MotionStepper::Data::go_on_with(const ParameterOverrides& numbers) {
  // Numbers that were set meanwhile stay.
  System next = stated;
  std::vector<double> values = next.parameters();
  for (const int i : next.inputs_from_outside()) {
    const std::size_t at = static_cast<std::size_t>(i);
    values[at] = system().parameters()[find_input(system(), next.model().parameters[at].name)];
  }
  if (values != next.parameters()) next.set_parameters(values);
  if (!numbers.empty()) next = with_number_inputs(next, numbers);
  opened = numbers;
  State state = leave();
  next.set_state_rates(state);
  if ((stop = find_wrong_parameters(next, state))) return;
  std::unique_ptr<MotionFamily> made = family_for_inputs(next, setup.start);
  integrator =
      made ? Integrator(*made, std::move(state), setup.motion) : Integrator(next, std::move(state), setup.motion);
  family = std::move(made);  // the integrator of the one before is gone
  stop = integrator.refusal();
}

void MotionStepper::set_input(std::string_view name, double value) {
  Data& d = *data_;
  const System& system = d.system();
  const bool expression = is_expression_input(system, std::string(name));
  if (expression && !std::isfinite(value))
    throw std::invalid_argument(fmt::format("the input `{}` cannot be {}: it is a finite number", name, value));
  const std::vector<double> values = expression ? std::vector<double>() : with_input(system, name, value);
  if (expression ? system.is_staged() : !d.family)
    throw std::invalid_argument(fmt::format(
        "the input `{}` cannot be set while the motion goes on: {}", name,
        system.kernels() ? "the model is so large that it is computed by kernels" : "events change the model"));
  const double now = d.rows == 0 ? d.setup.start.t : d.row.front();
  if (expression) {
    ParameterOverrides numbers = d.opened;
    numbers[std::string(name)] = value;
    if (now < d.setup.motion.to) d.go_on_with(numbers);
    return;
  }
  if (const auto found = d.opened.find(std::string(name)); found != d.opened.end()) found->second = value;
  if (values == system.parameters() || !(now < d.setup.motion.to)) return;
  d.go_on_under(values);
}

void MotionStepper::unset_input(std::string_view name) {
  Data& d = *data_;
  ParameterOverrides numbers = d.opened;
  if (numbers.erase(std::string(name)) == 0) {
    const std::size_t i = find_input(d.stated, name);
    // It may have been set before the motion began.
    std::optional<System> as_expression =
        d.stated.is_staged() ? std::nullopt : with_expression_input(d.stated, std::string(name));
    if (!as_expression) return set_input(name, d.stated.parameters()[i]);
    d.stated = *std::move(as_expression);
  }
  const double now = d.rows == 0 ? d.setup.start.t : d.row.front();
  if (now < d.setup.motion.to) d.go_on_with(numbers);
}

Integrator& MotionStepper::integrator() { return data_->integrator; }

}  // namespace mechanician
