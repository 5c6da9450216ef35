#pragma once

/// What an FMU says of itself: modelDescription.xml of FMI 2.0 and 3.0, and buildDescription.xml.

#include <string>
#include <vector>

#include "mechanician/exports/c_facts.hpp"

namespace mechanician {

/// A variable; its reference is its place among all that the C has, of which some are not shown.
struct FmuVariable {
  std::string name, causality, variability, initial, start, description, unit;
  int reference = 0;
  int derivative_of = -1;  ///< reference of what it is the derivative of
};

/// What an input that is an expression is at the start; 0 where it is made of forces.
double start_of_open_input(const CFacts& facts, std::size_t parameter);

struct FmuDescription {
  FmuDescription(const CFacts& facts, std::string name, std::string token);

  std::string for_fmi_2() const;
  std::string for_fmi_3() const;
  std::string of_build() const;

  const CFacts& facts;
  std::string name, token;
  std::vector<FmuVariable> variables;
  bool has_directional = false;
  int num_events = 0;  ///< indicators: the last variables
  struct Unit {
    std::string name, exponents, display;  ///< of SI; as attributes; as in the model, with its factor
    double display_factor = 1.0;
  };
  std::vector<Unit> units;

 private:
  std::string unit_of(const std::string& variable, int over_seconds);
  std::string units_text() const;
  std::string experiment() const;
};

}  // namespace mechanician
