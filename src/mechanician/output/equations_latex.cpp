#include <fmt/format.h>

#include <span>
#include <utility>

#include "mechanician/base/text.hpp"
#include "mechanician/equations/unfelt_states.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/output/equations_output.hpp"
#include "mechanician/output/readable.hpp"

namespace mechanician {

namespace {

constexpr int widest_matrix = 8;  // columns of a matrix that is written as one

class EquationsLatex {
 public:
  EquationsLatex(const EquationsReport& report, std::size_t longest)
      : report_(report), eqs_(report.eqs), longest_(longest) {
    for (const std::string& name : eqs_.coordinates) names_.push_back(name_latex(name));
  }

  std::vector<LatexBlock> blocks() {
    name_ = "Mass matrix";
    matrix("M", eqs_.M);
    name_ = "Given force";
    column("Q", eqs_.Q);
    if (eqs_.m() > 0) {
      std::string rows;
      for (const Row& row : eqs_.rows) rows += (rows.empty() ? "" : ", ") + row.name;
      name_ = "Constraints";
      note("rows: " + rows);
      matrix("A", eqs_.A);
      column("b", eqs_.b);
    }
    name_ = "States";
    if (!report_.model.states.empty()) {
      std::string body;
      for (const StateVariable& z : report_.model.states)
        body += fmt::format("  \\dot{{{}}} &= {} \\\\\n", name_latex(z.name), shown(z.rate));
      display(fmt::format("\\begin{{aligned}}\n{}\\end{{aligned}}", body));
    }
    name_ = "One-sided constraints and friction";
    contacts();
    name_ = "Prescribed work of the constraint force";
    if (eqs_.has_C) column("C", eqs_.C);
    closed_form();
    return std::move(blocks_);
  }

 private:
  /// What is cut off anywhere is no LaTeX any more: then it is said how long it is.
  std::string shown(const Expr& f) const {
    std::string text = print(readable(f), {.format = PrintFormat::latex, .max_length = longest_});
    if (text.size() <= longest_) return text;
    return fmt::format("\\text{{(an expression of {} operations)}}", count_nodes(std::span(&f, 1)));
  }
  /// A name stands before the first of its blocks.
  void display(std::string text) { blocks_.push_back({std::exchange(name_, {}), std::move(text), {}}); }
  void note(std::string text) { blocks_.push_back({std::exchange(name_, {}), {}, std::move(text)}); }

  void matrix(std::string_view name, const SparseExprMatrix& X) {
    if (X.cols > widest_matrix || X.rows > widest_matrix) {
      // What has an index already gets another one as a whole.
      const std::string whole =
          name.find('_') == std::string_view::npos ? std::string(name) : fmt::format("{{{}}}", name);
      for (const auto& e : X.entries)
        display(fmt::format("{}_{{{},{}}} = {}", whole, e.row + 1, e.col + 1, shown(e.value)));
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
        note(fmt::format("{} is one-sided: row {} holds as A \\ddot q \\ge b while it touches", row.name, c.row + 1));
        display(fmt::format(
            "{}_{{{}}} = {} \\ge 0, \\quad \\lambda_{{{}}} \\ge 0{}",
            row.level == Level::position ? "\\varphi" : "\\psi", name, shown(row.residual), name,
            row.level == Level::position ? fmt::format(", \\quad e_{{{}}} = {}", name, shown(c.restitution)) : ""));
      }
      if (!c.has_friction) continue;
      note(fmt::format("friction of {} along the rows of T, \\dot s = T \\ddot q - d", row.name));
      display(fmt::format("{}_{{{}}} = {}", c.is_force ? "F" : "\\mu", name, shown(c.friction)));
      column(fmt::format("s_{{{}}}", name), c.slip);
      matrix(fmt::format("T_{{{}}}", name), c.T);
      column(fmt::format("d_{{{}}}", name), c.slip_b);
      display(
          fmt::format("|F_{{{0}}}| \\le \\mu_{{{0}}} |\\lambda_{{{0}}}|, \\quad "
                      "s_{{{0}}} \\ne 0 \\Rightarrow F_{{{0}}} = -\\mu_{{{0}}} |\\lambda_{{{0}}}| \\,"
                      "s_{{{0}}} / |s_{{{0}}}|",
                      name));
    }
  }

  void closed_form() {
    if (!report_.closed) {
      name_ = "Closed form";
      note("no closed form: " + report_.no_closed_form);
      return;
    }
    const ClosedForm& closed = *report_.closed;
    name_ = "Acceleration in closed form";
    aligned(closed.qdd, "\\ddot{", "}");
    name_ = "Constraint force in closed form";
    if (eqs_.m() > 0) aligned(closed.Qc, "Q^{c}_{", "}");
    if (!closed.Qc_ideal.empty()) aligned(closed.Qc_ideal, "Q^{c,i}_{", "}");
    name_ = "Control force in closed form";
    if (!closed.Q_control.empty()) aligned(closed.Q_control, "Q^{\\mathrm{control}}_{", "}");
    name_.clear();
    if (!closed.determinant.is_constant()) note("valid where this is not zero:"), display(shown(closed.determinant));
    for (const std::string& remark : closed.notes) note(remark);
  }

  const EquationsReport& report_;
  const Equations& eqs_;
  std::vector<std::string> names_;
  std::size_t longest_;
  std::string name_;
  std::vector<LatexBlock> blocks_;
};

}  // namespace

std::vector<LatexBlock> equations_latex_blocks(const EquationsReport& report, std::size_t longest) {
  return EquationsLatex(report, longest).blocks();
}

std::string equations_latex(const EquationsReport& report) {
  std::string out = "% M \\ddot q = Q + Q^c, A \\ddot q = b; needs the package amsmath\n";
  for (const LatexBlock& block : equations_latex_blocks(report)) {
    if (!block.note.empty()) out += fmt::format("% {}\n", block.note);
    if (!block.latex.empty()) out += fmt::format("\\[\n{}\n\\]\n", block.latex);
  }
  return out;
}

EquationsReport make_equations_report(const Model& model, const Equations& eqs, std::span<const int> independent_rows) {
  std::vector<int> rows(independent_rows.begin(), independent_rows.end());
  EquationsReport report{model, without_unfelt_states(eqs, rows), std::nullopt, {}};
  const ClosedFormOptions caps;
  if (report.eqs.n() == 0)
    report.no_closed_form = "nothing has an acceleration";
  else if (!eqs.contacts.empty())
    report.no_closed_form = "which one-sided constraints act, and which way friction acts, depends on the motion";
  else if (static_cast<int>(rows.size()) > caps.max_rows)
    report.no_closed_form =
        fmt::format("there are {} independent constraints, more than {}", rows.size(), caps.max_rows);
  else if (!(report.closed = closed_form(report.eqs, rows, caps)))
    report.no_closed_form = "it would be too long to read, or the equations do not determine the acceleration";
  std::vector<std::string> released;
  for (const Constraint& c : model.constraints)
    if (!c.engaged) released.push_back(c.name);
  for (const Control& c : model.controls)
    if (!c.engaged) released.push_back(c.name);
  if (!released.empty() && report.closed)
    report.closed->notes.push_back(
        fmt::format("{} {} not hold where the motion begins: the equations and forms are those of when all is engaged",
                    quote_list(released), released.size() == 1 ? "does" : "do"));
  return report;
}

}  // namespace mechanician
