// Gauss's principle with inequalities by enumeration of all sets of holding rows, in extended precision, for tests.
//
// At the optimum there is a set of independent rows, all equalities' span included, whose multipliers are ≥ 0 and that
// determines the acceleration; every set is tried by a full elimination of the bordered matrix. Nothing is shared with
// the code under test.
#pragma once

#include <vector>

#include "mechanician/solve/dense_values_for_test.hpp"
#include "mechanician/solve/eigen_kernels.hpp"

namespace mechanician::testing {

struct EnumeratedOptimum {
  bool found = false;
  bool unique = true;  // of the acceleration, by enumeration of the rays of the cone of optimal directions
  Eigen::VectorXd qdd;
  std::vector<Eigen::Index> zero;  // one-sided rows with slack 0
};

EnumeratedOptimum enumerate_sets(const DenseValues& values, const std::vector<Eigen::Index>& one_sided);

struct ProgrammeSpec {
  int n = 3;
  int num_equalities = 1;
  int num_one_sided = 3;
  int mass_defect = 0;
  bool integers = false;  // small whole numbers: ties and balances happen
  bool feasible = false;  // b such that some acceleration meets all rows
  bool redundant = true;  // duplicates, multiples and sums of rows among the rows
};

struct RandomProgramme {
  DenseValues values;
  std::vector<Eigen::Index> one_sided;
};

RandomProgramme make_programme(std::uint64_t seed, const ProgrammeSpec& spec);
ProgrammeSpec random_programme_spec(std::uint64_t seed);

}  // namespace mechanician::testing
