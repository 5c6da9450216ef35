#include "mechanician/compile/row_weights.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace mechanician {

namespace {

constexpr int num_states = 6, longest_row = 64;
constexpr unsigned seed = 1993;
constexpr double weight_of_unfelt = 0x1p-40;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

std::vector<std::vector<double>> states_around(std::span<const double> q, const RowPattern& rows,
                                               std::vector<std::pair<int, int>> coupled) {
  std::sort(coupled.begin(), coupled.end());
  const auto are_coupled = [&](int i, int k) {
    return std::binary_search(coupled.begin(), coupled.end(), std::pair(i, k)) ||
           std::binary_search(coupled.begin(), coupled.end(), std::pair(k, i));
  };
  // Largest of those that share a row and a mass; for those that have no size then, the least of what their rows suggest.
  std::vector<double> size(q.size()), otherwise(q.size(), 0.0);
  for (std::size_t i = 0; i < q.size(); ++i) size[i] = std::abs(q[i]);
  for (std::size_t j = 0; j + 1 < rows.begin.size(); ++j) {
    double largest = 0.0;
    for (int k = rows.begin[j]; k < rows.begin[j + 1]; ++k) {
      const int a = rows.cols[at(k)];
      largest = std::max(largest, std::abs(q[at(a)]));
      // Rows of very many coordinates are no bodies, and pairs of these too many.
      for (int l = rows.begin[j]; l < rows.begin[j + 1] && rows.begin[j + 1] - rows.begin[j] <= longest_row; ++l)
        if (const int b = rows.cols[at(l)]; std::abs(q[at(b)]) > size[at(a)] && are_coupled(a, b))
          size[at(a)] = std::abs(q[at(b)]);
    }
    for (int k = rows.begin[j]; k < rows.begin[j + 1] && largest > 0.0; ++k) {
      double& x = otherwise[at(rows.cols[at(k)])];
      x = x > 0.0 ? std::min(x, largest) : largest;
    }
  }
  for (std::size_t i = 0; i < size.size(); ++i)
    if (size[i] == 0.0) size[i] = otherwise[i] > 0.0 ? otherwise[i] : 1.0;
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> spread(-0.5, 0.5);
  std::vector<std::vector<double>> states{{q.begin(), q.end()}};
  for (int k = 1; k < num_states; ++k) {
    states.push_back(states.front());
    for (std::size_t i = 0; i < q.size(); ++i) states.back()[i] += spread(random) * size[i];
  }
  return states;
}

void TypicalSizes::add(std::span<const double> diagonal, std::span<const double> entries) {
  masses.resize(diagonal.size(), 0.0), squares.resize(entries.size(), 0.0);
  const auto finite = [](double x) { return std::isfinite(x); };
  if (!std::all_of(diagonal.begin(), diagonal.end(), finite) || !std::all_of(entries.begin(), entries.end(), finite))
    return;
  const double share = 1.0 / ++count;
  for (std::size_t i = 0; i < masses.size(); ++i) masses[i] += share * (std::max(diagonal[i], 0.0) - masses[i]);
  for (std::size_t k = 0; k < squares.size(); ++k) squares[k] += share * (entries[k] * entries[k] - squares[k]);
}

std::vector<double> TypicalSizes::weigh_coordinates(const RowPattern& rows) const {
  std::vector<double> weight = masses;
  // Through rows from those that have a mass, and from these on.
  for (bool found = true; found;) {
    found = false;
    std::vector<double> next = weight;
    for (std::size_t j = 0; j + 1 < rows.begin.size(); ++j) {
      double heavy = 0.0;
      for (int k = rows.begin[j]; k < rows.begin[j + 1]; ++k)
        if (const double w = weight[at(rows.cols[at(k)])]; w > 0.0) heavy += squares[at(k)] / w;
      if (!(heavy > 0.0) || !std::isfinite(heavy)) continue;
      for (int k = rows.begin[j]; k < rows.begin[j + 1]; ++k) {
        const int i = rows.cols[at(k)];
        if (weight[at(i)] > 0.0 || !(squares[at(k)] > 0.0)) continue;
        next[at(i)] = std::max(next[at(i)], squares[at(k)] / heavy), found = true;
      }
    }
    weight = std::move(next);
  }
  // Nothing with a mass is near: its largest coefficient becomes 1.
  std::vector<double> column(masses.size(), 0.0);
  for (std::size_t k = 0; k < squares.size(); ++k) {
    double& c = column[at(rows.cols[k])];
    c = std::max(c, squares[k]);
  }
  for (std::size_t i = 0; i < weight.size(); ++i)
    if (!(weight[i] > 0.0)) weight[i] = column[i] > 0.0 ? column[i] : 1.0;
  for (const int i : unfelt) weight[at(i)] *= weight_of_unfelt;
  return weight;
}

std::vector<double> TypicalSizes::weigh_rows(const RowPattern& rows) const {
  const std::vector<double> weight = weigh_coordinates(rows);
  std::vector<double> result;
  for (std::size_t j = 0; j + 1 < rows.begin.size(); ++j) {
    double sum = 0.0;
    for (int k = rows.begin[j]; k < rows.begin[j + 1]; ++k) sum += squares[at(k)] / weight[at(rows.cols[at(k)])];
    result.push_back(sum > 0.0 && std::isfinite(sum) ? 1.0 / sum : 1.0);
  }
  return result;
}

}  // namespace mechanician
