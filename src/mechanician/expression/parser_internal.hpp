#pragma once

/// Expressions by precedence: operands and what waits for them, on two stacks. Of parse.cpp, which reads operands and operators; parse_members.cpp
/// those of families, parse_vectors.cpp and parse_units.cpp what is made of vectors and of units.

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mechanician/expression/lexer.hpp"
#include "mechanician/expression/parse.hpp"

namespace mechanician::parsing {

/// An operand with the stretch of text that it came from.
struct Operand {
  Expr value;
  std::size_t begin, end;
  Measure measure = {};
  std::vector<Expr> parts = {};  ///< of a vector
  bool is_vector() const { return !parts.empty(); }
};

/// What waits for its right operand or its closing parenthesis.
struct Pending {
  enum class Kind { binary, prefix, group, call } kind;
  const OperatorRow* row = nullptr;  ///< of an operator or function
  int precedence = 0;                ///< 0 for group and call: they end reductions
  std::size_t offset = 0;
  std::size_t first_operand = 0;  ///< of a call: its arguments start here on the operand stack
};

extern const OperatorRow wrap_row;  ///< wrap(a), the angle a between −π and π: mod(a + π, 2π) − π
/// Of vectors: what they make is put together from the components.
extern const OperatorRow dot_row, cross_row, norm_row;
inline constexpr const char* of_a_vector = "take a component, as in r.x, or dot(), norm()";

class Parser {
 public:
  Parser(std::string_view text, const NameScope& scope, bool equation)
      : text_(text), scope_(scope), lexer_(text), equation_(equation) {}

  void parse();

  std::vector<Expr> sides;       ///< one, or two of an equation
  std::vector<Expr> components;  ///< of a side that is a vector, where it may be one
  bool may_be_vector = false;
  Relation relation = Relation::equal;
  Measure of_sides;
  std::vector<ParseProblem> problems;

 private:
  void advance() { token_ = lexer_.next(); }

  bool fail(std::size_t offset, std::size_t length, std::string message, std::string hint = {}) {
    problems.push_back({offset, std::max<std::size_t>(length, 1), std::move(message), std::move(hint)});
    failed_ = true;
    return false;
  }
  bool fail_at_token(std::string message, std::string hint = {}) {
    return fail(token_.offset, token_.length(), std::move(message), std::move(hint));
  }
  bool lexical_error() { return fail_at_token(token_.message, token_.hint); }

  /// A syntax error does not lead to more; a wrong operand is reported and parsing goes on.
  void complain(std::size_t offset, std::size_t length, std::string message, std::string hint = {}) {
    problems.push_back({offset, std::max<std::size_t>(length, 1), std::move(message), std::move(hint)});
  }

  void push_operand(Expr value, std::size_t begin, std::size_t end, Measure measure = {}) {
    operands_.push_back({std::move(value), begin, end, measure});
    expect_operand_ = false;
  }
  void push_vector(std::vector<Expr> parts, std::size_t begin, std::size_t end, Measure measure) {
    operands_.push_back({Expr(0.0), begin, end, measure, std::move(parts)});
    expect_operand_ = false;
  }
  Measure measure_of(std::string_view name, int primes) const {
    return scope_.measure ? scope_.measure(name, primes) : Measure{};
  }

  // ---- where an operand must come --------------------------------------------------------------------------------

  bool operand();
  bool missing_operand();
  bool name();
  /// d[1].load(t), d[1].g[k]: what is a name as a whole, since components are neither.
  bool is_called_or_indexed(const Token& name) const;
  std::optional<Expr> find_name(const Token& name) const;
  bool unknown_function(const Token& name);
  /// ideal(x), multiplier(rod), power(rod): the argument is a name, not an expression.
  bool reaction(const Token& function);

  // ---- families --------------------------------------------------------------------------------------------------

  struct Piece {
    std::size_t begin, end;
  };
  /// What stands between the bracket at token_ and the one that closes it, cut at its commas; token_ is the closing one then.
  std::optional<std::vector<Piece>> pieces(std::size_t open);
  std::optional<Expr> inner(const Piece& piece);
  /// At the bracket after a name: the name of the member. Nothing: reported.
  std::optional<std::string> member(const Token& name);
  bool indexed(const Token& name);
  bool indexed_value(const Token& name, const std::optional<std::string>& whole, int primes, std::size_t length);
  bool sum(const Token& name);

  // ---- where an operator must come -------------------------------------------------------------------------------

  /// cross(r, s).z, r'.x
  bool component();
  bool after_operand();
  bool infix(const OperatorRow* row);
  bool relation_sign();
  bool comma();
  bool close();
  bool call(const Pending& open, std::size_t end);

  // ---- vectors

  bool refuse_vector(const Operand& operand);
  static Expr times(const Expr& a, const Expr& b);
  static Expr calc_dot(const std::vector<Expr>& a, const std::vector<Expr>& b);
  bool vector_call(const Pending& open, std::size_t end);
  /// left op right where one of them is a vector; left takes the result.
  bool combine_vectors(const Pending& top, Operand& left, const Operand& right);

  // ---- units

  bool refuse_units(std::size_t begin, std::size_t end, const Measure& a, const Measure& b);
  /// A zero is of any unit.
  static Measure as_term(const Operand& operand);
  Measure in_common(const Operand& a, const Operand& b);
  Measure measure_of_infix(const Operand& left, Op op, const Operand& right);
  /// Nothing: failed, which units do not make it.
  std::optional<Measure> measure_of_call(const Pending& open, std::size_t count);
  const NamedFunction& function_of(const OperatorRow& row) const;
  /// Numbers and truth values do not mix.
  bool check_truth(const Operand& operand, bool wants_condition);
  /// Builds all pending operators that bind at least as tightly as `precedence`.
  bool reduce(int precedence);
  bool check_power(const Operand& exponent);
  bool finish_side();
  bool finish();

  std::string_view text_;
  const NameScope& scope_;
  Lexer lexer_;
  Token token_;
  bool equation_;
  bool expect_operand_ = true;
  bool failed_ = false;
  int nested_ = 0;        ///< in indices
  std::size_t base_ = 0;  ///< where the text begins in the whole
  std::size_t depth_ = 0;
  std::vector<Operand> operands_;
  std::vector<Pending> pending_;
  Operand first_side_{Expr(0.0), 0, 0};
  struct Called {
    NamedFunction function;
    OperatorRow row;
  };
  std::deque<Called> called_;  ///< functions of the model, where they are pending
};

}  // namespace mechanician::parsing
