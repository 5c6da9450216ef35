#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "mechanician/equations/classify.hpp"
#include "mechanician/equations/equations.hpp"
#include "mechanician/expression/differentiate.hpp"
#include "mechanician/expression/rational.hpp"
#include "mechanician/expression/simplify.hpp"

namespace mechanician {

Expr SparseExprMatrix::at(int row, int col) const {
  for (const Entry& e : entries)
    if (e.row == row && e.col == col) return e.value;
  return 0;
}

int Equations::num_control() const {
  int count = 0;
  for (const Row& row : rows) count += row.kind == RowKind::control;
  return count;
}

namespace {

Expr add(const Expr& a, const Expr& b) { return make_simplified(Op::add, {a, b}); }
Expr sub(const Expr& a, const Expr& b) { return make_simplified(Op::sub, {a, b}); }
Expr mul(const Expr& a, const Expr& b) { return make_simplified(Op::mul, {a, b}); }
Expr neg(const Expr& a) { return make_simplified(Op::neg, {a}); }

class Derivation {
 public:
  explicit Derivation(const Model& model) : model_(model) {
    for (const Coordinate& c : model.coordinates) {
      eqs_.coordinates.push_back(c.name);
      eqs_.q.push_back(c.q());
      eqs_.qd.push_back(c.qd());
      eqs_.qdd.push_back(c.qdd());
      eqs_.ideal.push_back(make_symbol(SymbolKind::ideal_force, c.name));
      at_rest_.push_back({eqs_.qd.back(), 0});
      unaccelerated_.push_back({eqs_.qdd.back(), 0});
      // d/dt along the motion, with q̇ held: q moves with q̇, t with 1.
      along_.push_back({eqs_.q.back(), eqs_.qd.back()});
    }
    along_.push_back({eqs_.t, 1});
    for (const Parameter& p : model.parameters) eqs_.parameters.push_back(p.symbol());
    eqs_.Q.assign(eqs_.q.size(), 0);
    eqs_.C.assign(eqs_.q.size(), 0);
    eqs_.M.rows = eqs_.M.cols = eqs_.n();
  }

  Equations derive() {
    if (model_.kinetic)
      from_kinetic(polynomial(simplify(*model_.kinetic), SymbolKind::velocity, 2));
    else
      from_mass();
    if (model_.potential) {
      const std::vector<Expr> V_q = gradient(simplify(*model_.potential), eqs_.q);
      for (std::size_t i = 0; i < V_q.size(); ++i) eqs_.Q[i] = sub(eqs_.Q[i], V_q[i]);
    }
    for (const Named& f : model_.forces) add_to(eqs_.Q, f);
    for (const Named& c : model_.nonideal) add_to(eqs_.C, c);
    eqs_.has_C = !model_.nonideal.empty();
    for (const Constraint& c : model_.constraints) add_constraint(c);
    for (const Control& c : model_.controls) add_control(c);
    eqs_.A.rows = eqs_.m();
    eqs_.A.cols = eqs_.n();
    collect_weights();
    collect_unknowns();
    return std::move(eqs_);
  }

 private:
  void add_to(std::vector<Expr>& sum, const Named& term) {
    const auto i = static_cast<std::size_t>(model_.find_coordinate(term.name));
    sum[i] = add(sum[i], simplify(term.value));
  }

  /// f written so that its degree shows: √(x'²)² as x'². Validation has seen that it is of that degree.
  static Expr polynomial(const Expr& f, SymbolKind kind, int degree) {
    return as_polynomial(f, kind, degree).value_or(f);
  }

  /// M = ∂²T/∂q̇∂q̇ and Q = ∂T/∂q − (∂p/∂q) q̇ − ∂p/∂t with the momenta p = ∂T/∂q̇.
  void from_kinetic(const Expr& T) {
    const std::vector<Expr> p = gradient(T, eqs_.qd);
    for (std::size_t i = 0; i < p.size(); ++i) {
      // The upper triangle, mirrored: M is symmetric to the last bit.
      const std::vector<Expr> row = gradient(p[i], std::span(eqs_.qd).subspan(i));
      for (std::size_t k = 0; k < row.size(); ++k) {
        // T is quadratic in q̇, so that what is left of q̇ here cancels.
        const Expr entry = row[k].contains(SymbolKind::velocity) ? substitute(row[k], at_rest_) : row[k];
        if (entry.is_zero()) continue;
        const int r = static_cast<int>(i), c = static_cast<int>(i + k);
        eqs_.M.entries.push_back({r, c, entry});
        if (r != c) eqs_.M.entries.push_back({c, r, entry});
      }
    }
    std::sort(eqs_.M.entries.begin(), eqs_.M.entries.end(),
              [](const auto& a, const auto& b) { return std::pair(a.row, a.col) < std::pair(b.row, b.col); });
    const std::vector<Expr> T_q = gradient(T, eqs_.q);
    const std::vector<Expr> p_dot = directional(p, along_);
    for (std::size_t i = 0; i < p.size(); ++i) eqs_.Q[i] = sub(T_q[i], p_dot[i]);
  }

  void from_mass() {
    for (std::size_t i = 0; i < model_.mass.size(); ++i)
      for (std::size_t j = 0; j < model_.mass[i].size(); ++j) {
        const Expr entry = simplify(model_.mass[i][j]);
        if (!entry.is_zero()) eqs_.M.entries.push_back({static_cast<int>(i), static_cast<int>(j), entry});
      }
  }

  /// The row of A q̈ = b that belongs to a residual of the given level, appended.
  void append_row(Row row) {
    const int index = eqs_.m();
    Expr f = simplify(row.residual);
    if (row.level == Level::acceleration) f = polynomial(f, SymbolKind::acceleration, 1);
    std::vector<Expr> gradient_row;
    Expr b;
    switch (row.level) {
      case Level::position:
        gradient_row = gradient(f, eqs_.q);
        row.rate = directional(f, along_);
        b = neg(directional(row.rate, along_));
        break;
      case Level::velocity:
        gradient_row = gradient(f, eqs_.qd);
        b = neg(directional(f, along_));
        break;
      case Level::acceleration:
        gradient_row = gradient(f, eqs_.qdd);
        // The row is linear in q̈, so that what is left of q̈ in its coefficients cancels.
        for (Expr& g : gradient_row)
          if (g.contains(SymbolKind::acceleration)) g = substitute(g, unaccelerated_);
        b = neg(substitute(f, unaccelerated_));
        break;
    }
    for (std::size_t j = 0; j < gradient_row.size(); ++j)
      if (!gradient_row[j].is_zero()) eqs_.A.entries.push_back({index, static_cast<int>(j), gradient_row[j]});
    eqs_.b.push_back(b);
    row.residual = f;
    eqs_.rows.push_back(std::move(row));
  }

  void add_constraint(const Constraint& c) {
    Row row = classify_row(c.residual, eqs_);
    row.name = c.name;
    row.one_sided = c.one_sided;
    row.integrable &= !c.one_sided;  // φ̇ ≥ 0 bounds no function of position
    row.measured = c.weight.has_value();
    row.place = c.place;
    row.text = c.text;
    eqs_.multipliers.push_back(make_symbol(SymbolKind::multiplier, c.name));
    append_row(std::move(row));
    if (c.is_contact()) add_contact(c);
  }

  /// What the last row says beyond A q̈ = b.
  void add_contact(const Constraint& c) {
    ContactRow contact;
    contact.row = eqs_.m() - 1;
    if (c.restitution) contact.restitution = simplify(*c.restitution);
    if (c.friction) {
      contact.has_friction = true;
      contact.friction = simplify(c.friction->coefficient);
      contact.T.rows = static_cast<int>(c.friction->slip.size());
      contact.T.cols = eqs_.n();
      for (std::size_t k = 0; k < c.friction->slip.size(); ++k) {
        const Expr psi = polynomial(simplify(c.friction->slip[k]), SymbolKind::velocity, 1);
        const std::vector<Expr> psi_qd = gradient(psi, eqs_.qd);
        for (std::size_t j = 0; j < psi_qd.size(); ++j) {
          // ψ is linear in q̇, so that what is left of q̇ here cancels.
          const Expr entry = psi_qd[j].contains(SymbolKind::velocity) ? substitute(psi_qd[j], at_rest_) : psi_qd[j];
          if (!entry.is_zero()) contact.T.entries.push_back({static_cast<int>(k), static_cast<int>(j), entry});
        }
        contact.slip_b.push_back(neg(directional(psi, along_)));
        contact.slip.push_back(psi);
      }
    }
    eqs_.contacts.push_back(std::move(contact));
  }

  /// φ̈ + 2ζω φ̇ + ω²φ = 0, or ψ̇ + ωψ = 0: the requirement with an error that dies out.
  void add_control(const Control& c) {
    Row row = classify_row(c.residual, eqs_);
    row.name = c.name;
    row.kind = RowKind::control;
    row.place = c.place;
    row.text = c.text;
    append_row(std::move(row));
    if (!c.frequency) return;
    const Row& last = eqs_.rows.back();
    const Expr omega = simplify(*c.frequency);
    Expr& b = eqs_.b.back();
    if (last.level == Level::position) {
      const Expr zeta = simplify(c.damping);
      b = sub(b, mul(mul(mul(2, zeta), omega), last.rate));
      b = sub(b, mul(mul(omega, omega), last.residual));
    } else if (last.level == Level::velocity) {
      b = sub(b, mul(omega, last.residual));
    }
  }

  void collect_weights() {
    const auto row_of_name = [&](const std::string& name) {
      for (int i = 0; i < eqs_.m(); ++i)
        if (eqs_.rows[static_cast<std::size_t>(i)].kind == RowKind::constraint &&
            eqs_.rows[static_cast<std::size_t>(i)].name == name)
          return i;
      return -1;
    };
    struct Block {
      std::vector<int> rows;
      std::vector<std::vector<Expr>> weight;
    };
    std::vector<Block> blocks;
    for (const Constraint& c : model_.constraints)
      if (c.weight) blocks.push_back({{row_of_name(c.name)}, {{simplify(*c.weight)}}});
    for (const Measured& measured : model_.measured) {
      Block block;
      for (const std::string& name : measured.constraints) block.rows.push_back(row_of_name(name));
      for (const auto& line : measured.weight) block.weight.push_back(simplify(line));
      blocks.push_back(std::move(block));
    }
    std::size_t size = 0;
    for (const Block& block : blocks) size += block.rows.size();
    eqs_.W.assign(size, std::vector<Expr>(size, Expr(0)));
    std::size_t first = 0;
    for (const Block& block : blocks) {
      for (std::size_t i = 0; i < block.rows.size(); ++i) {
        eqs_.measured.push_back(block.rows[i]);
        eqs_.rows[static_cast<std::size_t>(block.rows[i])].measured = true;
        for (std::size_t j = 0; j < block.rows.size(); ++j) eqs_.W[first + i][first + j] = block.weight[i][j];
      }
      first += block.rows.size();
    }
  }

  void collect_unknowns() {
    if (model_.unknowns.empty()) return;
    std::vector<Expr> all = eqs_.Q;
    const auto append = [&](const std::vector<Expr>& more) { all.insert(all.end(), more.begin(), more.end()); };
    append(eqs_.b);
    append(eqs_.C);
    for (const auto& e : eqs_.M.entries) all.push_back(e.value);
    for (const auto& e : eqs_.A.entries) all.push_back(e.value);
    for (const Row& row : eqs_.rows) all.push_back(row.residual), all.push_back(row.rate);
    for (const ContactRow& contact : eqs_.contacts) {
      all.push_back(contact.restitution), all.push_back(contact.friction);
      append(contact.slip), append(contact.slip_b);
      for (const auto& e : contact.T.entries) all.push_back(e.value);
    }
    for (const Expr& s : symbols_of(all))
      if (s.symbol().kind == SymbolKind::unknown) eqs_.unknowns.push_back(s);
  }

  const Model& model_;
  Equations eqs_;
  std::vector<Tangent> along_;
  std::vector<Replacement> at_rest_, unaccelerated_;
};

}  // namespace

Equations derive(const Model& model) { return Derivation(model).derive(); }

}  // namespace mechanician
