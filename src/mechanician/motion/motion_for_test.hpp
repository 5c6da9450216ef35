#pragma once

/// Motions of models that tests write as text or take from tests/motions.

#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "mechanician/instant/system.hpp"
#include "mechanician/model/parameters.hpp"
#include "mechanician/model/read_model.hpp"
#include "mechanician/motion/integrator.hpp"
#include "mechanician/solve/eigen_kernels.hpp"

namespace mechanician {

/// A model with its start. `system` does not move: integrators point to it.
struct Loaded {
  explicit Loaded(Model model)
      : parameters(evaluate_parameters(model).values),
        start(state_of(start_state(model, {parameters}))),
        system(std::move(model), parameters) {}
  explicit Loaded(std::string_view toml) : Loaded(read_model_text(toml, "test.toml")) {}
  explicit Loaded(const char* toml) : Loaded(std::string_view(toml)) {}
  explicit Loaded(const std::string& toml) : Loaded(std::string_view(toml)) {}

  std::vector<double> parameters;
  State start;
  System system;

  Integrator integrator(const MotionOptions& options) const { return Integrator(system, start, options); }
  int at(std::string_view coordinate) const { return system.model().find_coordinate(coordinate); }
};

/// A model of tests/motions (in motion_test.cpp: one file alone need know where the sources are).
Loaded load_case(const std::string& name);

/// One particle of mass 1 on a line, with text of its own.
inline Loaded line(const std::string& force, const std::string& start, const std::string& more = "") {
  return Loaded(std::string_view("coordinates = [\"x\"]\n[dynamics]\nkinetic = \"x'^2/2\"\nforce = { x = \"" + force +
                                 "\" }\n[start]\n" + start + "\n" + more + "\n"));
}

/// (q, q̇, works = 0) as Dynamics takes it.
inline std::vector<double> y_of(const State& state, int size) {
  std::vector<double> y(static_cast<std::size_t>(size), 0.0);
  std::copy(state.q.begin(), state.q.end(), y.begin());
  std::copy(state.qd.begin(), state.qd.end(), y.begin() + state.q.size());
  return y;
}

/// Steps to the end and returns the last sample.
inline Sample run_to_end(Integrator& integrator) {
  while (integrator.advance()) {
  }
  return integrator.sample(integrator.t());
}

/// All numbers of a sample in one row.
inline std::vector<double> numbers_of(const Sample& s) {
  std::vector<double> x{s.t, s.residual, s.works.given, s.works.ideal, s.works.nonideal, s.works.control};
  for (const Eigen::VectorXd* v : {&s.q, &s.qd, &s.qdd, &s.Qc, &s.Qc_i, &s.Qc_ni, &s.Q_control, &s.lambda, &s.power,
                                   &s.outputs, &s.works.constraints})
    x.insert(x.end(), v->begin(), v->end());
  return x;
}

inline bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

}  // namespace mechanician
