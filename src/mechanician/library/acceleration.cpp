#include "mechanician/library/acceleration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>

#include "mechanician/compile/compiled_function.hpp"
#include "mechanician/instant/accelerate.hpp"
#include "mechanician/instant/family_numbers.hpp"
#include "mechanician/instant/measure_model.hpp"
#include "mechanician/output/remarks.hpp"

namespace mechanician {

namespace {
/// Side by side: eight by code that LLVM makes, and four until it is there, or where there is no LLVM.
constexpr int most_lanes = 8, few_lanes = 4;
/// States at once that are worth better code. Of so many calls some states go to the interpreter, which then asks for it.
constexpr std::int64_t worth_better_code = 1024;
constexpr int most_tries = 20;
std::atomic<std::uint64_t> last_number{0};
}  // namespace

struct Acceleration::Shared {
  System system;
  std::string path = {};
  CompiledFunction one = {}, few = {}, lanes = {};
  int at_vouch = 0;
  std::uint64_t number = ++last_number;  ///< no two have the same
};

/// What a thread has of it.
struct Acceleration::Own {
  std::uint64_t number = 0;
  CompiledFunction one, few, lanes;
  std::vector<double> inputs, outputs;
  std::weak_ptr<const Shared> of;
  int tries = 0;  ///< evaluations of `lanes` by the interpreter
};

Acceleration::Acceleration(const System& system, const State& near) {
  auto shared = std::make_shared<Shared>(Shared{system});
  if (stays_in_families(system)) {
    shared->path = "general: the model is one of large families";
  } else if (AccelerationProgramResult made =
                 make_program_near(system, near, {.parameters_as_inputs = true, .beside_contacts = true});
             made.made) {
    shared->path = made.made->path;
    shared->at_vouch = made.made->at_vouch;
    shared->one = CompiledFunction(made.made->program);
    shared->one.make_quick_code();
    shared->few = CompiledFunction(made.made->program, {.lanes = few_lanes});
    shared->lanes = CompiledFunction(made.made->program, {.after_ms = 0.0, .lanes = most_lanes});
  } else {
    shared->path = "general: " + made.reason;
  }
  shared_ = std::move(shared);
}

int Acceleration::n() const { return shared_->system.n(); }
std::vector<std::string> Acceleration::parameter_names() const { return shared_->system.parameter_names(); }
const std::string& Acceleration::path() const { return shared_->path; }

Acceleration::Own& Acceleration::own() const {
  thread_local std::vector<std::unique_ptr<Own>> mine;
  for (const auto& own : mine)
    if (own->number == shared_->number) return *own;
  std::erase_if(mine, [](const auto& own) { return own->of.expired(); });
  auto own = std::make_unique<Own>(Own{shared_->number, shared_->one, shared_->few, shared_->lanes, {}, {}, shared_});
  own->inputs.resize(static_cast<std::size_t>(own->one.num_inputs() * most_lanes));
  own->outputs.resize(static_cast<std::size_t>(own->one.num_outputs() * most_lanes));
  mine.push_back(std::move(own));
  return *mine.back();
}

namespace {

void gather(int n, double t, const double* q, const double* qd, double* inputs, std::int64_t apart) {
  *inputs = t;
  for (int i = 0; i < n; ++i) inputs[(1 + i) * apart] = q[i];
  for (int i = 0; i < n; ++i) inputs[(1 + n + i) * apart] = qd[i];
}

void solve_generally(const System& of, double t, const double* q, const double* qd, const double* parameters,
                     double* qdd) {
  System system = of;
  if (parameters) system.set_parameters({parameters, of.parameters().size()});
  const int n = system.n();
  const State state{t, Eigen::Map<const Eigen::VectorXd>(q, n), Eigen::Map<const Eigen::VectorXd>(qd, n)};
  const Instant instant = accelerate(system, state, {.diagnose = false});
  if (!instant.has_acceleration()) {
    std::string why = "there is no acceleration at this state";
    for (const Remark& r : refusals(system, instant)) why += ": " + r.text;
    throw std::domain_error(why);
  }
  Eigen::Map<Eigen::VectorXd>(qdd, n) = instant.solution.qdd;
}

}  // namespace

void Acceleration::evaluate(std::int64_t count, const double* t, std::int64_t t_apart, const double* q,
                            const double* qd, const double* parameters, double* qdd) const {
  const Shared& s = *shared_;
  const int n = s.system.n();
  const auto row = [&](std::int64_t k) { return k * n; };
  const auto solve = [&](std::int64_t k) {
    try {
      solve_generally(s.system, t[k * t_apart], q + row(k), qd + row(k), parameters, qdd + row(k));
    } catch (const std::domain_error& e) {
      if (count == 1) throw;
      throw std::domain_error(fmt::format("state {} of {}, counted from 0: {}", k, count, e.what()));
    }
  };
  if (!s.one) {
    for (std::int64_t k = 0; k < count; ++k) solve(k);
    return;
  }
  Own& mine = own();
  const double* given = parameters ? parameters : s.system.parameters().data();
  const std::size_t num_given = s.system.parameters().size(), first_given = static_cast<std::size_t>(1 + 2 * n);
  const auto vouch = static_cast<std::size_t>(s.at_vouch);
  std::int64_t k = 0;
  const auto side_by_side = [&](CompiledFunction& f, int width, std::int64_t until) {
    for (std::size_t i = 0; i < num_given; ++i)
      std::fill_n(mine.inputs.data() + (first_given + i) * static_cast<std::size_t>(width), width, given[i]);
    for (; k + width <= until; k += width) {
      for (int l = 0; l < width; ++l)
        gather(n, t[(k + l) * t_apart], q + row(k + l), qd + row(k + l), mine.inputs.data() + l, width);
      f(mine.inputs.data(), mine.outputs.data());
      for (int l = 0; l < width; ++l) {
        if (!(mine.outputs[vouch * static_cast<std::size_t>(width) + static_cast<std::size_t>(l)] > 0.0)) {
          solve(k + l);
          continue;
        }
        for (int i = 0; i < n; ++i) qdd[row(k + l) + i] = mine.outputs[static_cast<std::size_t>(i * width + l)];
      }
    }
  };
  if (count >= 2 * most_lanes) {
    if (mine.lanes.tier() != Tier::interpreter) {
      side_by_side(mine.lanes, most_lanes, count);
    } else {
      if (count >= worth_better_code && mine.tries < most_tries) {
        ++mine.tries;
        side_by_side(mine.lanes, most_lanes, most_lanes);
      }
      mine.few.make_quick_code();
      if (mine.few.tier() != Tier::interpreter) side_by_side(mine.few, few_lanes, count);
    }
  }
  if (k < count) std::copy_n(given, num_given, mine.inputs.data() + first_given);
  for (; k < count; ++k) {
    gather(n, t[k * t_apart], q + row(k), qd + row(k), mine.inputs.data(), 1);
    mine.one(mine.inputs.data(), mine.outputs.data());
    if (mine.outputs[vouch] > 0.0)
      std::copy_n(mine.outputs.data(), n, qdd + row(k));
    else
      solve(k);
  }
}

void Acceleration::operator()(double t, const double* q, const double* qd, const double* parameters,
                              double* qdd) const {
  evaluate(1, &t, 0, q, qd, parameters, qdd);
}

bool Acceleration::try_evaluate(double t, const double* q, const double* qd, const double* parameters,
                                double* qdd) const noexcept {
  try {
    evaluate(1, &t, 0, q, qd, parameters, qdd);
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace mechanician
