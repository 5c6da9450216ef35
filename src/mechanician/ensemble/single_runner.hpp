#pragma once

/// Motions one after the other, each as `run` would compute it: switches, events, contacts, singular configurations and all.
/// The reference for the runners that are faster, and what they fall back on.
///
/// What is compiled is compiled for each motion, for its parameters and its kept rows. A motion does not depend on those before it.

#include "mechanician/ensemble/motion_batch.hpp"
#include "mechanician/ensemble/varied_system.hpp"

namespace mechanician {

class SingleRunner : public MotionRunner {
 public:
  /// Throws std::invalid_argument for options that make no sense for this model.
  SingleRunner(const System& system, EnsembleOptions options);

  void run(const MotionBatch& batch, BatchResult& result) override;
  /// Motion i of a batch.
  void run_one(const MotionBatch& batch, int i, BatchResult& result);

  std::unique_ptr<MotionRunner> clone() const override;
  int lanes() const override { return 1; }
  int preferred_batch() const override { return 4; }
  std::string_view device() const override { return "cpu"; }

 private:
  void run_adaptive(const System& system, const State& start, int i, BatchResult& result);
  void run_fixed(const System& system, const State& start, int i, BatchResult& result);

  VariedSystem system_;
  EnsembleOptions options_;
};

/// Why steps of fixed size cannot be taken for a model; nothing where they can.
std::string refuse_fixed_steps(const Model& model);

}  // namespace mechanician
