#include "mechanician/result/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "mechanician/result/verify_internal.hpp"

namespace mechanician {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// When to bring rows to the file: often, but for at most a twentieth of the time.
class FlushPolicy {
 public:
  bool due(long rows_waiting) const {
    const double waited = seconds_since(last_);
    return waited > 20.0 * cost_ && (rows_waiting >= 256 || waited > 0.5);
  }
  template <class F>
  void flush(F&& f) {
    const auto begin = Clock::now();
    f();
    last_ = Clock::now();
    cost_ = std::chrono::duration<double>(last_ - begin).count();
  }

 private:
  Clock::time_point last_ = Clock::now();
  double cost_ = 0.0;
};

}  // namespace

class Recorder::Impl {
 public:
  Impl(const System& system, RunSetup given)
      : setup(std::move(given)), columns(system, setup.columns), integrator(system, setup.start, setup.motion) {
    if (setup.verify && !integrator.refusal()) second.emplace(system, setup);
  }

  Summary run(ResultWriter& writer, const ProgressCallback& on_progress) {
    begin_ = Clock::now();
    on_progress_ = &on_progress;
    if (watch) watch(integrator);
    if (rows_ == 0) emit(writer, setup.start.t);
    flush(writer);
    while (!interrupted_ && integrator.advance()) {
      if (watch) watch(integrator);
      emit_step(writer);
      if (!interrupted_) interrupted_ = !goes_on();
      if (!interrupted_ && (flushes_.due(rows_ - flushed_) || rare_checkpoint(writer))) flush(writer);
    }
    // An uninterrupted run has no row where this one was interrupted: the checkpoint must not know it.
    if (interrupted_) flush(writer);
    RunState last;
    if (!within_step_ && end_of_run() > last_time_) emit(writer, end_of_run());
    last.summary = summarise();
    last.events = integrator.events();
    if (last.summary.status == RunStatus::done && writer.keeps_checkpoints() && integrator.at_checkpoint() && !second)
      last.checkpoint = checkpoint(), last.checkpoint->wall_time = 0.0;  // to go on past the end
    writer.finish(last);
    return last.summary;
  }

  void restore(const RunCheckpoint& checkpoint) {
    integrator.restore(checkpoint.motion, checkpoint.events, checkpoint.notes);
    if (second) second->restore(checkpoint);
    rows_ = flushed_ = checkpoint.rows;
    next_ = checkpoint.grid_rows;
    wall_before_ = checkpoint.wall_time;
    last_time_ = setup.every ? row_time(next_ - 1) : integrator.t();
  }

  RunSetup setup;
  Columns columns;
  Integrator integrator;
  std::optional<SecondRun> second;
  std::function<void(Integrator&)> watch;

 private:
  double row_time(long k) const { return setup.start.t + static_cast<double>(k) * *setup.every; }
  double end_of_run() const { return std::min(integrator.t(), setup.motion.to); }

  void emit(ResultWriter& writer, double t) {
    if (const bool may_lack = writer.takes_states() && !second; !may_lack || !emit_state(writer, t)) {
      const Sample sample = integrator.sample(t);
      if (second && !second->compare(sample, integrator.events(), [&] { return goes_on(); })) {
        interrupted_ = within_step_ = true;
        return;
      }
      columns.fill_row(sample, row_);
      writer.row(row_);
      last_time_ = sample.t;
    }
    ++rows_;
    // Also where the end of the run is one of these times, as well as rounding can tell.
    if (setup.every && last_time_ >= row_time(next_) - 1e-6 * *setup.every) ++next_;
  }

  bool emit_state(ResultWriter& writer, double t) {
    const std::span<const double> state = integrator.sample_later(t);
    if (state.empty()) return false;
    last_time_ = std::clamp(t, integrator.step_begin(), integrator.t());
    columns.fill_row(last_time_, state, row_);
    writer.row_of_state(row_, state);
    return true;
  }

  /// The rows of the last accepted step.
  void emit_step(ResultWriter& writer) {
    if (!setup.every) {
      if (end_of_run() > last_time_) emit(writer, end_of_run());
      return;
    }
    // A row that all but coincides with the end is left to the end.
    const double last = setup.motion.to - 1e-6 * *setup.every;
    for (int count = 1;; ++count) {
      const double t = row_time(next_);
      if (!(t <= integrator.t()) || t >= last) return;
      emit(writer, t);
      if (interrupted_) return;
      // A step may have any number of rows.
      if (count % 64 == 0 && !goes_on()) {
        interrupted_ = within_step_ = true;
        return;
      }
    }
  }

  bool goes_on() {
    if (!*on_progress_) return true;
    return (*on_progress_)({.begin = setup.start.t,
                            .now = std::max(last_time_, std::min(integrator.t(), setup.motion.to)),
                            .end = setup.motion.to,
                            .steps = integrator.statistics().steps,
                            .rows = rows_,
                            .wall_time = wall_time()});
  }

  double wall_time() const { return wall_before_ + seconds_since(begin_); }

  RunCheckpoint checkpoint() const {
    RunCheckpoint c;
    c.rows = rows_, c.grid_rows = next_;
    c.events = integrator.events();
    c.motion = integrator.checkpoint();
    c.notes = integrator.notes();
    c.wall_time = wall_time();
    if (second) second->save(c);
    return c;
  }

  /// Between steps, where the method allows it: a multistep method does when it restarts.
  bool can_checkpoint() const { return !within_step_ && !integrator.over() && integrator.at_checkpoint(); }
  /// A chance that may not come again for long.
  bool rare_checkpoint(const ResultWriter& writer) const {
    return !checkpointed_ && writer.keeps_checkpoints() && can_checkpoint();
  }

  void flush(ResultWriter& writer) {
    flushes_.flush([&] {
      RunState state;
      state.summary = summarise();
      state.summary.status = RunStatus::incomplete;
      state.events = integrator.events();
      checkpointed_ = can_checkpoint();
      if (checkpointed_ && writer.keeps_checkpoints()) state.checkpoint = checkpoint();
      writer.flush(state);
      flushed_ = rows_;
    });
  }

  Summary summarise() const {
    Summary s;
    const Stop& stop = integrator.stop();
    s.message = stop.message;
    if (interrupted_) {
      s.status = RunStatus::interrupted;
      s.message = fmt::format("interrupted at t = {:.10g}", last_time_);
    } else if (stop.failed()) {
      s.status = RunStatus::failed;
    } else if (stop.reason == StopReason::callback) {
      s.status = RunStatus::interrupted;
    } else {
      s.status = stop.reason == StopReason::event ? RunStatus::stopped : RunStatus::done;
    }
    s.begin = setup.start.t;
    s.end = last_time_;
    s.rows = rows_;
    s.method = name_of(setup.motion.method);
    s.tolerance = setup.motion.tolerance;
    s.statistics = integrator.statistics();
    s.certificate = integrator.certificate();
    s.values = integrator.summary();
    s.notes = integrator.notes();
    if (second) second->judge(s.certificate, s.statistics, s.complete());
    if (s.complete() && !s.certificate.holds) s.status = RunStatus::suspect;
    s.wall_time = wall_time();
    return s;
  }

  Clock::time_point begin_ = Clock::now();
  double wall_before_ = 0.0;
  const ProgressCallback* on_progress_ = nullptr;
  FlushPolicy flushes_;
  std::vector<double> row_;
  long rows_ = 0, flushed_ = 0;
  long next_ = 0;  ///< start + k·every: the k of the next row
  double last_time_ = -std::numeric_limits<double>::infinity();
  bool interrupted_ = false;
  bool checkpointed_ = false;  ///< at the last flush
  bool within_step_ = false;   ///< interrupted before all rows of a step were out
};

Recorder::Recorder(const System& system, RunSetup setup) : impl_(std::make_unique<Impl>(system, std::move(setup))) {}
Recorder::~Recorder() = default;

const std::optional<Stop>& Recorder::refusal() const { return impl_->integrator.refusal(); }
ResultHeader Recorder::header() const { return {impl_->columns, impl_->setup}; }
const Columns& Recorder::columns() const { return impl_->columns; }
const Integrator& Recorder::integrator() const { return impl_->integrator; }
Integrator& Recorder::integrator() { return impl_->integrator; }
void Recorder::watch(std::function<void(Integrator&)> on_step) { impl_->watch = std::move(on_step); }

void Recorder::restore(const RunCheckpoint& checkpoint) { impl_->restore(checkpoint); }

Summary Recorder::run(ResultWriter& writer, const ProgressCallback& on_progress) {
  return impl_->run(writer, on_progress);
}

}  // namespace mechanician
