#include "mechanician/expression/parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <numbers>
#include <utility>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/force_names.hpp"
#include "mechanician/expression/lexer.hpp"

namespace mechanician {

namespace {

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

/// wrap(a), the angle a between −π and π: mod(a + π, 2π) − π.
const OperatorRow wrap_row{
    Op::mod, "wrap", 1, Notation::function, precedence_atom, Domain::everywhere, false, false, "", "", nullptr};

/// Of vectors: what they make is put together from the components.
const OperatorRow dot_row{Op::mul, "dot", 2,      Notation::function, precedence_atom, Domain::everywhere, false, false,
                          "",      "",    nullptr},
    cross_row{Op::mul, "cross", 2,      Notation::function, precedence_atom, Domain::everywhere, false, false,
              "",      "",      nullptr},
    norm_row{Op::sqrt, "norm", 1,      Notation::function, precedence_atom, Domain::everywhere, false, false,
             "",       "",     nullptr};

const OperatorRow* find_vector_function(std::string_view name) {
  for (const OperatorRow* row : {&dot_row, &cross_row, &norm_row})
    if (row->name == name) return row;
  return nullptr;
}

constexpr const char* of_a_vector = "take a component, as in r.x, or dot(), norm()";

const OperatorRow* find_infix(std::string_view sign) {
  for (const OperatorRow& row : operator_table())
    if (row.notation == Notation::infix && row.name == sign) return &row;
  return nullptr;
}

bool is_relation(std::string_view sign) { return sign == "=" || sign == "<=" || sign == ">="; }

class Parser {
 public:
  Parser(std::string_view text, const NameScope& scope, bool equation)
      : text_(text), scope_(scope), lexer_(text), equation_(equation) {}

  void parse() {
    token_ = lexer_.next();
    bool going = true;
    while (going && !failed_) going = expect_operand_ ? operand() : after_operand();
  }

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

  bool operand() {
    switch (token_.kind) {
      case TokenKind::error:
        return lexical_error();
      case TokenKind::number:
        push_operand(token_.number, token_.offset, token_.offset + token_.length(), measure_of_number(token_.number));
        advance();
        return true;
      case TokenKind::name:
        return name();
      case TokenKind::end:
        return missing_operand();
      case TokenKind::sign:
        break;
    }
    if (token_.text == "-" || token_.text == "+") {
      if (token_.text == "-")
        pending_.push_back({Pending::Kind::prefix, &row_of(Op::neg), precedence_negation, token_.offset, 0});
      advance();
      return true;
    }
    if (token_.text == "(") {
      pending_.push_back({Pending::Kind::group, nullptr, 0, token_.offset, 0});
      ++depth_;
      advance();
      return true;
    }
    return missing_operand();
  }

  bool missing_operand() {
    const bool at_end = token_.kind == TokenKind::end;
    if (at_end && operands_.empty() && pending_.empty() && sides.empty())
      return fail(0, std::max<std::size_t>(text_.size(), 1), "the expression is empty");
    if (at_end && !pending_.empty() && pending_.back().kind == Pending::Kind::group)
      return fail(pending_.back().offset, 1, "this parenthesis is never closed");
    if (at_end)
      return fail(text_.empty() ? 0 : text_.size() - 1, 1, "the expression ends where a number or name is expected");
    if (token_.text == ")" && !pending_.empty() && pending_.back().kind == Pending::Kind::group)
      return fail_at_token("there is nothing between the parentheses");
    if (token_.text == ")" && !pending_.empty() && pending_.back().kind == Pending::Kind::call)
      return fail_at_token(fmt::format(
          "`{}` is given {} but needs {}", pending_.back().row->name,
          operands_.size() == pending_.back().first_operand ? "no argument" : "one argument less than its commas say",
          pending_.back().row->arity));
    return fail_at_token(fmt::format("`{}` stands where a number or name is expected", token_.text));
  }

  bool name() {
    Token name = token_;
    // leg[2].knee is a name where there is one; else r[2] is a member, and .x a component of it.
    if (const std::size_t bracket = name.text.find('['); bracket != std::string_view::npos && !find_name(name)) {
      lexer_.seek(name.offset + bracket);
      name.text = name.text.substr(0, bracket), name.primes = 0;
    }
    advance();
    const bool call = token_.kind == TokenKind::sign && token_.text == "(";
    if (name.primes == 0 && name.text == "not") {
      pending_.push_back({Pending::Kind::prefix, &row_of(Op::logical_not), precedence_not, name.offset, 0});
      return true;
    }
    if (name.primes == 0 && (name.text == "and" || name.text == "or"))
      return fail(name.offset, name.length(), fmt::format("`{}` stands where a number or name is expected", name.text));
    if (name.primes == 0 && call && find_force(name.text) && !(scope_.function && scope_.function(name.text, 0)))
      return reaction(name);
    if (name.primes == 0 && call && name.text == "sum") return sum(name);
    if (token_.kind == TokenKind::sign && token_.text == "[") return indexed(name);
    const OperatorRow* function =
        name.primes == 0 ? name.text == "wrap" ? &wrap_row : find_function(name.text) : nullptr;
    if (call && !function && name.primes == 0) function = find_vector_function(name.text);
    if (call && function) {
      pending_.push_back({Pending::Kind::call, function, 0, name.offset, operands_.size()});
      ++depth_;
      advance();
      return true;
    }
    if (call && scope_.function)
      if (auto named = scope_.function(name.text, name.primes)) {
        const int arity = named->num_arguments;
        called_.push_back({std::move(*named),
                           {Op::lookup, name.text, arity, Notation::by_table, precedence_atom, Domain::by_table, false,
                            false, "", "", nullptr}});
        pending_.push_back({Pending::Kind::call, &called_.back().row, 0, name.offset, operands_.size()});
        ++depth_;
        advance();
        return true;
      }
    const std::size_t end = name.offset + name.length();
    if (auto vector = scope_.vector ? scope_.vector(name.text, name.primes) : std::nullopt) {
      push_vector(*std::move(vector), name.offset, end, measure_of(name.text, name.primes));
      return true;
    }
    if (const auto found = find_name(name)) {
      push_operand(*found, name.offset, end,
                   name.text == "pi" ? measure_of_number(std::numbers::pi) : measure_of(name.text, name.primes));
      if (call)
        return fail(name.offset, name.length(), fmt::format("`{}` is not a function", name.text),
                    fmt::format("for a product write {}*(...)", name.text));
      return true;
    }
    if (function)
      return fail(name.offset, name.length(),
                  fmt::format("the function `{}` needs its arguments in parentheses", name.text),
                  fmt::format("write {}(...)", name.text));
    if (call) {
      const auto why = scope_.explain_function ? scope_.explain_function(name.text, name.primes) : std::nullopt;
      return why ? fail(name.offset, name.length(), why->message, why->hint) : unknown_function(name);
    }
    ParseProblem p = scope_.explain ? scope_.explain(name.text, name.primes)
                                    : ParseProblem{0, 1, fmt::format("unknown name `{}`", name.text), {}};
    complain(name.offset, name.length(), std::move(p.message), std::move(p.hint));
    push_operand(0.0, name.offset, end);
    return true;
  }

  std::optional<Expr> find_name(const Token& name) const {
    if (name.text == "pi" && name.primes == 0) return Expr(std::numbers::pi);
    return scope_.find ? scope_.find(name.text, name.primes) : std::nullopt;
  }

  bool unknown_function(const Token& name) {
    std::vector<std::string> known{"ideal", "multiplier", "wrap", "dot", "cross", "norm"};
    for (const OperatorRow& row : operator_table())
      if (row.notation == Notation::function) known.emplace_back(row.name);
    const std::string near = nearest(name.text, known);
    return fail(name.offset, name.length(), fmt::format("unknown function `{}`", name.text),
                near.empty() ? "" : fmt::format("did you mean `{}`?", near));
  }

  /// ideal(x), multiplier(rod), power(rod): the argument is a name, not an expression.
  bool reaction(const Token& function) {
    advance();
    const Token name = token_;
    if (name.kind == TokenKind::error) return lexical_error();
    if (name.kind != TokenKind::name || name.primes > 0)
      return fail(name.offset, name.length(),
                  fmt::format("`{}` takes the name of {} {}", function.text,
                              find_force(function.text)->of() == ForceName::Of::actuator ? "an" : "a",
                              in_words(find_force(function.text)->of())));
    advance();
    std::string whole(name.text);
    bool known = true;
    if (token_.kind == TokenKind::sign && token_.text == "[") {
      const auto member = this->member(name);
      if (failed_) return false;
      advance();
      known = member.has_value();
      whole = member.value_or(whole);
    }
    if (token_.kind != TokenKind::sign || token_.text != ")")
      return fail(name.offset, name.length(),
                  fmt::format("`{}` takes one name and a closing parenthesis", function.text));
    const std::size_t end = token_.offset + 1;
    advance();
    if (!scope_.reaction)
      complain(function.offset, end - function.offset,
               fmt::format("`{}` can be used in {}[outputs], [events], [view] and [define] only", function.text,
                           is_reaction(find_force(function.text)->kind) ? "[nonideal], " : ""));
    else if (const auto found = known ? scope_.reaction(function.text, whole) : std::optional<Expr>(0.0)) {
      push_operand(*found, function.offset, end);
      return true;
    } else {
      ParseProblem p = scope_.explain_reaction ? scope_.explain_reaction(function.text, whole)
                                               : ParseProblem{0, 1, fmt::format("unknown name `{}`", name.text), {}};
      complain(name.offset, name.length(), std::move(p.message), std::move(p.hint));
    }
    push_operand(0.0, function.offset, end);
    return true;
  }

  // ---- families --------------------------------------------------------------------------------------------------

  struct Piece {
    std::size_t begin, end;
  };
  /// What stands between the bracket at token_ and the one that closes it, cut at its commas; token_ is the closing one then.
  std::optional<std::vector<Piece>> pieces(std::size_t open) {
    std::vector<Piece> found{{open + 1, open + 1}};
    int depth = 0;
    for (std::size_t at = open; at < text_.size(); ++at) {
      const char c = text_[at];
      if (c == '(' || c == '[') ++depth;
      if ((c == ')' || c == ']') && --depth == 0) {
        found.back().end = at;
        lexer_.seek(at);
        advance();
        return found;
      }
      if (c == ',' && depth == 1) found.back().end = at, found.push_back({at + 1, at + 1});
    }
    fail(open, 1, text_[open] == '[' ? "this bracket is never closed" : "this parenthesis is never closed");
    return std::nullopt;
  }

  std::optional<Expr> inner(const Piece& piece) {
    constexpr int deepest = 40;
    if (nested_ >= deepest) {
      fail(piece.begin, 1, "indices are nested too deeply");
      return std::nullopt;
    }
    Parser parser(text_.substr(piece.begin, piece.end - piece.begin), scope_, false);
    parser.nested_ = nested_ + 1;
    parser.base_ = base_ + piece.begin;
    parser.parse();
    for (ParseProblem& p : parser.problems) p.offset += piece.begin, problems.push_back(std::move(p));
    failed_ |= parser.failed_;
    return parser.problems.empty() ? std::optional(parser.sides.front()) : std::nullopt;
  }

  /// At the bracket after a name: the name of the member. Nothing: reported.
  std::optional<std::string> member(const Token& name) {
    const auto found = pieces(token_.offset);
    if (!found) return std::nullopt;
    if (token_.text != "]") {
      fail(token_.offset, 1, "an index ends with ]");
      return std::nullopt;
    }
    std::vector<Expr> indices;
    for (const Piece& piece : *found) {
      const auto index = inner(piece);
      if (!index) return std::nullopt;
      indices.push_back(*index);
    }
    const std::size_t length = token_.offset + 1 - name.offset;
    MemberName member =
        scope_.member ? scope_.member(name.text, indices, base_ + name.offset, length)
                      : MemberName{std::nullopt, {0, 1, fmt::format("`{}`: no index can stand here", name.text), {}}};
    if (!member.name) complain(name.offset, length, std::move(member.problem.message), std::move(member.problem.hint));
    return std::move(member.name);
  }

  bool indexed(const Token& name) {
    if (name.primes > 0)
      return fail(name.offset, name.length(), "the prime stands behind the index",
                  fmt::format("write {}[...]'", name.text));
    const auto whole = member(name);
    if (failed_) return false;
    std::size_t length = token_.offset + token_.length() - name.offset;
    int primes = token_.primes;
    auto whole_name = whole;
    // r[i].x: a component of a member.
    if (const std::size_t dot = token_.offset + token_.length();
        primes == 0 && dot + 1 < text_.size() && text_[dot] == '.' && text_[dot + 1] != '.') {
      lexer_.seek(dot + 1);
      advance();
      if (token_.kind != TokenKind::name) return fail(dot, 1, "the name of a component stands behind the dot");
      if (whole) whole_name = fmt::format("{}.{}", *whole, token_.text);
      primes = token_.primes, length = token_.offset + token_.length() - name.offset;
    }
    advance();
    return indexed_value(name, whole_name, primes, length);
  }

  bool indexed_value(const Token& name, const std::optional<std::string>& whole, int primes, std::size_t length) {
    Expr value = 0.0;
    Measure measure;
    if (whole) {
      if (auto vector = scope_.vector ? scope_.vector(*whole, primes) : std::nullopt) {
        push_vector(*std::move(vector), name.offset, name.offset + length, measure_of(*whole, primes));
        return true;
      }
      measure = measure_of(*whole, primes);
      if (const auto found = scope_.find ? scope_.find(*whole, primes) : std::nullopt) {
        value = *found;
      } else {
        ParseProblem p = scope_.explain ? scope_.explain(*whole, primes)
                                        : ParseProblem{0, 1, fmt::format("unknown name `{}`", *whole), {}};
        complain(name.offset, length, std::move(p.message), std::move(p.hint));
      }
    }
    push_operand(std::move(value), name.offset, name.offset + length, measure);
    return true;
  }

  bool sum(const Token& name) {
    const auto found = pieces(token_.offset);
    if (!found) return false;
    const std::size_t end = token_.offset + 1;
    constexpr const char* example = "for example sum(i = 1..N, m*x[i]^2)";
    if (token_.text != ")") return fail(token_.offset, 1, "a sum ends with )");
    if (found->size() < 2)
      return fail(name.offset, end - name.offset, "a sum has an index with its bounds, and what is summed", example);
    const Piece body = found->back();
    const std::size_t begin = found->front().begin;
    ParsedRanges header = parse_ranges(text_.substr(begin, body.begin - 1 - begin));
    for (ParseProblem& p : header.problems) return fail(p.offset + begin, p.length, std::move(p.message), example);
    for (IndexRange& range : header.ranges) range.offset += begin, range.from_offset += begin, range.to_offset += begin;
    advance();
    Expr value = 0.0;
    Measure measure;
    if (!scope_.sum) {
      complain(name.offset, end - name.offset, "no sum can stand here");
    } else {
      ParsedExpression parsed = scope_.sum(header.ranges, text_.substr(body.begin, body.end - body.begin), body.begin);
      for (ParseProblem& p : parsed.problems) problems.push_back(std::move(p));
      if (parsed.value) value = *parsed.value;
      measure = parsed.measure;
    }
    push_operand(std::move(value), name.offset, end, measure);
    return true;
  }

  // ---- where an operator must come -------------------------------------------------------------------------------

  /// cross(r, s).z, r'.x
  bool component() {
    Operand& last = operands_.back();
    lexer_.seek(token_.offset + 1);
    advance();
    const char name = token_.kind == TokenKind::name && token_.text.size() == 1 ? token_.text.front() : '\0';
    const auto number = static_cast<std::size_t>(name - 'x');
    if (name < 'x' || number >= last.parts.size())
      return fail_at_token(
          fmt::format("the components of this vector are x{}", last.parts.size() == 2 ? " and y" : ", y and z"));
    if (token_.primes > 0)
      return fail_at_token("a prime stands behind a name", "give the vector a name in [vectors]: r.x'");
    last.value = last.parts[number], last.parts.clear();
    last.end = token_.offset + token_.length();
    advance();
    return true;
  }

  bool after_operand() {
    if (token_.kind == TokenKind::error && token_.text == "." && operands_.back().is_vector()) return component();
    if (token_.kind == TokenKind::error) return lexical_error();
    if (token_.kind == TokenKind::end) return finish();
    if (token_.kind == TokenKind::number) return fail_at_token("an operator is missing before this number");
    if (token_.kind == TokenKind::name) {
      const OperatorRow* row = token_.primes == 0 ? find_infix(token_.text) : nullptr;
      if (row) return infix(row);
      const bool number_before = operands_.back().value.is_constant();
      return fail_at_token(fmt::format("an operator is missing before `{}`", token_.text),
                           number_before ? "products are written with *, as in 2*x" : "");
    }
    if (token_.text == ")") return close();
    if (token_.text == ",") return comma();
    if (token_.text == "(")
      return fail_at_token("an operator is missing before this parenthesis", "products are written with *");
    if (token_.text == "[") return fail_at_token("an index stands behind a name", "for example x[i + 1]");
    if (token_.text == "]") return fail_at_token("this bracket was never opened");
    if (token_.text == "..")
      return fail_at_token("`..` stands between the bounds of an index only", "for example sum(i = 1..N, x[i])");
    if (equation_ && depth_ == 0 &&
        (is_relation(token_.text) || token_.text == "==" || token_.text == "<" || token_.text == ">"))
      return relation_sign();
    if (token_.text == "=")
      return fail_at_token(depth_ > 0 ? "`=` inside parentheses" : "`=` does not belong here",
                           depth_ > 0 ? "a comparison is written ==" : "this is an expression, not an equation");
    return infix(find_infix(token_.text));
  }

  bool infix(const OperatorRow* row) {
    const bool right_associative = row->op == Op::pow;
    if (row->precedence == precedence_compare && !pending_.empty() && pending_.back().precedence == precedence_compare)
      return fail_at_token("comparisons cannot be chained", "write a < b and b < c");
    if (!reduce(right_associative ? row->precedence + 1 : row->precedence)) return false;
    if (row->precedence == precedence_compare && !pending_.empty() && pending_.back().precedence == precedence_compare)
      return fail_at_token("comparisons cannot be chained", "write a < b and b < c");
    pending_.push_back({Pending::Kind::binary, row, row->precedence, token_.offset, 0});
    advance();
    expect_operand_ = true;
    return true;
  }

  bool relation_sign() {
    if (token_.text == "==") return fail_at_token("an equation is written with a single =");
    if (token_.text == "<" || token_.text == ">")
      return fail_at_token(fmt::format("a strict `{}` is no constraint", token_.text),
                           fmt::format("write {}=", token_.text));
    if (token_.text == "=" && token_.offset + 1 < text_.size()) {
      const char next = text_[token_.offset + 1];
      if (next == '>' || next == '<')
        return fail(token_.offset, 2, fmt::format("`={}` is no sign", next), fmt::format("write {}=", next));
    }
    if (!sides.empty())
      return fail_at_token("an equation has one sign =, <= or >=", "write two constraints, one for each sign");
    if (!reduce(0) || !finish_side()) return false;
    relation = token_.text == "=" ? Relation::equal : token_.text == ">=" ? Relation::at_least : Relation::at_most;
    advance();
    expect_operand_ = true;
    return true;
  }

  bool comma() {
    if (!reduce(0)) return false;
    if (pending_.empty() || pending_.back().kind != Pending::Kind::call)
      return fail_at_token("unexpected `,`", "decimals are written with a point, as in 1.5");
    advance();
    expect_operand_ = true;
    return true;
  }

  bool close() {
    if (!reduce(0)) return false;
    if (pending_.empty()) return fail_at_token("this parenthesis was never opened");
    const Pending open = pending_.back();
    pending_.pop_back();
    --depth_;
    const std::size_t end = token_.offset + 1;
    advance();
    if (open.kind == Pending::Kind::group) {
      operands_.back().begin = open.offset, operands_.back().end = end;
      return true;
    }
    return call(open, end);
  }

  bool call(const Pending& open, std::size_t end) {
    const OperatorRow& row = *open.row;
    const std::size_t count = operands_.size() - open.first_operand;
    const bool variadic = row.op == Op::min || row.op == Op::max;
    const auto arity = static_cast<std::size_t>(row.arity);
    if (count < arity || (count > arity && !variadic))
      return fail(open.offset, end - open.offset,
                  fmt::format("`{}` takes {}{}, not {}", row.name, variadic ? "at least " : "",
                              count_noun(arity, "argument"), count));
    if (&row == &dot_row || &row == &cross_row || &row == &norm_row) return vector_call(open, end);
    for (std::size_t k = 0; k < count; ++k) {
      const bool wants_condition = row.op == Op::select && k == 0;
      if (!check_truth(operands_[open.first_operand + k], wants_condition)) return false;
    }
    const auto measure = measure_of_call(open, count);
    if (!measure) return false;
    const auto arg = [&](std::size_t k) { return operands_[open.first_operand + k].value; };
    std::vector<Expr> arguments;
    for (std::size_t k = 0; k < count; ++k) arguments.push_back(arg(k));
    Expr value = row.op == Op::lookup   ? function_of(row).make(arguments)
                 : &row == &wrap_row    ? mod(arg(0) + std::numbers::pi, 2.0 * std::numbers::pi) - std::numbers::pi
                 : row.op == Op::select ? make_raw(row.op, {arg(0), arg(1), arg(2)})
                 : arity == 1           ? make_raw(row.op, {arg(0)})
                                        : make_raw(row.op, {arg(0), arg(1)});
    for (std::size_t k = 2; variadic && k < count; ++k) value = make_raw(row.op, {value, arg(k)});
    operands_.resize(open.first_operand, {Expr(0.0), 0, 0});
    push_operand(std::move(value), open.offset, end, *measure);
    return true;
  }

  // ---- vectors

  bool refuse_vector(const Operand& operand) {
    return fail(operand.begin, operand.end - operand.begin, "a vector stands where a number is expected", of_a_vector);
  }

  static Expr times(const Expr& a, const Expr& b) {
    return same(a, b) ? make_raw(Op::pow, {a, Expr(2.0)}) : make_raw(Op::mul, {a, b});
  }
  static Expr calc_dot(const std::vector<Expr>& a, const std::vector<Expr>& b) {
    Expr sum = times(a[0], b[0]);
    for (std::size_t i = 1; i < a.size(); ++i) sum = make_raw(Op::add, {sum, times(a[i], b[i])});
    return sum;
  }

  bool vector_call(const Pending& open, std::size_t end) {
    const OperatorRow& row = *open.row;
    for (std::size_t k = open.first_operand; k < operands_.size(); ++k)
      if (!operands_[k].is_vector())
        return fail(operands_[k].begin, operands_[k].end - operands_[k].begin,
                    fmt::format("`{}` is of vectors, and this is none", row.name),
                    "vectors stand in [vectors]: r = [\"x\", \"y\"]");
    const Operand a = operands_[open.first_operand], b = operands_.back();
    if (a.parts.size() != b.parts.size())
      return fail(open.offset, end - open.offset,
                  fmt::format("the vectors have {} and {} components", a.parts.size(), b.parts.size()),
                  "both are of the plane, or of space");
    operands_.resize(open.first_operand, {Expr(0.0), 0, 0});
    const Measure both = product(a.measure, b.measure, 1.0);
    if (&row == &norm_row) {
      push_operand(make_raw(Op::sqrt, {calc_dot(a.parts, a.parts)}), open.offset, end, a.measure);
    } else if (&row == &dot_row) {
      push_operand(calc_dot(a.parts, b.parts), open.offset, end, both);
    } else {
      const auto part = [&](std::size_t i, std::size_t j) {
        return make_raw(Op::sub,
                        {make_raw(Op::mul, {a.parts[i], b.parts[j]}), make_raw(Op::mul, {a.parts[j], b.parts[i]})});
      };
      if (a.parts.size() == 2)
        push_operand(part(0, 1), open.offset, end, both);
      else
        push_vector({part(1, 2), part(2, 0), part(0, 1)}, open.offset, end, both);
    }
    return true;
  }

  /// left op right where one of them is a vector; left takes the result.
  bool combine_vectors(const Pending& top, Operand& left, const Operand& right) {
    const Op op = top.row->op;
    const auto wrong = [&](const char* message, const char* hint) {
      return fail(left.begin, right.end - left.begin, message, hint);
    };
    if (op == Op::add || op == Op::sub) {
      if (!left.is_vector() || !right.is_vector()) return wrong("a vector and a number cannot be added", of_a_vector);
      if (left.parts.size() != right.parts.size())
        return wrong("one of these vectors is of the plane, the other of space", "both have two components, or three");
      for (std::size_t i = 0; i < left.parts.size(); ++i) left.parts[i] = make_raw(op, {left.parts[i], right.parts[i]});
    } else if (op == Op::mul) {
      if (left.is_vector() && right.is_vector())
        return wrong("the product of two vectors is a dot() or a cross()", "write dot(r, s) or cross(r, s)");
      if (left.is_vector()) {
        for (Expr& part : left.parts) part = make_raw(op, {part, right.value});
      } else {
        left.parts = right.parts;
        for (Expr& part : left.parts) part = make_raw(op, {left.value, part});
        left.value = Expr(0.0);
      }
    } else if (op == Op::div && left.is_vector() && !right.is_vector()) {
      for (Expr& part : left.parts) part = make_raw(op, {part, right.value});
    } else {
      return refuse_vector(left.is_vector() && !(op == Op::div) ? left : right.is_vector() ? right : left);
    }
    left.end = right.end;
    return true;
  }

  // ---- units

  bool refuse_units(std::size_t begin, std::size_t end, const Measure& a, const Measure& b) {
    MeasureProblem p = explain_mismatch(a, b);
    complain(begin, end - begin, std::move(p.message), std::move(p.hint));
    return true;
  }
  /// A zero is of any unit.
  static Measure as_term(const Operand& operand) {
    return operand.value.is_constant() && operand.value.value() == 0.0 && !operand.is_vector() ? Measure{}
                                                                                               : operand.measure;
  }
  Measure in_common(const Operand& a, const Operand& b) {
    if (!scope_.measure) return {};
    const Measure x = as_term(a), y = as_term(b);
    const auto both = common(x, y);
    if (!both) refuse_units(a.begin, b.end, x, y);
    return both.value_or(Measure{});
  }
  Measure measure_of_infix(const Operand& left, Op op, const Operand& right) {
    if (!scope_.measure) return {};
    switch (op) {
      case Op::mul:
        return product(left.measure, right.measure, 1.0);
      case Op::div:
        return product(left.measure, right.measure, -1.0);
      case Op::pow: {
        if (!may_be_plain(right.measure))
          complain(right.begin, right.end - right.begin,
                   fmt::format("an exponent has no unit, and this is in {}", text_of(right.measure.dimension)));
        const Expr& e = right.value;
        std::optional<double> exponent;
        if (e.is_constant()) exponent = e.value();
        if (e.op() == Op::neg && e.arg(0).is_constant()) exponent = -e.arg(0).value();
        if (e.op() == Op::div && e.arg(0).is_constant() && e.arg(1).is_constant())
          exponent = e.arg(0).value() / e.arg(1).value();
        return power(left.measure, exponent);
      }
      default:
        break;
    }
    const bool number = op == Op::add || op == Op::sub;
    const bool compared = !number && !right.value.is_condition();
    if (!number && !compared) return {};
    const Measure both = in_common(left, right);
    return number ? both : Measure{};
  }
  /// Nothing: failed, which units do not make it.
  std::optional<Measure> measure_of_call(const Pending& open, std::size_t count) {
    for (std::size_t k = 0; k < count; ++k)
      if (operands_[open.first_operand + k].is_vector()) {
        refuse_vector(operands_[open.first_operand + k]);
        return std::nullopt;
      }
    if (!scope_.measure) return Measure{};
    const auto arg = [&](std::size_t k) -> const Operand& { return operands_[open.first_operand + k]; };
    const Measure plain{Measure::Kind::known};
    switch (open.row->op) {
      case Op::sqrt:
        return power(arg(0).measure, 0.5);
      case Op::abs:
        return arg(0).measure;
      case Op::sign:
        return plain;
      case Op::select:
        return in_common(arg(1), arg(2));
      case Op::min:
      case Op::max:
      case Op::hypot: {
        Measure all = arg(0).measure;
        for (std::size_t k = 1; k < count; ++k) {
          Operand so_far = arg(0);
          so_far.measure = all, so_far.value = k > 1 ? Expr(1.0) : so_far.value;
          all = in_common(so_far, arg(k));
        }
        return all;
      }
      case Op::atan2:
        in_common(arg(0), arg(1));
        return plain;
      case Op::mod:
        if (open.row != &wrap_row) return in_common(arg(0), arg(1));
        break;
      default:
        break;
    }
    if (!may_be_plain(arg(0).measure))
      complain(arg(0).begin, arg(0).end - arg(0).begin,
               fmt::format("`{}` is of a plain number or an angle, and this is in {}", open.row->name,
                           text_of(arg(0).measure.dimension)));
    return plain;
  }

  const NamedFunction& function_of(const OperatorRow& row) const {
    return std::find_if(called_.begin(), called_.end(), [&](const Called& c) { return &c.row == &row; })->function;
  }

  /// Numbers and truth values do not mix.
  bool check_truth(const Operand& operand, bool wants_condition) {
    if (operand.is_vector() && wants_condition) return refuse_vector(operand);
    if (operand.value.is_condition() == wants_condition) return true;
    return fail(operand.begin, operand.end - operand.begin,
                wants_condition ? "a condition is expected here" : "a condition stands where a number is expected",
                wants_condition ? "conditions are comparisons such as x > 0" : "use if(condition, then, else)");
  }

  /// Builds all pending operators that bind at least as tightly as `precedence`.
  bool reduce(int precedence) {
    while (!pending_.empty() && pending_.back().precedence > 0 && pending_.back().precedence >= precedence) {
      const Pending top = pending_.back();
      pending_.pop_back();
      const bool takes = top.row->takes_conditions;
      Operand& last = operands_.back();
      if (!check_truth(last, takes)) return false;
      if (top.kind == Pending::Kind::prefix) {
        for (Expr& part : last.parts) part = make_raw(top.row->op, {part});
        if (!last.is_vector()) last.value = make_raw(top.row->op, {last.value});
        last.begin = top.offset;
        continue;
      }
      Operand& left = operands_[operands_.size() - 2];
      if (!check_truth(left, takes)) return false;
      if (top.row->op == Op::pow && !check_power(last)) return false;
      const Measure measure = measure_of_infix(left, top.row->op, last);
      if (left.is_vector() || last.is_vector()) {
        if (!combine_vectors(top, left, last)) return false;
      } else {
        left.value = make_raw(top.row->op, {left.value, last.value}), left.end = last.end;
      }
      left.measure = measure;
      operands_.pop_back();
    }
    return true;
  }

  bool check_power(const Operand& exponent) {
    const Expr& e = exponent.value;
    const double value = e.is_constant()                               ? e.value()
                         : e.op() == Op::neg && e.arg(0).is_constant() ? -e.arg(0).value()
                                                                       : 0.0;
    if (std::abs(value) <= largest_power) return true;
    return fail(exponent.begin, exponent.end - exponent.begin, "this power is too large",
                fmt::format("exponents are limited to {:g}", largest_power));
  }

  bool finish_side() {
    if (!pending_.empty()) return fail(pending_.back().offset, 1, "this parenthesis is never closed");
    Operand& side = operands_.back();
    if (!check_truth(side, false)) return false;
    if (side.is_vector() && !may_be_vector)
      return equation_ ? fail(side.begin, side.end - side.begin, "an equation is between numbers, and this is a vector",
                              "write one for each component, or norm(...) = 0")
                       : refuse_vector(side);
    components = side.parts;
    if (!sides.empty()) {  // as the terms of a sum
      Operand left{sides.front(), first_side_.begin, first_side_.end, first_side_.measure};
      side.measure = in_common(left, side);
    }
    first_side_ = side;
    of_sides = side.measure;
    sides.push_back(side.value);
    operands_.clear();
    return true;
  }

  bool finish() {
    if (!reduce(0) || !finish_side()) return false;
    if (equation_ && sides.size() == 1) fail(0, text_.size(), "this is no equation", "write left = right");
    return false;
  }

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

}  // namespace

ParsedExpression parse_expression(std::string_view text, const NameScope& scope) {
  Parser parser(text, scope, false);
  parser.parse();
  ParsedExpression result{std::nullopt, std::move(parser.problems), parser.of_sides};
  if (result.problems.empty()) result.value = parser.sides.front();
  return result;
}

ParsedVector parse_vector(std::string_view text, const NameScope& scope) {
  Parser parser(text, scope, false);
  parser.may_be_vector = true;
  parser.parse();
  ParsedVector result{{}, std::move(parser.problems), parser.of_sides};
  if (result.problems.empty())
    result.components = parser.components.empty() ? std::vector<Expr>{parser.sides.front()} : parser.components;
  return result;
}

ParsedEquation parse_equation(std::string_view text, const NameScope& scope) {
  Parser parser(text, scope, true);
  parser.parse();
  ParsedEquation result{std::nullopt, std::nullopt, parser.relation, std::move(parser.problems), parser.of_sides};
  if (result.problems.empty()) {
    result.left = parser.sides[0];
    result.right = parser.sides[1];
  }
  return result;
}

}  // namespace mechanician
