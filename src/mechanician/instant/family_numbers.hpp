#pragma once

/// A stated model by kernels over the members of its families, as numbers at an instant: SparseRows on one pattern.

#include <memory>
#include <vector>

#include "mechanician/instant/system.hpp"
#include "mechanician/large/large_system.hpp"

namespace mechanician {

class FamilyNumbers {
 public:
  /// Throws ModelError for what kernels cannot do.
  explicit FamilyNumbers(FamilyModel stated);

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
