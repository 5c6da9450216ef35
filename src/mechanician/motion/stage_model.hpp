#pragma once

/// A motion that events change is a sequence of stages. In each of them the constraints and requirements that are engaged
/// are those of a system of its own, and modes have values; what is left is a motion as any other.

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mechanician/motion/motion_family.hpp"

namespace mechanician {

/// The system of a stage, good for all stages with the same rows engaged: modes are parameters that vary.
struct Stage {
  std::unique_ptr<MotionFamily> family;
  std::vector<int> row_of;  ///< row of the whole system for each of its rows
};

/// A model without the constraints and requirements that are not engaged; flags by row: constraints, rates of
/// states (always), requirements.
Model engaged_model(const Model& model, const std::vector<char>& engaged);
/// As the model begins, or as it goes on (System::set_engaged).
std::vector<char> engaged_at_start(const Model& model);
std::vector<char> engaged_at_start(const System& system);
/// Rows that events release or engage, or that begin released; increasing, flags by row as above.
std::vector<int> rows_that_change(const Model& model);
std::vector<std::string> names_that_change(const Model& model);
/// The system as it begins; the same one where nothing is released.
System system_at_start(const System& system);
/// The system as it is at a time of its motion: with the modes and what is engaged there.
System system_in_stage(const System& whole, const Sample& there);
/// It begins as it is there.
void set_stage(System& whole, const Sample& there);

/// The systems of all stages that have been met.
class StageSystems {
 public:
  /// `whole` must stay where it is. `nominal`, `parameters` and `varied`: what code is made for, as of MotionFamily.
  StageSystems(const System& whole, State nominal, std::vector<double> parameters, std::vector<int> varied);
  Stage& of(const std::vector<char>& engaged);

 private:
  const System* whole_;
  State nominal_;
  std::vector<double> parameters_;
  std::vector<int> varied_;
  std::map<std::vector<char>, Stage> stages_;
};

}  // namespace mechanician
