#include "mechanician/motion/dop853.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "mechanician/base/wide.hpp"

namespace mechanician {

namespace {

// Left to itself the compiler makes vectors across the stages, which lie far apart.
using Block = wide::Eight;
using wide::load, wide::store;
constexpr int block = 8;

/// out = y + h·Σ w_j k_j. The sum comes first: small terms are not lost against y one by one.
MECHANICIAN_WIDEST void add_weighted(int size, int count, const double* w, const double* const* k, const double* y,
                                     double h, double* __restrict out) {
  int i = 0;
  // The last block ends with the last component, and does a few of the block before again.
  for (; size >= block && i < size; i += block) {
    i = std::min(i, size - block);
    Block sum = {}, x;
    for (int j = 0; j < count; ++j) load(k[j] + i, x), sum += w[j] * x;
    load(y + i, x);
    store(x + h * sum, out + i);
  }
  for (; i < size; ++i) {
    double sum = 0.0;
    for (int j = 0; j < count; ++j) sum += w[j] * k[j][i];
    out[i] = y[i] + h * sum;
  }
}

/// out = h·Σ w_j k_j.
MECHANICIAN_WIDEST void weighted(int size, int count, const double* w, const double* const* k, double h,
                                 double* __restrict out) {
  int i = 0;
  for (; size >= block && i < size; i += block) {
    i = std::min(i, size - block);
    Block sum = {}, x;
    for (int j = 0; j < count; ++j) load(k[j] + i, x), sum += w[j] * x;
    store(h * sum, out + i);
  }
  for (; i < size; ++i) {
    double sum = 0.0;
    for (int j = 0; j < count; ++j) sum += w[j] * k[j][i];
    out[i] = h * sum;
  }
}

}  // namespace

Dop853::Dop853(int size) : size_(size) {
  const auto n = static_cast<std::size_t>(size);
  for (auto& x : k) x.assign(n, 0.0);
  for (auto* x : {&y, &y_new, &stage_, &last_, &dense_y_}) x->assign(n, 0.0);
  for (auto& x : dense_) x.assign(n, 0.0);
}

void Dop853::combine(const double* a, int count, double h, std::vector<double>& out) const {
  std::array<double, 16> w;
  std::array<const double*, 16> from;
  int used = 0;
  for (int j = 0; j < count; ++j)
    if (a[j] != 0.0) w[used] = a[j], from[used++] = k[j].data();
  add_weighted(size_, used, w.data(), from.data(), y.data(), h, out.data());
}

void Dop853::calc_errors(double h, int count, double* e5, double* e3) const {
  std::array<double, 12> third;
  std::array<const double*, 12> from;
  for (int j = 0; j < 12; ++j) third[j] = dop853::a[12][j], from[j] = k[j].data();
  third[0] -= dop853::b3[0], third[8] -= dop853::b3[1], third[11] -= dop853::b3[2];
  weighted(count, 12, dop853::e5, from.data(), h, e5);
  weighted(count, 12, third.data(), from.data(), h, e3);
}

double Dop853::calc_stiffness(double h, std::span<const double> weights, double least) const {
  // The last two stages stand at the same time: the quotient of their derivatives and values is a Lipschitz constant.
  double rates = 0.0, values = 0.0, largest = least;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double dk = weights[i] * (k[12][i] - k[11][i]), dy = weights[i] * (y_new[i] - last_[i]);
    rates += dk * dk, values += dy * dy;
    largest = std::max(largest, weights[i] * std::abs(y_new[i]));
  }
  // Differences of rounding say nothing: a system at rest is not stiff.
  constexpr double rounding = 64.0 * std::numeric_limits<double>::epsilon();
  return values > rounding * rounding * largest * largest ? std::abs(h) * std::sqrt(rates / values) : 0.0;
}

double Dop853::calc_variation(double h, std::span<const double> weights) const {
  double rates = 0.0, values = 0.0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double dk = weights[i] * (k[12][i] - k[0][i]), dy = weights[i] * (y_new[i] - y[i]);
    rates += dk * dk, values += dy * dy;
  }
  return values > 0.0 ? std::abs(h) * std::sqrt(rates / values) : 0.0;
}

void Dop853::finish_dense(double h) {
  for (int i = 0; i < size_; ++i) {
    const int at = i;
    const double step = y_new[at] - y[at];
    dense_[0][at] = step;
    dense_[1][at] = h * k[0][at] - step;
    dense_[2][at] = 2.0 * step - h * (k[12][at] + k[0][at]);
  }
  std::array<const double*, 16> from;
  for (int j = 0; j < 16; ++j) from[j] = k[j].data();
  for (int p = 0; p < 4; ++p) weighted(size_, 16, dop853::d[p], from.data(), h, dense_[3 + p].data());
  dense_y_ = y;
}

MECHANICIAN_WIDEST void sample_dense(const double* y, const std::array<const double*, 7>& F, int size, double theta,
                                     double* out, double* rate) {
  const double up = theta, down = 1.0 - theta;
  int i = 0;
  for (; size >= block && i < size; i += block) {
    i = std::min(i, size - block);
    Block value = {}, slope = {}, x;
    for (int p = 6; p >= 0; --p) {
      load(F[p] + i, x);
      value += x;
      const double factor = p % 2 == 0 ? up : down;
      slope = factor * slope + (p % 2 == 0 ? 1.0 : -1.0) * value;
      value = factor * value;
    }
    load(y + i, x);
    if (out) store(x + value, out + i);
    if (rate) store(slope, rate + i);
  }
  for (; i < size; ++i) {
    double value = 0.0, slope = 0.0;
    for (int p = 6; p >= 0; --p) {
      value += F[p][i];
      const double factor = p % 2 == 0 ? up : down;
      slope = slope * factor + (p % 2 == 0 ? value : -value);
      value *= factor;
    }
    if (out) out[i] = y[i] + value;
    if (rate) rate[i] = slope;
  }
}

void Dop853::sample(double theta, double* out, double* rate) const {
  std::array<const double*, 7> F{};
  for (std::size_t p = 0; p < 7; ++p) F[p] = dense_[p].data();
  sample_dense(dense_y_.data(), F, size_, theta, out, rate);
}

}  // namespace mechanician
