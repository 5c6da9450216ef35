// What switches in exported C: sides held through a step, as the engine has them (equations/switches.hpp).

#include <algorithm>
#include <cmath>
#include <span>
#include <unordered_map>

#include "mechanician/exports/c_facts.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/expression/table_lookup.hpp"
#include "mechanician/expression/table_pieces.hpp"
#include "mechanician/expression/tape.hpp"

namespace mechanician {

namespace {

constexpr KindSet reactions = kind_bit(SymbolKind::ideal_force) | kind_bit(SymbolKind::multiplier);
constexpr KindSet clock_kinds = kind_bit(SymbolKind::time) | kind_bit(SymbolKind::parameter);

/// Arguments before what they are in, each node once.
std::vector<Expr> nodes_of(std::span<const Expr> roots) {
  std::vector<Expr> nodes;
  std::unordered_map<const ExprNode*, char> seen;
  struct Frame {
    Expr f;
    int next;
  };
  std::vector<Frame> stack;
  for (const Expr& root : roots) {
    if (seen.contains(root.node())) continue;
    stack.push_back({root, 0});
    while (!stack.empty()) {
      Frame& top = stack.back();
      if (top.next < top.f.num_args()) {
        Expr child = top.f.arg(top.next++);
        if (!seen.contains(child.node())) stack.push_back({std::move(child), 0});
        continue;
      }
      if (seen.emplace(top.f.node(), 1).second) nodes.push_back(std::move(top.f));
      stack.pop_back();
    }
  }
  return nodes;
}

/// A lookup with sides held, spelled out: C knows each piece of a table by a name of its own.
Expr spelled_lookup(const Expr& x, const Expr& y, const Expr& key) {
  const std::vector<Expr> sides = symbols_of(std::span(&key, 1));
  Expr leaf = key;
  while (leaf.op() == Op::add || leaf.op() == Op::sub) leaf = leaf.arg(0);
  std::vector<double> values(sides.size(), 0.0);
  const double plain = Tape(std::vector<Expr>{leaf}, sides)(std::span<const double>(values))[0];
  const Tape tape(std::vector<Expr>{key}, sides);
  const auto spell = [&](const auto& self, std::size_t k) -> Expr {
    if (k == sides.size()) {
      const double added = tape(std::span<const double>(values))[0] - plain;
      return make_raw(Op::lookup, {x, y, added == 0.0 ? leaf : make_raw(Op::add, {leaf, Expr(added)})});
    }
    Expr of[3];
    for (int side = -1; side <= 1; ++side) values[k] = side, of[side + 1] = self(self, k + 1);
    return select(sides[k] > 0, of[2], select(sides[k] < 0, of[0], of[1]));
  };
  return spell(spell, 0);
}

std::vector<Expr> with_tables_spelled(std::span<const Expr> roots) {
  const std::vector<Expr> nodes = nodes_of(roots);
  std::unordered_map<const ExprNode*, Expr> made;
  std::vector<Expr> args;
  for (const Expr& f : nodes) {
    args.clear();
    bool changed = false;
    for (int k = 0; k < f.num_args(); ++k) {
      args.push_back(made.at(f.arg(k).node()));
      changed |= !same(args.back(), f.arg(k));
    }
    const bool held = f.op() == Op::lookup && f.arg(2).contains(SymbolKind::parameter);
    made.emplace(f.node(), held ? spelled_lookup(args[0], args[1], f.arg(2)) : changed ? make_raw(f.op(), args) : f);
  }
  std::vector<Expr> out;
  for (const Expr& root : roots) out.push_back(made.at(root.node()));
  return out;
}

/// Points nearer to each other than all others that regions of a table end at.
double smallest_gap(const Expr& lookup, int argument) {
  const Expr key = lookup.arg(2);
  if (!symbols_of(std::span(&key, 1)).empty()) return 0.0;
  const auto pieces = find_pieces(Tape(std::vector<Expr>{key}, std::vector<Expr>{})(std::span<const double>())[0]);
  if (!pieces) return 0.0;
  const int at = pieces->guard != 0 ? pieces->guard - 1 : argument;
  if (at >= pieces->num_arguments) return 0.0;
  const std::vector<double>& points = pieces->points[at];
  double gap = INFINITY;
  for (std::size_t i = 1; i < points.size(); ++i) gap = std::min(gap, points[i] - points[i - 1]);
  return gap;
}

}  // namespace

/// Everything that a motion is made of, in one order.
template <class Do>
void CFacts::each_expression(Do&& visit) {
  for (auto* matrix : {&eqs.M, &eqs.A})
    for (auto& e : matrix->entries) visit(e.value);
  for (auto* part : {&eqs.Q, &eqs.b, &eqs.C, &eqs.control.numbers, &state_rates})
    for (Expr& e : *part) visit(e);
  for (Row& row : eqs.rows) {
    if (row.level != mechanician::Level::acceleration) visit(row.residual);
    visit(row.rate);
  }
  for (ContactRow& c : eqs.contacts) {
    for (auto& e : c.T.entries) visit(e.value);
    for (auto* part : {&c.slip_b, &c.slip})
      for (Expr& e : *part) visit(e);
    visit(c.friction), visit(c.restitution);
  }
}

void CFacts::hold_sides() {
  for (int k = num_coordinates; k < n(); ++k)
    for (const StateVariable& z : model.states)
      if (z.name == system.coordinate(coordinates[static_cast<std::size_t>(k)])) state_rates.push_back(z.rate);
  std::vector<Expr> all;
  each_expression([&](Expr& e) { all.push_back(e), depends_on_time |= e.contains(SymbolKind::time); });
  Frozen frozen = freeze(all);
  if (frozen.switches.empty()) return;
  // What switches with a force of a constraint is known only after that force: its side is its sign.
  std::vector<Replacement> signs;
  for (Switch& s : frozen.switches) {
    if (!signs.empty()) s.g = substitute(s.g, signs), s.zero = substitute(s.zero, signs);
    if ((s.g.kinds() & reactions) == 0)
      sides.push_back(s);
    else
      signs.push_back({s.side, s.is_cut ? select(s.zero >= 0, 1, -1) : sign(s.g)});
  }
  if (!signs.empty()) frozen.expressions = substitute(frozen.expressions, signs);
  std::vector<Expr> g;
  for (const Switch& s : sides) g.push_back(s.g);
  g = with_tables_spelled(g);
  frozen.expressions = with_tables_spelled(frozen.expressions);
  for (std::size_t i = 0; i < g.size(); ++i) {
    sides[i].g = g[i];
    const std::vector<Expr> symbols = symbols_of(std::span(&g[i], 1));
    bool of_time = (g[i].kinds() & ~clock_kinds) == 0;
    for (std::size_t k = 0; k < i; ++k)
      of_time &= is_of_time[k] ||
                 std::none_of(symbols.begin(), symbols.end(), [&](const Expr& s) { return same(s, sides[k].side); });
    is_of_time.push_back(of_time);
  }
  std::size_t next = 0;
  each_expression([&](Expr& e) { e = frozen.expressions[next++]; });
  for (std::size_t k = 0; k < eqs.control.E.entries.size(); ++k)
    eqs.control.E.entries[k].value = eqs.control.numbers[k];
  find_turns(g);
}

/// What switching functions go through turns with: one unit of it, and they are seen by samples.
void CFacts::find_turns(const std::vector<Expr>& g) {
  constexpr double turn = 0.5;
  const auto add = [&](const Expr& argument, const Expr& unit) {
    if ((argument.kinds() & ~kind_bit(SymbolKind::parameter)) != 0) turns.push_back(argument / unit);
  };
  for (const Expr& f : nodes_of(g)) {
    switch (f.op()) {
      case Op::sin:
      case Op::cos:
      case Op::tan:
      case Op::asin:
      case Op::acos:
      case Op::atan:
      case Op::sinh:
      case Op::cosh:
      case Op::tanh:
      case Op::asinh:
      case Op::exp:
        add(f.arg(0), turn);
        break;
      case Op::mod:
        add(f.arg(0), f.arg(1) / 8);
        break;
      case Op::lookup:
        for (const int argument : {0, 1})
          if (const double gap = smallest_gap(f, argument); gap > 0.0 && std::isfinite(gap))
            add(f.arg(argument), gap / 2);
        break;
      default:
        break;
    }
  }
}

std::vector<Expr> CFacts::side_symbols() const {
  std::vector<Expr> symbols;
  for (const Switch& s : sides) symbols.push_back(s.side);
  return symbols;
}

/// On which side the start is, as far as that tells.
std::vector<double> CFacts::first_sides(const std::vector<double>& at_start) const {
  std::vector<Expr> symbols{eqs.t}, g;
  for (const auto* part : {&eqs.q, &eqs.qd, &eqs.parameters}) symbols.insert(symbols.end(), part->begin(), part->end());
  for (const Switch& s : sides) symbols.push_back(s.side), g.push_back(s.g);
  const Tape tape(g, symbols);
  std::vector<double> at = at_start, held(sides.size(), 1.0);
  at.resize(symbols.size(), 1.0);
  for (std::size_t round = 0; round <= sides.size(); ++round) {
    std::copy(held.begin(), held.end(), at.end() - static_cast<std::ptrdiff_t>(held.size()));
    if (!update_sides(tape(std::span<const double>(at)), held)) break;
  }
  return held;
}

}  // namespace mechanician
