#include "mechanician/motion/dop853.hpp"

#include <algorithm>

namespace mechanician {

Dop853::Dop853(int size) : size_(size) {
  const auto n = static_cast<std::size_t>(size);
  for (auto& x : k) x.assign(n, 0.0);
  for (auto* x : {&y, &y_new, &stage_, &last_, &dense_y_}) x->assign(n, 0.0);
  for (auto& x : dense_) x.assign(n, 0.0);
}

void Dop853::combine(const double* a, int count, double h, std::vector<double>& out) const {
  // Sum first, then add to y: small terms are not lost against y one by one.
  std::fill(out.begin(), out.end(), 0.0);
  for (int j = 0; j < count; ++j) {
    if (a[j] == 0.0) continue;
    const double w = a[j], *kj = k[j].data();
    for (int i = 0; i < size_; ++i) out[i] += w * kj[i];
  }
  for (int i = 0; i < size_; ++i)
    out[i] = y[i] + h * out[i];
}

void Dop853::calc_errors(double h, int count, double* e5, double* e3) const {
  for (int i = 0; i < count; ++i) {
    const int at = i;
    double five = 0.0, weights = 0.0;
    for (int j = 0; j < 12; ++j) {
      five += dop853::e5[j] * k[j][at];
      weights += dop853::a[12][j] * k[j][at];
    }
    e5[i] = h * five;
    e3[i] = h * (weights - dop853::b3[0] * k[0][at] - dop853::b3[1] * k[8][at] - dop853::b3[2] * k[11][at]);
  }
}

double Dop853::calc_stiffness(double h, int count) const {
  // The last two stages stand at the same time: the quotient of their derivatives and values is a Lipschitz constant.
  double rates = 0.0, values = 0.0;
  for (int i = 0; i < count; ++i) {
    const int at = i;
    const double dk = k[12][at] - k[11][at], dy = y_new[at] - last_[at];
    rates += dk * dk, values += dy * dy;
  }
  return values > 0.0 ? std::abs(h) * std::sqrt(rates / values) : 0.0;
}

double Dop853::calc_variation(double h, int count) const {
  double rates = 0.0, values = 0.0;
  for (int i = 0; i < count; ++i) {
    const int at = i;
    const double dk = k[12][at] - k[0][at], dy = y_new[at] - y[at];
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
    for (int p = 0; p < 4; ++p) {
      double s = 0.0;
      for (int j = 0; j < 16; ++j) s += dop853::d[p][j] * k[j][at];
      dense_[3 + p][at] = h * s;
    }
  }
  dense_y_ = y;
}

void sample_dense(const double* y, const std::array<const double*, 7>& F, int size, double theta, double* out,
                  double* rate) {
  const double up = theta, down = 1.0 - theta;
  for (int i = 0; i < size; ++i) {
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
