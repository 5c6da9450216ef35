#pragma once

/// Named matrices and lists of names in one HDF5 file: results that are no rows of a motion.

#include <string>
#include <vector>

#include "mechanician/result/hdf5_file.hpp"
#include "mechanician/solve/eigen_kernels.hpp"

namespace mechanician {

struct NamedMatrix {
  std::string path;  ///< "A", "modes/re"
  Eigen::MatrixXd values;
  std::vector<std::string> columns = {};  ///< names of its columns, an attribute
  std::string about = {};
};

struct NamedTexts {
  std::string path;
  std::vector<std::string> texts;
};

/// Sealed, and in the place of what was there before when it is complete. Throws FileError.
void write_matrices(const std::string& file, const std::vector<NamedMatrix>& matrices,
                    const std::vector<NamedTexts>& texts, const std::vector<Hdf5Attribute>& attributes);

}  // namespace mechanician
