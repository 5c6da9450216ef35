// The compiled path: accelerations and projections by generated code, with the factors behind it.

#include <algorithm>
#include <cmath>
#include <limits>

#include "mechanician/motion/dynamics.hpp"
#include "mechanician/motion/kernels.hpp"
#include "mechanician/motion/last_made.hpp"

namespace mechanician {

namespace {
/// Coordinates up to which programs are compiled for many motions of one system: beyond, loops over the pattern are as quick.
constexpr int most_for_programs = 200;

/// All that programs of a single motion depend on beside the equations.
struct ProgramKey {
  std::vector<int> rows;
  std::vector<double> parameters, reference;
  bool operator==(const ProgramKey&) const = default;
};
using LastPrograms = LastMade<ProgramKey, KeptCode::Made>;

}  // namespace

void Dynamics::keep_code(const Nominal& nominal) {
  auto* const written = dynamic_cast<WrittenEquations*>(&*values_);
  if (!written) return;
  kept_code_ = std::make_shared<KeptCode>();
  KeptCode& code = *kept_code_;
  code.values = nominal.parameters, code.varied = nominal.varied;
  written->take_parameters(code.values);
  std::vector<double> y(static_cast<std::size_t>(size()), 0.0);
  std::copy(nominal.state.q.begin(), nominal.state.q.end(), y.begin());
  std::copy(nominal.state.qd.begin(), nominal.state.qd.end(), y.begin() + n_);
  const std::vector<double> before = sides();
  take_sides(nominal.state.t, y.data());
  code.reference.push_back(nominal.state.t);
  code.reference.insert(code.reference.end(), y.begin(), y.begin() + 2 * n_);
  for (const int i : code.varied) code.reference.push_back(code.values[static_cast<std::size_t>(i)]);
  code.reference.insert(code.reference.end(), sides().begin(),
                        sides().begin() + static_cast<std::ptrdiff_t>(num_expression_switches()));
  sides() = before;
  take_parameters();
}

void Dynamics::compile(double t, const double* y, bool rows_may_grow) {
  make_fast(t, y);
  row_size_.clear();
  set_row_sizes(t, y);
  if (rows_may_grow) std::fill(row_grows_.begin(), row_grows_.end(), true);
}

void Dynamics::make_fast(double t, const double* y) {
  fast_ = {};
  sine_rows_ = all.kept;
  auto* const written = dynamic_cast<WrittenEquations*>(&*values_);
  path_ = weighed_ && !factors_->is_sparse() ? "general: weighted rows"
          : !sliding_.empty()                ? "qr: sliding friction"
          : factors_->is_sparse()            ? "sparse"
                                             : "qr";
  if (!written) return;
  written->make_quick_code();
  if (!facts().measured.empty() || !sliding_.empty()) return;
  if (!carried_.empty() || believes) {
    path_ += believes ? ": contacts that a controller believes in" : ": contacts that control keeps closed";
    return;
  }
  // A single motion is over before programs of this size have been compiled; many motions share them.
  if (factors_->is_sparse() && (!kept_code_ || n_ > most_for_programs)) return;
  const ProgramRows rows{&all, &positions, &velocities, &inert, singular_mass()};
  // All that the programs depend on beside the equations.
  std::vector<int> key{singular_mass() ? 1 : 0};
  for (const int j : all.candidates) key.push_back(inert[j] ? 1 : 0);
  for (const RowSet* set : {&all, &positions, &velocities})
    for (const int j : set->candidates)
      key.push_back(std::binary_search(set->kept.begin(), set->kept.end(), j) ? 1 : 0);
  KeptCode::Made found;
  if (!kept_code_) {
    std::vector<double> reference{t};
    reference.insert(reference.end(), y, y + 2 * n_);
    reference.insert(reference.end(), sides().begin(),
                     sides().begin() + static_cast<std::ptrdiff_t>(num_expression_switches()));
    found = LastPrograms::all().of(written->system(), {std::move(key), written->system().parameters(), reference}, [&] {
      KeptCode::Made made{nullptr, path_};
      made.programs = make_programs(*written, rows, reference, nullptr, made.path);
      return made;
    });
  } else {
    auto known = kept_code_->made.find(key);
    if (known == kept_code_->made.end()) {
      KeptCode::Made made;
      made.programs = make_programs(*written, rows, kept_code_->reference, kept_code_.get(), made.path);
      known = kept_code_->made.emplace(std::move(key), std::move(made)).first;
    }
    found = known->second;
  }
  path_ = found.path;
  if (found.programs) fast_ = Copied<CompiledPrograms>(found.programs->clone());
  if (kept_code_) take_parameters();
  if (!fast_) return;
  if (fast_->rank) sine_rows_ = fast_->sine_rows;
  values_y_.resize(2 * static_cast<std::size_t>(n_));
  if (fast_->acceleration.num_columns > 0) control_.open = OpenEfforts(facts().control);
}

/// Newton steps until what is left is rounding: they converge quadratically. False: not vouched for.
bool Dynamics::converge_fast(bool of_positions, double t, double* y, const ProjectOptions& options, Projected& result) {
  CompiledPrograms::Projection& projection = of_positions ? fast_->positions : fast_->velocities;
  if (!projection.step) return true;
  const bool one_is_enough = !of_positions && !velocity_rows_nonlinear_;
  const double nearly_there = std::sqrt(0.1 * options.enough);
  double* const x = of_positions ? y : y + n_;
  double last = std::numeric_limits<double>::infinity();
  for (int k = 0; k < options.most_iterations; ++k) {
    ++projections;
    fast_->set_inputs(t, y, n_, sides());
    projection.step(fast_->inputs.data(), projection.outputs.data());
    const double* const out = projection.outputs.data();
    if (!(out[projection.at_vouch] > 0.0)) return false;
    if (k == 0)
      (of_positions ? result.phi : result.rate) =
          kernels::largest(projection.at_vouch - projection.at_residuals, out + projection.at_residuals);
    const double largest = kernels::add_and_measure(n_, out, (of_positions ? sizes.near_q : sizes.near_qd).data(), x);
    (of_positions ? result.moved_q : result.moved_qd) += largest;
    if (largest <= nearly_there || one_is_enough) return true;
    if (k > 0 && largest > 0.5 * last) return false;
    last = largest;
  }
  return last <= 4.0 * std::numeric_limits<double>::epsilon();
}

std::optional<Dynamics::Projected> Dynamics::project_fast(double t, double* y, const ProjectOptions& options) {
  if (!fast_ || prefer_robust || fast_->positions.missing || fast_->velocities.missing) return {};
  Projected result;
  std::vector<double>& kept = project_before_;
  kept.assign(y, y + 2 * n_);
  result.ok = (!options.positions || converge_fast(true, t, y, options, result)) &&
              (!options.velocities || converge_fast(false, t, y, options, result));
  if (result.ok) return result;
  std::copy(kept.begin(), kept.end(), y);
  return {};
}

bool Dynamics::rhs_held(double t, double* y, double* dy, const ProjectOptions& options) {
  if (surfaces_.empty() && fast_ && fast_->held.function && !prefer_robust && !fast_->positions.missing) {
    Projected result;
    std::vector<double>& kept = project_before_;
    kept.assign(y, y + 2 * n_);
    if (converge_fast(true, t, y, options, result)) {
      fast_->set_inputs(t, y, n_, sides());
      CompiledPrograms::Acceleration& held = fast_->held;
      if (held.run(fast_->inputs) && add_efforts(held)) {
        ++projections;
        std::copy_n(held.outputs.begin() + held.at_velocities, n_, y + n_);
        return take_acceleration(held.outputs.data(), held.at_powers, t, y, dy);
      }
    }
    std::copy(kept.begin(), kept.end(), y);
  }
  return project(t, y, options).ok && rhs(t, y, dy);
}

bool Dynamics::take_acceleration(const double* outputs, int at_powers, double t, const double* y, double* dy) {
  ++evaluations, ++calls;
  values_stale_ = true;
  std::copy(y, y + 2 * n_, values_y_.begin());
  values_t_ = t;
  std::copy(y + n_, y + 2 * n_, dy);
  std::copy_n(outputs, n_, dy + n_);
  std::copy_n(outputs, n_, qdd_.begin());
  std::copy_n(outputs + at_powers, num_works(), dy + 2 * n_);
  return kernels::all_finite(size() - n_, dy + n_);
}

bool Dynamics::rhs(double t, const double* y, double* dy) {
  return surfaces_.empty() ? rhs_aside(t, y, dy) : rhs_along(t, y, false, dy);
}

bool Dynamics::rhs_aside(double t, const double* y, double* dy) {
  if (fast_ && !prefer_robust) {
    CompiledPrograms::Acceleration& fast = fast_->acceleration;
    fast_->set_inputs(t, y, n_, sides());
    if (fast.run(fast_->inputs) && add_efforts(fast))
      return take_acceleration(fast.outputs.data(), fast.at_powers, t, y, dy);
  }
  robust_evaluations += static_cast<bool>(fast_);
  return rhs_by_factors_aside(t, y, dy);
}

EquationValues::Numbers Dynamics::numbers_of_last() {
  if (values_stale_) evaluate(values_t_, values_y_.data());
  return values_->numbers();
}

bool Dynamics::project_tangent_fast(double t, const double* y, double* v) {
  if (!fast_ || prefer_robust || velocity_rows_nonlinear_ || !fast_->velocities.step) return false;
  // The rows are linear in velocities: from q̇ + v, with q̇ on the constraints, a Newton step takes off what v has across.
  CompiledPrograms::Projection& projection = fast_->velocities;
  ++projections;
  fast_->set_inputs(t, y, n_, sides());
  for (int i = 0; i < n_; ++i) fast_->inputs[static_cast<std::size_t>(1 + n_ + i)] += v[i];
  projection.step(fast_->inputs.data(), projection.outputs.data());
  if (!(projection.outputs[static_cast<std::size_t>(projection.at_vouch)] > 0.0)) return false;
  for (int i = 0; i < n_; ++i) v[i] += projection.outputs[static_cast<std::size_t>(i)];
  return true;
}

}  // namespace mechanician
