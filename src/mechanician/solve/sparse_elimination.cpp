#include "mechanician/solve/sparse_elimination.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace mechanician {

using sparse::Index;

namespace {
constexpr int most_unmet = 64;
constexpr int least_streamed = 1 << 20;  // coordinates from which results are not worth a place in the caches

constexpr int least_wide = 300'000;  // coordinates from which the loops around an elimination are shared
constexpr Index range = 1 << 14;     // numbers in a piece of these

void add(sparse::PivotCount& sum, const sparse::PivotCount& count) {
  sum.row_growth = std::max(sum.row_growth, count.row_growth);
  sum.mass_growth = std::max(sum.mass_growth, count.mass_growth);
  sum.num_masked += count.num_masked, sum.num_grey += count.num_grey;
  sum.num_indefinite += count.num_indefinite, sum.num_not_finite += count.num_not_finite;
}

void check_size(const char* name, std::size_t given, std::size_t wanted) {
  if (given != wanted)
    throw std::invalid_argument(fmt::format("{} has {} values; the pattern has {}", name, given, wanted));
}
}  // namespace

const char* describe(SparseStatus status) {
  switch (status) {
    case SparseStatus::vouched:
      return "solved";
    case SparseStatus::doubtful:
      return "elimination cannot vouch for the answer";
    case SparseStatus::contradiction:
      return "a row that depends on others is not met";
    case SparseStatus::mass_not_definite:
      return "M has no positive pivot at some coordinate";
    case SparseStatus::not_finite:
      return "a number is infinite or not a number";
  }
  return "";
}

std::string describe(const SparseResult& r) {
  std::string text = describe(r.status);
  if (r.num_masked > 0) text += fmt::format("; {} dependent rows left out", r.num_masked);
  if (r.num_grey > 0)
    text += fmt::format("; {} rows too near to dependent to tell (1/sin² up to {:.1e})", r.num_grey, r.row_growth);
  if (r.status == SparseStatus::contradiction)
    text += fmt::format("; row {} misses by {:.1e} of its terms", r.worst_row, r.masked_residual);
  else if (r.status == SparseStatus::doubtful)
    text += fmt::format("; residual {:.1e} after {} refinements", std::max(r.residual, r.masked_residual),
                        r.num_refinements);
  return text;
}

SparseElimination::SparseElimination(const SparsePattern& pattern, const SparseOptions& options)
    : options_(options),
      plan_(make_sparse_plan(pattern, {.ordering = options.ordering,
                                       .augment_all = options.augment_all,
                                       .least_products = options.least_products})),
      kernels_(&sparse::kernels(options.most_lanes)),
      lists_(plan_.lists()),
      threads_(options.num_threads) {
  const std::size_t positions = plan_.num_positions, num_parts = plan_.parts.size();
  wide_ = num_parts > 1 || plan_.n >= least_wide;
  values_.assign(plan_.num_values, 0.0);
  P_.assign(positions, 0.0);
  y_.assign(positions, 0.0);
  work_.assign((num_parts > 1 ? threads_.count() : 1) * (plan_.work_size + 64), 0.0);
  W_.assign(plan_.n, 0.0);
  if (!plan_.form_target.empty()) B_.assign(plan_.A_row.size(), 0.0);
  if (!plan_.augmented.empty()) row_weight_.assign(plan_.m, 0.0);
  if (plan_.form_target.empty() && plan_.augmented.empty() && !plan_.copies_M.empty())
    mass_values_.assign(plan_.num_values, 0.0), mass_P_.assign(positions, 0.0);
  if (options_.check_residual) {
    for (auto* v : {&f_left_, &size_, &dx_}) v->assign(plan_.n, 0.0);
    for (auto* v : {&g_left_, &dlambda_}) v->assign(plan_.m, 0.0);
  }
  masked_.reserve(plan_.m);
  unmet_.reserve(most_unmet);
  is_masked_.assign(plan_.m, 0);
  row_residuals_.resize(plan_.m / range + 1);
  part_counts_.resize(num_parts);
  pending_ = std::make_unique<std::atomic<int>[]>(num_parts);
  int deepest = 0;
  for (std::size_t p = 0; p < num_parts; ++p) {
    if (plan_.parts[p].child_begin == plan_.parts[p].child_end) leaves_.push_back(static_cast<int>(p));
    deepest = std::max(deepest, plan_.parts[p].depth);
  }
  for (int depth = 0; depth <= deepest; ++depth) {
    for (std::size_t p = 0; p < num_parts; ++p)
      if (plan_.parts[p].depth == depth) depths_.items.push_back(static_cast<int>(p));
    depths_.begin.push_back(static_cast<int>(depths_.items.size()));
  }
  by_parts_ = num_parts > 1 && plan_.runs.empty() && plan_.copies_M.empty() && plan_.copies_A.empty();
  const auto place = [](const std::vector<int>& list, Index value) {
    return std::lower_bound(list.begin(), list.end(), value) - list.begin();
  };
  for (const SparsePlan::Stretch& s : plan_.stretches)
    forming_.push_back({{place(plan_.form_target, s.first), place(plan_.form_target, s.last)},
                        {place(plan_.form_target, s.values), place(plan_.form_target, s.values_end)},
                        {place(plan_.loose_rows, s.first), place(plan_.loose_rows, s.last)}});
  cut_bands();
  if (wide_) threads_.start();
}

/// Bands in pieces, those of x, y and z in turns: they read the same multipliers.
void SparseElimination::cut_bands() {
  constexpr int piece = 8192;
  int longest = 0;
  for (const sparse::Band& band : plan_.bands) longest = std::max(longest, band.num_groups);
  Index held = range;  // coordinates in the group so far
  for (int from = 0; from < longest; from += piece)
    for (const sparse::Band& band : plan_.bands) {
      if (from >= band.num_groups) continue;
      sparse::Band part = band;
      part.first += from * band.period;
      part.num_groups = std::min(piece, band.num_groups - from);
      for (int k = 0; k < band.period; ++k)
        for (int r = 0; r < band.degree; ++r)
          part.slot[k][r] += from * band.slot_step, part.row[k][r] += from * band.row_step;
      if (held >= range) band_groups_.push_back(static_cast<int>(bands_.size())), held = 0;
      held += static_cast<Index>(part.num_groups) * part.period;
      bands_.push_back(part);
    }
  band_groups_.push_back(static_cast<int>(bands_.size()));
}

/// body(from, to) for ranges of 0 … size − 1.
template <class Body>
void SparseElimination::each_range(Index size, Body&& body) {
  if (wide_)
    threads_.ranges(size, range, [&](Index from, Index to, int) { body(from, to); });
  else if (size > 0)
    body(Index{0}, size);
}

template <class Body>
void SparseElimination::each_band(Body&& body) {
  const auto group = [&](int k, int) {
    for (int b = band_groups_[k]; b < band_groups_[k + 1]; ++b) body(bands_[b]);
  };
  const int num_groups = static_cast<int>(band_groups_.size()) - 1;
  if (wide_) return threads_.each(num_groups, group);
  for (int k = 0; k < num_groups; ++k) group(k, 0);
}

/// body(part, work) with children before parents. Whoever does the last child goes on with the parent.
template <class Body>
void SparseElimination::each_part_up(Body&& body) {
  const Index work = plan_.work_size + 64;
  const int num_parts = static_cast<int>(plan_.parts.size());
  if (threads_.count() == 1 || num_parts == 1) {
    for (int p = 0; p < num_parts; ++p) body(p, work_.data());
    return;
  }
  for (int p = 0; p < num_parts; ++p)
    pending_[p].store(plan_.parts[p].child_end - plan_.parts[p].child_begin, std::memory_order_relaxed);
  threads_.each(static_cast<int>(leaves_.size()), [&](int leaf, int slot) {
    int p = leaves_[leaf];
    do {
      body(p, work_.data() + slot * work);
      p = plan_.parts[p].parent;
    } while (p >= 0 && pending_[p].fetch_sub(1, std::memory_order_acq_rel) == 1);
  });
}

/// The other way.
template <class Body>
void SparseElimination::each_part_down(Body&& body) {
  for (int depth = 0; depth < depths_.size(); ++depth)
    threads_.each(depths_.count(depth), [&](int k, int slot) {
      body(depths_.first(depth)[k], work_.data() + slot * (plan_.work_size + 64));
    });
}

void SparseElimination::set_mass(std::span<const double> M) {
  check_size("M", M.size(), plan_.M_row.size());
  M_ = M;
  num_formed_ = 0;
  num_not_positive_ =
      kernels_->invert(plan_.n, M.data(), plan_.mass_in_order ? nullptr : plan_.mass_slot.data(), W_.data());
  // Masses that are all alike need not be read.
  const bool equal = plan_.mass_in_order && std::all_of(W_.begin(), W_.end(), [&](double w) { return w == W_[0]; });
  lists_.equal_W = equal && !W_.empty() ? W_[0] : 0.0;
}

void SparseElimination::hold_force(std::span<const double> f) {
  check_size("f", f.size(), plan_.n);
  held_force_ = f.data();
  for (sparse::Strip& strip : plan_.strips) {
    strip.even_force = strip.direction != 0;
    for (int k = 0; k < strip.num_terms && strip.even_force; ++k) {
      const double* const at = f.data() + strip.coordinate[k];
      strip.force[k] = *at;
      for (Index j = 1; j < strip.count && strip.even_force; ++j) strip.even_force = at[strip.direction * j] == *at;
    }
  }
  for (sparse::Band& band : bands_) {
    const double* const at = f.data() + band.first;
    band.force = *at;
    band.even_force = band.period == 1 && std::all_of(at, at + band.num_groups, [&](double x) { return x == *at; });
  }
}

/// Entries of the core and of rows outside strips, before anything is eliminated. Those of parts wait for their turn.
void SparseElimination::form_core() {
  // Masses that are all alike are a factor.
  const double factor = lists_.equal_W != 0 ? -lists_.equal_W : 1.0;
  if (!plan_.form_target.empty() && lists_.equal_W == 0) {
    const int* const slots = plan_.form_slots.empty() ? nullptr : plan_.form_slots.data();
    each_range(static_cast<Index>(slots ? plan_.form_slots.size() : plan_.A_row.size()), [&](Index from, Index to) {
      const Index at = slots ? 0 : from;
      kernels_->scale(static_cast<int>(to - from), slots ? slots + from : nullptr, A_.data() + at,
                      plan_.A_col.data() + at, W_.data(), B_.data() + at);
    });
  }
  if (by_parts_) return;
  const Index core = static_cast<Index>(plan_.row_at.size());
  if (!mass_values_.empty()) {
    form_masses();
    for (const SparsePlan::Copy& copy : plan_.copies_A) values_[copy.target] += A_[copy.slot];
    return;
  }
  std::fill(values_.begin() + plan_.core_values, values_.end(), 0.0);
  std::fill(values_.begin() + plan_.first_core, values_.begin() + core, 0.0);
  kernels_->form(static_cast<Index>(plan_.form_target.size()), plan_.form_target.data(), plan_.form_begin.data(),
                 plan_.form_pairs.data(), factor, lists_.equal_W != 0 ? A_.data() : B_.data(), A_.data(),
                 values_.data());
  for (const SparsePlan::Copy& copy : plan_.copies_M) values_[copy.target] += M_[copy.slot];
  for (const SparsePlan::Copy& copy : plan_.copies_A) values_[copy.target] += A_[copy.slot];
  if (!plan_.augmented.empty()) {
    // Weights that make w·aᵀa as large as the masses a row touches.
    double largest = 0;
    for (int i = 0; i < plan_.n; ++i)
      if (plan_.mass_slot[i] >= 0) largest = std::max(largest, std::abs(M_[plan_.mass_slot[i]]));
    for (const SparsePlan::Copy& copy : plan_.copies_M) largest = std::max(largest, std::abs(M_[copy.slot]));
    if (!(largest > 0)) largest = 1;
    for (const int r : plan_.augmented) {
      double square = 0;
      for (const int* s = plan_.row_slots.first(r); s != plan_.row_slots.last(r); ++s) square += A_[*s] * A_[*s];
      row_weight_[r] = square > 0 ? largest / square : 0;
    }
    for (const SparsePlan::Product& p : plan_.augmenting) values_[p.target] += row_weight_[p.row] * A_[p.a] * A_[p.b];
  }
  for (Index p = plan_.first_core; p < core; ++p) P_[p] = std::abs(values_[plan_.diagonal(static_cast<int>(p))]);
  std::fill(P_.begin() + core, P_.end(), 0.0);
}

/// Where the diagonal of the core consists of masses alone: values and P before rows are added. From the second time on
/// that M is the same they are copied.
void SparseElimination::form_masses() {
  const Index core = static_cast<Index>(plan_.row_at.size()), first = plan_.first_core;
  const auto copy = [&](const LargeVector& from, LargeVector& to, Index begin, Index end) {
    std::copy(from.begin() + begin, from.begin() + end, to.begin() + begin);
  };
  const auto size = static_cast<Index>(values_.size()), positions = static_cast<Index>(P_.size());
  if (++num_formed_ > 2) {
    copy(mass_values_, values_, plan_.core_values, size);
    copy(mass_values_, values_, first, core);
    copy(mass_P_, P_, first, positions);
    return;
  }
  std::fill(values_.begin() + plan_.core_values, values_.end(), 0.0);
  std::fill(values_.begin() + first, values_.begin() + core, 0.0);
  for (const SparsePlan::Copy& c : plan_.copies_M) values_[c.target] += M_[c.slot];
  for (Index p = first; p < core; ++p) P_[p] = std::abs(values_[plan_.diagonal(static_cast<int>(p))]);
  std::fill(P_.begin() + core, P_.end(), 0.0);
  if (num_formed_ < 2) return;
  // M has not changed once: it is worth being kept.
  copy(values_, mass_values_, plan_.core_values, size);
  copy(values_, mass_values_, first, core);
  copy(P_, mass_P_, first, positions);
}

/// The same for the columns of a part, with f also y: while they are in the caches.
void SparseElimination::form_part(const sparse::Part& part, const double* f, const double* g) {
  const bool equal = lists_.equal_W != 0;
  for (int k = part.stretch_begin; k < part.stretch_end; ++k) {
    const SparsePlan::Stretch& s = plan_.stretches[k];
    std::fill(values_.begin() + s.values, values_.begin() + s.values_end, 0.0);
    std::fill(values_.begin() + s.first, values_.begin() + s.last, 0.0);
    for (const auto* range_of : {forming_[k].diagonals, forming_[k].entries})
      kernels_->form(range_of[1] - range_of[0], plan_.form_target.data() + range_of[0],
                     plan_.form_begin.data() + range_of[0], plan_.form_pairs.data(), equal ? -lists_.equal_W : 1.0,
                     equal ? A_.data() : B_.data(), A_.data(), values_.data());
    for (int p = s.first; p < s.last; ++p) P_[p] = std::abs(values_[plan_.diagonal(p)]);
    if (f) start_rows(forming_[k].rows[0], forming_[k].rows[1], f, g);
  }
  std::fill_n(values_.begin() + part.values, static_cast<Index>(part.size) * part.lead, 0.0);
  std::fill_n(P_.begin() + part.first, part.size, 0.0);
  if (f) std::fill_n(y_.begin() + part.first, part.size, 0.0);
}

/// With f: y as well.
void SparseElimination::eliminate(const double* f, const double* g) {
  count_ = {};
  const sparse::PivotLimits limits{options_.dependent, options_.grey, options_.indefinite};
  for (const sparse::Run& run : plan_.runs) P_[run.first] = 0;
  const std::vector<sparse::Run>& runs = plan_.runs;
  for (std::size_t k = 0; k < runs.size();) {
    const bool pair = k + 1 < runs.size() && plan_.run_level[k] == plan_.run_level[k + 1];
    kernels_->run(lists_, &runs[k], pair ? &runs[k + 1] : nullptr, plan_.strips.data(), A_.data(), W_.data(), f, g,
                  limits, values_.data(), P_.data(), f ? y_.data() : nullptr, count_);
    k += pair ? 2 : 1;
  }
  each_part_up([&](int p, double* work) {
    part_counts_[p] = {};
    if (by_parts_) form_part(plan_.parts[p], f, g);
    kernels_->core(lists_, plan_.parts[p], limits, values_.data(), P_.data(), f ? y_.data() : nullptr, work,
                   part_counts_[p]);
  });
  for (const sparse::PivotCount& count : part_counts_) add(count_, count);
  list_masked();
}

void SparseElimination::list_masked() {
  for (const int r : masked_) is_masked_[r] = 0;
  masked_.clear();
  if (count_.num_masked == 0) return;
  for (int r = 0; r < plan_.m; ++r)
    if (values_[plan_.position_of_row[r]] == 0.0) masked_.push_back(r), is_masked_[r] = 1;
}

void SparseElimination::calc_row_pivots(std::span<double> inverse_pivots, std::span<double> sizes) const {
  for (int r = 0; r < plan_.m; ++r) {
    const int p = plan_.position_of_row[r];
    const double inverse = std::abs(values_[p]);
    inverse_pivots[r] = inverse > 0 ? inverse : std::numeric_limits<double>::infinity();
    double size = P_[p];
    if (p < plan_.first_core) {
      // Rows of runs touch uncoupled coordinates only, and their P is not kept.
      size = 0;
      for (const int* s = plan_.row_slots.first(r); s != plan_.row_slots.last(r); ++s)
        size += A_[*s] * A_[*s] * W_[plan_.A_col[*s]];
    }
    sizes[r] = size;
  }
}

SparseResult SparseElimination::judge_pivots() const {
  SparseResult result;
  result.row_growth = count_.row_growth;
  result.mass_growth = count_.mass_growth;
  result.num_masked = count_.num_masked;
  result.num_grey = count_.num_grey;
  if (num_not_positive_ == 0 &&
      (count_.num_not_finite > 0 || !std::isfinite(count_.row_growth) || !std::isfinite(count_.mass_growth)))
    result.status = SparseStatus::not_finite;
  else if (count_.num_indefinite > 0 || num_not_positive_ > 0 || !plan_.massless.empty())
    result.status = SparseStatus::mass_not_definite;
  else if (count_.num_grey > 0 || count_.mass_growth * options_.grey_mass > 1)
    result.status = SparseStatus::doubtful;
  return result;
}

SparseResult SparseElimination::factor(std::span<const double> M, std::span<const double> A) {
  set_mass(M);
  return factor(A);
}

SparseResult SparseElimination::factor(std::span<const double> A) {
  check_size("A", A.size(), plan_.A_row.size());
  check_size("M", M_.size(), plan_.M_row.size());
  A_ = A;
  form_core();
  eliminate(nullptr, nullptr);
  return judge_pivots();
}

/// y of rows outside strips: −A M⁻¹f, and g where the row is not in a run.
void SparseElimination::start_rows(Index from, Index to, const double* f, const double* g) {
  for (Index k = from; k < to; ++k) {
    const int p = plan_.loose_rows[k], row = plan_.row_at[p];
    double sum = p >= plan_.first_core ? g[row] : 0.0;
    for (const int* s = plan_.row_slots.first(row); plan_.has_uncoupled && s != plan_.row_slots.last(row); ++s)
      sum -= A_[*s] * W_[plan_.A_col[*s]] * f[plan_.A_col[*s]];
    y_[p] = sum;
  }
}

/// And f of coupled coordinates.
void SparseElimination::start(const double* f, const double* g) {
  each_range(static_cast<Index>(plan_.loose_rows.size()), [&](Index from, Index to) { start_rows(from, to, f, g); });
  std::fill(y_.begin() + plan_.row_at.size(), y_.end(), 0.0);  // of fronts
  for (std::size_t p = plan_.first_core; p < plan_.row_at.size(); ++p)
    if (const int i = -1 - plan_.row_at[p]; i >= 0) y_[p] = f[i];
  for (const int r : plan_.augmented)
    for (const int* s = plan_.row_slots.first(r); s != plan_.row_slots.last(r); ++s)
      y_[plan_.position_of_coordinate[plan_.A_col[*s]]] += A_[*s] * row_weight_[r] * g[r];
}

void SparseElimination::forward(const double* f, const double* g) {
  for (const sparse::Strip& strip : plan_.strips) std::fill_n(y_.begin() + strip.first, strip.count, 0.0);
  for (const sparse::Run& run : plan_.runs)
    kernels_->run_forward(lists_, run, plan_.strips.data(), A_.data(), W_.data(), f, g, values_.data(), y_.data());
  each_part_up(
      [&](int p, double* work) { kernels_->core_forward(lists_, plan_.parts[p], values_.data(), y_.data(), work); });
}

void SparseElimination::backward(const double* f, double* x, double* lambda) {
  each_part_down(
      [&](int p, double* work) { kernels_->core_backward(lists_, plan_.parts[p], values_.data(), y_.data(), work); });
  std::atomic<bool> all_finite{true};
  const auto expect_finite = [&](double zero) {
    if (!(zero == 0.0)) all_finite.store(false, std::memory_order_relaxed);
  };
  each_range(static_cast<Index>(plan_.row_at.size()) - plan_.first_core, [&](Index from, Index to) {
    double zero = 0;
    for (Index p = plan_.first_core + from; p < plan_.first_core + to; ++p) {
      if (const int r = plan_.row_at[p]; r >= 0)
        lambda[r] = -y_[p];
      else
        x[-1 - r] = y_[p];
      zero += y_[p] - y_[p];
    }
    expect_finite(zero);
  });
  const std::vector<sparse::Run>& runs = plan_.runs;
  for (std::size_t k = runs.size(); k-- > 0;) {
    const bool pair = k > 0 && plan_.run_level[k] == plan_.run_level[k - 1];
    kernels_->run_backward(lists_, &runs[k], pair ? &runs[k - 1] : nullptr, plan_.strips.data(), values_.data(),
                           y_.data(), lambda);
    if (pair) --k;
  }
  each_band([&](const sparse::Band& band) {
    expect_finite(kernels_->band(lists_, band, A_.data(), W_.data(), f, lambda, x, plan_.n > least_streamed));
  });
  each_range(static_cast<Index>(plan_.loose_coordinates.size()), [&](Index from, Index to) {
    double zero = 0;
    for (Index k = from; k < to; ++k) {
      const int i = plan_.loose_coordinates[k];
      double force = f[i];
      for (const int* s = plan_.col_slots.first(i); s != plan_.col_slots.last(i); ++s)
        force += A_[*s] * lambda[plan_.A_row[*s]];
      x[i] = W_[i] * force;
      zero += x[i] - x[i];
    }
    expect_finite(zero);
  });
  finite_ = all_finite ? 0.0 : std::numeric_limits<double>::quiet_NaN();
}

void SparseElimination::solve_once(const double* f, const double* g, double* x, double* lambda) {
  lists_.force_held = f == held_force_;
  start(f, g);
  forward(f, g);
  backward(f, x, lambda);
}

void SparseElimination::check_sizes(std::span<const double> f, std::span<const double> g, std::span<const double> x,
                                    std::span<const double> lambda) const {
  check_size("f", f.size(), plan_.n);
  check_size("g", g.size(), plan_.m);
  check_size("x", x.size(), plan_.n);
  check_size("lambda", lambda.size(), plan_.m);
}

SparseResult SparseElimination::solve(std::span<const double> f, std::span<const double> g, std::span<double> x,
                                      std::span<double> lambda) {
  check_sizes(f, g, x, lambda);
  solve_once(f.data(), g.data(), x.data(), lambda.data());
  return finish(f.data(), g.data(), x.data(), lambda.data());
}

SparseResult SparseElimination::factor_and_solve(std::span<const double> M, std::span<const double> A,
                                                 std::span<const double> f, std::span<const double> g,
                                                 std::span<double> x, std::span<double> lambda) {
  check_sizes(f, g, x, lambda);
  if (!M.empty()) set_mass(M);
  check_size("M", M_.size(), plan_.M_row.size());
  check_size("A", A.size(), plan_.A_row.size());
  A_ = A;
  lists_.force_held = f.data() == held_force_;
  form_core();
  if (!by_parts_) start(f.data(), g.data());
  eliminate(f.data(), g.data());
  backward(f.data(), x.data(), lambda.data());
  return finish(f.data(), g.data(), x.data(), lambda.data());
}

/// f − M x + Aᵀλ, the sizes of x, and the largest share that is left of a coupled coordinate. For the others x is the
/// sum of what acts on it, times 1/M: its rounding is relative to those terms, and so is that of A x.
double SparseElimination::calc_force_residual(const double* f, const double* x, const double* lambda) {
  double worst = 0;
  for (int i = 0; i < plan_.n; ++i) {
    double sum = f[i], size = std::abs(f[i]);
    for (const int* s = plan_.col_slots.first(i); s != plan_.col_slots.last(i); ++s) {
      const double term = A_[*s] * lambda[plan_.A_row[*s]];
      sum += term;
      size += std::abs(term);
    }
    f_left_[i] = sum;
    size_[i] = size;
  }
  // The sizes of M x are kept in dx_, which is free here.
  std::fill(dx_.begin(), dx_.end(), 0.0);
  for (std::size_t k = 0; k < plan_.M_row.size(); ++k) {
    const int i = plan_.M_row[k], j = plan_.M_col[k];
    f_left_[i] -= M_[k] * x[j];
    dx_[i] += std::abs(M_[k] * x[j]);
    if (i == j) continue;
    f_left_[j] -= M_[k] * x[i];
    dx_[j] += std::abs(M_[k] * x[i]);
  }
  for (int i = 0; i < plan_.n; ++i) {
    const double size = size_[i] + dx_[i];
    if (plan_.position_of_coordinate[i] >= 0) {
      const double share = std::abs(f_left_[i]) / (size > 0 ? size : 1);
      worst = share > worst ? share : worst;
    }
    size_[i] = std::abs(x[i]) + W_[i] * size_[i];
  }
  return worst;
}

/// How large what is missing is against its terms. Where all coordinates are uncoupled, their own equation holds by
/// construction and is left out.
SparseElimination::Residual SparseElimination::calc_residual(const double* f, const double* g, const double* x,
                                                             const double* lambda) {
  Residual residual;
  if (plan_.first_core == static_cast<int>(plan_.row_at.size()) || plan_.mass_in_order) {
    each_band([&](const sparse::Band& band) {
      kernels_->band_sizes(band, A_.data(), W_.data(), f, lambda, x, size_.data());
    });
    for (const int i : plan_.loose_coordinates) {
      double size = std::abs(f[i]);
      for (const int* s = plan_.col_slots.first(i); s != plan_.col_slots.last(i); ++s)
        size += std::abs(A_[*s] * lambda[plan_.A_row[*s]]);
      size_[i] = std::abs(x[i]) + W_[i] * size;
    }
  } else {
    residual.kept = calc_force_residual(f, x, lambda);
  }
  const auto include = [&](const sparse::RowResidual& rows) {
    if (rows.share > residual.kept) residual.kept = rows.share, residual.worst_kept = rows.row;
  };
  const auto add_rows = [&](int begin, int end) {
    if (begin == end) return;
    each_range(end - begin, [&](Index from, Index to) {
      row_residuals_[from / range] = kernels_->residual(
          begin + static_cast<int>(from), begin + static_cast<int>(to), plan_.row_slots.begin.data(),
          plan_.rows_in_order ? nullptr : plan_.row_slots.items.data(), plan_.A_col.data(), A_.data(), x, size_.data(),
          g, masked_.empty() ? nullptr : is_masked_.data(), g_left_.data());
    });
    for (Index k = 0; k <= (wide_ ? (end - begin - 1) / range : 0); ++k) include(row_residuals_[k]);
  };
  if (masked_.empty()) {
    for (const sparse::Strip& strip : plan_.strips)
      if (strip.direction != 0) include(kernels_->strip_residual(strip, A_.data(), x, size_.data(), g, g_left_.data()));
    for (const SparsePlan::Range& rows : plan_.uneven_rows) add_rows(rows.from, rows.to);
  } else {
    add_rows(0, plan_.m);
  }
  for (const int r : masked_) {
    double size = std::abs(g[r]);
    for (const int* s = plan_.row_slots.first(r); s != plan_.row_slots.last(r); ++s)
      size += std::abs(A_[*s]) * size_[plan_.A_col[*s]];
    const double share = g_left_[r] == 0 ? 0 : std::abs(g_left_[r]) / size;
    if (!(share <= residual.masked)) residual.masked = share, residual.worst_masked = r;
    if (share > options_.contradiction && unmet_.size() < most_unmet) unmet_.push_back(r);
  }
  return residual;
}

SparseResult SparseElimination::finish(const double* f, const double* g, double* x, double* lambda) {
  SparseResult result = judge_pivots();
  unmet_.clear();
  if (!(finite_ == 0.0) && num_not_positive_ == 0) {
    result.status = SparseStatus::not_finite;
    return result;
  }
  if (result.status == SparseStatus::mass_not_definite || result.status == SparseStatus::not_finite) return result;
  if (!options_.check_residual) return result;

  Residual residual = calc_residual(f, g, x, lambda);
  while (residual.kept > options_.accuracy && result.num_refinements < options_.most_refinements) {
    calc_force_residual(f, x, lambda);
    solve_once(f_left_.data(), g_left_.data(), dx_.data(), dlambda_.data());
    if (!(finite_ == 0.0)) break;
    for (int i = 0; i < plan_.n; ++i) x[i] += dx_[i];
    for (int r = 0; r < plan_.m; ++r) lambda[r] += dlambda_[r];
    ++result.num_refinements;
    unmet_.clear();
    residual = calc_residual(f, g, x, lambda);
  }
  result.residual = residual.kept;
  result.masked_residual = residual.masked;
  result.worst_row =
      residual.worst_masked >= 0 && residual.masked > options_.accuracy ? residual.worst_masked : residual.worst_kept;
  if (residual.masked > options_.contradiction)
    result.status = SparseStatus::contradiction;
  else if (!(residual.kept <= options_.accuracy) || !(residual.masked <= options_.contradiction))
    result.status = SparseStatus::doubtful;
  return result;
}

}  // namespace mechanician
