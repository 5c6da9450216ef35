#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "mechanician/base/safe_text.hpp"
#include "mechanician/base/text.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/output/equations_output.hpp"
#include "mechanician/output/readable.hpp"

namespace mechanician {

namespace {

class EquationsText {
 public:
  explicit EquationsText(const EquationsReport& report) : report_(report), eqs_(report.eqs) {}

  std::string text() {
    if (!report_.model.title.empty()) line("{}\n", safe_text(report_.model.title));
    line("M q'' = Q + Qc{},   A q'' = b{}", eqs_.num_control() ? " + Qcontrol" : "",
         eqs_.has_C ? ",   v·Qc = v·C for every v with A v = 0" : "");
    if (has_one_sided()) line("one-sided rows: A q'' >= b while they touch, with a multiplier that is not negative");
    dynamics();
    if (eqs_.m() > 0) constraints();
    if (!report_.model.states.empty()) {
      line("\nThe states of first order");
      for (const StateVariable& z : report_.model.states) line("  {}' = {}", z.name, shown(z.rate));
    }
    if (!eqs_.contacts.empty()) contacts();
    if (eqs_.has_C) {
      line("\nC, the prescribed work of the constraint forces");
      vector("C", eqs_.C);
    }
    if (!eqs_.measured.empty()) weights();
    closed_form();
    return std::move(out_);
  }

 private:
  template <class... T>
  void line(fmt::format_string<T...> format, T&&... args) {
    out_ += fmt::format(format, std::forward<T>(args)...);
    out_ += '\n';
  }
  static std::string shown(const Expr& f) {
    return print(readable(f), {.format = PrintFormat::text, .max_length = 4000});
  }
  const std::string& coordinate(int i) const { return eqs_.coordinates[static_cast<std::size_t>(i)]; }
  const Row& row(int i) const { return eqs_.rows[static_cast<std::size_t>(i)]; }
  void vector(std::string_view name, const std::vector<Expr>& x) {
    for (int i = 0; i < static_cast<int>(x.size()); ++i)
      line("  {}[{}] = {}", name, coordinate(i), shown(x[static_cast<std::size_t>(i)]));
  }

  void dynamics() {
    line("\nM, the mass matrix ({} of its {} entries not zero)", eqs_.M.entries.size(), eqs_.n() * eqs_.n());
    for (const auto& e : eqs_.M.entries)
      if (e.row <= e.col) line("  M[{}, {}] = {}", coordinate(e.row), coordinate(e.col), shown(e.value));
    line("\nQ, the given force");
    vector("Q", eqs_.Q);
  }

  void constraints() {
    line("\nA and b, the constraints");
    std::size_t next = 0;
    for (int i = 0; i < eqs_.m(); ++i) {
      if (row(i).bare) continue;  // friction alone
      for (; next < eqs_.A.entries.size() && eqs_.A.entries[next].row == i; ++next)
        line("  A[{}, {}] = {}", row(i).name, coordinate(eqs_.A.entries[next].col), shown(eqs_.A.entries[next].value));
      line("  b[{}] = {}{}", row(i).name, shown(eqs_.b[static_cast<std::size_t>(i)]),
           row(i).kind == RowKind::control ? "      (control requirement)"
           : row(i).is_rate                ? "      (the rate of a state)"
           : row(i).one_sided              ? "      (one-sided)"
                                           : "");
    }
  }

  bool has_one_sided() const {
    return std::any_of(eqs_.rows.begin(), eqs_.rows.end(), [](const Row& r) { return r.one_sided; });
  }

  /// Gaps, restitution and friction.
  void contacts() {
    line("\n{}", !has_one_sided() ? "Friction" : "One-sided constraints and friction");
    for (const ContactRow& c : eqs_.contacts) {
      const Row& r = row(c.row);
      if (r.one_sided) line("  {}: {} >= 0", r.name, shown(r.residual));
      if (r.one_sided && r.level == Level::position) line("  restitution[{}] = {}", r.name, shown(c.restitution));
      if (!c.has_friction) continue;
      line("  {}[{}] = {}", c.is_force ? "friction_force" : "mu", r.name, shown(c.friction));
      std::size_t next = 0;
      for (int k = 0; k < c.T.rows; ++k) {
        const auto i = static_cast<std::size_t>(k);
        const std::string name = c.T.rows == 1 ? r.name : fmt::format("{}, {}", r.name, k + 1);
        line("  slip[{}] = {}", name, shown(c.slip[i]));
        for (; next < c.T.entries.size() && c.T.entries[next].row == k; ++next)
          line("  T[{}, {}] = {}", name, coordinate(c.T.entries[next].col), shown(c.T.entries[next].value));
        line("  d[{}] = {}", name, shown(c.slip_b[i]));
      }
    }
    if (std::any_of(eqs_.contacts.begin(), eqs_.contacts.end(), [](const ContactRow& c) { return c.has_friction; }))
      line(
          "friction acts along the rows of T: |F| <= mu·|lambda| while T q'' = d keeps the slip at zero,\n"
          "else F = -mu·|lambda| slip/|slip|");
    if (std::any_of(eqs_.contacts.begin(), eqs_.contacts.end(), [](const ContactRow& c) { return c.is_force; }))
      line("where friction_force is given, it stands in the place of mu·|lambda|");
  }

  void weights() {
    line("\nW, the weights of the measured constraints");
    for (std::size_t i = 0; i < eqs_.measured.size(); ++i)
      for (std::size_t j = i; j < eqs_.measured.size(); ++j)
        if (!eqs_.W[i][j].is_zero())
          line("  W[{}, {}] = {}", row(eqs_.measured[i]).name, row(eqs_.measured[j]).name, shown(eqs_.W[i][j]));
  }

  void closed_form() {
    if (!report_.closed) {
      line("\nNo closed form: {}.", report_.no_closed_form);
      return;
    }
    const ClosedForm& closed = *report_.closed;
    line("\nThe acceleration in closed form");
    for (int i = 0; i < eqs_.n(); ++i)
      line("  {}'' = {}", coordinate(i), shown(closed.qdd[static_cast<std::size_t>(i)]));
    if (eqs_.m() > 0) {
      line("\nThe constraint force in closed form");
      vector("Qc", closed.Qc);
      if (!closed.Qc_ideal.empty()) {
        line("\nits ideal part");
        vector("Qi", closed.Qc_ideal);
      }
      if (!closed.Q_control.empty()) {
        line("\nThe control force in closed form");
        vector("Qcontrol", closed.Q_control);
      }
    }
    if (!closed.determinant.is_constant())
      line("\nvalid where {} is not zero and the expressions above are defined", shown(closed.determinant));
    for (const std::string& note : closed.notes) line("note: {}", note);
  }

  const EquationsReport& report_;
  const Equations& eqs_;
  std::string out_;
};

}  // namespace

std::string equations_text(const EquationsReport& report) { return EquationsText(report).text(); }

}  // namespace mechanician
