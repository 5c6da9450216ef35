// The compiled path: accelerations by generated code, with the robust path behind it.

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "mechanician/compile/acceleration_program.hpp"
#include "mechanician/compile/compiled_function.hpp"
#include "mechanician/compile/projection_program.hpp"
#include "mechanician/compile/rank_program.hpp"
#include "mechanician/motion/dynamics.hpp"
#include "mechanician/motion/kernels.hpp"

namespace mechanician {

namespace {
/// Of a program: a ladder of 600 loops. Quick code is linear in them; without it every acceleration is cubic in the size.
constexpr long most_steps = 80'000;
}  // namespace

struct Dynamics::Fast {
  struct Acceleration {
    CompiledFunction function;
    int at_powers = 0, at_velocities = 0, at_vouch = 0;
    std::vector<double> outputs;
    explicit Acceleration(AccelerationProgram made)
        : function(std::move(made.program)),
          at_powers(made.at_powers),
          at_velocities(made.at_velocities),
          at_vouch(made.at_vouch),
          outputs(function.program().outputs.size()) {}
    Acceleration() = default;
  };
  Acceleration acceleration;
  Acceleration held;  ///< brings velocities onto the constraints first; none where that takes more than one step
  CompiledFunction rank, rank_of_four;  ///< of one state, and of four side by side
  std::vector<double> inputs_of_four, pivots_of_four, sines_of_four;
  std::vector<double> pivots;  ///< [1/s | P] of the rank program
  /// One Newton step each; none where no rows take part.
  struct Projection {
    CompiledFunction step;
    int at_residuals = 0, at_vouch = 0;
    bool missing = false;  ///< there are rows, but no program
    std::vector<double> outputs;
  };
  Projection positions, velocities;
  std::vector<double> inputs;  ///< [t | q | q̇ | parameters that are inputs | sides]
  int at_sides = 0;
};

Dynamics::FastPointer::FastPointer(const FastPointer& other) : fast_(other.fast_ ? new Fast(*other.fast_) : nullptr) {}
Dynamics::FastPointer::~FastPointer() { delete fast_; }

struct Dynamics::KeptCode {
  std::vector<int> varied;
  std::vector<double> values;     ///< of the parameters, nominal
  std::vector<double> reference;  ///< [t | q | q̇ | varied | sides], nominal
  struct Made {
    FastPointer fast;
    std::vector<int> sine_rows;
    std::string path;
  };
  std::map<std::vector<int>, Made> made;  ///< by the rows that are kept
};

void Dynamics::keep_code(const Nominal& nominal) {
  kept_code_ = std::make_shared<KeptCode>();
  KeptCode& code = *kept_code_;
  code.values = nominal.parameters, code.varied = nominal.varied;
  std::copy(code.values.begin(), code.values.end(), x_.begin() + 1 + 2 * n_);
  // The sides of the nominal state: inner switches come first, so a few rounds settle them.
  std::vector<double> y(static_cast<std::size_t>(size()), 0.0), g(switches_.size());
  std::copy(nominal.state.q.begin(), nominal.state.q.end(), y.begin());
  std::copy(nominal.state.qd.begin(), nominal.state.qd.end(), y.begin() + n_);
  const std::vector<double> sides = sides_;
  if (!needs_reactions_)
    for (std::size_t round = 0; round <= g.size() && !g.empty(); ++round)
      if (!calc_switches(nominal.state.t, y.data(), g) || !update_sides(g, sides_)) break;
  code.reference.push_back(nominal.state.t);
  code.reference.insert(code.reference.end(), y.begin(), y.begin() + 2 * n_);
  for (const int i : code.varied) code.reference.push_back(code.values[static_cast<std::size_t>(i)]);
  code.reference.insert(code.reference.end(), sides_.begin(), sides_.end());
  sides_ = sides;
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
  if (measured_) {
    path_ = "general: weighted rows";
    return;
  }
  if (!sliding_.empty()) {
    path_ = "qr: sliding friction";
    return;
  }
  if (!kept_code_) return make_fast_for(t, y);
  // All that the programs depend on beside the equations.
  std::vector<int> key{singular_mass ? 1 : 0};
  for (const int j : all.candidates) key.push_back(inert[j] ? 1 : 0);
  for (const RowSet* set : {&all, &positions, &velocities})
    for (const int j : set->candidates)
      key.push_back(std::find(set->kept.begin(), set->kept.end(), j) != set->kept.end() ? 1 : 0);
  auto found = kept_code_->made.find(key);
  if (found == kept_code_->made.end()) {
    make_fast_for(t, y);
    found = kept_code_->made.emplace(std::move(key), KeptCode::Made{fast_, sine_rows_, path_}).first;
  }
  const KeptCode::Made& made = found->second;
  fast_ = made.fast, path_ = made.path;
  if (!fast_) return;
  if (fast_->rank) sine_rows_ = made.sine_rows;
  for (std::size_t i = 0; i < kept_code_->varied.size(); ++i)
    fast_->inputs[static_cast<std::size_t>(1 + 2 * n_) + i] =
        system_->parameters()[static_cast<std::size_t>(kept_code_->varied[i])];
  values_y_.resize(2 * static_cast<std::size_t>(n_));
}

void Dynamics::make_fast_for(double t, const double* y) {
  AccelerationOptions options;
  options.most_steps = most_steps;
  options.parameters = kept_code_ ? kept_code_->values : system_->parameters();
  if (kept_code_) options.varied = kept_code_->varied;
  for (const Switch& s : switches_) options.sides.push_back(s.side);
  for (const int j : all.candidates) {
    if (inert[j])
      options.inert.push_back(j);
    else if (std::find(all.kept.begin(), all.kept.end(), j) == all.kept.end())
      options.dropped.push_back(j);
  }
  options.singular_mass = singular_mass;
  // Rows that depend on others on the constraints only do so almost where stages are.
  options.dropped_tolerance = 1e-6;
  options.powers = true;
  options.given_power = given_power_;
  if (kept_code_) {
    options.reference = kept_code_->reference;
  } else {
    options.reference.push_back(t);
    options.reference.insert(options.reference.end(), y, y + 2 * n_);
    options.reference.insert(options.reference.end(), sides_.begin(), sides_.end());
  }
  AccelerationProgramResult result = make_acceleration_program(frozen_, options);
  if (!result.made) {
    path_ = "qr: " + result.reason;
    return;
  }
  fast_ = FastPointer(new Fast);
  fast_->at_sides = 1 + 2 * n_ + static_cast<int>(options.varied.size());
  values_y_.resize(2 * static_cast<std::size_t>(n_));
  fast_->inputs = options.reference;
  path_ = result.made->path;
  // With a singular mass matrix M + AᵀWA itself degenerates where rows do: there the rows are looked at as they are.
  if (RankProgramResult rank;
      !singular_mass && (rank = make_rank_program(frozen_, options)).made && !rank.made->rows.empty()) {
    sine_rows_ = rank.made->rows;
    fast_->pivots.resize(rank.made->program.outputs.size());
    fast_->rank_of_four = CompiledFunction(rank.made->program, {.lanes = 4});
    fast_->inputs_of_four.resize(4 * fast_->inputs.size()), fast_->pivots_of_four.resize(4 * fast_->pivots.size());
    fast_->sines_of_four.resize(4 * sine_rows_.size());
    fast_->rank = CompiledFunction(std::move(rank.made->program));
  }
  fast_->acceleration = Fast::Acceleration(std::move(*result.made));
  // Where singular states may come, stages are held on the constraints.
  options.hold_velocities = true;
  if (fast_->rank &&
      std::is_permutation(velocities.kept.begin(), velocities.kept.end(), all.kept.begin(), all.kept.end()))
    if (AccelerationProgramResult held = make_acceleration_program(frozen_, options); held.made)
      fast_->held = Fast::Acceleration(std::move(*held.made));
  for (const ProjectionOf what : {ProjectionOf::positions, ProjectionOf::velocities}) {
    const bool of_positions = what == ProjectionOf::positions;
    Fast::Projection& projection = of_positions ? fast_->positions : fast_->velocities;
    const RowSet& set = of_positions ? positions : velocities;
    if (set.candidates.empty()) continue;
    ProgramOptions own = options;
    own.dropped.clear(), own.inert.clear();
    for (const int j : set.candidates)
      if (std::find(set.kept.begin(), set.kept.end(), j) == set.kept.end())
        (inert[j] ? own.inert : own.dropped).push_back(j);
    ProjectionProgramResult made = make_projection_program(frozen_, what, own);
    projection.missing = !made.made;
    if (!made.made) continue;
    projection.at_residuals = made.made->at_residuals, projection.at_vouch = made.made->at_vouch;
    projection.outputs.resize(made.made->program.outputs.size());
    projection.step = CompiledFunction(std::move(made.made->program));
  }
  // A step takes a dozen evaluations and more: no motion is so short that the interpreter would do.
  for (CompiledFunction* f : {&fast_->acceleration.function, &fast_->held.function, &fast_->rank, &fast_->rank_of_four,
                              &fast_->positions.step, &fast_->velocities.step, &rhs_values_, &row_values_})
    f->make_quick_code();
}

/// Newton steps until what is left is rounding: they converge quadratically. False: not vouched for.
bool Dynamics::converge_fast(bool of_positions, double t, double* y, const ProjectOptions& options, Projected& result) {
  Fast::Projection& projection = of_positions ? fast_->positions : fast_->velocities;
  if (!projection.step) return true;
  const bool one_is_enough = !of_positions && !velocity_rows_nonlinear_;
  const double nearly_there = std::sqrt(0.1 * options.enough);
  double* const x = of_positions ? y : y + n_;
  double last = std::numeric_limits<double>::infinity();
  for (int k = 0; k < options.most_iterations; ++k) {
    ++projections;
    set_fast_inputs(t, y);
    projection.step(fast_->inputs.data(), projection.outputs.data());
    const double* const out = projection.outputs.data();
    if (!(out[projection.at_vouch] > 0.0)) return false;
    if (k == 0)
      (of_positions ? result.phi : result.rate) =
          kernels::largest(projection.at_vouch - projection.at_residuals, out + projection.at_residuals);
    const double largest = kernels::add_and_measure(n_, out, x);
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
  if (fast_ && fast_->held.function && !prefer_robust && !fast_->positions.missing) {
    Projected result;
    std::vector<double>& kept = project_before_;
    kept.assign(y, y + 2 * n_);
    if (converge_fast(true, t, y, options, result)) {
      set_fast_inputs(t, y);
      Fast::Acceleration& held = fast_->held;
      held.function(fast_->inputs.data(), held.outputs.data());
      if (held.outputs[held.at_vouch] > 0.0) {
        ++projections;
        std::copy_n(held.outputs.begin() + held.at_velocities, n_, y + n_);
        return take_acceleration(held.outputs.data(), held.at_powers, t, y, dy);
      }
    }
    std::copy(kept.begin(), kept.end(), y);
  }
  return project(t, y, options).ok && rhs(t, y, dy);
}

void Dynamics::set_fast_inputs(double t, const double* y) {
  std::vector<double>& x = fast_->inputs;
  x[0] = t;
  std::copy(y, y + 2 * n_, x.begin() + 1);
  std::copy(sides_.begin(), sides_.end(), x.begin() + fast_->at_sides);
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
  if (!fast_ || prefer_robust) {
    robust_evaluations += static_cast<bool>(fast_);
    return rhs_robust(t, y, dy);
  }
  Fast::Acceleration& fast = fast_->acceleration;
  set_fast_inputs(t, y);
  fast.function(fast_->inputs.data(), fast.outputs.data());
  if (fast.outputs[fast.at_vouch] > 0.0) return take_acceleration(fast.outputs.data(), fast.at_powers, t, y, dy);
  ++robust_evaluations;
  return rhs_robust(t, y, dy);
}

void Dynamics::refresh_values() const {
  if (!values_stale_) return;
  auto& self = const_cast<Dynamics&>(*this);
  self.values_stale_ = false;
  self.set_inputs(values_t_, values_y_.data(), values_y_.data() + n_);
  self.run(self.rhs_values_, self.v_);
  self.last_is_rows_ = false, self.last_A_ = at_A_;
}

bool Dynamics::project_tangent_fast(double t, const double* y, double* v) {
  if (!fast_ || prefer_robust || velocity_rows_nonlinear_ || !fast_->velocities.step) return false;
  // The rows are linear in velocities: from q̇ + v, with q̇ on the constraints, a Newton step takes off what v has across.
  Fast::Projection& projection = fast_->velocities;
  ++projections;
  set_fast_inputs(t, y);
  for (int i = 0; i < n_; ++i) fast_->inputs[1 + n_ + i] += v[i];
  projection.step(fast_->inputs.data(), projection.outputs.data());
  if (!(projection.outputs[projection.at_vouch] > 0.0)) return false;
  for (int i = 0; i < n_; ++i) v[i] += projection.outputs[i];
  return true;
}

bool Dynamics::calc_pivots(double t, const double* y, std::span<double> inverse_pivots, std::span<double> sizes) {
  const std::size_t r = sine_rows_.size();
  if (fast_ && fast_->rank) {
    set_fast_inputs(t, y);
    fast_->rank(fast_->inputs.data(), fast_->pivots.data());
    std::copy_n(fast_->pivots.begin(), r, inverse_pivots.begin());
    std::copy_n(fast_->pivots.begin() + static_cast<std::ptrdiff_t>(r), r, sizes.begin());
    return true;
  }
  // R of Z = L⁻¹Aᵀ with the rows in this order.
  const long before = projections;  // what is kept from one call to the next must not show in counts
  const bool ok = evaluate_rows(t, y, y + n_) && make_metric();
  projections = before;
  if (!ok) return false;
  for (std::size_t k = 0; k < r; ++k) {
    double* z = pivot_Z_.data() + k * static_cast<std::size_t>(n_);
    copy_row(sine_rows_[k], z);
    kernels::solve_lower(n_, L_.data(), z);
    const double size = kernels::norm(n_, z);
    sizes[k] = size * size;
  }
  kernels::qr(n_, static_cast<int>(r), pivot_Z_.data(), tau_.data());
  for (std::size_t k = 0; k < r; ++k) {
    const double pivot = pivot_Z_[k * static_cast<std::size_t>(n_) + k];
    inverse_pivots[k] = 1.0 / (pivot * pivot);
  }
  return true;
}

std::span<const double> Dynamics::calc_sines(double t, const double* y) {
  const std::size_t r = sine_rows_.size();
  if (sines_.size() == r && r > 0 && t == sines_t_ && std::equal(y, y + 2 * n_, sines_y_.begin()) &&
      std::equal(sides_.begin(), sides_.end(), sines_y_.begin() + 2 * n_))
    return sines_;
  sines_.resize(r);
  sines_y_.assign(y, y + 2 * n_);
  sines_y_.insert(sines_y_.end(), sides_.begin(), sides_.end());
  sines_t_ = t;
  joint_.resize(std::max(joint_.size(), r)), full_.resize(std::max(full_.size(), r));
  if (!calc_pivots(t, y, joint_, full_)) {
    sines_t_ = std::numeric_limits<double>::quiet_NaN();
    return {};
  }
  std::copy(row_size_.begin(), row_size_.end(), sines_.begin());
  kernels::calc_sines(std::ssize(sines_), joint_.data(), full_.data(), sines_.data());
  return sines_;
}

bool Dynamics::calc_sines_of(std::span<const double> times, const double* states, double* sines) {
  const std::size_t r = sine_rows_.size(), width = 2 * static_cast<std::size_t>(n_);
  const bool together = fast_ && fast_->rank_of_four && fast_->rank_of_four.tier() != Tier::interpreter;
  std::size_t k = 0;
  for (; together && k + 1 < times.size(); k += 4) {
    double* const x = fast_->inputs_of_four.data();
    const double* y[4];
    for (std::size_t lane = 0; lane < 4; ++lane) {
      const std::size_t which = std::min(k + lane, times.size() - 1);  // the last once more where there are fewer
      y[lane] = states + which * width;
      x[lane] = times[which];
    }
    for (std::size_t i = 0; i < width; ++i)
      for (std::size_t lane = 0; lane < 4; ++lane) x[4 * (1 + i) + lane] = y[lane][i];
    const std::size_t at_sides = static_cast<std::size_t>(fast_->at_sides);
    for (std::size_t i = 1 + width; i < at_sides; ++i) std::fill_n(x + 4 * i, 4, fast_->inputs[i]);
    for (std::size_t i = 0; i < sides_.size(); ++i) std::fill_n(x + 4 * (at_sides + i), 4, sides_[i]);
    const double* const p = fast_->pivots_of_four.data();
    fast_->rank_of_four(x, fast_->pivots_of_four.data());
    std::vector<double>& side_by_side = fast_->sines_of_four;
    for (std::size_t j = 0; j < r; ++j) std::fill_n(side_by_side.begin() + 4 * j, 4, row_size_[j]);
    kernels::calc_sines(static_cast<std::ptrdiff_t>(4 * r), p, p + 4 * r, side_by_side.data());
    // Where there are fewer, the last is written more than once.
    double* to[4];
    for (std::size_t lane = 0; lane < 4; ++lane) to[lane] = sines + std::min(k + lane, times.size() - 1) * r;
    for (std::size_t j = 0; j < r; ++j)
      for (std::size_t lane = 0; lane < 4; ++lane) to[lane][j] = side_by_side[4 * j + lane];
  }
  for (; k < times.size(); ++k) {
    const auto found = calc_sines(times[k], states + k * width);
    if (found.empty()) return false;
    std::copy(found.begin(), found.end(), sines + k * r);
  }
  return true;
}

void Dynamics::set_row_sizes(double t, const double* y) {
  const std::size_t r = sine_rows_.size();
  joint_.resize(std::max(joint_.size(), r)), full_.resize(std::max(full_.size(), r));
  const bool first = row_size_.size() != r;
  if (first) row_size_.assign(r, 0.0), row_grows_.assign(r, false);
  if (r == 0 || !calc_pivots(t, y, joint_, full_)) return;
  for (std::size_t k = 0; k < r; ++k) {
    if (first) row_grows_[k] = zero_row_[sine_rows_[k]] || !(full_[k] > 0.0);
    if ((first || row_grows_[k]) && full_[k] > row_size_[k]) row_size_[k] = full_[k];
  }
  sines_t_ = std::numeric_limits<double>::quiet_NaN();
}

bool Dynamics::choose_rows(double t, const double* y) {
  // Nearer than this, rounding decides between rows, and the choice is made at once.
  constexpr double far_from_singular = 1e-3;
  rows_far_ = rows_stale_ = false;
  // Without rows there is nothing to choose, and whether M is a mass matrix the compiled acceleration tells.
  if (fast_ && all.candidates.empty() && !singular_mass && !prefer_robust) {
    rows_stale_ = true;
    chosen_t_ = t;
    chosen_y_.assign(y, y + 2 * n_);
    return true;
  }
  if (fast_ && fast_->rank && !prefer_robust && !start_size_.empty()) {
    weakest_sine_ = 1.0;
    for (const double sine : calc_sines(t, y)) weakest_sine_ = std::min(weakest_sine_, sine);
    if (weakest_sine_ > far_from_singular) {
      rows_far_ = rows_stale_ = true;
      chosen_t_ = t;
      chosen_y_.assign(y, y + 2 * n_);
      return true;
    }
  }
  return choose_rows_now(t, y);
}

void Dynamics::settle_rows() {
  if (!rows_stale_) return;
  rows_stale_ = false;
  // Where all rows act and none is near the others, all are chosen again.
  const auto is_whole = [](const RowSet& set) { return set.kept.size() == set.candidates.size() && !set.kept.empty(); };
  if (rows_far_ && !singular_mass && !measured_ && is_whole(all) && is_whole(positions) && is_whole(velocities)) {
    for (RowSet* set : {&all, &positions, &velocities}) {
      set->pivot.assign(set->kept.size(), 1.0);
      set->pivot.back() = set->kept.size() > 1 ? weakest_sine_ : 1.0;
    }
    return;
  }
  const long before = projections;  // when this happens depends on who asks
  choose_rows_now(chosen_t_, chosen_y_.data());
  projections = before;
}

}  // namespace mechanician
