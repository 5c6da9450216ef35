#include "mechanician/equations/divisors.hpp"

#include <unordered_set>

namespace mechanician {

namespace {

constexpr KindSet of_the_motion =
    kind_bit(SymbolKind::time) | kind_bit(SymbolKind::coordinate) | kind_bit(SymbolKind::velocity);

class DivisorFinder {
 public:
  std::vector<Expr> find(std::span<const Expr> expressions) {
    std::vector<Expr> stack(expressions.begin(), expressions.end());
    while (!stack.empty()) {
      const Expr f = std::move(stack.back());
      stack.pop_back();
      if (!visited_.insert(f.node()).second) continue;
      for (int k = 0; k < f.num_args(); ++k) stack.push_back(f.arg(k));
      if (f.op() == Op::div) add_factors(f.arg(1));
      if (f.op() == Op::pow && f.arg(1).is_constant() && f.arg(1).value() < 0.0) add_factors(f.arg(0));
      if (f.op() == Op::tan) add_factors(cos(f.arg(0)));
    }
    return std::move(divisors_);
  }

 private:
  void add_factors(const Expr& product) {
    std::vector<Expr> stack{product};
    while (!stack.empty()) {
      const Expr f = std::move(stack.back());
      stack.pop_back();
      switch (f.op()) {
        case Op::mul:
          stack.push_back(f.arg(1));
          [[fallthrough]];
        case Op::neg:
        case Op::sqrt:
        case Op::abs:
        case Op::div:
          stack.push_back(f.arg(0));
          continue;
        case Op::pow:
          if (f.arg(1).is_constant()) {
            if (f.arg(1).value() > 0.0) stack.push_back(f.arg(0));
            continue;
          }
          break;
        default:
          break;
      }
      if ((f.kinds() & of_the_motion) != 0 && known_.insert(f.node()).second) divisors_.push_back(f);
    }
  }

  std::unordered_set<const ExprNode*> visited_, known_;
  std::vector<Expr> divisors_;
};

}  // namespace

std::vector<Expr> find_divisors(std::span<const Expr> expressions) { return DivisorFinder().find(expressions); }

}  // namespace mechanician
