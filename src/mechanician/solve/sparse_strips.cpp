#include "mechanician/solve/sparse_strips.hpp"

#include <algorithm>

namespace mechanician {

namespace {

constexpr int least_strip = 8;

/// A strip of one row, where it can be one. The row after it in the run is at the next position.
bool describe_row(const SparsePlan& plan, int position, sparse::Strip& strip) {
  const int row = plan.row_at[position], next = plan.row_at[position + 1];
  const int terms = plan.row_slots.count(row);
  if (terms > sparse::most_terms) return false;
  strip.first = position, strip.count = 1, strip.num_terms = terms, strip.num_shared = 0, strip.row = row;
  // Terms that the next row shares come first.
  int others[sparse::most_terms], num_others = 0;
  for (int k = 0; k < terms; ++k) {
    const int slot = plan.row_slots.first(row)[k], coordinate = plan.A_col[slot];
    const int *other = plan.row_slots.first(next), *last = plan.row_slots.last(next);
    while (other != last && plan.A_col[*other] != coordinate) ++other;
    if (other == last) {
      others[num_others++] = slot;
      continue;
    }
    if (strip.num_shared == sparse::most_shared) return false;
    strip.slot[strip.num_shared] = slot, strip.coordinate[strip.num_shared] = coordinate;
    strip.partner[strip.num_shared++] = *other;
  }
  for (int k = 0; k < num_others; ++k)
    strip.slot[strip.num_shared + k] = others[k], strip.coordinate[strip.num_shared + k] = plan.A_col[others[k]];
  return terms > 0 && strip.num_shared > 0;
}

struct Steps {
  int slot, coordinate, partner, row;
  bool operator==(const Steps&) const = default;
};

/// Whether b can follow a, and at which distances.
bool follows(const sparse::Strip& a, const sparse::Strip& b, Steps& steps) {
  if (a.num_terms != b.num_terms || a.num_shared != b.num_shared) return false;
  steps = {b.slot[0] - a.slot[0], b.coordinate[0] - a.coordinate[0], b.partner[0] - a.partner[0], b.row - a.row};
  for (int k = 0; k < a.num_terms; ++k)
    if (b.slot[k] - a.slot[k] != steps.slot || b.coordinate[k] - a.coordinate[k] != steps.coordinate) return false;
  for (int k = 0; k < a.num_shared; ++k)
    if (b.partner[k] - a.partner[k] != steps.partner) return false;
  return true;
}

/// Whether the terms are two blocks, as those of a rod between two points.
void describe_blocks(sparse::Strip& strip) {
  const int d = strip.num_terms / 2;
  if (strip.num_terms % 2 != 0 || d > 4 || strip.num_shared != d) return;
  for (int k = 0; k < strip.num_terms; ++k) {
    const int first = k < d ? 0 : d;
    if (strip.slot[k] != strip.slot[first] + k - first) return;
    if (strip.coordinate[k] != strip.coordinate[first] + k - first) return;
  }
  for (int k = 0; k < d; ++k)
    if (strip.partner[k] != strip.partner[0] + k) return;
  strip.dimension = d;
}

}  // namespace

std::vector<char> find_strips(SparsePlan& plan) {
  std::vector<char> in_strip(plan.first_core, 0);
  for (sparse::Run& run : plan.runs) {
    run.strip_begin = run.strip_end = static_cast<int>(plan.strips.size());
    // The first row takes from other runs, the last one has no row after it.
    int at = 1;
    while (at + least_strip < run.count) {
      sparse::Strip strip, last, next;
      if (!describe_row(plan, run.first + at, strip)) {
        ++at;
        continue;
      }
      last = strip;
      Steps steps{}, first_steps{};
      while (at + strip.count < run.count - 1 && describe_row(plan, run.first + at + strip.count, next) &&
             follows(last, next, steps)) {
        if (strip.count == 1) first_steps = steps;
        if (!(steps == first_steps)) break;
        last = next;
        ++strip.count;
      }
      if (strip.count >= least_strip) {
        strip.slot_step = first_steps.slot, strip.coordinate_step = first_steps.coordinate;
        strip.partner_step = first_steps.partner;
        describe_blocks(strip);
        for (const int step : {1, -1})
          if (first_steps == Steps{step, step, step, step}) strip.direction = step;
        plan.strips.push_back(strip);
        std::fill_n(in_strip.begin() + run.first + at, strip.count, char{1});
        plan.num_products += static_cast<double>(strip.count) * (2.0 * strip.num_terms + strip.num_shared);
      }
      at += strip.count >= least_strip ? strip.count : 1;
    }
    run.strip_end = static_cast<int>(plan.strips.size());
  }
  std::vector<SparsePlan::Range> even;
  for (const sparse::Strip& strip : plan.strips)
    if (strip.direction != 0) {
      const int last = strip.row + strip.direction * (strip.count - 1);
      even.push_back({std::min(strip.row, last), std::max(strip.row, last) + 1});
    }
  std::sort(even.begin(), even.end(), [](const auto& a, const auto& b) { return a.from < b.from; });
  even.push_back({plan.m, plan.m});
  int covered = 0;
  for (const auto& range : even) {
    if (covered < range.from) plan.uneven_rows.push_back({covered, range.from});
    covered = range.to;
  }
  for (int p = 0; p < static_cast<int>(plan.row_at.size()); ++p)
    if (plan.row_at[p] >= 0 && (p >= plan.first_core || !in_strip[p])) plan.loose_rows.push_back(p);
  return in_strip;
}

void find_bands(SparsePlan& plan) {
  const auto uncoupled = [&](int i) { return plan.position_of_coordinate[i] < 0; };
  const auto alike = [&](int a, int b, int slot_step, int row_step) {
    if (b >= plan.n || !uncoupled(b) || plan.col_slots.count(a) != plan.col_slots.count(b)) return false;
    for (int k = 0; k < plan.col_slots.count(a); ++k) {
      const int s = plan.col_slots.first(a)[k], t = plan.col_slots.first(b)[k];
      if (t - s != slot_step || plan.A_row[t] - plan.A_row[s] != row_step) return false;
    }
    return true;
  };
  for (int c = 0; c < plan.n;) {
    if (!uncoupled(c)) {
      ++c;
      continue;
    }
    sparse::Band best;
    const int degree = plan.col_slots.count(c);
    for (const int period : {1, 2, 3, 4, 6}) {
      if (degree == 0 || degree > sparse::most_degree || c + 2 * period > plan.n) break;
      bool same = true;
      for (int k = 0; k < period; ++k) same = same && uncoupled(c + k) && plan.col_slots.count(c + k) == degree;
      if (!same || !uncoupled(c + period) || plan.col_slots.count(c + period) != degree) continue;
      const int s = plan.col_slots.first(c)[0], t = plan.col_slots.first(c + period)[0];
      const int slot_step = t - s, row_step = plan.A_row[t] - plan.A_row[s];
      int length = period;
      while (alike(c + length - period, c + length, slot_step, row_step)) ++length;
      const int groups = length / period;
      if (groups < least_strip || groups * period <= best.num_groups * best.period) continue;
      best.first = c, best.num_groups = groups, best.period = period, best.degree = degree;
      best.slot_step = slot_step, best.row_step = row_step;
      for (int k = 0; k < period; ++k)
        for (int r = 0; r < degree; ++r) {
          best.slot[k][r] = plan.col_slots.first(c + k)[r];
          best.row[k][r] = plan.A_row[best.slot[k][r]];
        }
    }
    if (best.num_groups > 0) {
      best.blocks = best.period >= 2 && best.period <= 4;
      for (int k = 0; k < best.period; ++k)
        for (int r = 0; r < best.degree; ++r)
          best.blocks = best.blocks && best.slot[k][r] == best.slot[0][r] + k && best.row[k][r] == best.row[0][r];
      plan.bands.push_back(best);
      c += best.num_groups * best.period;
    } else {
      plan.loose_coordinates.push_back(c++);
    }
  }
}

}  // namespace mechanician
