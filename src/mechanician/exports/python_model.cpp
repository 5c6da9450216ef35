#include "mechanician/exports/python_model.hpp"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>
#include <vector>

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
    out += fmt::format(
        "coordinates = {}\nconstraints = {}\nparameters = {}\n\n\ndef sign(x):\n    return (x > 0) - (x < 0)\n\n\n",
        list_of(coordinates), list_of(rows), mapping);
    add_matrix(out, "mass_matrix", "M", eqs_.M);
    add_vector(out, "force", "Q, the given forces", eqs_.Q);
    add_matrix(out, "constraint_matrix", "A", eqs_.A);
    add_vector(out, "constraint_vector", "b", eqs_.b);
    if (eqs_.has_C) add_vector(out, "nonideal", "C", eqs_.C);
    while (out.ends_with("\n\n")) out.pop_back();
    return out;
  }

 private:
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
