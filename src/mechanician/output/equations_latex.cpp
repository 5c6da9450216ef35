#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "mechanician/expression/print.hpp"
#include "mechanician/output/equations_output.hpp"
#include "mechanician/output/readable.hpp"

namespace mechanician {

namespace {

constexpr int widest_matrix = 8;  // columns of a matrix that is written as one

class EquationsLatex {
 public:
  explicit EquationsLatex(const EquationsReport& report) : report_(report), eqs_(report.eqs) {
    for (const std::string& name : eqs_.coordinates) names_.push_back(name_latex(name));
  }

  std::string text() {
    line("% M \\ddot q = Q + Q^c, A \\ddot q = b; needs the package amsmath");
    matrix("M", eqs_.M);
    column("Q", eqs_.Q);
    if (eqs_.m() > 0) {
      std::string rows;
      for (const Row& row : eqs_.rows) rows += (rows.empty() ? "" : ", ") + row.name;
      line("% rows: {}", rows);
      matrix("A", eqs_.A);
      column("b", eqs_.b);
    }
    contacts();
    if (eqs_.has_C) column("C", eqs_.C);
    closed_form();
    return std::move(out_);
  }

 private:
  template <class... T>
  void line(fmt::format_string<T...> format, T&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<T>(args)...);
    out_ += '\n';
  }
  static std::string shown(const Expr& f) {
    return print(readable(f), {.format = PrintFormat::latex, .max_length = 100000});
  }
  void display(const std::string& text) { line("\\[\n{}\n\\]", text); }

  void matrix(std::string_view name, const SparseExprMatrix& X) {
    if (X.cols > widest_matrix || X.rows > widest_matrix) {
      for (const auto& e : X.entries)
        display(fmt::format("{}_{{{},{}}} = {}", name, e.row + 1, e.col + 1, shown(e.value)));
      return;
    }
    std::vector<std::vector<std::string>> cells(static_cast<std::size_t>(X.rows),
                                                std::vector<std::string>(static_cast<std::size_t>(X.cols), "0"));
    for (const auto& e : X.entries)
      cells[static_cast<std::size_t>(e.row)][static_cast<std::size_t>(e.col)] = shown(e.value);
    std::string body;
    for (const auto& cell_row : cells) {
      for (std::size_t j = 0; j < cell_row.size(); ++j) body += (j ? " & " : "  ") + cell_row[j];
      body += " \\\\\n";
    }
    display(fmt::format("{} = \\begin{{pmatrix}}\n{}\\end{{pmatrix}}", name, body));
  }

  void column(std::string_view name, const std::vector<Expr>& x) {
    std::string body;
    for (const Expr& xi : x) body += "  " + shown(xi) + " \\\\\n";
    display(fmt::format("{} = \\begin{{pmatrix}}\n{}\\end{{pmatrix}}", name, body));
  }

  void aligned(const std::vector<Expr>& x, std::string_view before, std::string_view after) {
    std::string body;
    for (std::size_t i = 0; i < x.size(); ++i)
      body += fmt::format("  {}{}{} &= {} \\\\\n", before, names_[i], after, shown(x[i]));
    display(fmt::format("\\begin{{aligned}}\n{}\\end{{aligned}}", body));
  }

  /// Gaps, restitution and friction.
  void contacts() {
    for (const ContactRow& c : eqs_.contacts) {
      const Row& row = eqs_.rows[static_cast<std::size_t>(c.row)];
      const std::string name = name_latex(row.name);
      if (row.one_sided) {
        line("% {} is one-sided: row {} holds as A \\ddot q \\ge b while it touches", row.name, c.row + 1);
        display(fmt::format("{}_{{{}}} = {} \\ge 0, \\quad \\lambda_{{{}}} \\ge 0{}",
                            row.level == Level::position ? "\\varphi" : "\\psi", name, shown(row.residual), name,
                            row.level == Level::position
                                ? fmt::format(", \\quad e_{{{}}} = {}", name, shown(c.restitution))
                                : ""));
      }
      if (!c.has_friction) continue;
      line("% friction of {} along the rows of T, \\dot s = T \\ddot q - d", row.name);
      display(fmt::format("\\mu_{{{}}} = {}", name, shown(c.friction)));
      column(fmt::format("s_{{{}}}", name), c.slip);
      matrix(fmt::format("T_{{{}}}", name), c.T);
      column(fmt::format("d_{{{}}}", name), c.slip_b);
      display(fmt::format("|F_{{{0}}}| \\le \\mu_{{{0}}} |\\lambda_{{{0}}}|, \\quad "
                          "s_{{{0}}} \\ne 0 \\Rightarrow F_{{{0}}} = -\\mu_{{{0}}} |\\lambda_{{{0}}}| \\,"
                          "s_{{{0}}} / |s_{{{0}}}|",
                          name));
    }
  }

  void closed_form() {
    if (!report_.closed) {
      line("% no closed form: {}", report_.no_closed_form);
      return;
    }
    const ClosedForm& closed = *report_.closed;
    aligned(closed.qdd, "\\ddot{", "}");
    if (eqs_.m() > 0) aligned(closed.Qc, "Q^{c}_{", "}");
    if (!closed.Qc_ideal.empty()) aligned(closed.Qc_ideal, "Q^{c,i}_{", "}");
    if (!closed.Q_control.empty()) aligned(closed.Q_control, "Q^{\\mathrm{control}}_{", "}");
    if (!closed.determinant.is_constant()) line("% valid where this is not zero:"), display(shown(closed.determinant));
    for (const std::string& note : closed.notes) line("% {}", note);
  }

  const EquationsReport& report_;
  const Equations& eqs_;
  std::vector<std::string> names_;
  std::string out_;
};

}  // namespace

std::string equations_latex(const EquationsReport& report) { return EquationsLatex(report).text(); }

}  // namespace mechanician
