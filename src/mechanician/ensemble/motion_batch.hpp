#pragma once

/// Many motions of one model: what is asked for, what became of each, and who runs them.
///
///     MotionBatch batch = …;                       // starts and parameters of some motions, one row each
///     BatchResult result(batch);
///     runner.run(batch, result);                   // a MotionRunner: one by one, in vector lanes, on a GPU
///
/// A motion of a batch does not depend on the others in it: any cut of the work gives the same bits with the same runner.
/// What goes wrong in one motion is its outcome, with a reason; it stops no other and is no exception.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mechanician/motion/motion_record.hpp"

namespace mechanician {

enum class EnsembleMethod : std::uint8_t {
  rk4,       ///< classical, with fixed steps
  adaptive,  ///< as `run` would, at a tolerance
};

struct EnsembleOptions {
  EnsembleMethod method = EnsembleMethod::adaptive;
  Method adaptive = Method::automatic;  ///< which of them, for EnsembleMethod::adaptive
  double step = 0.0;                    ///< of rk4; the last step is shortened to end at `to`
  double to = 0.0;
  double tolerance = 1e-10;
  bool summarise = false;              ///< follow what [summary] asks for; adaptive motions only, one by one
  std::vector<char> summarise_only{};  ///< by item of [summary]; empty: all
};

/// Whole steps from t to `to`, and the shorter one at the end: 0 where there is none.
struct StepCount {
  std::int64_t whole = 0;
  double rest = 0.0;
};
StepCount count_steps(double t, double to, double step);

/// Rows are motions. Starts are on the constraints, or were given as they are on purpose.
struct MotionBatch {
  int count = 0, num_parameters = 0, n = 0;
  double t = 0.0;                              ///< all begin at one time
  std::vector<double> parameters;              ///< count × num_parameters, in the order of model.parameters
  std::vector<double> q, qd;                   ///< count × n
  const std::atomic<bool>* abandon = nullptr;  ///< once it is true, whoever runs the motions throws Abandoned

  struct Abandoned {};
  /// Between two steps.
  void go_on() const {
    if (abandon && abandon->load(std::memory_order_relaxed)) throw Abandoned{};
  }
};

enum class Outcome : std::uint8_t {
  done,     ///< at `to`, and the certificate holds
  suspect,  ///< at `to`, but the certificate does not hold
  stopped,  ///< an event of the model ended it
  failed,   ///< it could not begin or go on
};
std::string_view describe(Outcome outcome);

struct BatchResult {
  BatchResult() = default;
  /// `num_summary`: numbers of [summary] that are followed.
  explicit BatchResult(const MotionBatch& batch, int num_summary = 0);

  int count = 0, n = 0, num_summary = 0;
  std::vector<double> t;      ///< count: where each motion ended
  std::vector<double> q, qd;  ///< count × n, at the end
  std::vector<Outcome> outcome;
  std::vector<std::string> reason;   ///< empty where done
  std::vector<std::int64_t> steps;   ///< accepted
  std::vector<std::int64_t> served;  ///< steps that the robust path or the single integrator took for it
  std::vector<std::int64_t>
      events;  ///< of the model, of contacts and of singular configurations (rk4: none are looked for)
  std::vector<double> violation;  ///< largest |φ|, |ψ| at the ends of steps (rk4: at the end of the motion)
  /// What there was at the end, where a state alone does not tell it (needs_single_runs); else empty.
  std::vector<Sample> ends;
  std::vector<double> balance;  ///< of energy and works, over what is allowed; not a number where not kept
  std::vector<double> summary;  ///< count × num_summary; not numbers where a motion failed
};

/// What fixed steps, which hold no constraint, are worth: a motion that was done is suspect where it ended off the constraints
/// by more than a thousandth (of its coordinates, if these are larger than one).
void judge_fixed_steps(BatchResult& result, int motion);

/// Not for several threads at once: each has its own, made by clone(), which shares the compiled code.
class MotionRunner {
 public:
  virtual ~MotionRunner() = default;
  virtual void run(const MotionBatch& batch, BatchResult& result) = 0;
  virtual std::unique_ptr<MotionRunner> clone() const = 0;
  virtual int lanes() const = 0;                ///< side by side
  virtual int preferred_batch() const = 0;      ///< motions per call that keep it busy
  virtual std::string_view device() const = 0;  ///< "cpu", "gpu"
};

}  // namespace mechanician
