#include "mechanician/instant/measure_model.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <random>
#include <utility>

#include "mechanician/instant/accelerate.hpp"
#include "mechanician/instant/project.hpp"
#include "mechanician/large/large_system.hpp"
#include "mechanician/solve/factorisation.hpp"
#include "mechanician/solve/row_selection.hpp"
#include "mechanician/solve/sparse_elimination.hpp"
#include "mechanician/solve/sparse_instant.hpp"

namespace mechanician {

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/// Something that is timed: `pass` does `size` evaluations.
struct Timed {
  std::function<void()> pass;
  int size = 1;
};

/// In turns, so that whatever else the machine does meets all alike. Rounds are long enough for the clock and many
/// enough for a median; a pass that takes longer than there is time for is done once.
std::vector<Nanoseconds> time_of(const std::vector<Timed>& all, double seconds) {
  constexpr double least_ms = 0.1;
  constexpr int fewest_rounds = 3, most_rounds = 501;
  const auto time_passes = [](const Timed& timed, long count) {
    const auto begin = Clock::now();
    for (long k = 0; k < count; ++k) timed.pass();
    return milliseconds_since(begin) / static_cast<double>(count);
  };
  const double allowed = 1e3 * seconds;
  std::vector<long> counts;
  std::vector<std::vector<double>> rounds(all.size());
  for (std::size_t k = 0; k < all.size(); ++k) {
    double once = time_passes(all[k], 1);
    if (once > allowed)
      rounds[k].push_back(once);
    else
      once = std::min(once, time_passes(all[k], 1));
    counts.push_back(once > allowed ? 0 : std::max(1L, std::lround(least_ms / std::max(once, 1e-6))));
  }
  const auto begin = Clock::now();
  for (int round = 0; round < most_rounds; ++round) {
    if (round >= fewest_rounds && milliseconds_since(begin) > allowed * static_cast<double>(all.size())) break;
    for (std::size_t k = 0; k < all.size(); ++k)
      if (counts[k] > 0) rounds[k].push_back(time_passes(all[k], counts[k]));
  }
  std::vector<Nanoseconds> result;
  for (std::size_t k = 0; k < all.size(); ++k) {
    std::vector<double>& times = rounds[k];
    std::sort(times.begin(), times.end());
    const auto at = [&](std::size_t tenths) { return times[(times.size() - 1) * tenths / 10] * 1e6 / all[k].size; };
    result.push_back({at(5), at(0), at(9)});
  }
  return result;
}

std::vector<double> inputs_of(const State& state) {
  std::vector<double> x{state.t};
  x.insert(x.end(), state.q.begin(), state.q.end());
  x.insert(x.end(), state.qd.begin(), state.qd.end());
  return x;
}

struct Answered {
  State state;
  Instant instant;
};

std::vector<Answered> answers_near(const System& system, const State& start, const MeasureOptions& options) {
  // A state beside the start would not touch what the start touches.
  if (system.has_contacts()) {
    Instant instant = accelerate(system, start, {.diagnose = false});
    const bool any = std::any_of(instant.contacts.begin(), instant.contacts.end(),
                                 [](const Contact& c) { return c.status != ContactStatus::open; });
    if (any || !instant.has_acceleration()) return {{start, std::move(instant)}};
  }
  constexpr double most_ms = 1000.0, slow_ms = 100.0;
  constexpr unsigned seed = 1993;
  const auto begin = Clock::now();
  // Where one answer takes so long, a projection takes longer than all that is measured.
  if (system.kernels()) {
    std::vector<Answered> alone{{start, accelerate(system, start, {.diagnose = false})}};
    if (milliseconds_since(begin) > slow_ms) return alone;
  }
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> beside(-options.spread, options.spread);
  std::vector<Answered> result;
  for (int k = 0; k < 2 * options.num_states && static_cast<int>(result.size()) < options.num_states; ++k) {
    if (k > 0 && milliseconds_since(begin) > most_ms) break;
    State near = start;
    for (double& x : near.q) x += beside(random) * std::max(1.0, std::abs(x));
    for (double& x : near.qd) x += beside(random) * std::max(1.0, std::abs(x));
    if (system.m() > 0) {
      Projection projection = project(system, near, ProjectionGoal::any);
      if (!projection.converged) continue;
      near = std::move(projection.state);
    }
    Instant instant = accelerate(system, near, {.diagnose = false});
    if (instant.has_acceleration()) result.push_back({std::move(near), std::move(instant)});
  }
  if (result.empty()) result.push_back({start, accelerate(system, start, {.diagnose = false})});
  return result;
}

/// Rows are left out that depend on others at the state of highest rank.
std::optional<ProgramOptions> options_for(const System& system, const std::vector<Answered>& answers,
                                          const MeasureOptions& asked, std::string& why_not) {
  const bool parameters_as_inputs = asked.parameters_as_inputs, beside = asked.beside_contacts;
  ProgramOptions options;
  // Contacts that are open do not act; what touches is for the general solver, and so is friction of what always does.
  std::vector<Eigen::Index> acting;
  for (Eigen::Index j = 0; j < answers.front().instant.values.A.rows(); ++j) acting.push_back(j);
  const std::vector<ContactRow> none;
  const std::vector<ContactRow>& contacts = system.has_contacts() ? system.equations().contacts : none;
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    const RowTraits& row = system.row(contacts[c].row);
    const bool touches = !beside && std::any_of(answers.begin(), answers.end(), [&](const Answered& a) {
      return a.instant.contacts.size() <= c || a.instant.contacts[c].status != ContactStatus::open;
    });
    if (row.one_sided && row.level == Level::position && !touches) {
      options.open.push_back(contacts[c].row);
    } else if (beside && row.bare && contacts[c].is_force && contacts[c].slip.size() == 1) {
      options.brakes.push_back(static_cast<int>(c));
    } else {
      why_not = "one-sided constraints and friction are decided by the general solver";
      return std::nullopt;
    }
    std::erase(acting, contacts[c].row);
  }
  const auto& general = *std::max_element(answers.begin(), answers.end(), [](const Answered& a, const Answered& b) {
    return a.instant.solution.rank < b.instant.solution.rank;
  });
  options.reference = inputs_of(general.state);
  if (parameters_as_inputs)
    options.reference.insert(options.reference.end(), system.parameters().begin(), system.parameters().end());
  else
    options.parameters = system.parameters();
  const Factorisation factors =
      factor(contacts.empty() ? general.instant.values : take_rows(general.instant.values, acting));
  const auto leave_out = [&](std::size_t j, bool zero) {
    (zero ? options.inert : options.dropped).push_back(static_cast<int>(acting[j]));
  };
  if (factors.sparse) {
    const std::vector<char>& zero = factors.sparse->zero_rows();
    for (const int j : factors.sparse->rows().dependent())
      leave_out(static_cast<std::size_t>(j), zero[static_cast<std::size_t>(j)]);
  } else {
    const RowFactor& rows = factors.rows;
    for (auto k = static_cast<std::size_t>(rows.rank); k < rows.order.size(); ++k) {
      const auto j = static_cast<std::size_t>(rows.order[k]);
      leave_out(j, rows.zero_row[j]);
    }
  }
  options.singular_mass = !factors.definite;
  return options;
}

AccelerationProgramResult program_for(const System& system, const std::vector<Answered>& answers,
                                      const MeasureOptions& asked = {}) {
  std::string why_not;
  const std::optional<ProgramOptions> found = options_for(system, answers, asked, why_not);
  if (!found) return {std::nullopt, why_not};
  AccelerationOptions options;
  static_cast<ProgramOptions&>(options) = *found;
  options.most_steps = 80'000;  // as of motions
  return make_acceleration_program(system.equations(), options);
}

/// Numbers by kernels, the solution by elimination: as motions have them.
void measure_kernels(const System& system, const std::vector<Answered>& answers, const Timed& robust,
                     const MeasureOptions& options, ModelMeasurement& result) {
  LargeSystem& kernels = *system.kernels();
  const auto begin = Clock::now();
  SparseElimination elimination(kernels.pattern());
  result.program_ms = milliseconds_since(begin);
  LargeSystem::Values values = kernels.make_values();
  const auto n = static_cast<std::size_t>(system.n());
  LargeVector qdd(n), lambda(static_cast<std::size_t>(system.m()));
  double sink = 0.0;
  const auto accelerates = [&](const Answered& a) {
    const std::span<const double> q(a.state.q.data(), n), qd(a.state.qd.data(), n);
    const std::vector<double> sides = kernels.sides_at(a.state.t, q, qd);
    kernels.evaluate({a.state.t, q, qd, sides}, values);
    return elimination.factor_and_solve(values.M, values.A, values.Q, values.b, qdd, lambda).vouched();
  };
  for (const Answered& a : answers) {
    if (!accelerates(a)) {
      ++result.num_not_vouched;
      continue;
    }
    const Eigen::VectorXd& expected = a.instant.solution.qdd;
    const Eigen::Map<const Eigen::VectorXd> found(qdd.data(), expected.size());
    const double size = expected.cwiseAbs().maxCoeff(), off = (found - expected).cwiseAbs().maxCoeff();
    result.difference = std::max(result.difference.value_or(0.0), size > 0.0 ? off / size : off);
  }
  std::size_t at = 0;
  const Timed quick{[&] {
    if (!accelerates(answers[at])) sink += accelerate(system, answers[at].state, {.diagnose = false}).solution.qdd(0);
    sink += qdd[0];
    at = (at + 1) % answers.size();
  }};
  const std::vector<Nanoseconds> times = time_of({robust, quick}, options.seconds);
  result.robust = times[0], result.kernels = times[1];
  result.path = "sparse";
  result.num_operations = system.num_operations();
  if (sink == 42.0) result.program_ms += 1e-9;
}

int widest_lanes() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") ? 8 : 4;
#else
  return 4;
#endif
}

}  // namespace

std::vector<State> states_near(const System& system, const State& start, const MeasureOptions& options) {
  std::vector<State> states;
  for (Answered& a : answers_near(system, start, options)) states.push_back(std::move(a.state));
  return states;
}

std::optional<ProgramOptions> find_program_options(const System& system, const State& start,
                                                   const MeasureOptions& options, std::string& why_not) {
  return options_for(system, answers_near(system, start, options), options, why_not);
}

AccelerationProgramResult make_program_near(const System& system, const State& start, const MeasureOptions& options) {
  return program_for(system, answers_near(system, start, options), options);
}

ModelMeasurement measure_model(const System& system, const State& start, const MeasureOptions& options) {
  ModelMeasurement result;
  result.n = system.n(), result.m = system.m();
  const std::vector<Answered> answers = answers_near(system, start, options);
  result.num_states = static_cast<int>(answers.size());
  double sink = 0.0;  // what is computed is used

  std::size_t at = 0;
  const Timed robust{[&] {
    const Instant instant = accelerate(system, answers[at].state, {.diagnose = false});
    if (instant.has_acceleration()) sink += instant.solution.qdd.sum();
    at = (at + 1) % answers.size();
  }};

  if (system.kernels()) {
    measure_kernels(system, answers, robust, options, result);
    return result;
  }
  const auto begin = Clock::now();
  const AccelerationProgramResult made = program_for(system, answers);
  result.program_ms = milliseconds_since(begin);
  if (!made.made) {
    result.path = "qr: " + made.reason;
    result.num_operations = system.num_operations();
    result.robust = time_of({robust}, options.seconds)[0];
    return result;
  }
  const Program& program = made.made->program;
  const auto vouch = static_cast<std::size_t>(made.made->at_vouch);
  result.path = made.made->path;
  result.num_operations = static_cast<std::int64_t>(program.steps.size());

  std::vector<std::vector<double>> inputs;
  for (const Answered& a : answers) inputs.push_back(inputs_of(a.state));
  std::vector<double> outputs(program.outputs.size());
  std::vector<Timed> timed{robust};
  std::vector<CompiledFunction> functions;
  functions.reserve(3);
  for (const TierPolicy policy : {TierPolicy::interpreter, TierPolicy::quick, TierPolicy::optimised}) {
    // From the disk code would be there at once: what is asked is what making it costs.
    CompiledFunction made_now(program, {.tier = policy, .background = false, .cache = false});
    made_now(inputs[0].data(), outputs.data());
    const CompileReport report = made_now.report();
    const bool known = std::any_of(result.code.begin(), result.code.end(),
                                   [&](const CodeMeasurement& c) { return c.tier == report.tier; });
    if (known) continue;
    const double made_ms = report.tier == Tier::quick       ? report.quick_ms
                           : report.tier == Tier::optimised ? report.optimised_ms
                                                            : 0.0;
    result.code.push_back({report.tier, made_ms, {}});
    functions.push_back(std::move(made_now));
    timed.push_back({[&, &function = functions.back()] {
                       for (std::size_t k = 0; k < inputs.size(); ++k) {
                         function(inputs[k].data(), outputs.data());
                         if (!(outputs[vouch] > 0.0)) [[unlikely]]
                           sink += accelerate(system, answers[k].state, {.diagnose = false}).solution.qdd(0);
                         sink += outputs[0];
                       }
                     },
                     result.num_states});
  }

  for (const Answered& a : answers) {
    functions.front()(inputs[static_cast<std::size_t>(&a - answers.data())].data(), outputs.data());
    if (!(outputs[vouch] > 0.0)) {
      ++result.num_not_vouched;
      continue;
    }
    const Eigen::VectorXd& qdd = a.instant.solution.qdd;
    const double size = qdd.size() ? qdd.cwiseAbs().maxCoeff() : 0.0;
    const double off =
        qdd.size() ? (Eigen::Map<const Eigen::VectorXd>(outputs.data(), qdd.size()) - qdd).cwiseAbs().maxCoeff() : 0.0;
    result.difference = std::max(result.difference.value_or(0.0), size > 0.0 ? off / size : off);
  }

  // Many instances at once: packs of states that are already side by side.
  const int lanes = widest_lanes();
  CompiledFunction many(program, {.tier = TierPolicy::optimised, .background = false, .cache = false, .lanes = lanes});
  const auto width = static_cast<std::size_t>(lanes);
  const std::size_t num_packs = std::max<std::size_t>(1, answers.size() / width), num_inputs = inputs[0].size();
  std::vector<std::vector<double>> packs(num_packs, std::vector<double>(num_inputs * width));
  for (std::size_t p = 0; p < num_packs; ++p)
    for (std::size_t i = 0; i < num_inputs; ++i)
      for (std::size_t k = 0; k < width; ++k) packs[p][i * width + k] = inputs[(p * width + k) % inputs.size()][i];
  std::vector<double> pack_outputs(program.outputs.size() * width);
  many(packs[0].data(), pack_outputs.data());
  if (many.report().tier == Tier::optimised) {
    result.num_lanes = lanes;
    result.lanes_made_ms = many.report().optimised_ms;
    timed.push_back({[&] {
                       for (const std::vector<double>& pack : packs) {
                         many(pack.data(), pack_outputs.data());
                         sink += pack_outputs[0];
                       }
                     },
                     static_cast<int>(num_packs) * lanes});
  }

  const std::vector<Nanoseconds> times = time_of(timed, options.seconds);
  result.robust = times[0];
  for (std::size_t k = 0; k < result.code.size(); ++k) {
    result.code[k].time = times[k + 1];
    if (!result.best() || result.code[k].time.median < result.best()->time.median) result.in_use = static_cast<int>(k);
  }
  if (result.num_lanes) result.lanes = times.back();
  if (sink == 42.0) result.lanes_made_ms += 1e-9;
  return result;
}

}  // namespace mechanician
