#include "mechanician/expression/print.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <numbers>
#include <string_view>
#include <vector>

#include "mechanician/expression/node.hpp"
#include "mechanician/expression/table_content_internal.hpp"

namespace mechanician {

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

namespace {

/// What is still to be written: a piece of text, or a node with the least binding strength that needs no parentheses.
struct Piece {
  const ExprNode* node;
  int strength;
  std::string text;
  bool first = true;  ///< nothing stands to its left that a minus sign could run into
};

class Printer {
 public:
  explicit Printer(const PrintOptions& options) : options_(options) {}

  std::string print(const Expr& f) {
    push(f.node(), 0);
    while (!stack_.empty()) {
      Piece piece = std::move(stack_.back());
      stack_.pop_back();
      if (piece.node)
        expand(piece.node, piece.strength, piece.first);
      else
        out_ += piece.text;
      if (out_.size() > options_.max_length) {
        out_.resize(options_.max_length);
        while (!out_.empty() && (static_cast<unsigned char>(out_.back()) & 0xC0) == 0x80) out_.pop_back();
        if (!out_.empty() && static_cast<unsigned char>(out_.back()) >= 0xC0) out_.pop_back();
        return out_ + "…";
      }
    }
    return std::move(out_);
  }

 private:
  void push(const ExprNode* n, int strength) { stack_.push_back({n, strength, {}, true}); }
  void push(std::string text) { stack_.push_back({nullptr, 0, std::move(text), true}); }
  /// Pushes in reading order; the stack wants the last first.
  void emit(std::vector<Piece> pieces) {
    for (auto p = pieces.rbegin(); p != pieces.rend(); ++p) stack_.push_back(std::move(*p));
  }
  static Piece text(std::string_view t) { return {nullptr, 0, std::string(t), true}; }
  static Piece node(const ExprNode* n, int strength, bool first = true) { return {n, strength, {}, first}; }

  bool latex() const { return options_.format == PrintFormat::latex; }
  bool c() const { return options_.format == PrintFormat::c; }

  void expand(const ExprNode* n, int strength, bool first) {
    if (n->op == Op::constant) return expand_constant(n->value, strength, first);
    if (n->op == Op::symbol) {
      if (options_.name_of)
        out_ += options_.name_of(*n->symbol);
      else
        out_ += latex() ? symbol_latex(*n->symbol) : c() ? symbol_c(*n->symbol) : symbol_text(*n->symbol);
      return;
    }
    const OperatorRow& row = row_of(n->op);
    if (n->op == Op::table) {
      out_ += n->symbol->name;
      return;
    }
    if (n->op == Op::lookup) return expand_lookup(n);
    if (latex() && expand_latex(n, strength)) return;
    if (c() && expand_c(n)) return;
    switch (row.notation) {
      case Notation::infix:
        return expand_infix(n, row, strength, first);
      case Notation::prefix:
        return expand_prefix(n, row, strength, first);
      default:
        return expand_call(n, latex() ? row.latex : c() ? row.c : row.name);
    }
  }

  void expand_constant(double value, int strength, bool first) {
    std::string s = number_text(value);
    if (value == std::numbers::pi) s = latex() ? "\\pi" : c() ? "M_PI" : "pi";
    if (latex())
      if (const auto e = s.find('e'); e != std::string::npos) {
        std::string exponent = s.substr(e + 1);
        if (exponent.front() == '+') exponent.erase(0, 1);
        s = s.substr(0, e) + "\\cdot 10^{" + exponent + "}";
      }
    if (c() && s.find_first_of(".eMni") == std::string::npos) s += ".0";
    // −2·x may stand at the beginning; elsewhere a negative number is enclosed.
    const bool enclose = value < 0 && (strength > precedence_product || !first);
    out_ += enclose ? "(" + s + ")" : s;
  }

  void expand_infix(const ExprNode* n, const OperatorRow& row, int strength, bool first) {
    const bool enclose = row.precedence < strength;
    std::string_view sign = latex() ? row.latex : c() ? row.c : row.name;
    if (latex() && n->op == Op::mul && starts_with_digit(n->args[1])) sign = "\\cdot ";
    const bool tight = row.precedence >= precedence_product;
    std::string s = tight ? std::string(sign) : " " + std::string(sign) + " ";
    int left = row.precedence, right = row.precedence + 1;
    if (n->op == Op::add || n->op == Op::logical_and || n->op == Op::logical_or) right = row.precedence;
    if (n->op == Op::mul) right = n->args[1]->op == Op::mul ? row.precedence : row.precedence + 1;
    if (n->op == Op::pow) left = row.precedence + 1, right = row.precedence;
    if (row.precedence == precedence_compare) left = row.precedence + 1;
    const bool arithmetic = row.precedence >= precedence_sum;
    emit({text(enclose ? open() : ""), node(n->args[0], left, first || enclose || !arithmetic), text(s),
          node(n->args[1], right, !arithmetic), text(enclose ? close() : "")});
  }

  void expand_prefix(const ExprNode* n, const OperatorRow& row, int strength, bool first) {
    const ExprNode* operand = n->args[0];
    if (n->op == Op::logical_not) {
      // In C and for the eye, ¬ binds tighter than a comparison.
      const bool enclose = row.precedence < strength;
      const int inner = c() || latex() ? precedence_atom : row.precedence;
      emit({text(enclose ? open() : ""),
            text(latex() ? row.latex
                 : c()   ? row.c
                         : "not "),
            node(operand, inner), text(enclose ? close() : "")});
      return;
    }
    // −(a·b) is written −a·b, which then binds like a product.
    const bool product = operand->op == Op::mul || operand->op == Op::div;
    const bool enclose = (product ? precedence_product : row.precedence) < strength || !first;
    emit({text(enclose ? open() : ""), text("-"), node(operand, precedence_product, false),
          text(enclose ? close() : "")});
  }

  /// Whether the text of a right factor begins with a digit.
  static bool starts_with_digit(const ExprNode* n) {
    while (n->op == Op::mul || n->op == Op::pow) n = n->args[0];
    return n->op == Op::constant && n->value >= 0 && n->value != std::numbers::pi;
  }

  void expand_call(const ExprNode* n, std::string_view name) {
    std::vector<Piece> pieces{text(name), text(open())};
    for (int k = 0; k < n->num_args; ++k) {
      if (k > 0) pieces.push_back(text(", "));
      pieces.push_back(node(n->args[static_cast<std::size_t>(k)], 0));
    }
    pieces.push_back(text(close()));
    emit(std::move(pieces));
  }

  /// quake'(t): its name, and as many arguments as it has.
  void expand_lookup(const ExprNode* n) {
    const Expr f = Expr::of(n);
    const TableContent* table = table_of(f);
    std::vector<Piece> pieces{text(lookup_name(f, latex())), text(open()), node(n->args[0], 0)};
    if (table && table->num_arguments() > 1) {
      pieces.push_back(text(", "));
      pieces.push_back(node(n->args[1], 0));
    }
    pieces.push_back(text(close()));
    emit(std::move(pieces));
  }

  bool expand_latex(const ExprNode* n, int strength) {
    switch (n->op) {
      case Op::div:
        enclosed(strength > precedence_negation,
                 {text("\\frac{"), node(n->args[0], 0), text("}{"), node(n->args[1], 0), text("}")});
        return true;
      case Op::pow: {
        const bool enclose = strength > precedence_power;
        emit({text(enclose ? open() : ""), text("{"), node(n->args[0], precedence_atom), text("}^{"),
              node(n->args[1], 0), text("}"), text(enclose ? close() : "")});
        return true;
      }
      case Op::sqrt:
        emit({text("\\sqrt{"), node(n->args[0], 0), text("}")});
        return true;
      case Op::abs:
        emit({text("\\left|"), node(n->args[0], 0), text("\\right|")});
        return true;
      case Op::select:
        enclosed(strength > precedence_sum,
                 {text("\\begin{cases}"), node(n->args[1], 0), text(" & "), node(n->args[0], 0), text(" \\\\ "),
                  node(n->args[2], 0), text(" & \\text{else}\\end{cases}")});
        return true;
      default:
        return false;
    }
  }

  bool expand_c(const ExprNode* n) {
    switch (n->op) {
      case Op::pow:
        if (n->args[1]->op == Op::constant && n->args[1]->value == 2.0 && n->args[0]->num_args == 0) {
          emit({text("("), node(n->args[0], precedence_atom), text("*"), node(n->args[0], precedence_atom), text(")")});
          return true;
        }
        expand_call(n, "pow");
        return true;
      case Op::sign:
        emit({text("copysign((double)(("), node(n->args[0], 0), text(") != 0.0), "), node(n->args[0], 0), text(")")});
        return true;
      case Op::mod:
        emit({text("(("), node(n->args[0], 0), text(") - ("), node(n->args[1], 0), text(")*floor(("),
              node(n->args[0], 0), text(")/("), node(n->args[1], 0), text(")))")});
        return true;
      case Op::select:
        emit({text("(("), node(n->args[0], 0), text(") ? ("), node(n->args[1], 0), text(") : ("), node(n->args[2], 0),
              text("))")});
        return true;
      default:
        return false;
    }
  }

  void enclosed(bool enclose, std::vector<Piece> pieces) {
    if (enclose) {
      pieces.insert(pieces.begin(), text(open()));
      pieces.push_back(text(close()));
    }
    emit(std::move(pieces));
  }

  std::string_view open() const { return latex() ? "\\left(" : "("; }
  std::string_view close() const { return latex() ? "\\right)" : ")"; }

  const PrintOptions& options_;
  std::vector<Piece> stack_;
  std::string out_;
};

}  // namespace

std::string print(const Expr& f, const PrintOptions& options) { return Printer(options).print(f); }

double tree_size(const Expr& f) {
  const PostOrder order = post_order(std::span(&f, 1));
  std::vector<double> size(order.nodes.size(), 1.0);
  for (std::size_t i = 0; i < order.nodes.size(); ++i)
    for (const ExprNode* a : order.nodes[i]->arguments()) size[i] += size[static_cast<std::size_t>(order.index.at(a))];
  return size.back();
}

}  // namespace mechanician
