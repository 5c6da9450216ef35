#include "function.hpp"

#include <algorithm>
#include <stdexcept>

#include "mechanician/instant/measure_model.hpp"

namespace mechanician::python {

namespace {
constexpr int lanes = 8;
}  // namespace

NativeFunction::NativeFunction(const NativeModel& model, const Start& start) : model_(model) {
  const System& system = model_.system();
  if (system.kernels()) {
    path_ = "general: the model is one of large families";
    return;
  }
  AccelerationProgramResult made = make_program_near(system, model_.state(start));
  if (!made.made) {
    path_ = "general: " + made.reason;
    return;
  }
  path_ = made.made->path;
  at_vouch_ = made.made->at_vouch;
  const Program& program = made.made->program;
  one_ = CompiledFunction(program);
  one_.make_quick_code();
  lanes_ = CompiledFunction(program, {.lanes = lanes});
  num_lanes_ = lanes;
  inputs_.resize(static_cast<std::size_t>(program.num_inputs * lanes));
  outputs_.resize(static_cast<std::size_t>(program.num_outputs() * lanes));
}

void NativeFunction::gather(double t, const double* q, const double* qd, double* inputs, std::int64_t apart) const {
  *inputs = t;
  for (int i = 0; i < n(); ++i) inputs[(1 + i) * apart] = q[i];
  for (int i = 0; i < n(); ++i) inputs[(1 + n() + i) * apart] = qd[i];
}

void NativeFunction::solve(double t, const double* q, const double* qd, double* qdd) const {
  const State state{t, Eigen::Map<const Eigen::VectorXd>(q, n()), Eigen::Map<const Eigen::VectorXd>(qd, n())};
  const Instant instant = mechanician::accelerate(model_.system(), state, {.diagnose = false});
  if (!instant.has_acceleration()) {
    std::string why = "there is no acceleration at this state";
    for (const Remark& r : refusals(model_.system(), instant)) why += ": " + r.text;
    throw std::invalid_argument(why);
  }
  Eigen::Map<Eigen::VectorXd>(qdd, n()) = instant.solution.qdd;
}

void NativeFunction::evaluate(std::int64_t count, const double* t, std::int64_t t_apart, const double* q,
                              const double* qd, double* qdd) {
  std::int64_t k = 0;
  const std::int64_t width = n();
  for (; num_lanes_ > 0 && count >= 2 * num_lanes_ && k + num_lanes_ <= count; k += num_lanes_) {
    for (int l = 0; l < num_lanes_; ++l)
      gather(t[(k + l) * t_apart], q + (k + l) * width, qd + (k + l) * width, inputs_.data() + l, num_lanes_);
    lanes_(inputs_.data(), outputs_.data());
    for (int l = 0; l < num_lanes_; ++l) {
      const std::int64_t row = k + l;
      if (!(outputs_[static_cast<std::size_t>(at_vouch_ * num_lanes_ + l)] > 0.0)) {
        solve(t[row * t_apart], q + row * width, qd + row * width, qdd + row * width);
        continue;
      }
      for (std::int64_t i = 0; i < width; ++i)
        qdd[row * width + i] = outputs_[static_cast<std::size_t>(i * num_lanes_ + l)];
    }
  }
  for (; k < count; ++k) {
    const double *q_k = q + k * width, *qd_k = qd + k * width;
    if (one_) {
      gather(t[k * t_apart], q_k, qd_k, inputs_.data(), 1);
      one_(inputs_.data(), outputs_.data());
      if (outputs_[static_cast<std::size_t>(at_vouch_)] > 0.0) {
        std::copy_n(outputs_.data(), width, qdd + k * width);
        continue;
      }
    }
    solve(t[k * t_apart], q_k, qd_k, qdd + k * width);
  }
}

bool NativeFunction::evaluate_one(double t, const double* q, const double* qd, double* qdd) noexcept {
  try {
    evaluate(1, &t, 0, q, qd, qdd);
    return true;
  } catch (...) {
    return false;
  }
}

extern "C" int mechanician_acceleration(double t, const double* q, const double* qd, double* qdd, void* function) {
  return static_cast<NativeFunction*>(function)->evaluate_one(t, q, qd, qdd) ? 0 : 1;
}

}  // namespace mechanician::python
