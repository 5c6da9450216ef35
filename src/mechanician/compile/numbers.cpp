#include "mechanician/compile/numbers.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "mechanician/expression/evaluate_operator.hpp"

namespace mechanician {

std::vector<Number> Numbers::adopt(std::span<const Value> values) {
  // What has become a constant lies among the constants of the finished program.
  const Program program = builder_->finish(values);
  std::vector<Number> result;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const int constant = program.outputs[k] - program.num_inputs;
    if (constant >= 0 && constant < static_cast<int>(program.constants.size())) {
      result.push_back(constant_number(program.constants[static_cast<std::size_t>(constant)]));
      continue;
    }
    // The opposite of −x is x, which is older.
    const Value opposite = builder_->neg(values[k]);
    result.push_back(opposite < values[k] ? Number{opposite, -1.0} : Number{values[k], 1.0});
  }
  return result;
}

Numbers::Value Numbers::value_of(const Number& x) {
  if (x.is_constant()) return builder_->constant(x.scale);
  return x.scale < 0.0 ? builder_->neg(x.value) : x.value;
}

Number Numbers::add(const Number& a, const Number& b) {
  if (a.is_zero()) return b;
  if (b.is_zero()) return a;
  if (a.is_constant() && b.is_constant()) return constant_number(a.scale + b.scale);
  if (a.is_constant()) return add(b, a);
  if (b.is_constant())
    return a.scale > 0.0 ? Number{builder_->add(a.value, builder_->constant(b.scale)), 1.0}
                         : Number{builder_->sub(builder_->constant(b.scale), a.value), 1.0};
  if (a.scale == b.scale) return {builder_->add(a.value, b.value), a.scale};
  return {a.scale > 0.0 ? builder_->sub(a.value, b.value) : builder_->sub(b.value, a.value), 1.0};
}

Number Numbers::mul(const Number& a, const Number& b) {
  if (a.is_zero() || b.is_zero()) return constant_number(0.0);
  if (a.is_constant() && b.is_constant()) return constant_number(a.scale * b.scale);
  if (b.is_constant()) return mul(b, a);
  if (!a.is_constant()) return {builder_->mul(a.value, b.value), a.scale * b.scale};
  const double size = std::abs(a.scale), sign = a.scale < 0.0 ? -b.scale : b.scale;
  return size == 1.0 ? Number{b.value, sign} : Number{builder_->mul(builder_->constant(size), b.value), sign};
}

Number Numbers::reciprocal(const Number& a) {
  if (a.is_constant()) return constant_number(1.0 / a.scale);
  return {builder_->div(builder_->constant(1.0), a.value), a.scale};
}

Number Numbers::apply(Op op, const Number& a, const Number& b) {
  if (a.is_constant() && b.is_constant())
    return constant_number(evaluate_operator<double>(op, a.scale, b.scale, a.scale));
  return {builder_->apply(op, value_of(a), value_of(b)), 1.0};
}

Number Numbers::sum(std::span<const Product> products) {
  // k·(factor·a·b) with all that is constant in k.
  struct Term {
    Value factor, a, b;
    double k;
  };
  std::vector<Term> terms;
  double constant = 0.0;
  for (const Product& p : products) {
    Term term{p.factor.value, p.a.value, p.b.value, p.factor.scale * p.a.scale * p.b.scale};
    if (term.k == 0.0) continue;
    if (term.a < term.b) std::swap(term.a, term.b);
    if (term.a < 0) std::swap(term.a, term.factor);  // a factor alone
    if (term.a < 0) {
      constant += term.k;
      continue;
    }
    const auto same = std::find_if(terms.begin(), terms.end(), [&](const Term& other) {
      return other.factor == term.factor && other.a == term.a && other.b == term.b;
    });
    if (same == terms.end())
      terms.push_back(term);
    else
      same->k += term.k;
  }
  std::erase_if(terms, [](const Term& term) { return term.k == 0.0; });

  Number total = constant_number(0.0);
  std::vector<char> done(terms.size(), 0);
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (done[i]) continue;
    Number group = constant_number(0.0);
    for (std::size_t j = i; j < terms.size(); ++j) {
      if (done[j] || terms[j].factor != terms[i].factor || std::abs(terms[j].k) != std::abs(terms[i].k)) continue;
      done[j] = 1;
      const double sign = (terms[j].k < 0.0) == (terms[i].k < 0.0) ? 1.0 : -1.0;
      const Number a{terms[j].a, sign};
      group = add(group, terms[j].b < 0 ? a : mul(a, Number{terms[j].b, 1.0}));
    }
    if (terms[i].factor >= 0) group = mul(Number{terms[i].factor, 1.0}, group);
    total = add(total, mul(constant_number(terms[i].k), group));
  }
  return add(total, constant_number(constant));
}

}  // namespace mechanician
