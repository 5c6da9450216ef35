/// Ensembles on one core: motions of fixed steps against a program written by hand for this one mechanism,
/// accelerations in lanes, adaptive motions against single runs, and starts that are moved onto the constraints.
///
///     bench_ensemble MODELS BENCH_MODELS w4|threads|angles|w2|disk|squeezer|starts
///
/// MODELS and BENCH_MODELS are the folders of the model files. A line of JSON for each variant, as peers/contest.hpp has
/// it: nanoseconds of a step, an acceleration, a motion or a start, the quickest and the median, and how far the ends are off.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "mechanician/compile/compiled_function.hpp"
#include "mechanician/ensemble/adaptive_runner.hpp"
#include "mechanician/ensemble/lane_runner.hpp"
#include "mechanician/ensemble/sample_starts.hpp"
#include "mechanician/instant/measure_model.hpp"
#include "mechanician/instant/project.hpp"
#include "mechanician/model/parameters.hpp"
#include "mechanician/model/read_model.hpp"
#include "mechanician/motion/integrator.hpp"
#include "ready.hpp"

namespace {

using namespace mechanician;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// ---- W4 by hand: eight pendulums in a vector, two vectors side by side, multipliers by Cramer's rule.

typedef double Vector __attribute__((vector_size(64)));
constexpr int groups = 2, width = 8;
constexpr double mass1 = 1.0, mass2 = 1.5, gravity = 9.81;

struct HandPack {
  Vector x[groups][4], v[groups][4];
};

#if defined(__x86_64__)
#define WIDEST __attribute__((target("avx512f,avx512dq,avx512vl,fma"), optimize("fp-contract=fast", "O3")))
#else
#define WIDEST
#endif

WIDEST inline __attribute__((always_inline)) void accelerate(const Vector* x, const Vector* v, Vector* a) {
  constexpr double ratio = mass1 / mass2;
  const Vector dx = x[2] - x[0], dy = x[3] - x[1], du = v[2] - v[0], dw = v[3] - v[1];
  const Vector k11 = x[0] * x[0] + x[1] * x[1], k12 = -(x[0] * dx + x[1] * dy),
               k22 = (dx * dx + dy * dy) * (1.0 + ratio);
  const Vector e1 = gravity * x[1] - (v[0] * v[0] + v[1] * v[1]), e2 = -(du * du + dw * dw);
  const Vector over = 1.0 / (k11 * k22 - k12 * k12);
  const Vector l1 = (k22 * e1 - k12 * e2) * over, l2 = (k11 * e2 - k12 * e1) * over, share = l2 * ratio;
  a[0] = x[0] * l1 - dx * l2, a[1] = x[1] * l1 - dy * l2 - gravity;
  a[2] = dx * share, a[3] = dy * share - gravity;
}

WIDEST void advance_by_hand(HandPack& pack, double h, long steps) {
  Vector x[groups][4], v[groups][4];
  std::memcpy(x, pack.x, sizeof x), std::memcpy(v, pack.v, sizeof v);
  for (long i = 0; i < steps; ++i) {
    Vector sx[groups][4], sv[groups][4], y[groups][4], w[groups][4], a[groups][4];
    for (int g = 0; g < groups; ++g) accelerate(x[g], v[g], a[g]);
    for (int g = 0; g < groups; ++g)
      for (int c = 0; c < 4; ++c) {
        sx[g][c] = v[g][c], sv[g][c] = a[g][c];
        y[g][c] = x[g][c] + 0.5 * h * v[g][c], w[g][c] = v[g][c] + 0.5 * h * a[g][c];
      }
    for (const double part : {0.5 * h, h}) {
      for (int g = 0; g < groups; ++g) accelerate(y[g], w[g], a[g]);
      for (int g = 0; g < groups; ++g)
        for (int c = 0; c < 4; ++c) {
          sx[g][c] += 2.0 * w[g][c], sv[g][c] += 2.0 * a[g][c];
          y[g][c] = x[g][c] + part * w[g][c], w[g][c] = v[g][c] + part * a[g][c];
        }
    }
    for (int g = 0; g < groups; ++g) accelerate(y[g], w[g], a[g]);
    for (int g = 0; g < groups; ++g)
      for (int c = 0; c < 4; ++c) {
        x[g][c] += h / 6.0 * (sx[g][c] + w[g][c]);
        v[g][c] += h / 6.0 * (sv[g][c] + a[g][c]);
      }
  }
  std::memcpy(pack.x, x, sizeof x), std::memcpy(pack.v, v, sizeof v);
}

/// Double pendulums of many starts, in Cartesian coordinates or in angles.
MotionBatch pendulums(int begin, int count, bool angles) {
  MotionBatch batch;
  batch.count = count, batch.n = angles ? 2 : 4;
  for (int i = begin; i < begin + count; ++i) {
    const double upper = 0.3 + 1e-5 * i, lower = 0.9 - 1e-5 * i;
    const double x = std::sin(upper), y = -std::cos(upper);
    if (angles)
      batch.q.insert(batch.q.end(), {upper, lower});
    else
      batch.q.insert(batch.q.end(), {x, y, x + 0.8 * std::sin(lower), y - 0.8 * std::cos(lower)});
  }
  batch.qd.assign(batch.q.size(), 0.0);
  return batch;
}

/// Times of one piece of work, several times over.
class Times {
 public:
  void add(double seconds, double pieces) { ns_.push_back(1e9 * seconds / pieces); }
  void report(const std::string& variant, double error, const std::string& more = "") {
    std::sort(ns_.begin(), ns_.end());
    fmt::print("{{\"variant\": \"{}\", \"ns\": {:.6g}, \"median_ns\": {:.6g}, \"error\": {:.3e}{}{}}}\n", variant,
               ns_[0], ns_[ns_.size() / 2], error, more.empty() ? "" : ", ", more);
  }

 private:
  std::vector<double> ns_;
};

void run_by_hand(const MotionBatch& batch, double h, long steps, std::vector<double>& ends) {
  for (int k = 0; k + groups * width <= batch.count; k += groups * width) {
    HandPack pack;
    const auto place = [&](int g, int c, int l) { return static_cast<std::size_t>(4 * (k + g * width + l) + c); };
    for (int g = 0; g < groups; ++g)
      for (int c = 0; c < 4; ++c)
        for (int l = 0; l < width; ++l) pack.x[g][c][l] = batch.q[place(g, c, l)], pack.v[g][c][l] = 0.0;
    advance_by_hand(pack, h, steps);
    for (int g = 0; g < groups; ++g)
      for (int c = 0; c < 4; ++c)
        for (int l = 0; l < width; ++l) ends[place(g, c, l)] = pack.x[g][c][l];
  }
}

/// 100,000 motions of 1000 steps in slices, ours and the program by hand in turns. Errors: ours, the largest violation;
/// by hand, the largest difference to ours.
void w4(const std::string& models, bool angles) {
  constexpr int count = 100'000, slice = 320;  // of about 2 ms
  constexpr long steps = 1000;
  const Ready ready = read(models + (angles ? "/double_pendulum_angles.toml" : "/double_pendulum.toml"));
  const LaneRunnerResult made =
      make_lane_runner(ready.system, ready.start, {.method = EnsembleMethod::rk4, .step = 1e-3, .to = 1.0});
  auto& runner = dynamic_cast<LaneRunner&>(*made.made);
  runner.code().wait();
  const bool hand = !angles && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
  Times ours, theirs;
  double violation = 0.0, difference = 0.0;
  for (int begin = 0; begin + slice <= count; begin += slice) {
    const MotionBatch batch = pendulums(begin, slice, angles);
    BatchResult result(batch);
    std::vector<double> ends(batch.q.size());
    auto start = Clock::now();
    runner.run(batch, result);
    ours.add(seconds_since(start), slice * steps);
    violation = std::max(violation, *std::max_element(result.violation.begin(), result.violation.end()));
    if (!hand) continue;
    start = Clock::now();
    run_by_hand(batch, 1e-3, steps, ends);
    theirs.add(seconds_since(start), slice * steps);
    for (std::size_t i = 0; i < ends.size(); ++i) difference = std::max(difference, std::abs(ends[i] - result.q[i]));
  }
  ours.report(fmt::format("loop over steps, {} lanes, {}", runner.lanes(), describe(runner.code().tier())), violation);
  if (hand) theirs.report("by hand, 16 lanes", difference);
}

/// The loop of W4 on one thread and on two, in turns: as many motions for each.
void w4_threads(const std::string& models) {
  constexpr int count = 3200;
  const Ready ready = read(models + "/double_pendulum.toml");
  const LaneRunnerResult made =
      make_lane_runner(ready.system, ready.start, {.method = EnsembleMethod::rk4, .step = 1e-3, .to = 1.0});
  dynamic_cast<LaneRunner&>(*made.made).code().wait();
  const MotionBatch batch = pendulums(0, count, false);
  Times times[2];
  for (int round = 0; round < 20; ++round)
    for (int threads = 1; threads <= 2; ++threads) {
      std::vector<std::unique_ptr<MotionRunner>> runners;
      std::vector<BatchResult> results(static_cast<std::size_t>(threads), BatchResult(batch));
      for (int k = 0; k < threads; ++k) runners.push_back(made.made->clone());
      const auto begin = Clock::now();
      std::vector<std::thread> others;
      for (std::size_t k = 1; k < runners.size(); ++k)
        others.emplace_back([&, k] { runners[k]->run(batch, results[k]); });
      runners[0]->run(batch, results[0]);
      for (std::thread& thread : others) thread.join();
      times[threads - 1].add(seconds_since(begin), 1000.0 * count * threads);
    }
  times[0].report("1 thread", 0.0);
  times[1].report("2 threads", 0.0);
}

void w2(const std::string& models) {
  constexpr int count = 10'000;  // whole packs
  const Ready ready = read(models + "/arm7.toml");
  const AccelerationProgramResult made = make_program_near(ready.system, ready.start);
  const std::vector<State> states = states_near(ready.system, ready.start);
  std::vector<double> alone;
  for (const int lanes : {1, 8}) {
    CompiledFunction function(
        made.made->program,
        {.tier = lanes == 4 || lanes == 1 ? TierPolicy::automatic : TierPolicy::optimised, .lanes = lanes});
    function.wait();
    const std::size_t inputs = static_cast<std::size_t>(function.num_inputs() * lanes),
                      outputs = static_cast<std::size_t>(function.num_outputs() * lanes);
    AlignedNumbers x(inputs * static_cast<std::size_t>((count + lanes - 1) / lanes)), y(outputs);
    std::size_t at = 0;
    for (int k = 0; k < count; k += lanes, at += inputs)
      for (int l = 0; l < lanes; ++l) {
        const State& s = states[static_cast<std::size_t>(k + l) % states.size()];
        const auto set = [&](int i, double value) { x[at + static_cast<std::size_t>(i * lanes + l)] = value; };
        set(0, s.t);
        for (int i = 0; i < ready.system.n(); ++i) set(1 + i, s.q(i)), set(1 + ready.system.n() + i, s.qd(i));
      }
    Times times;
    double vouched = 1.0, difference = 0.0;
    for (int round = 0; round < 50; ++round) {
      const auto begin = Clock::now();
      at = 0;
      for (int k = 0; k < count; k += lanes, at += inputs) {
        function(x.data() + at, y.data());
        vouched = std::min(vouched, y[static_cast<std::size_t>(made.made->at_vouch * lanes)] > 0.0 ? 1.0 : 0.0);
      }
      times.add(seconds_since(begin), count);
    }
    // The last ones, beside those of one lane.
    for (int i = 0; i < ready.system.n(); ++i) {
      const double last = y[static_cast<std::size_t>((i + 1) * lanes - 1)];
      if (lanes == 1) alone.push_back(last);
      difference = std::max(difference, std::abs(last - alone[static_cast<std::size_t>(i)]));
    }
    times.report(fmt::format("{} lane{}, {}{}", lanes, lanes > 1 ? "s" : "", describe(function.tier()),
                             vouched > 0 ? "" : ", not vouched for"),
                 difference);
  }
}

// ---- Adaptive motions.

/// One after the other, as `run` would.
class Single : public MotionRunner {
 public:
  Single(const System& system, EnsembleOptions options) : system_(system), options_(options) {}
  void run(const MotionBatch& batch, BatchResult& result) override {
    const auto n = static_cast<std::size_t>(batch.n);
    for (std::size_t i = 0; i < static_cast<std::size_t>(batch.count); ++i) {
      const State start{batch.t, Eigen::Map<const Eigen::VectorXd>(batch.q.data() + i * n, batch.n),
                        Eigen::Map<const Eigen::VectorXd>(batch.qd.data() + i * n, batch.n)};
      Integrator integrator(system_, start,
                            {.to = options_.to, .tolerance = options_.tolerance, .method = options_.adaptive});
      while (integrator.advance()) {
      }
      const Sample end = integrator.sample(integrator.t());
      std::copy(end.q.begin(), end.q.end(), result.q.begin() + static_cast<std::ptrdiff_t>(i * n));
      result.steps[i] = integrator.statistics().steps;
      result.outcome[i] = integrator.certificate().holds ? Outcome::done : Outcome::suspect;
    }
  }
  std::unique_ptr<MotionRunner> clone() const override { return std::make_unique<Single>(*this); }
  int lanes() const override { return 1; }
  int preferred_batch() const override { return 1; }
  std::string_view device() const override { return "cpu"; }

 private:
  System system_;
  EnsembleOptions options_;
};

void adaptive(const std::string& models, const std::string& name, double to) {
  constexpr int count = 10'000, singles = 250;
  const Ready ready = read(models + "/" + name + ".toml");
  const EnsembleOptions options{.to = to, .tolerance = 1e-8};
  // Velocities that differ by a few per cent, on the constraints.
  MotionBatch batch;
  batch.n = ready.system.n(), batch.num_parameters = static_cast<int>(ready.system.parameters().size());
  batch.t = ready.start.t;
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(-0.05, 0.05);
  for (batch.count = 0; batch.count < count; ++batch.count) {
    State state = ready.start;
    for (Eigen::Index i = 0; i < state.qd.size(); ++i)
      state.qd(i) += uniform(random) * std::max(0.1, std::abs(state.qd(i)));
    const auto projected = project(ready.system, state);
    state = projected.state;
    batch.q.insert(batch.q.end(), state.q.begin(), state.q.end());
    batch.qd.insert(batch.qd.end(), state.qd.begin(), state.qd.end());
    batch.parameters.insert(batch.parameters.end(), ready.system.parameters().begin(), ready.system.parameters().end());
  }
  LaneOptions built_in;
  built_in.varied = std::vector<int>{};
  LaneRunnerResult made = make_adaptive_runner(ready.system, ready.start, options, built_in);
  if (!made.made) {
    fmt::print(stderr, "{}: {}\n", name, made.reason);
    return;
  }
  Times ours, theirs;
  MotionBatch some = batch;
  some.count = singles;
  BatchResult result(batch), alone(some);
  for (int round = 0; round < 2; ++round) {
    result = BatchResult(batch);
    auto begin = Clock::now();
    made.made->run(batch, result);
    ours.add(seconds_since(begin), count);
    begin = Clock::now();
    Single(ready.system, options).run(some, alone);
    theirs.add(seconds_since(begin), singles);
  }
  double difference = 0.0;
  long steps = 0, single_steps = 0, served = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    steps += result.steps[i], served += result.served[i] > 0;
    if (i >= singles) continue;
    single_steps += alone.steps[i];
    for (int j = 0; j < batch.n; ++j)
      difference =
          std::max(difference, std::abs(result.q[i * static_cast<std::size_t>(batch.n) + static_cast<std::size_t>(j)] -
                                        alone.q[i * static_cast<std::size_t>(batch.n) + static_cast<std::size_t>(j)]));
  }
  const auto more = [](double of_a_motion) { return fmt::format("\"steps\": {:.1f}", of_a_motion); };
  ours.report(fmt::format("{} lanes, {} of {} left to single runs", made.made->lanes(), served, count), difference,
              more(static_cast<double>(steps) / count));
  theirs.report("single runs", 0.0, more(static_cast<double>(single_steps) / singles));
}

/// A thousand starts of the arm with its second angle varied, from nothing compiled on, on two threads; some of them beside
/// project(), one at a time.
void starts(const std::string& models) {
  constexpr int count = 1000, block = 32, some = 20;
  const Ready ready = read(models + "/arm7.toml");
  const auto n = static_cast<std::size_t>(ready.system.n()), num = ready.system.parameters().size();
  std::vector<double> samples, parameters(count * num), q(count * n), qd(count * n);
  std::mt19937 random(1);
  for (int k = 0; k < count; ++k) samples.push_back(std::uniform_real_distribution<double>(-0.1, 0.1)(random));
  std::vector<std::string> trouble(count);
  Times moving, alone;
  for (int round = 0; round < 20; ++round) {
    const SampleStarts made(ready.system, {"q1"}, {});
    const auto begin = Clock::now();
    const auto work = [&](std::size_t first) {
      SampleStarts mine = made;
      for (std::size_t at = first; at < count; at += 2 * block) {
        const std::size_t size = std::min<std::size_t>(block, count - at);
        mine.make(std::span(samples).subspan(at, size), static_cast<int>(size), parameters.data() + at * num,
                  q.data() + at * n, qd.data() + at * n, trouble.data() + at);
      }
    };
    std::thread other(work, block);
    work(0);
    other.join();
    moving.add(seconds_since(begin), count);
  }
  double off = 0.0;
  for (std::size_t k = 0; k < some; ++k) {
    State given = ready.start;
    given.q(1) = samples[k];
    const auto begin = Clock::now();
    const Projection one = project(ready.system, given);
    alone.add(seconds_since(begin), 1);
    for (std::size_t i = 0; i < n; ++i)
      off = std::max(off, std::abs(one.state.q(static_cast<Eigen::Index>(i)) - q[k * n + i]));
  }
  moving.report("in lanes, 2 threads", off);
  alone.report("one at a time", 0.0);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc == 4 ? argv[3] : "";
  if (what == "w4" || what == "angles")
    w4(argv[2], what == "angles");
  else if (what == "threads")
    w4_threads(argv[2]);
  else if (what == "w2")
    w2(argv[1]);
  else if (what == "disk")
    adaptive(argv[1], "rolling_disk", 1.0);
  else if (what == "squeezer")
    adaptive(argv[1], "squeezer", 0.03);
  else if (what == "starts")
    starts(argv[1]);
  else {
    fmt::print(stderr, "bench_ensemble MODELS BENCH_MODELS w4|threads|angles|w2|disk|squeezer|starts\n");
    return 2;
  }
}
