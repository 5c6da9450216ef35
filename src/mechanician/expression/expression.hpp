#pragma once

/// Expressions: immutable values that share structure.
///
/// An Expr is a handle on a node of a directed acyclic graph. Nodes are hash-consed: two expressions that are written
/// the same way are the same node, so that comparison is a comparison of pointers and common subexpressions exist once.
/// Nodes are counted and freed with their last handle; no operation recurses, so that depth is limited by memory only.
/// Handles may be used from several threads.
///
/// The C++ operators build exactly what is written (`0*x` stays a product): the kind of a constraint is read off the
/// text as written. Derivatives and `simplify` use make_simplified, which applies the safe rules of simplify.hpp.

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mechanician/expression/operators.hpp"

namespace mechanician {

struct ExprNode;
struct Symbol;
class TableContent;

enum class SymbolKind : std::uint8_t {
  time,
  coordinate,
  velocity,
  acceleration,
  parameter,
  ideal_force,  ///< ideal(COORDINATE) in [nonideal]
  multiplier,   ///< multiplier(NAME) in [nonideal]
  unknown,      ///< a function without a value
  // Of a motion: what outputs, events and pictures may use beside the two above.
  constraint_force,  ///< constraint(COORDINATE)
  control_force,     ///< control(COORDINATE)
  friction,          ///< friction(NAME)
  power,             ///< power(NAME)
  work,              ///< work(NAME)
  effort,            ///< tau(ACTUATOR)
  control_error,     ///< e(REQUIREMENT)
  control_cost,      ///< cost
};

/// A set of symbol kinds, one bit each.
using KindSet = std::uint32_t;
constexpr KindSet kind_bit(SymbolKind kind) { return KindSet{1} << static_cast<unsigned>(kind); }
/// Forces of constraints and control: by coordinate, and by the name of a constraint.
constexpr KindSet forces_of_coordinates =
    kind_bit(SymbolKind::ideal_force) | kind_bit(SymbolKind::constraint_force) | kind_bit(SymbolKind::control_force);
constexpr KindSet forces_of_constraints = kind_bit(SymbolKind::multiplier) | kind_bit(SymbolKind::friction) |
                                          kind_bit(SymbolKind::power) | kind_bit(SymbolKind::work);
constexpr KindSet forces_of_control =
    kind_bit(SymbolKind::effort) | kind_bit(SymbolKind::control_error) | kind_bit(SymbolKind::control_cost);
constexpr KindSet all_forces = forces_of_coordinates | forces_of_constraints | forces_of_control;
/// Those that are called by the name of a constraint, a requirement or an actuator.
constexpr KindSet forces_of_rows =
    forces_of_constraints | kind_bit(SymbolKind::effort) | kind_bit(SymbolKind::control_error);

class Expr {
 public:
  Expr() : Expr(0.0) {}
  Expr(double value);  // NOLINT(google-explicit-constructor): numbers mix freely with expressions
  Expr(int value) : Expr(static_cast<double>(value)) {}
  Expr(const Expr& other) noexcept;
  Expr(Expr&& other) noexcept;
  Expr& operator=(const Expr& other) noexcept;
  Expr& operator=(Expr&& other) noexcept;
  ~Expr();

  Op op() const;
  int num_args() const;
  Expr arg(int i) const;
  double value() const;          ///< of a constant
  const Symbol& symbol() const;  ///< of a symbol
  KindSet kinds() const;         ///< kinds of all symbols in it
  bool contains(SymbolKind kind) const { return (kinds() & kind_bit(kind)) != 0; }
  bool is_constant() const { return op() == Op::constant; }
  bool is_constant(double v) const { return op() == Op::constant && value() == v; }
  bool is_zero() const { return is_constant(0.0); }
  bool is_one() const { return is_constant(1.0); }
  bool is_symbol() const { return op() == Op::symbol; }
  bool is_condition() const { return row_of(op()).condition; }
  /// Finite wherever its symbols are (overflow apart): such a factor may be dropped against zero.
  bool is_total() const;
  std::uint64_t hash() const;  ///< of the structure: the same in every run

  /// The same node, that is: written the same way.
  friend bool same(const Expr& a, const Expr& b) { return a.node_ == b.node_; }
  const ExprNode* node() const { return node_; }
  /// A new handle on an existing node.
  static Expr of(const ExprNode* node);

 private:
  struct Adopt {};
  Expr(const ExprNode* node, Adopt) : node_(node) {}
  friend class ExprTable;
  const ExprNode* node_;
};

/// A leaf that stands for a quantity of the model.
struct Symbol {
  SymbolKind kind;
  std::string name;
  /// Unknown functions: what it depends on and how often it is differentiated by each.
  std::vector<Expr> depends;
  std::vector<int> orders;
  /// Of the leaf of a table, which is no symbol of the model; differentiated by its arguments as `orders` say.
  std::shared_ptr<const TableContent> table = nullptr;
};

/// Exactly this node, without simplification.
Expr make_raw(Op op, std::span<const Expr> args);
inline Expr make_raw(Op op, std::initializer_list<Expr> args) {
  return make_raw(op, std::span(args.begin(), args.size()));
}

Expr make_symbol(SymbolKind kind, std::string name);
inline Expr coordinate(std::string name) { return make_symbol(SymbolKind::coordinate, std::move(name)); }
inline Expr parameter(std::string name) { return make_symbol(SymbolKind::parameter, std::move(name)); }
Expr time_symbol();
/// A function without a value, of time, coordinates or velocities.
Expr unknown_function(std::string name, std::vector<Expr> depends);
/// ∂(unknown)/∂(symbol); zero if it does not depend on it.
Expr unknown_derivative(const Expr& unknown, const Expr& symbol);
/// x → x', x' → x''.
Expr derivative_symbol(const Expr& coordinate_or_velocity);

Expr operator+(const Expr& a, const Expr& b);
Expr operator-(const Expr& a, const Expr& b);
Expr operator*(const Expr& a, const Expr& b);
Expr operator/(const Expr& a, const Expr& b);
Expr operator-(const Expr& a);
inline Expr& operator+=(Expr& a, const Expr& b) { return a = a + b; }
inline Expr& operator-=(Expr& a, const Expr& b) { return a = a - b; }
inline Expr& operator*=(Expr& a, const Expr& b) { return a = a * b; }
inline Expr& operator/=(Expr& a, const Expr& b) { return a = a / b; }

Expr pow(const Expr& base, const Expr& exponent);
Expr sin(const Expr& x);
Expr cos(const Expr& x);
Expr tan(const Expr& x);
Expr asin(const Expr& x);
Expr acos(const Expr& x);
Expr atan(const Expr& x);
Expr atan2(const Expr& y, const Expr& x);
Expr sinh(const Expr& x);
Expr cosh(const Expr& x);
Expr tanh(const Expr& x);
Expr asinh(const Expr& x);
Expr acosh(const Expr& x);
Expr atanh(const Expr& x);
Expr exp(const Expr& x);
Expr log(const Expr& x);
Expr sqrt(const Expr& x);
Expr abs(const Expr& x);
Expr sign(const Expr& x);
Expr min(const Expr& a, const Expr& b);
Expr max(const Expr& a, const Expr& b);
Expr hypot(const Expr& a, const Expr& b);
/// Has the sign of b: a − b·floor(a/b).
Expr mod(const Expr& a, const Expr& b);
/// if(condition, then, otherwise)
Expr select(const Expr& condition, const Expr& then, const Expr& otherwise);
Expr operator<(const Expr& a, const Expr& b);
Expr operator<=(const Expr& a, const Expr& b);
Expr operator>(const Expr& a, const Expr& b);
Expr operator>=(const Expr& a, const Expr& b);
Expr equal_to(const Expr& a, const Expr& b);
Expr operator&&(const Expr& a, const Expr& b);
Expr operator||(const Expr& a, const Expr& b);
Expr operator!(const Expr& a);

/// Number of nodes alive in the process; for tests of leaks.
std::size_t num_live_nodes();

}  // namespace mechanician
