#include "mechanician/ensemble/adaptive_runner.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "mechanician/ensemble/adaptive_pack.hpp"
#include "mechanician/ensemble/single_runner.hpp"

namespace mechanician {

namespace {

/// A motion comes back to a lane after so many steps at least, twice as many each time that it was in vain.
constexpr std::int64_t least_service = 1, longest_service = 64, worth_a_lane = 8;

class AdaptiveRunner : public MotionRunner {
 public:
  AdaptiveRunner(AdaptiveCode code, std::optional<AdaptiveCode> wider, VariedParameters parameters,
                 const EnsembleOptions& options, const SingleRunner& single)
      : code_(std::move(code)),
        wider_(std::move(wider)),
        parameters_(std::move(parameters)),
        options_(options),
        single_(single) {}

  std::unique_ptr<MotionRunner> clone() const override { return std::make_unique<AdaptiveRunner>(*this); }
  int lanes() const override { return wider_ ? wider_->lanes : code_.lanes; }
  int preferred_batch() const override { return 32 * lanes(); }
  std::string_view device() const override { return "cpu"; }

  void run(const MotionBatch& batch, BatchResult& result) override {
    parameters_.check(batch);
    if (options_.to > batch.t)
      run_lanes(wider_ && is_ready(*wider_) ? *wider_ : code_, batch, result);
    else
      single_.run(batch, result);
  }

 private:
  /// A motion that has been in the hands of a single run.
  struct Served {
    std::unique_ptr<Integrator> integrator;
    HandedMotion handed;                                        ///< for the next lane
    std::vector<double> row_sizes;                              ///< of its start; empty where no lane has seen it
    std::int64_t least = least_service, steps = 0, events = 0;  ///< events: seen in lanes
  };

  /// Any code gives the same bits.
  void run_lanes(AdaptiveCode& code, const MotionBatch& batch, BatchResult& result) {
    AdaptivePack pack(code, options_), waiting(code, options_);
    const int count = code.lanes;
    std::vector<AdaptivePack::Entry> entries(static_cast<std::size_t>(count));
    std::map<int, Served> served;
    std::deque<int> back;         // from the single run
    int next = 0, ready = count;  // waiting lanes before `ready` are gone
    const auto leave = [&](const AdaptivePack& from, int l) {
      Served& motion = served[from.lanes[static_cast<std::size_t>(l)].motion];
      if (serve(motion, from, l, batch, result))
        back.push_back(from.lanes[static_cast<std::size_t>(l)].motion);
      else
        served.erase(from.lanes[static_cast<std::size_t>(l)].motion);
    };
    const auto refill = [&](int l) {
      for (;;) {
        for (; ready < count; ++ready) {
          const AdaptivePack::Lane& lane = waiting.lanes[static_cast<std::size_t>(ready)];
          if (lane.motion < 0) continue;
          if (lane.fate != AdaptivePack::Fate::running) {
            leave(waiting, ready);
            continue;
          }
          pack.take(l, waiting, ready++);
          return true;
        }
        if (next >= batch.count && back.empty()) return false;
        for (AdaptivePack::Entry& entry : entries) {
          entry = {};
          if (!back.empty()) {
            const Served& motion = served.at(entry.motion = back.front());
            entry.handed = &motion.handed, entry.row_sizes = &motion.row_sizes;
            back.pop_front();
          } else if (next < batch.count) {
            entry.motion = next++;
          }
        }
        waiting.begin(batch, parameters_.varied(), entries);
        ready = 0;
      }
    };
    int running = 0;
    for (int l = 0; l < count; ++l) running += refill(l) ? 1 : 0;
    while (running > 0) {
      batch.go_on();
      pack.advance();
      for (int l = 0; l < count; ++l) {
        AdaptivePack::Lane& lane = pack.lanes[static_cast<std::size_t>(l)];
        if (lane.motion < 0 || lane.fate == AdaptivePack::Fate::running) continue;
        if (lane.fate == AdaptivePack::Fate::done && !served.contains(lane.motion) && pack.holds(l))
          keep(pack, l, result);
        else
          leave(pack, l);
        lane.motion = -1;
      }
      // Those that came back are brought into lanes together.
      for (int l = 0; l < count; ++l)
        if (pack.lanes[static_cast<std::size_t>(l)].motion < 0 && refill(l)) ++running;
      running = static_cast<int>(
          std::count_if(pack.lanes.begin(), pack.lanes.end(), [](const auto& lane) { return lane.motion >= 0; }));
    }
  }

  void keep(const AdaptivePack& pack, int l, BatchResult& result) const {
    const AdaptivePack::Lane& lane = pack.lanes[static_cast<std::size_t>(l)];
    const auto motion = static_cast<std::size_t>(lane.motion), n = static_cast<std::size_t>(result.n),
               count = pack.lanes.size();
    for (std::size_t i = 0; i < n; ++i) {
      result.q[motion * n + i] = pack.y[i * count + static_cast<std::size_t>(l)];
      result.qd[motion * n + i] = pack.y[(n + i) * count + static_cast<std::size_t>(l)];
    }
    result.t[motion] = lane.t;
    result.outcome[motion] = Outcome::done;
    result.steps[motion] = lane.steps;
    result.events[motion] = lane.events;
    result.violation[motion] = lane.violation;
    result.balance[motion] = lane.ledger.largest() / lane.ledger.allowed();
  }

  /// From where the lane is until the motion may come back to one. False where it is over: the result says how it ended.
  bool serve(Served& motion, const AdaptivePack& pack, int l, const MotionBatch& batch, BatchResult& result) {
    const AdaptivePack::Lane& lane = pack.lanes[static_cast<std::size_t>(l)];
    const auto at = static_cast<std::size_t>(lane.motion);
    const std::int64_t in_lane = lane.steps - lane.begun_with;
    bool moved = in_lane > 0;
    if (!motion.integrator) {
      motion.integrator = single_.begin(batch, lane.motion, result);
      if (!motion.integrator) return false;
      // What the single run does not begin as the lane did it does anew.
      moved &= motion.integrator->can_hand_over();
    } else {
      single_.set_parameters(batch, lane.motion);
      motion.least = in_lane < worth_a_lane ? std::min(2 * motion.least, longest_service) : least_service;
    }
    if (lane.stiff) motion.least = longest_service;
    if (moved) {
      motion.integrator->take_back(pack.hand_over(l));
      motion.row_sizes = pack.row_sizes(l);
      motion.events += lane.events;
    }
    Integrator& integrator = *motion.integrator;
    for (std::int64_t steps = 0; integrator.advance();) {
      ++motion.steps;
      batch.go_on();
      if (++steps < motion.least || !integrator.can_hand_over()) continue;
      motion.handed = integrator.hand_over();
      return true;
    }
    single_.finish(integrator, lane.motion, result);
    result.served[at] = motion.steps;
    result.events[at] += motion.events;
    return false;
  }

  AdaptiveCode code_;
  std::optional<AdaptiveCode> wider_;
  VariedParameters parameters_;
  EnsembleOptions options_;
  SingleRunner single_;
};

}  // namespace

LaneRunnerResult make_adaptive_runner(const System& system, const State& nominal, const EnsembleOptions& options,
                                      const LaneOptions& lanes) {
  if (options.adaptive == Method::bdf) return {nullptr, "the implicit method"};
  if (!system.scale().empty()) return {nullptr, "typical sizes that are given"};
  for (const ContactRow& c : system.equations().contacts)
    if (!system.row(c.row).one_sided) return {nullptr, "friction of two-sided constraints"};
  PhaseSystem flight;
  if (system.has_contacts())
    flight =
        make_phase_system(system, std::vector<ContactStatus>(system.equations().contacts.size(), ContactStatus::open));
  const System& smooth = flight.system ? *flight.system : system;
  const RowsLeftOut dependent = find_dependent_rows(smooth, nominal);
  if (dependent.doubtful) return {nullptr, nearly_dependent};
  const ProgramOptions programs = make_lane_options(smooth, nominal, dependent, lanes.varied);
  AdaptiveCodeResult code = make_adaptive_code(system, smooth, programs, dependent, lanes.code.lanes);
  if (!code.made) return {nullptr, code.reason};
  return {
      std::make_unique<AdaptiveRunner>(std::move(*code.made), std::move(code.wider), VariedParameters(system, programs),
                                       options, SingleRunner(system, nominal, options, lanes.varied)),
      {}};
}

}  // namespace mechanician
