#pragma once

/// Motions one after the other, each as `run` would compute it: switches, events, contacts, singular configurations and all.
/// The reference for the runners that are faster, and what they fall back on.
///
/// Equations are derived once, and code is compiled once for each choice of rows that are kept, with the parameters that vary
/// as inputs. A motion does not depend on those before it.

#include <memory>

#include "mechanician/ensemble/lane_equations.hpp"
#include "mechanician/ensemble/motion_batch.hpp"
#include "mechanician/motion/integrator.hpp"
#include "mechanician/motion/motion_family.hpp"

namespace mechanician {

class SingleRunner : public MotionRunner {
 public:
  /// `nominal`: a state like those of the motions. Throws std::invalid_argument for options that make no sense for this
  /// model.
  SingleRunner(const System& system, const State& nominal, EnsembleOptions options, const Varied& varied = {});
  SingleRunner(const SingleRunner& other);

  void run(const MotionBatch& batch, BatchResult& result) override;
  /// Motion i of a batch.
  void run_one(const MotionBatch& batch, int i, BatchResult& result);

  /// A motion that is not run to its end here, at its start; null where it cannot begin, which the result says then. It goes
  /// on under the parameters that the motions have (set_parameters).
  std::unique_ptr<Integrator> begin(const MotionBatch& batch, int i, BatchResult& result);
  void set_parameters(const MotionBatch& batch, int i);
  /// The result of a motion that is over.
  void finish(Integrator& integrator, int i, BatchResult& result) const;

  std::unique_ptr<MotionRunner> clone() const override;
  int lanes() const override { return 1; }
  int preferred_batch() const override { return 4; }
  std::string_view device() const override { return "cpu"; }

 private:
  void run_fixed(const MotionBatch& batch, const State& start, int i, BatchResult& result);

  std::unique_ptr<MotionFamily> family_;
  VariedParameters parameters_;
  EnsembleOptions options_;
};

/// Whether motions of a system are run one by one, because of what happens in them or is kept of them: events that change the
/// system, and forces in outputs and events.
bool needs_single_runs(const System& system);

/// Why steps of fixed size cannot be taken for a model; nothing where they can.
std::string refuse_fixed_steps(const Model& model);

}  // namespace mechanician
