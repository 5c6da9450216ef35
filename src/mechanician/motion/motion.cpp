#include "mechanician/motion/motion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/print.hpp"

namespace mechanician {

/// Steps are kept as checkpoints: a sample makes the step that it lies in again, which gives the same bits. A step in a
/// row of samples is made once.
struct Motion::Data {
  std::optional<System> system;
  State start;
  MotionOptions options;
  std::vector<double> times;
  std::vector<std::vector<double>> checkpoints;  ///< before step i, or empty where there is none
  Stop stop;
  std::vector<MotionEvent> events;
  Statistics statistics;
  Certificate certificate;
  std::vector<std::string> notes;
  std::vector<SummaryValue> summary;
  std::mutex mutex;
  std::unique_ptr<Integrator> worker;
  std::size_t worker_step = static_cast<std::size_t>(-1);
};

double Motion::begin() const { return data_->times.front(); }
double Motion::end() const { return data_->times.back(); }
const std::vector<double>& Motion::times() const { return data_->times; }
const Stop& Motion::stop() const { return data_->stop; }
const std::vector<MotionEvent>& Motion::events() const { return data_->events; }
const Statistics& Motion::statistics() const { return data_->statistics; }
const Certificate& Motion::certificate() const { return data_->certificate; }
const std::vector<std::string>& Motion::notes() const { return data_->notes; }
const std::vector<SummaryValue>& Motion::summary() const { return data_->summary; }

Sample Motion::sample(double t) const {
  Data& d = *data_;
  if (!(t >= d.times.front() && t <= d.times.back()))
    throw std::out_of_range(fmt::format("the motion is known from t = {} to {}, not at {}",
                                        number_text(d.times.front()), number_text(d.times.back()), number_text(t)));
  const std::lock_guard lock(d.mutex);
  // Step i ends at times[i + 1].
  const auto end = std::lower_bound(d.times.begin() + 1, d.times.end(), t);
  const std::size_t step = end == d.times.end() ? 0 : static_cast<std::size_t>(end - d.times.begin() - 1);
  if (t == d.times.front()) {
    Integrator fresh(*d.system, d.start, d.options);
    return fresh.sample(t);
  }
  if (!d.worker || d.worker_step != step) {
    std::size_t from = step;
    while (from > 0 && d.checkpoints[from].empty()) --from;
    if (!d.worker || d.worker_step >= step || d.worker_step < from) {
      d.worker = std::make_unique<Integrator>(*d.system, d.start, d.options);
      if (from > 0) d.worker->restore(d.checkpoints[from], {}, {});
      d.worker->advance();
      d.worker_step = from;
    }
    while (d.worker_step < step) d.worker->advance(), ++d.worker_step;
  }
  return d.worker->sample(t);
}

Motion integrate(const System& system, const State& start, const MotionOptions& options, const StepCallback& on_step) {
  auto data = std::make_shared<Motion::Data>();
  data->system = system, data->start = start, data->options = options;
  Integrator integrator(system, start, options);
  data->times.push_back(start.t);
  const auto keep = [&] {
    data->checkpoints.push_back(integrator.at_checkpoint() ? integrator.checkpoint() : std::vector<double>{});
  };
  keep();
  while (integrator.advance()) {
    data->times.push_back(integrator.t());
    keep();
    if (on_step && !on_step(integrator)) integrator.request_stop("stopped by the caller");
  }
  data->stop = integrator.stop();
  data->events = integrator.events();
  data->statistics = integrator.statistics();
  data->certificate = integrator.certificate();
  data->notes = integrator.notes();
  data->summary = integrator.summary();
  return Motion(std::move(data));
}

}  // namespace mechanician
