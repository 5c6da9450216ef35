// The compiled path: accelerations by generated code, with the robust path behind it.

#include <algorithm>
#include <cmath>

#include "mechanician/compile/acceleration_program.hpp"
#include "mechanician/compile/compiled_function.hpp"
#include "mechanician/motion/dynamics.hpp"

namespace mechanician {

struct Dynamics::Fast {
  CompiledFunction acceleration;
  int at_powers = 0, at_vouch = 0;
  std::vector<double> inputs, outputs;  ///< [t | q | q̇ | sides]
};

void Dynamics::FastDelete::operator()(Fast* fast) const { delete fast; }

void Dynamics::compile(double t, const double* y) {
  fast_.reset();
  if (measured_) {
    path_ = "general: weighted rows";
    return;
  }
  AccelerationOptions options;
  options.parameters = system_->parameters();
  for (const Switch& s : switches_) options.sides.push_back(s.side);
  for (const int j : all.candidates) {
    if (inert[j])
      options.inert.push_back(j);
    else if (std::find(all.kept.begin(), all.kept.end(), j) == all.kept.end())
      options.dropped.push_back(j);
  }
  options.singular_mass = singular_mass;
  options.powers = true;
  options.reference.push_back(t);
  options.reference.insert(options.reference.end(), y, y + 2 * n_);
  options.reference.insert(options.reference.end(), sides_.begin(), sides_.end());
  AccelerationProgramResult result = make_acceleration_program(frozen_, options);
  if (!result.made) {
    path_ = "qr: " + result.reason;
    return;
  }
  fast_.reset(new Fast);
  fast_->inputs = options.reference;
  fast_->outputs.resize(result.made->program.outputs.size());
  fast_->at_powers = result.made->at_powers;
  fast_->at_vouch = result.made->at_vouch;
  path_ = result.made->path;
  fast_->acceleration = CompiledFunction(std::move(result.made->program));
}

bool Dynamics::rhs(double t, const double* y, double* dy) {
  if (!fast_ || prefer_robust) return rhs_robust(t, y, dy);
  Fast& fast = *fast_;
  fast.inputs[0] = t;
  std::copy(y, y + 2 * n_, fast.inputs.begin() + 1);
  std::copy(sides_.begin(), sides_.end(), fast.inputs.begin() + 1 + 2 * n_);
  fast.acceleration(fast.inputs.data(), fast.outputs.data());
  if (!(fast.outputs[fast.at_vouch] > 0.0)) {
    ++robust_evaluations;
    return rhs_robust(t, y, dy);
  }
  ++evaluations, ++calls, ++fast_evaluations;
  values_stale_ = true;
  std::copy(y + n_, y + 2 * n_, dy);
  std::copy(fast.outputs.begin(), fast.outputs.begin() + n_, dy + n_);
  std::copy(fast.outputs.begin(), fast.outputs.begin() + n_, qdd_.begin());
  std::copy(fast.outputs.begin() + fast.at_powers, fast.outputs.begin() + fast.at_powers + num_works(), dy + 2 * n_);
  double sum = 0.0;
  for (int i = n_; i < size(); ++i) sum += 0.0 * dy[i];
  return sum == 0.0;
}

void Dynamics::refresh_values() const {
  if (!values_stale_) return;
  auto& self = const_cast<Dynamics&>(*this);
  self.values_stale_ = false;
  const double* at = fast_->inputs.data();
  self.set_inputs(at[0], at + 1, at + 1 + n_);
  self.run(self.rhs_tape_, self.v_);
  self.last_ = &self.v_, self.last_A_ = at_A_;
}

}  // namespace mechanician
