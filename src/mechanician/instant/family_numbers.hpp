#pragma once

/// A stated model by kernels over the members of its families, as numbers at an instant: SparseRows on one pattern.

#include <memory>
#include <vector>

#include "mechanician/instant/system.hpp"
#include "mechanician/large/large_system.hpp"

namespace mechanician {

/// A model whose coordinates are families, and not named one by one. So many there must be for each that is named in the file: a ladder
/// of 82 coordinates that is written member by member takes three times as long by kernels of one member each.
bool is_stated_in_families(const FamilyModel& model);
/// Numbers come from kernels, and the model is not written out for what else is asked: it is stated in families, or too large. Where
/// kernels run over members that are named one by one, as those of bodies are, everything is there as of small models.
bool stays_in_families(const System& system);

class FamilyNumbers {
 public:
  /// With the kernels of it.
  FamilyNumbers(FamilyModel stated, std::shared_ptr<LargeSystem> kernels);

  const FamilyModel& stated() const { return stated_; }
  const std::shared_ptr<LargeSystem>& kernels() const { return kernels_; }
  Evaluation evaluate(const State& state) const;

 private:
  FamilyModel stated_;
  std::shared_ptr<LargeSystem> kernels_;
  SparseRows M_, A_;                  ///< zeros where entries may be, M with both triangles
  std::vector<int> M_slot_, A_slot_;  ///< of each entry: its place among the numbers of the kernels
  std::shared_ptr<const InstantPattern> pattern_;
};

}  // namespace mechanician
