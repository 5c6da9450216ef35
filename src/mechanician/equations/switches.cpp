#include "mechanician/equations/switches.hpp"

#include <algorithm>
#include <charconv>
#include <numbers>
#include <string_view>
#include <unordered_map>

#include "mechanician/expression/definite_conditions.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/expression/table_lookup.hpp"

namespace mechanician {

namespace {

constexpr std::string_view side_prefix = "side#";  // '#' is in no name of a model

bool moves(const Expr& g) { return (g.kinds() & ~kind_bit(SymbolKind::parameter)) != 0; }

/// sign · f
struct Signed {
  Expr f;
  int sign;
};

/// −f, −2·f, −1: the minus apart. Negation is exact, so that the value is the same to the last bit.
Signed strip(Expr f) {
  int sign = 1;
  for (int k = 0; k < 64 && f.op() == Op::neg; ++k) {
    f = f.arg(0);
    sign = -sign;
  }
  if (f.is_constant() && f.value() < 0) return {-f.value(), -sign};
  if (f.op() == Op::mul && f.arg(0).is_constant() && f.arg(0).value() < 0)
    return {make_raw(Op::mul, {-f.arg(0).value(), f.arg(1)}), -sign};
  return {std::move(f), sign};
}

/// a + sign_of_b·b
Signed sum(const Expr& a, const Expr& b, int sign_of_b) {
  const Signed x = strip(a);
  Signed y = strip(b);
  y.sign *= sign_of_b;
  if (y.f.is_zero()) return x;
  if (x.f.is_zero()) return y;
  return {make_raw(x.sign == y.sign ? Op::add : Op::sub, {x.f, y.f}), x.sign};
}

/// A form in which x − 1 of abs(x − 1), x < 1, 1 > x and −x > −1 is one node.
Signed canonical(const Expr& g) {
  Signed s = strip(g);
  if (s.f.op() != Op::add && s.f.op() != Op::sub) return s;
  Signed t = sum(s.f.arg(0), s.f.arg(1), s.f.op() == Op::add ? 1 : -1);
  return {std::move(t.f), t.sign * s.sign};
}

/// A side never shows that its g has no value; where that can happen it is asked for, so that what was undefined stays
/// so: of conditions as far as they are not decided without (definite_conditions.hpp).
Expr is_number(const Expr& g) { return equal_to(g, g); }

Op mirrored(Op comparison) {
  switch (comparison) {
    case Op::lt:
      return Op::gt;
    case Op::le:
      return Op::ge;
    case Op::gt:
      return Op::lt;
    default:
      return Op::le;
  }
}

class Freezer {
 public:
  Frozen freeze(std::span<const Expr> expressions) {
    visit(expressions);
    number_sides();
    frozen_.reserve(nodes_.size());
    std::vector<Expr> args;
    for (const Expr& f : nodes_) {
      args.clear();
      bool changed = false;
      for (int k = 0; k < f.num_args(); ++k) {
        const Expr a = f.arg(k);
        args.push_back(frozen_[index_.at(a.node())]);
        changed |= !same(a, args.back());
      }
      frozen_.push_back(freeze_node(f, args, changed));
      if (row_of(f.op()).condition && row_of(f.op()).takes_conditions)
        for (int k = 0; k < f.num_args(); ++k) args[static_cast<std::size_t>(k)] = exact_[index_.at(f.arg(k).node())];
      exact_.push_back(row_of(f.op()).condition ? make_raw(f.op(), args) : frozen_.back());
    }
    for (const Expr& f : expressions) result_.expressions.push_back(frozen_[index_.at(f.node())]);
    return std::move(result_);
  }

 private:
  /// Arguments before their users, each once, with the size as a tree (as far as it matters for printing).
  void visit(std::span<const Expr> roots) {
    struct Frame {
      Expr f;
      int next;
    };
    std::vector<Frame> stack;
    for (const Expr& root : roots) {
      if (index_.contains(root.node())) continue;
      stack.push_back({root, 0});
      while (!stack.empty()) {
        Frame& top = stack.back();
        if (top.next < top.f.num_args()) {
          Expr child = top.f.arg(top.next++);
          if (!index_.contains(child.node())) stack.push_back({std::move(child), 0});
          continue;
        }
        int size = 1;
        for (int k = 0; k < top.f.num_args(); ++k) size += size_[index_.at(top.f.arg(k).node())];
        if (index_.emplace(top.f.node(), nodes_.size()).second) {
          nodes_.push_back(std::move(top.f));
          size_.push_back(std::min(size, too_long));
        }
        stack.pop_back();
      }
    }
  }

  /// Sides that are already in the expressions (frozen before) keep their names to themselves.
  void number_sides() {
    for (const Expr& f : nodes_) {
      if (!f.is_symbol() || !f.symbol().name.starts_with(side_prefix)) continue;
      const std::string_view digits = std::string_view(f.symbol().name).substr(side_prefix.size());
      int number = 0;
      std::from_chars(digits.data(), digits.data() + digits.size(), number);
      next_side_ = std::max(next_side_, number + 1);
    }
  }

  struct Use {
    Expr side;
    int sign;  ///< the g of the expression at hand is sign · g of the switch
  };

  Expr new_side() { return parameter(std::string(side_prefix) + std::to_string(next_side_++)); }

  Use use(const Signed& g, const Expr& origin, bool is_discontinuous, bool is_cut = false) {
    auto found = known_.find(g.f.node());
    int sign = g.sign;
    if (found == known_.end() && (g.f.op() == Op::sub || g.f.op() == Op::add)) {
      const Expr swapped = make_raw(g.f.op(), {g.f.arg(1), g.f.arg(0)});
      found = known_.find(swapped.node());
      if (found != known_.end() && g.f.op() == Op::sub) sign = -sign;
    }
    if (found == known_.end()) {
      found = known_.emplace(g.f.node(), result_.switches.size()).first;
      result_.switches.push_back({.g = g.f, .side = new_side(), .text = text_of(origin), .is_cut = is_cut});
    }
    Switch& s = result_.switches[found->second];
    s.is_discontinuous |= is_discontinuous, s.is_cut &= is_cut;
    return {s.side, sign};
  }

  /// atan2(y, x), cut along the negative x-axis.
  Expr freeze_atan2(const Expr& f, const Expr& y, const Expr& x) {
    constexpr double steep = 4.0;  // an angle that stays within 76° of zero never turns its side
    const Expr side = new_side();
    result_.switches.push_back({.g = y + steep * side * max(x, 0),
                                .side = side,
                                .text = text_of(f),
                                .is_discontinuous = true,
                                .is_cut = true,
                                .zero = y});
    // From the side that is turned at −76° one may come beyond −90°, from the other end beyond 180°: half way is 232°.
    const Expr beyond = x < 0 && side * y <= 0 && side * y >= 1.25 * x;
    return select(beyond, side * std::numbers::pi + atan2(-y, -x), atan2(y, x));
  }

  /// mod(a, b), which jumps where a is a multiple of b: cut as an angle is, with the way from the cut in place of y.
  Expr freeze_mod(const Expr& f, const Expr& a, const Expr& b) {
    constexpr double far = 0.25, steep = 4.0,
                     beyond = 1.0 / 7.0;  // of a whole turn; the side is turned a third of it away
    const Expr side = new_side(), value = mod(a, b), share = value / b;
    const Expr way = select(share < 0.5, share, share - 1);
    result_.switches.push_back({.g = way + steep * side * max(abs(way) - far, 0),
                                .side = side,
                                .text = text_of(f),
                                .is_discontinuous = true,
                                .is_cut = true,
                                .zero = way});
    return select(side > 0 && share > 1 - beyond, value - b, select(side < 0 && share < beyond, value + b, value));
  }

  /// A table whose value or slope jumps where one of its pieces ends: the piece is held, of either argument.
  Expr freeze_lookup(const Expr& f, const Expr& lookup) {
    Expr held = lookup;
    for (const int argument : {0, 1}) {
      const Breaks breaks = breaks_of(lookup, argument);
      if (breaks == Breaks::none || !moves(lookup.arg(argument))) continue;
      const Use u = use({guard_of(lookup, argument, breaks), 1}, f, jumps(lookup, argument));
      held = with_side(held, argument, breaks, u.side);
    }
    return held;
  }

  /// atan(u) with u = p/q or tan(v), which passes through infinity.
  Expr freeze_atan(const Expr& f, const Expr& u) {
    const bool of_tan = u.op() == Op::tan;
    const Expr p = of_tan ? sin(u.arg(0)) : u.arg(0), q = of_tan ? cos(u.arg(0)) : u.arg(1);
    const Signed g = canonical(q);
    const Use found = use(g, f, true, true);
    const Expr side = found.sign > 0 ? found.side : -found.side;
    return select(side * q <= 0 && is_number(u), atan2(side * p, side * q), atan(u));
  }

  Expr freeze_node(const Expr& f, std::span<const Expr> args, bool changed) {
    switch (f.op()) {
      case Op::abs:
      case Op::sign: {
        const Signed g = canonical(args[0]);
        if (!moves(g.f)) break;
        const Use u = use(g, f, f.op() == Op::sign);
        const Expr side = u.sign > 0 ? u.side : -u.side;
        if (f.op() == Op::abs) return side * args[0];
        return g.f.is_total() ? side : select(is_number(g.f), side, args[0]);
      }
      case Op::min:
      case Op::max: {
        const Signed g = sum(args[0], args[1], -1);
        if (!moves(g.f) || same(args[0], args[1])) break;
        const Use u = use(g, f, false);
        const bool above = (f.op() == Op::max) == (u.sign > 0);
        const Expr chosen = select(above ? u.side > 0 : u.side < 0, args[0], args[1]);
        return g.f.is_total() ? chosen : select(is_number(g.f), chosen, make_raw(f.op(), args));
      }
      case Op::lt:
      case Op::le:
      case Op::gt:
      case Op::ge: {
        const Signed g = sum(args[0], args[1], -1);
        if (!moves(g.f) || same(args[0], args[1])) break;
        const Use u = use(g, f, true);
        return make_raw(u.sign > 0 ? f.op() : mirrored(f.op()), {u.side, 0});
      }
      case Op::atan2:
        if (!moves(args[0]) && !moves(args[1])) break;
        return freeze_atan2(f, args[0], args[1]);
      case Op::mod:
        if (!moves(args[0]) && !moves(args[1])) break;
        return freeze_mod(f, args[0], args[1]);
      case Op::atan:
        if ((args[0].op() != Op::div || !moves(args[0].arg(1))) && (args[0].op() != Op::tan || !moves(args[0]))) break;
        return freeze_atan(f, args[0]);
      case Op::lookup:
        return freeze_lookup(f, changed ? make_raw(f.op(), args) : f);
      case Op::select: {
        if (f.arg(0).is_total()) break;
        // x > 0 and log(x) < 1 is decided beyond x = 0, where the sides of before still hold within a step.
        const Truth truth = truth_of(exact_[index_.at(f.arg(0).node())]);
        return select(truth.yes || truth.no, make_raw(f.op(), args), truth.unsure);
      }
      default:
        break;
    }
    return changed ? make_raw(f.op(), args) : f;
  }

  /// At most a line or so. Looking for the first letter of a very deep expression would cost its depth each time.
  std::string text_of(const Expr& f) const {
    const auto part = [&](const Expr& e) {
      return size_[index_.at(e.node())] < too_long ? print(e, {.max_length = 80}) : std::string("…");
    };
    if (size_[index_.at(f.node())] < too_long) return part(f);
    const OperatorRow& row = row_of(f.op());
    if (row.notation == Notation::infix) return part(f.arg(0)) + " " + std::string(row.name) + " " + part(f.arg(1));
    std::string text = std::string(row.name) + "(";
    for (int k = 0; k < f.num_args(); ++k) text += (k > 0 ? ", " : "") + part(f.arg(k));
    return text + ")";
  }

  static constexpr int too_long = 64;  ///< nodes, written out as a tree
  std::vector<Expr> nodes_, frozen_;
  std::vector<Expr> exact_;  ///< conditions in terms of their operands, frozen, and not of sides
  std::vector<int> size_;
  std::unordered_map<const ExprNode*, std::size_t> index_;
  std::unordered_map<const ExprNode*, std::size_t> known_;  ///< g → switch; the switches keep the nodes alive
  int next_side_ = 0;
  Frozen result_;
};

}  // namespace

Frozen freeze(std::span<const Expr> expressions) { return Freezer().freeze(expressions); }

bool update_sides(std::span<const double> g, std::span<double> sides) {
  bool turned = false;
  for (std::size_t i = 0; i < g.size(); ++i) {
    const double side = g[i] > 0 ? 1.0 : g[i] < 0 ? -1.0 : sides[i];
    turned |= side != sides[i];
    sides[i] = side;
  }
  return turned;
}

}  // namespace mechanician
