#pragma once

/// What `linearise` says: matrices, eigenvalues, modes, transfer functions; in words and as JSON.

#include <optional>
#include <string>
#include <vector>

#include "mechanician/analysis/floquet.hpp"
#include "mechanician/analysis/transfer.hpp"

namespace mechanician {

class JsonWriter;

/// A linearisation and what follows from it.
struct LineariseReport {
  Linearisation linear = {};
  Spectrum spectrum = {};
  std::vector<std::string> inputs = {}, outputs = {};
  std::vector<TransferFunction> transfers = {};
  std::vector<std::pair<Linearisation, Spectrum>> along = {};  ///< the same at later times, without shapes
  std::optional<Floquet> floquet = {};
  int shown_modes = 0;  ///< how many modes are listed; 0: all of them in JSON, some in words
};

/// Shapes of eigenvalues with an imaginary part that is not negative: numbers of eigenvalues, in their order.
std::vector<int> list_modes(const LineariseReport& report, int most);
/// The shape of a mode in all coordinates.
Eigen::VectorXcd mode_shape(const LineariseReport& report, int eigenvalue);

/// "rest", "steady", "moving"
const char* name_of(Linearisation::At at);
/// [{re, im, frequency, damping, uncertainty}, …]
void write_eigenvalues(JsonWriter& json, const std::vector<Eigenvalue>& eigenvalues);
void write_matrix(JsonWriter& json, const Eigen::MatrixXd& X);

std::string linearise_text(const System& system, const LineariseReport& report);
std::string linearise_json(const System& system, const LineariseReport& report);

}  // namespace mechanician
