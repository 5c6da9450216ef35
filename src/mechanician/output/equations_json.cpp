#include "mechanician/expression/print.hpp"
#include "mechanician/output/equations_output.hpp"
#include "mechanician/output/json_writer.hpp"
#include "mechanician/output/readable.hpp"

namespace mechanician {

namespace {

/// Longer expressions are null: an expression that shares much can be astronomically long when it is written out.
constexpr double largest_tree = 200000;

class EquationsJson {
 public:
  explicit EquationsJson(const EquationsReport& report) : report_(report), eqs_(report.eqs) {
    for (const Row& row : eqs_.rows) rows_.push_back(row.name);
  }

  std::string text() {
    json_.begin_object();
    json_.key("title").value(report_.model.title);
    json_.key("coordinates").list(eqs_.coordinates);
    json_.key("rows").list(rows_);
    if (!report_.model.states.empty()) {
      json_.key("states").begin_object();
      for (const StateVariable& z : report_.model.states) json_.key(z.name), expression(z.rate);
      json_.end_object();
    }
    json_.key("control").begin_array();
    for (const Row& row : eqs_.rows)
      if (row.kind == RowKind::control) json_.value(row.name);
    json_.end_array();
    json_.key("one_sided").begin_array();
    for (const Row& row : eqs_.rows)
      if (row.one_sided) json_.value(row.name);
    json_.end_array();
    matrix("M", eqs_.M, eqs_.coordinates);
    vector("Q", eqs_.Q, eqs_.coordinates);
    matrix("A", eqs_.A, rows_);
    vector("b", eqs_.b, rows_);
    vector("C", eqs_.C, eqs_.coordinates);
    contacts();
    closed_form();
    json_.end_object();
    return json_.text();
  }

 private:
  void expression(const Expr& f) {
    if (tree_size(f) > largest_tree)
      json_.null();
    else
      json_.value(print(readable(f), {.format = PrintFormat::text, .max_length = std::size_t{1} << 30}));
  }

  void vector(std::string_view key, const std::vector<Expr>& x, const std::vector<std::string>& names) {
    json_.key(key).begin_object();
    for (std::size_t i = 0; i < x.size(); ++i) {
      json_.key(names[i]);
      expression(x[i]);
    }
    json_.end_object();
  }

  void list(std::string_view key, const std::vector<Expr>& x) {
    json_.key(key).begin_array();
    for (const Expr& xi : x) expression(xi);
    json_.end_array();
  }

  /// {"floor": {"one_sided", "gap", "restitution", "friction", "slip", "T", "d"}}, only where there are any.
  void contacts() {
    if (eqs_.contacts.empty()) return;
    json_.key("contacts").begin_object();
    for (const ContactRow& c : eqs_.contacts) {
      const Row& row = eqs_.rows[static_cast<std::size_t>(c.row)];
      json_.key(row.name).begin_object();
      json_.key("one_sided").value(row.one_sided);
      if (row.one_sided) json_.key(row.level == Level::position ? "gap" : "rate"), expression(row.residual);
      if (row.one_sided && row.level == Level::position) json_.key("restitution"), expression(c.restitution);
      if (c.has_friction) {
        json_.key(c.is_force ? "friction_force" : "friction"), expression(c.friction);
        list("slip", c.slip);
        json_.key("T").begin_array();
        std::size_t next = 0;
        for (int k = 0; k < c.T.rows; ++k) {
          json_.begin_object();
          for (; next < c.T.entries.size() && c.T.entries[next].row == k; ++next) {
            json_.key(eqs_.coordinates[static_cast<std::size_t>(c.T.entries[next].col)]);
            expression(c.T.entries[next].value);
          }
          json_.end_object();
        }
        json_.end_array();
        list("d", c.slip_b);
      }
      json_.end_object();
    }
    json_.end_object();
  }

  /// {"row": {"column": …}}, structural non-zeros only.
  void matrix(std::string_view key, const SparseExprMatrix& X, const std::vector<std::string>& names) {
    json_.key(key).begin_object();
    std::size_t next = 0;
    for (int i = 0; i < X.rows; ++i) {
      json_.key(names[static_cast<std::size_t>(i)]).begin_object();
      for (; next < X.entries.size() && X.entries[next].row == i; ++next) {
        json_.key(eqs_.coordinates[static_cast<std::size_t>(X.entries[next].col)]);
        expression(X.entries[next].value);
      }
      json_.end_object();
    }
    json_.end_object();
  }

  void closed_form() {
    json_.key("closed_form");
    if (!report_.closed) {
      json_.null();
      json_.key("no_closed_form").value(report_.no_closed_form);
      return;
    }
    const ClosedForm& closed = *report_.closed;
    json_.begin_object();
    vector("acceleration", closed.qdd, eqs_.coordinates);
    vector("constraint_force", closed.Qc, eqs_.coordinates);
    if (!closed.Qc_ideal.empty()) vector("ideal_force", closed.Qc_ideal, eqs_.coordinates);
    if (!closed.Q_control.empty()) vector("control_force", closed.Q_control, eqs_.coordinates);
    json_.key("valid_where_not_zero");
    expression(closed.determinant);
    const auto names = [&](const std::vector<int>& rows) {
      std::vector<std::string> result;
      for (const int i : rows) result.push_back(rows_[static_cast<std::size_t>(i)]);
      return result;
    };
    json_.key("rows_used").list(names(closed.rows));
    json_.key("rows_left_out").list(names(closed.left_out));
    json_.key("notes").list(closed.notes);
    json_.end_object();
  }

  const EquationsReport& report_;
  const Equations& eqs_;
  std::vector<std::string> rows_;
  JsonWriter json_;
};

}  // namespace

std::string equations_json(const EquationsReport& report) { return EquationsJson(report).text(); }

}  // namespace mechanician
