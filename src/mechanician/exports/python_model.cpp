#include "mechanician/exports/python_model.hpp"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "mechanician/base/text.hpp"
#include "mechanician/compile/program_inputs.hpp"
#include "mechanician/equations/equations.hpp"
#include "mechanician/exports/c_printer.hpp"
#include "mechanician/model/parameters.hpp"

namespace mechanician {

namespace {

constexpr std::size_t longest_text = 100;  // of an expression that is written into another one

/// Steps of a program as assignments; what is used once is written where it is used.
class PythonPrinter {
 public:
  PythonPrinter(const Program& program, std::vector<std::string> inputs) : p_(program), inputs_(std::move(inputs)) {
    first_ = inputs_.size() + p_.constants.size();
    uses_.assign(p_.steps.size(), 0), texts_.resize(p_.steps.size());
    for (const Step& s : p_.steps) {
      const std::int32_t operands[] = {s.a, s.b, s.c};
      for (int i = 0; i < num_operands(s.action); ++i) count(operands[i]);
    }
    for (const std::int32_t out : p_.outputs) count(out);
  }

  /// Assignments, and what each output is called by then.
  std::vector<std::string> print(std::string& out) {
    for (std::size_t k = 0; k < p_.steps.size(); ++k) {
      const Step& s = p_.steps[k];
      const int n = num_operands(s.action);
      const std::string a = operand(s.a), b = n > 1 ? operand(s.b) : "", c = n > 2 ? operand(s.c) : "";
      std::string text = fmt::format(fmt::runtime(python_spelling(s.action)), a, b, c);
      if (uses_[k] == 1 && text.size() <= longest_text) {
        texts_[k] = python_spelling(s.action).back() == ')' ? text : "(" + text + ")";
        continue;
      }
      out += fmt::format("    r{} = {}\n", k, text);
    }
    std::vector<std::string> outputs;
    for (const std::int32_t register_of : p_.outputs) outputs.push_back(operand(register_of));
    return outputs;
  }

 private:
  static int num_operands(Action action) {
    const std::string_view text = python_spelling(action);
    return text.find("{2}") != std::string_view::npos ? 3 : text.find("{1}") != std::string_view::npos ? 2 : 1;
  }
  void count(std::int32_t operand) {
    if (const auto at = static_cast<std::size_t>(operand); at >= first_) ++uses_[at - first_];
  }
  std::string operand(std::int32_t i) const {
    const auto at = static_cast<std::size_t>(i);
    if (at < inputs_.size()) return inputs_[at];
    if (at < first_) {
      const double value = p_.constants[at - inputs_.size()];
      if (!std::isfinite(value)) return fmt::format("float('{}')", value);
      return std::signbit(value) ? "(" + c_number(value) + ")" : c_number(value);
    }
    return texts_[at - first_].empty() ? fmt::format("r{}", at - first_) : texts_[at - first_];
  }

  const Program& p_;
  std::vector<std::string> inputs_;
  std::size_t first_ = 0;
  std::vector<int> uses_;
  std::vector<std::string> texts_;
};

/// Decisions: of numbers by Python itself, of symbols and arrays by the module that has the functions.
struct PythonHelper {
  std::string_view name, text;
};
constexpr PythonHelper helpers[] = {
    {"where", R"(def where(c, a, b, f):
    """a where c holds, else b"""
    if c is True or c is False:
        return a if c else b
    if hasattr(f, 'Piecewise'):
        return f.Piecewise((a, c), (b, True))
    choose = getattr(f, 'if_else', None) or getattr(f, 'where', None)
    return choose(c, a, b) if choose else a if c else b
)"},
    {"sign", R"(def sign(x, f):
    return f.sign(x) if hasattr(f, 'sign') else where(x > 0, 1, where(x < 0, -1, 0, f), f)
)"},
    {"least", R"(def least(a, b, f):
    return where(a <= b, a, b, f)
)"},
    {"largest", R"(def largest(a, b, f):
    return where(a >= b, a, b, f)
)"},
    {"equal", R"(def equal(a, b, f):
    return f.Eq(a, b) if hasattr(f, 'Eq') else a == b
)"},
    {"both", R"(def both(a, b, f):
    join = getattr(f, 'And', None) or getattr(f, 'logic_and', None) or getattr(f, 'logical_and', None)
    return join(a, b) if join else a and b
)"},
    {"either", R"(def either(a, b, f):
    join = getattr(f, 'Or', None) or getattr(f, 'logic_or', None) or getattr(f, 'logical_or', None)
    return join(a, b) if join else a or b
)"},
    {"opposite", R"(def opposite(a, f):
    turn = getattr(f, 'Not', None) or getattr(f, 'logic_not', None) or getattr(f, 'logical_not', None)
    return turn(a) if turn else not a
)"},
};

/// Those that a program uses.
std::string helpers_of(const std::string& program) {
  const auto uses = [&](std::string_view name) { return program.find(std::string(name) + "(") != std::string::npos; };
  std::string out;
  for (const PythonHelper& h : helpers)
    if (uses(h.name) || (h.name == "where" && (uses("sign") || uses("least") || uses("largest"))))
      out += std::string(h.text) + "\n\n";
  return out;
}

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text)
    out +=
        (c == '\'' || c == '\\') ? std::string("\\") + c : std::string(1, static_cast<unsigned char>(c) < 32 ? ' ' : c);
  return out + "'";
}

std::string list_of(const std::vector<std::string>& items) {
  std::string out = "[";
  for (std::size_t i = 0; i < items.size(); ++i) out += (i ? ", " : "") + items[i];
  return out + "]";
}

class PythonWriter {
 public:
  explicit PythonWriter(const Model& model) : model_(model), eqs_(derive(model)) {
    inputs_.emplace_back("t");
    for (int i = 0; i < eqs_.n(); ++i) inputs_.push_back(fmt::format("q[{}]", i));
    for (int i = 0; i < eqs_.n(); ++i) inputs_.push_back(fmt::format("v[{}]", i));
    for (const Parameter& p : model.parameters) inputs_.push_back(fmt::format("p[{}]", quoted(p.name)));
  }

  std::string write(const ParameterOverrides& set) {
    if (!eqs_.unknowns.empty()) throw std::invalid_argument("Python has no way to write functions without a value");
    for (const Expr& c : eqs_.C)
      if (c.contains(SymbolKind::ideal_force) || c.contains(SymbolKind::multiplier))
        throw std::invalid_argument("[nonideal] uses forces of constraints: these are no functions of the state");
    std::vector<std::string> coordinates, rows, parameters;
    for (const std::string& name : eqs_.coordinates) coordinates.push_back(quoted(name));
    for (const Row& row : eqs_.rows) rows.push_back(quoted(row.name));
    const std::vector<double> values = evaluate_parameters(model_, set).values;
    for (std::size_t i = 0; i < values.size(); ++i)
      parameters.push_back(fmt::format("{}: {}", quoted(model_.parameters[i].name), c_number(values[i])));
    std::string out = fmt::format("# {}: M a = Q + C + A' lambda, A a = b. Made by mechanician {}.\n",
                                  quoted(model_.title), MECHANICIAN_VERSION);
    out += "# f has sin, cos, sqrt and the like: math, numpy, sympy or casadi.\nimport math\n\n";
    std::string mapping = list_of(parameters);
    mapping.front() = '{', mapping.back() = '}';
    out += rows_that_come_and_go();
    out += fmt::format("coordinates = {}\nconstraints = {}\nparameters = {}\n\n\n", list_of(coordinates), list_of(rows),
                       mapping);
    std::string functions;
    add_matrix(functions, "mass_matrix", "M", eqs_.M);
    add_vector(functions, "force", "Q, the given forces", eqs_.Q);
    add_matrix(functions, "constraint_matrix", "A", eqs_.A);
    add_vector(functions, "constraint_vector", "b", eqs_.b);
    if (eqs_.has_C) add_vector(functions, "nonideal", "C", eqs_.C);
    while (functions.ends_with("\n\n")) functions.pop_back();
    return out + helpers_of(functions) + functions;
  }

 private:
  /// A and b have all rows, also those that do not act all the time.
  std::string rows_that_come_and_go() const {
    std::vector<std::string> one_sided, released;
    for (const Row& row : eqs_.rows)
      if (row.one_sided) one_sided.push_back(row.name);
    for (const Constraint& c : model_.constraints)
      if (!c.engaged) released.push_back(c.name);
    for (const Control& c : model_.controls)
      if (!c.engaged) released.push_back(c.name);
    std::string out;
    if (!one_sided.empty())
      out += fmt::format("# One-sided: rows of A a >= b, which act where they touch and press: {}.\n",
                         quote_list(one_sided));
    if (!released.empty())
      out += fmt::format("# Not engaged where the motion begins, in A and b all the same: {}.\n", quote_list(released));
    for (char& c : out)
      if (c == '\r') c = ' ';
    return out;
  }
  std::vector<std::string> begin(std::string& out, const char* name, const char* what, std::vector<Expr> functions) {
    out += fmt::format("def {}(t, q, v, p=parameters, f=math):\n    \"\"\"{}\"\"\"\n", name, what);
    if (functions.empty()) return {};
    const Program program = make_values_program(eqs_, {}, functions);
    return PythonPrinter(program, inputs_).print(out);
  }
  void add_vector(std::string& out, const char* name, const char* what, const std::vector<Expr>& functions) {
    const std::vector<std::string> items = begin(out, name, what, functions);
    out += fmt::format("    return {}\n\n\n", list_of(items));
  }
  void add_matrix(std::string& out, const char* name, const char* what, const SparseExprMatrix& matrix) {
    std::vector<Expr> functions;
    for (const auto& e : matrix.entries) functions.push_back(e.value);
    const std::vector<std::string> items = begin(out, name, what, functions);
    std::vector<std::vector<std::string>> rows(static_cast<std::size_t>(matrix.rows),
                                               std::vector<std::string>(static_cast<std::size_t>(matrix.cols), "0"));
    for (std::size_t k = 0; k < items.size(); ++k)
      rows[static_cast<std::size_t>(matrix.entries[k].row)][static_cast<std::size_t>(matrix.entries[k].col)] = items[k];
    out += "    return [";
    for (std::size_t i = 0; i < rows.size(); ++i) out += (i ? ",\n            " : "") + list_of(rows[i]);
    out += "]\n\n\n";
  }

  const Model& model_;
  Equations eqs_;
  std::vector<std::string> inputs_;
};

}  // namespace

std::string equations_python(const Model& model, const ParameterOverrides& set) {
  return PythonWriter(model).write(set);
}

}  // namespace mechanician
