#include "mechanician/expression/quadratic_form.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "mechanician/expression/differentiate.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/expression/tape.hpp"

namespace mechanician {
namespace {

using Random = std::mt19937;

double between(Random& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}
int below(Random& random, int count) { return std::uniform_int_distribution<int>(0, count - 1)(random); }

/// Something that hangs on something that hangs on …: linear quantities of those before, with factors of coordinates and time; an energy of their squares and products.
struct Tree {
  std::vector<Expr> q, qd;
  Expr energy = 0;
};

Tree random_tree(Random& random) {
  Tree made;
  const int n = 1 + below(random, 6);
  for (int i = 0; i < n; ++i) {
    made.q.push_back(coordinate("q" + std::to_string(i)));
    made.qd.push_back(derivative_symbol(made.q.back()));
  }
  const auto factor = [&]() -> Expr {
    const Expr& q = made.q[static_cast<std::size_t>(below(random, n))];
    switch (below(random, 5)) {
      case 0:
        return sin(q);
      case 1:
        return cos(q + time_symbol());
      case 2:
        return between(random, -2, 2);
      case 3:
        return q * q + 1;
      default:
        return 1;
    }
  };
  std::vector<Expr> linear = made.qd;
  for (int k = 0; k < 3 + below(random, 12); ++k) {
    const auto any = [&] { return linear[static_cast<std::size_t>(below(random, static_cast<int>(linear.size())))]; };
    Expr z = factor() * any();
    switch (below(random, 6)) {
      case 0:
        z = z - any() / (factor() * factor() + 2);
        break;
      case 1:
        z = z + cos(time_symbol());  // what moves by itself
        break;
      case 2:
        z = -z + any() + any();
        break;
      case 3:
        z = z + z;
        break;
      default:
        z = z + any() * factor();
    }
    linear.push_back(z);
    const Expr m = between(random, 0.5, 2);
    made.energy = made.energy + (below(random, 2)   ? m * pow(z, 2) / 2
                                 : below(random, 2) ? m * z * any()
                                                    : factor() * (z * z + any() + 3));
  }
  if (below(random, 3) == 0) made.energy = -(made.energy - pow(linear.back(), 2)) / 3;
  return made;
}

TEST(QuadraticForm, is_the_second_derivative) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Tree tree = random_tree(random);
    const Expr f = simplify(tree.energy);
    const auto terms = quadratic_terms(f, tree.qd);
    ASSERT_TRUE(terms);
    std::map<std::pair<int, int>, Expr> found;
    for (const QuadraticTerm& t : *terms) {
      EXPECT_LE(t.row, t.col);
      EXPECT_FALSE(t.value.contains(SymbolKind::velocity));
      EXPECT_TRUE(found.emplace(std::pair(t.row, t.col), t.value).second);
    }
    std::vector<Expr> symbols{time_symbol()}, values;
    std::vector<double> at{between(random, -2, 2)};
    for (const auto* part : {&tree.q, &tree.qd})
      for (const Expr& s : *part) symbols.push_back(s), at.push_back(between(random, -2, 2));
    const std::vector<Expr> p = gradient(f, tree.qd);
    for (std::size_t i = 0; i < p.size(); ++i)
      for (std::size_t j = i; j < p.size(); ++j) {
        values.push_back(derivative(p[i], tree.qd[j]));
        const auto known = found.find({static_cast<int>(i), static_cast<int>(j)});
        values.push_back(known == found.end() ? Expr(0) : known->second);
      }
    const std::vector<double> numbers = Tape(values, symbols)(std::span<const double>(at));
    double size = 1.0;
    for (const double x : numbers) size = std::max(size, std::abs(x));
    for (std::size_t k = 0; k < numbers.size(); k += 2) EXPECT_NEAR(numbers[k], numbers[k + 1], 1e-12 * size);
  }
}

TEST(QuadraticForm, of_a_pendulum_on_a_cart_by_hand) {
  const Expr x = derivative_symbol(coordinate("x")), a = coordinate("a"), w = derivative_symbol(a);
  const Expr u = x + 2 * cos(a) * w, v = 2 * sin(a) * w;
  const auto terms = quadratic_terms(3 * (pow(u, 2) + pow(v, 2)) / 2, std::vector<Expr>{x, w});
  ASSERT_TRUE(terms);
  ASSERT_EQ(terms->size(), 3u);
  const double angle = 0.7;
  const std::vector<double> values = Tape(std::vector<Expr>{(*terms)[0].value, (*terms)[1].value, (*terms)[2].value},
                                          std::vector<Expr>{a})(std::span(&angle, 1));
  EXPECT_NEAR(values[0], 3, 1e-15);
  EXPECT_NEAR(values[1], 6 * std::cos(angle), 1e-15);
  EXPECT_NEAR(values[2], 12, 1e-14);
}

TEST(QuadraticForm, is_refused_where_it_is_none) {
  const Expr x = derivative_symbol(coordinate("x")), y = derivative_symbol(coordinate("y"));
  const std::vector<Expr> both{x, y};
  for (const Expr& f :
       {sin(x), pow(x, 3), x * y * x, 1 / x, x * x / y, sqrt(x * x), abs(x), pow(x * y, 2), select(x < 0, x, y)})
    EXPECT_FALSE(quadratic_terms(f, both));
  EXPECT_TRUE(quadratic_terms(3 + x, both)->empty());
  EXPECT_TRUE(quadratic_terms(Expr(2), both)->empty());
}

}  // namespace
}  // namespace mechanician
