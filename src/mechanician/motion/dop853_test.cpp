#include "mechanician/motion/dop853.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace mechanician {
namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr int num_stages = 16;

// ---- the conditions of order, by rooted trees (Hairer, Nørsett, Wanner I, section II.2)

/// A rooted tree by its elementary weights: Φ_i at every stage, the same with absolute values, order and density γ.
struct Tree {
  int order = 1;
  double gamma = 1.0;
  std::vector<double> phi, size;
};

/// All rooted trees up to an order. A tree is a root over smaller trees, Φ_i = Π_k Σ_j a_ij Φ_j(t_k).
std::vector<Tree> make_trees(int most) {
  std::vector<Tree> trees;
  const auto grow = [&](auto&& self, std::size_t from, const Tree& so_far, int order) -> void {
    if (so_far.order == order) {
      Tree done = so_far;
      done.gamma *= order;
      trees.push_back(std::move(done));
      return;
    }
    for (std::size_t k = from; k < trees.size() && trees[k].order <= order - so_far.order; ++k) {
      Tree next = so_far;
      next.order += trees[k].order;
      next.gamma *= trees[k].gamma;
      for (int i = 0; i < num_stages; ++i) {
        double sum = 0.0, size = 0.0;
        for (int j = 0; j < i; ++j) {
          const double a = dop853::a[i][j];
          sum += a * trees[k].phi[static_cast<std::size_t>(j)];
          size += std::abs(a) * trees[k].size[static_cast<std::size_t>(j)];
        }
        next.phi[static_cast<std::size_t>(i)] *= sum;
        next.size[static_cast<std::size_t>(i)] *= size;
      }
      self(self, k, next, order);
    }
  };
  const Tree root{1, 1.0, std::vector<double>(num_stages, 1.0), std::vector<double>(num_stages, 1.0)};
  for (int order = 1; order <= most; ++order) grow(grow, 0, root, order);
  return trees;
}

/// Σ_i w_i Φ_i and the size of its terms.
struct Weighed {
  double value = 0.0, size = 0.0;
};
Weighed weigh(const std::vector<double>& w, const Tree& tree) {
  Weighed result;
  for (std::size_t i = 0; i < w.size(); ++i) {
    result.value += w[i] * tree.phi[i];
    result.size += std::abs(w[i]) * tree.size[i];
  }
  return result;
}

/// Σ |terms| · eps, times what a chain of `order` sums rounds.
double allowed(const Weighed& w, int order) { return 4.0 * (order + 1) * eps * w.size; }

/// A step of y′ = f(t) whose derivatives at the stages are the unit vectors: y_new and samples are the weights.
struct WeightsOfStep {
  WeightsOfStep() : step(num_stages) {
    int stage = 0;
    const auto f = [&](double, double*, double* dy) {
      std::fill(dy, dy + num_stages, 0.0);
      dy[++stage] = 1.0;
      return true;
    };
    step.k[0][0] = 1.0;
    step.make_stages(f, 0.0, 1.0);
    weights = step.y_new;
    step.k[12][12] = 1.0;
    stage = 12;
    step.make_dense(f, 0.0, 1.0);
  }
  Dop853 step;
  std::vector<double> weights;
};

TEST(Dop853, meets_all_200_conditions_of_order_8_and_not_all_of_order_9) {
  const std::vector<double> b = WeightsOfStep().weights;
  const std::vector<Tree> trees = make_trees(9);
  int up_to_8 = 0, missed_9 = 0;
  for (const Tree& tree : trees) {
    const Weighed w = weigh(b, tree);
    if (tree.order <= 8) {
      ++up_to_8;
      EXPECT_NEAR(w.value, 1.0 / tree.gamma, allowed(w, tree.order))
          << "tree of order " << tree.order << ", γ = " << tree.gamma;
    } else if (std::abs(w.value - 1.0 / tree.gamma) > 100.0 * allowed(w, 9)) {
      ++missed_9;
    }
  }
  EXPECT_EQ(up_to_8, 200);
  EXPECT_GT(missed_9, 50);
}

TEST(Dop853, rows_of_the_tableau_sum_up_to_the_nodes) {
  for (int i = 0; i < num_stages; ++i) {
    double sum = 0.0, size = 0.0;
    for (int j = 0; j < num_stages; ++j) sum += dop853::a[i][j], size += std::abs(dop853::a[i][j]);
    EXPECT_NEAR(sum, dop853::c[i], 4.0 * eps * (size + 1.0)) << "row " << i;
    for (int j = i; j < num_stages; ++j) EXPECT_EQ(dop853::a[i][j], 0.0) << "row " << i << " is not explicit";
  }
}

TEST(Dop853, estimates_vanish_to_order_5_and_3_and_not_beyond) {
  WeightsOfStep unit;
  std::vector<double> five(num_stages), three(num_stages);
  unit.step.calc_errors(1.0, num_stages, five.data(), three.data());
  int seen_6 = 0, seen_4 = 0;
  for (const Tree& tree : make_trees(6)) {
    const Weighed e5 = weigh(five, tree), e3 = weigh(three, tree);
    if (tree.order <= 5) {
      EXPECT_NEAR(e5.value, 0.0, allowed(e5, tree.order));
    } else {
      seen_6 += std::abs(e5.value) > 100.0 * allowed(e5, 6);
    }
    if (tree.order <= 3) {
      EXPECT_NEAR(e3.value, 0.0, allowed(e3, tree.order));
    } else if (tree.order == 4) {
      seen_4 += std::abs(e3.value) > 100.0 * allowed(e3, 4);
    }
  }
  EXPECT_GT(seen_6, 0);
  EXPECT_GT(seen_4, 0);
}

TEST(Dop853, dense_output_meets_all_85_conditions_of_order_7_at_every_place) {
  const WeightsOfStep unit;
  const std::vector<Tree> trees = make_trees(7);
  ASSERT_EQ(trees.size(), 85u);
  for (const double theta : {0.0, 0.01, 0.2, 0.4667, 0.5, 0.77, 0.999, 1.0}) {
    std::vector<double> b(num_stages), rate(num_stages);
    unit.step.sample(theta, b.data(), rate.data());
    for (const Tree& tree : trees) {
      const Weighed w = weigh(b, tree), r = weigh(rate, tree);
      // The polynomial is summed in Horner's form from coefficients of size up to 400.
      EXPECT_NEAR(w.value, std::pow(theta, tree.order) / tree.gamma, allowed(w, tree.order) + 2000.0 * eps)
          << "θ = " << theta << ", order " << tree.order;
      if (tree.order <= 6) {
        EXPECT_NEAR(r.value, tree.order * std::pow(theta, tree.order - 1) / tree.gamma,
                    allowed(r, tree.order) + 20000.0 * eps)
            << "θ = " << theta << ", order " << tree.order;
      }
    }
  }
}

// ---- steps

/// One step from the exact state at t.
template <class F, class Exact>
Dop853 make_step(F&& f, Exact&& exact, double t, double h) {
  const std::vector<double> y = exact(t);
  Dop853 step(static_cast<int>(y.size()));
  step.y = y;
  f(t, step.y.data(), step.k[0].data());
  step.make_stages(f, t, h);
  f(t + h, step.y_new.data(), step.k[12].data());
  step.make_dense(f, t, h);
  return step;
}

TEST(Dop853, integrates_powers_up_to_degree_8_and_dense_output_up_to_7) {
  for (int degree = 1; degree <= 8; ++degree) {
    const auto f = [&](double t, double*, double* dy) { return dy[0] = degree * std::pow(t, degree - 1), true; };
    const auto exact = [&](double t) { return std::vector<double>{std::pow(t, degree)}; };
    const Dop853 step = make_step(f, exact, 0.3, 1.2);
    const double size = degree * std::pow(1.5, degree);  // of the derivative times h, times weights of size 10
    EXPECT_NEAR(step.y_new[0], std::pow(1.5, degree), 40.0 * eps * size) << "degree " << degree;
    if (degree > 7) continue;
    for (const double theta : {0.1, 0.35, 0.62, 0.9}) {
      double y = 0.0, rate = 0.0;
      step.sample(theta, &y, &rate);
      EXPECT_NEAR(y, std::pow(0.3 + 1.2 * theta, degree), 2000.0 * eps * size) << "degree " << degree;
      EXPECT_NEAR(rate, 1.2 * degree * std::pow(0.3 + 1.2 * theta, degree - 1), 20000.0 * eps * size)
          << "degree " << degree;
    }
  }
}

/// Nonlinear, with time in it, two components that act on each other: u = 1/(1 + t²), v = exp(sin t).
bool nonlinear(double t, double* y, double* dy) {
  const double u = y[0], v = y[1], one = u * v * (1.0 + t * t) * std::exp(-std::sin(t));  // = 1 on the solution
  dy[0] = -2.0 * t * u * u * one;
  dy[1] = v * std::cos(t) * one * one;
  return true;
}
std::vector<double> nonlinear_exact(double t) { return {1.0 / (1.0 + t * t), std::exp(std::sin(t))}; }

TEST(Dop853, one_step_is_off_by_h_to_the_9_and_dense_output_by_h_to_the_8) {
  struct Errors {
    double end = 0.0, inside = 0.0, rate = 0.0;
  };
  // The largest over several steps: the leading term of a single one may be small by chance.
  const auto errors = [](double h) {
    Errors e;
    for (const double begin : {-1.5, -0.9, -0.1, 0.2, 0.7, 1.3}) {
      const Dop853 step = make_step(nonlinear, nonlinear_exact, begin, h);
      for (int k = 1; k <= 40; ++k) {
        const double theta = k / 40.0, t = begin + theta * h;
        double y[2], rate[2], slope[2];
        step.sample(theta, y, rate);
        std::vector<double> exact = nonlinear_exact(t);
        nonlinear(t, exact.data(), slope);
        for (int i = 0; i < 2; ++i) {
          const double off = std::abs(y[i] - exact[static_cast<std::size_t>(i)]);
          (k == 40 ? e.end : e.inside) = std::max(k == 40 ? e.end : e.inside, off);
          e.rate = std::max(e.rate, std::abs(rate[i] / h - slope[i]));
        }
      }
    }
    return e;
  };
  const auto coarse = errors(0.4), fine = errors(0.2);
  ASSERT_GT(fine.end, 1e3 * eps);
  const auto order = [](double a, double b) { return std::log2(a / b); };
  EXPECT_NEAR(order(coarse.end, fine.end), 9.0, 0.7);
  EXPECT_NEAR(order(coarse.inside, fine.inside), 8.0, 0.7);
  EXPECT_NEAR(order(coarse.rate, fine.rate), 7.0, 0.7);
}

TEST(Dop853, many_steps_converge_with_order_8) {
  const auto error = [](int steps) {
    const double h = 4.0 / steps;
    Dop853 step(2);
    step.y = nonlinear_exact(0.0);
    for (int k = 0; k < steps; ++k) {
      nonlinear(k * h, step.y.data(), step.k[0].data());
      step.make_stages(nonlinear, k * h, h);
      step.y = step.y_new;
    }
    return std::hypot(step.y[0] - nonlinear_exact(4.0)[0], step.y[1] - nonlinear_exact(4.0)[1]);
  };
  const double coarse = error(16), fine = error(32);
  ASSERT_GT(fine, 1e3 * eps);
  EXPECT_NEAR(std::log2(coarse / fine), 8.0, 0.8);
}

TEST(Dop853, the_rate_of_a_sample_is_its_derivative) {
  const unsigned seed = 853;
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::array<std::vector<double>, 7> coefficients;
  std::array<const double*, 7> F{};
  for (std::size_t p = 0; p < 7; ++p) {
    coefficients[p] = {normal(random), normal(random), normal(random)};
    F[p] = coefficients[p].data();
  }
  const std::vector<double> y{1.0, -2.0, 0.5};
  for (const double theta : {0.0, 0.1, 0.5, 0.73, 1.0}) {
    double rate[3], left[3], right[3];
    sample_dense(y.data(), F, 3, theta, nullptr, rate);
    const double step = 1e-5;
    sample_dense(y.data(), F, 3, theta - step, left, nullptr);
    sample_dense(y.data(), F, 3, theta + step, right, nullptr);
    for (int i = 0; i < 3; ++i)
      EXPECT_NEAR((right[i] - left[i]) / (2.0 * step), rate[i], 1e-8) << "seed " << seed << ", θ = " << theta;
  }
}

TEST(Dop853, dense_output_joins_both_ends_with_their_derivatives) {
  const Dop853 step = make_step(nonlinear, nonlinear_exact, -0.4, 0.9);
  for (int end = 0; end < 2; ++end) {
    double y[2], rate[2];
    step.sample(end, y, rate);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_NEAR(y[i], (end == 0 ? step.y : step.y_new)[i], 2.0 * eps * std::abs(y[i]));
      EXPECT_NEAR(rate[i], 0.9 * step.k[end == 0 ? 0 : 12][i], 64.0 * eps);
    }
  }
}

TEST(Dop853, dense_output_passes_through_an_end_that_was_moved) {
  Dop853 step(2);
  step.y = nonlinear_exact(0.0);
  nonlinear(0.0, step.y.data(), step.k[0].data());
  step.make_stages(nonlinear, 0.0, 0.5);
  step.y_new[0] += 1e-3;  // as a projection would
  nonlinear(0.5, step.y_new.data(), step.k[12].data());
  step.make_dense(nonlinear, 0.0, 0.5);
  double y[2], rate[2];
  step.sample(1.0, y, rate);
  EXPECT_NEAR(y[0], step.y_new[0], 2.0 * eps);
  EXPECT_NEAR(rate[0], 0.5 * step.k[12][0], 64.0 * eps);
}

TEST(Dop853, stiffness_of_a_linear_equation_is_its_rate) {
  for (const double lambda : {-0.5, -7.0, 3.0}) {
    const auto f = [&](double, double* y, double* dy) { return dy[0] = lambda * y[0], dy[1] = lambda * y[1], true; };
    const auto exact = [](double) { return std::vector<double>{1.0, -2.0}; };
    const Dop853 step = make_step(f, exact, 0.0, 0.8);
    for (const double unit : {1.0, 1e-30}) {
      const std::vector<double> weights{unit, 3.0 * unit};
      EXPECT_NEAR(step.calc_stiffness(0.8, weights, 0.0), 0.8 * std::abs(lambda), 1e-5 * std::abs(lambda));
      EXPECT_NEAR(step.calc_variation(0.8, weights), 0.8 * std::abs(lambda), 1e-9 * std::abs(lambda));
      EXPECT_EQ(step.calc_stiffness(0.8, weights, 1e20 * unit), 0.0);  // rounding of what there is besides
    }
  }
}

TEST(Dop853, a_stiff_equation_varies_far_less_than_its_rate) {
  // y′ = −50 (y − cos t) − sin t from y = cos t.
  const auto f = [](double t, double* y, double* dy) {
    return dy[0] = -50.0 * (y[0] - std::cos(t)) - std::sin(t), true;
  };
  const auto exact = [](double t) { return std::vector<double>{std::cos(t)}; };
  const Dop853 step = make_step(f, exact, 0.3, 0.1);
  const std::vector<double> weights{1.0};
  EXPECT_NEAR(step.calc_stiffness(0.1, weights, 0.0), 5.0, 0.05);
  EXPECT_LT(step.calc_variation(0.1, weights), 0.5);
}

TEST(Dop853, a_stage_without_value_ends_the_step) {
  Dop853 step(1);
  step.y = {1.0};
  int calls = 0;
  const auto f = [&](double, double*, double* dy) { return dy[0] = 1.0, ++calls < 5; };
  EXPECT_FALSE(step.make_stages(f, 0.0, 0.1));
  EXPECT_EQ(calls, 5);
  calls = 2;
  EXPECT_FALSE(step.make_dense(f, 0.0, 0.1));
  EXPECT_EQ(calls, 5);
}

TEST(Dop853, many_components_are_that_many_single_ones_to_the_last_bit) {
  // y_i' = sin(t + y_i) + i/10: none knows of the others.
  const auto rate = [](double t, double y, int i) { return std::sin(t + y) + 0.1 * i; };
  for (const int size : {1, 7, 8, 9, 15, 16, 17, 29}) {
    const double t = 0.2, h = 0.3, theta = 0.37;
    const auto make = [&](Dop853& step, int from) {
      const auto f = [&](double time, const double* y, double* dy) {
        for (int i = 0; i < step.size(); ++i) dy[i] = rate(time, y[i], from + i);
        return true;
      };
      for (int i = 0; i < step.size(); ++i) step.y[i] = std::cos(3.0 * (from + i));
      f(t, step.y.data(), step.k[0].data());
      EXPECT_TRUE(step.make_stages(f, t, h));
      f(t + h, step.y_new.data(), step.k[12].data());
      EXPECT_TRUE(step.make_dense(f, t, h));
    };
    Dop853 together(size);
    make(together, 0);
    std::vector<double> e5(size), e3(size), y(size), dy(size);
    together.calc_errors(h, size, e5.data(), e3.data());
    together.sample(theta, y.data(), dy.data());
    for (int i = 0; i < size; ++i) {
      Dop853 alone(1);
      make(alone, i);
      double e5_alone = 0.0, e3_alone = 0.0, y_alone = 0.0, dy_alone = 0.0;
      alone.calc_errors(h, 1, &e5_alone, &e3_alone);
      alone.sample(theta, &y_alone, &dy_alone);
      EXPECT_EQ(together.y_new[i], alone.y_new[0]) << size << ' ' << i;
      EXPECT_EQ(e5[i], e5_alone) << size << ' ' << i;
      EXPECT_EQ(e3[i], e3_alone) << size << ' ' << i;
      EXPECT_EQ(y[i], y_alone) << size << ' ' << i;
      EXPECT_EQ(dy[i], dy_alone) << size << ' ' << i;
    }
  }
}

}  // namespace
}  // namespace mechanician
