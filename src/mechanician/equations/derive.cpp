#include <algorithm>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include "mechanician/equations/classify.hpp"
#include "mechanician/equations/equations.hpp"
#include "mechanician/expression/differentiate.hpp"
#include "mechanician/expression/node_count.hpp"
#include "mechanician/expression/quadratic_form.hpp"
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

bool ControlEquations::is_plain() const { return actuators.empty() && !has_free && nominal.empty() && is_direct(); }

bool ControlEquations::is_direct() const {
  const auto alike = [&](const Requirement& r) {
    return !r.one_sided && !r.weighted && r.priority == requirements.front().priority;
  };
  return !every && !has_limits() && std::all_of(requirements.begin(), requirements.end(), alike);
}

bool ControlEquations::has_limits() const {
  return std::any_of(actuators.begin(), actuators.end(), [](const Actuator& a) { return a.has_low || a.has_high; });
}

const Expr& ControlEquations::cost(int i, int k) const {
  std::size_t first = E.entries.size();
  for (const Actuator& a : actuators) first += (a.has_low ? 1 : 0) + (a.has_high ? 1 : 0);
  return numbers[first + static_cast<std::size_t>(i) * actuators.size() + static_cast<std::size_t>(k)];
}

std::span<const Expr> ControlEquations::free() const {
  const auto count = static_cast<std::size_t>(has_free ? E.rows : 0);
  return std::span(numbers).last(count);
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
      number_.emplace(c.name, eqs_.n() - 1);
      is_state_.push_back(c.is_state);
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
      // No force acts on a state: it is not in the way of energies that depend on it, its rate says what it does.
      for (std::size_t i = 0; i < V_q.size(); ++i)
        if (!is_state_[i]) eqs_.Q[i] = sub(eqs_.Q[i], V_q[i]);
    }
    for (const Named& f : model_.forces) add_to(eqs_.Q, f);
    for (const Named& c : model_.nonideal) add_to(eqs_.C, c);
    eqs_.has_C = !model_.nonideal.empty();
    for (const Constraint& c : model_.constraints) add_constraint(c);
    for (const StateVariable& z : model_.states) add_state(z);
    for (const Control& c : model_.controls) add_control(c);
    add_actuators();
    find_unfelt();
    eqs_.A.rows = eqs_.m();
    eqs_.A.cols = eqs_.n();
    collect_weights();
    collect_unknowns();
    return std::move(eqs_);
  }

 private:
  void add_to(std::vector<Expr>& sum, const Named& term) {
    const auto i = static_cast<std::size_t>(number_.at(term.name));
    sum[i] = add(sum[i], simplify(term.value));
  }

  /// Coordinates of which f mentions themselves, velocities or accelerations, increasing: derivatives by the others are zero. So a
  /// row costs what it consists of, however many coordinates there are. Functions without a value may hide what they depend on.
  std::vector<int> mentioned(const Expr& f, SymbolKind kind) const {
    std::vector<int> found;
    if (!model_.unknowns.empty()) {
      for (int i = 0; i < eqs_.n(); ++i) found.push_back(i);
      return found;
    }
    for (const Expr& s : symbols_of(std::span(&f, 1)))
      if (s.symbol().kind == kind) found.push_back(number_.at(s.symbol().name));
    std::sort(found.begin(), found.end());
    return found;
  }

  struct Partial {
    int coordinate;
    Expr value;
  };
  /// Of f by the symbols of that kind, those that are not zero, from coordinate `first` on.
  std::vector<Partial> partials(const Expr& f, SymbolKind kind, int first = 0) const {
    const std::vector<Expr>& all = kind == SymbolKind::coordinate ? eqs_.q
                                   : kind == SymbolKind::velocity ? eqs_.qd
                                                                  : eqs_.qdd;
    std::vector<int> which = mentioned(f, kind);
    std::erase_if(which, [&](int i) { return i < first; });
    std::vector<Expr> symbols;
    for (const int i : which) symbols.push_back(all[static_cast<std::size_t>(i)]);
    const std::vector<Expr> values = gradient(f, symbols);
    std::vector<Partial> result;
    for (std::size_t k = 0; k < which.size(); ++k)
      if (!values[k].is_zero()) result.push_back({which[k], values[k]});
    return result;
  }

  Expr rate_along(const Expr& f) const {
    std::vector<Tangent> along{along_.back()};
    for (const int i : mentioned(f, SymbolKind::coordinate)) along.push_back(along_[static_cast<std::size_t>(i)]);
    return directional(f, along);
  }

  Expr with_zero(const Expr& f, SymbolKind kind) const {
    const std::vector<Replacement>& all = kind == SymbolKind::velocity ? at_rest_ : unaccelerated_;
    std::vector<Replacement> zero;
    for (const int i : mentioned(f, kind)) zero.push_back(all[static_cast<std::size_t>(i)]);
    return substitute(f, zero);
  }

  /// f written so that its degree shows: √(x'²)² as x'². Validation has seen that it is of that degree.
  static Expr polynomial(const Expr& f, SymbolKind kind, int degree) {
    return as_polynomial(f, kind, degree).value_or(f);
  }

  /// M = ∂²T/∂q̇∂q̇ and Q = ∂T/∂q − (∂p/∂q) q̇ − ∂p/∂t with the momenta p = ∂T/∂q̇.
  void from_kinetic(const Expr& T) {
    const std::vector<Expr> p = gradient(T, eqs_.qd);
    const std::vector<Expr> T_q = gradient(T, eqs_.q);
    const std::vector<Expr> p_dot = directional(p, along_);
    for (std::size_t i = 0; i < p.size(); ++i)
      if (!is_state_[i]) eqs_.Q[i] = sub(T_q[i], p_dot[i]);
    const std::optional<ComposedMass> composed = compose_mass(T);
    NodeCount plain;
    for (const Expr& f : eqs_.Q) plain.add(f);
    for (std::size_t i = 0; i < p.size(); ++i) {
      // The upper triangle, mirrored: M is symmetric to the last bit.
      for (const auto& [c, value] : partials(p[i], SymbolKind::velocity, static_cast<int>(i))) {
        // T is quadratic in q̇, so that what is left of q̇ here cancels.
        const Expr entry = value.contains(SymbolKind::velocity) ? with_zero(value, SymbolKind::velocity) : value;
        if (entry.is_zero()) continue;
        add_mass(static_cast<int>(i), c, entry);
        if (composed) plain.add(entry);
      }
      // Often some rows of M are longer than all of it the other way.
      if (!composed || plain.size() < composed->worth) continue;
      eqs_.M.entries.clear();
      for (const QuadraticTerm& t : composed->terms) add_mass(t.row, t.col, t.value);
      break;
    }
    std::sort(eqs_.M.entries.begin(), eqs_.M.entries.end(),
              [](const auto& a, const auto& b) { return std::pair(a.row, a.col) < std::pair(b.row, b.col); });
  }

  void add_mass(int row, int col, const Expr& value) {
    eqs_.M.entries.push_back({row, col, value});
    if (row != col) eqs_.M.entries.push_back({col, row, value});
  }

  struct ComposedMass {
    std::vector<QuadraticTerm> terms;
    std::size_t worth;  ///< nodes of Q and M the other way from which on this one is clearly shorter
  };
  /// M by elimination from the ends of branches inwards: the shorter way where many bodies are behind each other.
  std::optional<ComposedMass> compose_mass(const Expr& T) const {
    constexpr int least_coordinates = 6;
    if (eqs_.n() < least_coordinates || !model_.unknowns.empty()) return std::nullopt;
    auto terms = quadratic_terms(T, eqs_.qd);
    if (!terms) return std::nullopt;
    std::vector<Expr> all = eqs_.Q;
    for (const QuadraticTerm& t : *terms) all.push_back(t.value);
    return ComposedMass{std::move(*terms), (5 * count_nodes(all) + 3) / 4};
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
    std::vector<Partial> entries;
    Expr b;
    switch (row.level) {
      case Level::position:
        entries = partials(f, SymbolKind::coordinate);
        row.rate = rate_along(f);
        b = neg(rate_along(row.rate));
        break;
      case Level::velocity:
        entries = partials(f, SymbolKind::velocity);
        b = neg(rate_along(f));
        break;
      case Level::acceleration:
        entries = partials(f, SymbolKind::acceleration);
        // The row is linear in q̈, so that what is left of q̈ in its coefficients cancels.
        for (Partial& e : entries)
          if (e.value.contains(SymbolKind::acceleration)) e.value = with_zero(e.value, SymbolKind::acceleration);
        b = neg(with_zero(f, SymbolKind::acceleration));
        break;
    }
    for (const auto& [j, value] : entries)
      if (!value.is_zero()) eqs_.A.entries.push_back({index, j, value});
    eqs_.b.push_back(b);
    row.vanishes = row.level != Level::acceleration && f.is_zero();
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
    row.bare = c.bare;
    eqs_.multipliers.push_back(make_symbol(SymbolKind::multiplier, c.name));
    append_row(std::move(row));
    eqs_.rows.back().vanishes &= !c.bare;
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
      contact.is_force = c.friction->is_force;
      contact.T.rows = static_cast<int>(c.friction->slip.size());
      contact.T.cols = eqs_.n();
      for (std::size_t k = 0; k < c.friction->slip.size(); ++k) {
        const Expr psi = polynomial(simplify(c.friction->slip[k]), SymbolKind::velocity, 1);
        for (const auto& [j, value] : partials(psi, SymbolKind::velocity)) {
          // ψ is linear in q̇, so that what is left of q̇ here cancels.
          const Expr entry = value.contains(SymbolKind::velocity) ? with_zero(value, SymbolKind::velocity) : value;
          if (!entry.is_zero()) contact.T.entries.push_back({static_cast<int>(k), j, entry});
        }
        contact.slip_b.push_back(neg(rate_along(psi)));
        contact.slip.push_back(psi);
      }
    }
    eqs_.contacts.push_back(std::move(contact));
  }

  /// z' − rate = 0, with a multiplier that has no name in the model.
  void add_state(const StateVariable& z) {
    const Expr residual = dot(coordinate(z.name)) - z.rate;
    Row row = classify_row(residual, eqs_);
    row.name = z.name + "'";
    row.is_rate = true, row.integrable = false;
    row.place = z.place;
    row.text = z.text;
    eqs_.multipliers.push_back(make_symbol(SymbolKind::multiplier, row.name));
    eqs_.states.push_back({number_.at(z.name), eqs_.m()});
    append_row(std::move(row));
  }

  /// M z̈ = 0 = λ of its row, where no other row has an entry for z.
  void find_unfelt() {
    std::vector<int> uses(eqs_.q.size(), 0);
    for (const auto& e : eqs_.A.entries) ++uses[static_cast<std::size_t>(e.col)];
    for (const StateRow& z : eqs_.states)
      eqs_.rows[static_cast<std::size_t>(z.row)].unfelt = uses[static_cast<std::size_t>(z.coordinate)] == 1;
  }

  /// φ̈ + 2ζω φ̇ + ω²φ = 0, or ψ̇ + ωψ = 0: the requirement with an error that dies out.
  void add_control(const Control& c) {
    Row row = classify_row(c.residual, eqs_);
    row.name = c.name;
    row.kind = RowKind::control;
    row.place = c.place;
    row.text = c.text;
    append_row(std::move(row));
    eqs_.control.requirements.push_back({c.priority, c.one_sided, c.weight.has_value()});
    if (c.law) {
      follow_law(simplify(*c.law));
      // A law of velocities drives to e = 0 itself, which is the surface.
      if (eqs_.rows.back().level == Level::velocity) make_robust(0, c.one_sided);
      return;
    }
    const Row& last = eqs_.rows.back();
    Expr& b = eqs_.b.back();
    if (!c.frequency) return make_robust(0, c.one_sided);
    const Expr omega = simplify(*c.frequency);
    make_robust(omega, c.one_sided);
    if (last.level == Level::position) {
      const Expr zeta = simplify(c.damping);
      b = sub(b, mul(mul(mul(2, zeta), omega), last.rate));
      b = sub(b, mul(mul(omega, omega), last.residual));
    } else if (last.level == Level::velocity) {
      b = sub(b, mul(omega, last.residual));
    }
  }

  /// L(e, e', e'') = 0, linear in the highest derivative that the requirement has: the last row asks for that of the error.
  void follow_law(const Expr& law) {
    const Row& last = eqs_.rows.back();
    const Expr e = error_symbol();
    const bool position = last.level == Level::position;
    const Expr highest = position ? make_symbol(SymbolKind::acceleration, "e") : make_symbol(SymbolKind::velocity, "e");
    const Expr slope = derivative(law, highest);
    const std::vector<Replacement> none{{highest, 0}};
    std::vector<Replacement> values{{e, last.residual}};
    if (position) values.push_back({make_symbol(SymbolKind::velocity, "e"), last.rate});
    const Expr rest = make_simplified(Op::div, {substitute(law, none), substitute(slope, none)});
    eqs_.b.back() = sub(eqs_.b.back(), simplify(substitute(rest, values)));
  }

  /// Beyond the law of the error, what drives it into a layer around the surface s = e' + ω e (or e itself): gain·f(s/layer), with
  /// f(x) = x³ within and sign(x) outside.
  void make_robust(const Expr& omega, bool one_sided) {
    if (!model_.control.gain || !model_.control.layer || one_sided) return;
    const Row& last = eqs_.rows.back();
    if (last.level == Level::acceleration) return;
    const Expr s = last.level == Level::position ? add(last.rate, mul(omega, last.residual)) : last.residual;
    const Expr x = make_simplified(Op::div, {s, simplify(*model_.control.layer)});
    // x between −1 and 1; two kinks side by side, none inside the other.
    const Expr above = make_simplified(Op::abs, {add(x, Expr(1))}), below = make_simplified(Op::abs, {sub(x, Expr(1))});
    const Expr inside = mul(Expr(0.5), sub(above, below));
    const Expr cubed = mul(inside, mul(inside, inside));
    eqs_.b.back() = sub(eqs_.b.back(), mul(simplify(*model_.control.gain), cubed));
  }

  void add_actuators() {
    ControlEquations& control = eqs_.control;
    const auto count = static_cast<int>(model_.actuators.size());
    std::vector<std::vector<Partial>> columns;
    for (const Actuator& a : model_.actuators) {
      const Expr work = simplify(a.work);
      const SymbolKind kind = work.contains(SymbolKind::acceleration) ? SymbolKind::acceleration
                              : work.contains(SymbolKind::velocity)   ? SymbolKind::velocity
                                                                      : SymbolKind::coordinate;
      std::vector<Partial> column = partials(work, kind);
      for (Partial& e : column)
        if (kind == SymbolKind::acceleration && e.value.contains(kind)) e.value = with_zero(e.value, kind);
      columns.push_back(std::move(column));
      control.actuators.push_back({a.name, a.low.has_value(), a.high.has_value(), a.place});
    }
    control.E.rows = eqs_.n(), control.E.cols = count;
    for (int i = 0; i < eqs_.n(); ++i)
      for (int k = 0; k < count; ++k)
        for (const Partial& e : columns[static_cast<std::size_t>(k)])
          if (e.coordinate == i && !e.value.is_zero()) control.E.entries.push_back({i, k, e.value});
    std::vector<Expr>& numbers = control.numbers;
    for (const auto& e : control.E.entries) numbers.push_back(e.value);
    for (const Actuator& a : model_.actuators)
      if (a.low) numbers.push_back(simplify(*a.low));
    for (const Actuator& a : model_.actuators)
      if (a.high) numbers.push_back(simplify(*a.high));
    for (int i = 0; i < count; ++i)
      for (int k = 0; k < count; ++k) {
        const auto at = static_cast<std::size_t>(i);
        if (!model_.control.cost.empty())
          numbers.push_back(simplify(model_.control.cost[at][static_cast<std::size_t>(k)]));
        else
          numbers.push_back(i == k ? simplify(model_.actuators[at].cost.value_or(1.0)) : Expr(0));
      }
    for (const Control& c : model_.controls) numbers.push_back(c.weight ? simplify(*c.weight) : Expr(0));
    control.has_free = !model_.control.free.empty();
    if (control.has_free) {
      std::vector<Expr> free(eqs_.q.size(), Expr(0));
      for (const Named& z : model_.control.free) add_to(free, z);
      numbers.insert(numbers.end(), free.begin(), free.end());
    }
    control.every = model_.control.every;
    for (const Named& p : model_.control.nominal)
      for (std::size_t i = 0; i < model_.parameters.size(); ++i)
        if (model_.parameters[i].name == p.name) control.nominal.push_back({static_cast<int>(i), simplify(p.value)});
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
    append(eqs_.control.numbers);
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
  std::unordered_map<std::string, int> number_;  ///< of a coordinate
  std::vector<char> is_state_;                   ///< by coordinate
};

}  // namespace

Equations derive(const Model& model) { return Derivation(model).derive(); }

}  // namespace mechanician
