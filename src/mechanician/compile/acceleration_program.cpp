#include "mechanician/compile/acceleration_program.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "mechanician/compile/control_draft.hpp"
#include "mechanician/equations/mass_rate.hpp"
#include "mechanician/expression/differentiate.hpp"

namespace mechanician {

namespace {

const Number zero = constant_number(0.0), one = constant_number(1.0);

std::size_t at(int i) { return static_cast<std::size_t>(i); }

class Maker {
 public:
  Maker(const Equations& eqs, const AccelerationOptions& options)
      : eqs_(eqs), options_(options), draft_(eqs, options, rows_of(eqs, options), false), with_(draft_.numbers) {
    num_constraints_ = eqs.num_constraints();
  }

  AccelerationProgramResult make() {
    if (!draft_.problem.empty()) return {std::nullopt, draft_.problem};
    const bool reactions = std::any_of(eqs_.C.begin(), eqs_.C.end(), [](const Expr& c) {
      return c.contains(SymbolKind::ideal_force) || c.contains(SymbolKind::multiplier);
    });
    const bool named =
        std::any_of(eqs_.C.begin(), eqs_.C.end(), [](const Expr& c) { return c.contains(SymbolKind::multiplier); });
    if (named && !draft_.dropped.empty())
      return {std::nullopt, "C uses multipliers, and dependent constraints may leave them open"};

    std::vector<Number> held;
    if (options_.hold_velocities) {
      if (const std::string reason = why_not_held(); !reason.empty()) return {std::nullopt, reason};
      held = draft_.hold_velocities();
    }

    // Right-hand sides.
    Q_ = draft_.evaluate(eqs_.Q);
    for (const int k : options_.brakes) brake(eqs_.contacts[at(k)]);
    given_ = Q_;
    const bool controlled = eqs_.num_control() > 0, believed = controlled && !eqs_.control.nominal.empty();
    if (controlled && !believed && reactions && (!eqs_.control.actuators.empty() || eqs_.control.has_free))
      return {std::nullopt, "C uses reactions, which feel the control force"};
    if (believed) {
      std::string reason;
      control_ = draft_believed_control(draft_, eqs_, options_, reason);
      if (!reason.empty()) return {std::nullopt, reason};
      for (std::size_t i = 0; i < given_.size(); ++i) given_[i] = with_.add(given_[i], control_.u[i]);
    }
    std::vector<Number> b, none(draft_.kept.size(), zero);
    for (const auto& row : draft_.kept) b.push_back(draft_.scaled_rhs(row, eqs_.b[at(row.row)]));
    std::vector<Number> C;
    if (eqs_.has_C && !reactions) C = draft_.evaluate(eqs_.C);
    Number K = zero;
    if (options_.powers) K = draft_.evaluate({options_.given_power ? *options_.given_power : mass_rate(eqs_)})[0];
    const int num_equations = count_equations(b, C, K);

    // What dropped rows are made of.
    for (const auto& row : draft_.dropped) coefficients_.push_back(draft_.depend(row));

    const bool ideal_wanted = reactions || (eqs_.has_C && (options_.powers || options_.multipliers));
    Elimination::Solution joint;
    if (!eqs_.has_C || !ideal_wanted) {
      std::vector<Number> force = given_;
      for (std::size_t i = 0; i < C.size(); ++i) force[i] = with_.add(force[i], C[i]);
      joint = draft_.solve(force, b);
      if (!eqs_.has_C) lambda_ideal_ = joint.lambda;
    } else {
      joint = draft_.solve(given_, b);
      lambda_ideal_ = joint.lambda;
      if (reactions) C = calc_C();
      const Elimination::Solution more = draft_.solve(C, none);
      for (std::size_t i = 0; i < joint.x.size(); ++i) joint.x[i] = with_.add(joint.x[i], more.x[i]);
      for (std::size_t j = 0; j < joint.lambda.size(); ++j)
        joint.lambda[j] = with_.add(joint.lambda[j], more.lambda[j]);
    }
    qdd_ = joint.x;
    watch_rows(b);
    if (controlled && !believed) add_control();
    if (!draft_.problem.empty()) return {std::nullopt, draft_.problem};

    AccelerationProgram made;
    std::vector<Number> outputs = qdd_, finite;
    const auto append = [&](const std::vector<Number>& more) {
      const int begin = static_cast<int>(outputs.size());
      outputs.insert(outputs.end(), more.begin(), more.end());
      for (const Number& x : more)
        if (!x.is_constant()) finite.push_back(x);
      return begin;
    };
    if (options_.powers || options_.multipliers) {
      full_ideal_ = by_rows(lambda_ideal_);
    }
    made.num_powers = options_.powers ? num_powers() : 0;
    made.at_powers = append(options_.powers ? calc_powers(K) : std::vector<Number>{});
    made.num_multipliers = options_.multipliers ? num_constraints_ : 0;
    made.at_multipliers = append(options_.multipliers ? full_ideal_ : std::vector<Number>{});
    made.at_velocities = append(held);
    const std::vector<Number>& efforts = eqs_.control.actuators.empty() ? control_.u : control_.tau;
    made.num_efforts = options_.efforts ? static_cast<int>(efforts.size()) : 0;
    made.at_efforts = append(options_.efforts ? efforts : std::vector<Number>{});
    made.at_control = static_cast<int>(outputs.size());
    made.num_columns = static_cast<int>(open_.columns.size());
    // Nothing of it has to be finite here: what comes of it tells.
    const auto leave = [&](const std::vector<Number>& more) {
      outputs.insert(outputs.end(), more.begin(), more.end());
    };
    for (std::size_t k = 0; k < open_.columns.size(); ++k) {
      leave(open_.columns[k].qdd);
      if (options_.powers) leave(calc_column_powers(k));
    }
    leave(open_.numbers);
    made.at_vouch = static_cast<int>(outputs.size());
    outputs.push_back(draft_.calc_vouch(qdd_, finite));

    std::vector<ProgramBuilder::Value> values;
    for (const Number& x : outputs) values.push_back(with_.value_of(x));
    made.program = draft_.builder.finish(values);
    made.path = draft_.path;
    made.n = eqs_.n();
    for (const int node : draft_.elimination->order())
      made.order.push_back(node < made.n ? node : made.n + draft_.kept[at(node - made.n)].row);
    made.num_equation_steps = num_equations;
    made.num_elimination_steps = static_cast<int>(made.program.steps.size()) - num_equations;
    if (static_cast<long>(made.program.steps.size()) > options_.most_steps) return {std::nullopt, "too large"};
    return {std::move(made), {}};
  }

 private:
  int num_powers() const { return 4 + num_constraints_ + static_cast<int>(eqs_.control.actuators.size()); }

  static std::vector<Expr> entries_of(const SparseExprMatrix& matrix) {
    std::vector<Expr> values;
    for (const auto& e : matrix.entries) values.push_back(e.value);
    return values;
  }

  /// Rows of constraints that act; what control asks for comes after them.
  static std::vector<int> rows_of(const Equations& eqs, const ProgramOptions& options) {
    std::vector<int> rows(at(eqs.num_constraints()));
    std::iota(rows.begin(), rows.end(), 0);
    for (const int k : options.brakes) std::erase(rows, eqs.contacts[at(k)].row);
    std::erase_if(rows,
                  [&](int j) { return std::find(options.open.begin(), options.open.end(), j) != options.open.end(); });
    return rows;
  }

  /// A largest force against a slip that is one: what is slower than others by 10⁻⁷ may stick.
  void brake(const ContactRow& contact) {
    const Expr against = -contact.friction * sign(contact.slip.front());
    Number slowest = zero, speeds = zero;
    for (const Number& v : draft_.evaluate(eqs_.qd)) speeds = with_.add(speeds, draft_.abs(v));
    for (const auto& e : contact.T.entries) {
      const std::vector<Number> found = draft_.evaluate({against * e.value, e.value});
      Q_[at(e.col)] = with_.add(Q_[at(e.col)], found[0]);
      slowest = with_.add(slowest, with_.mul(draft_.abs(found[1]), speeds));
    }
    const Number slip = draft_.abs(draft_.evaluate({contact.slip.front()})[0]);
    draft_.margins.push_back(with_.sub(slip, with_.mul(constant_number(1e-7), slowest)));
  }

  std::string why_not_held() const {
    if (draft_.is_weighted()) return "velocities are held with a mass matrix that is definite only";
    for (const auto* rows : {&draft_.kept, &draft_.dropped})
      for (const auto& draft_row : *rows) {
        const Row& row = eqs_.rows[at(draft_row.row)];
        if (row.level == Level::acceleration || !row.linear)
          return "velocities are held by rows that are linear in them only";
      }
    return "";
  }

  int count_equations(const std::vector<Number>& b, const std::vector<Number>& C, const Number& K) {
    std::vector<ProgramBuilder::Value> values;
    const auto add = [&](const Number& x) {
      if (!x.is_constant()) values.push_back(x.value);
    };
    for (const auto& e : draft_.M) add(e.value);
    for (const auto* rows : {&draft_.kept, &draft_.dropped})
      for (const auto& row : *rows)
        for (const auto& [i, a] : row.a) add(a);
    for (const std::vector<Number>* part : {&std::as_const(Q_), &b, &C})
      for (const Number& x : *part) add(x);
    add(K);
    return static_cast<int>(draft_.builder.finish(values).steps.size());
  }

  /// Multipliers of all rows as written, from those of the kept rows as scaled. Between dependent rows least norm
  /// decides: with a_d = Σ c_k a_k, μ = (I + c cᵀ)⁻¹c λ for dropped rows and λ − cᵀμ for kept ones.
  std::vector<Number> by_rows(const std::vector<Number>& lambda) {
    std::vector<Number> full(at(num_constraints_), zero), kept;
    for (std::size_t k = 0; k < lambda.size(); ++k)
      kept.push_back(with_.mul(constant_number(1.0 / draft_.kept[k].scale), lambda[k]));
    const auto& dropped = draft_.dropped;
    if (!dropped.empty()) {
      KktMatrix G{static_cast<int>(dropped.size()), 0, {}, {}};
      std::vector<std::vector<Number>> c = coefficients_;
      std::vector<Number> c_lambda(dropped.size(), zero);
      for (std::size_t d = 0; d < c.size(); ++d)
        for (std::size_t k = 0; k < kept.size(); ++k) {
          c[d][k] = draft_.clean(c[d][k], dropped[d], k);
          c[d][k] = with_.mul(constant_number(dropped[d].scale / draft_.kept[k].scale), c[d][k]);
          c_lambda[d] = with_.add(c_lambda[d], with_.mul(c[d][k], kept[k]));
        }
      for (std::size_t d = 0; d < c.size(); ++d)
        for (std::size_t e = 0; e <= d; ++e) {
          Number sum = d == e ? one : zero;
          for (std::size_t k = 0; k < kept.size(); ++k) sum = with_.add(sum, with_.mul(c[d][k], c[e][k]));
          G.M.push_back({static_cast<int>(d), static_cast<int>(e), sum});
        }
      const std::vector<Number> mu = Elimination(with_, G, {}, options_.most_steps).solve(c_lambda, {}).x;
      for (std::size_t d = 0; d < c.size(); ++d) {
        full[at(dropped[d].row)] = mu[d];
        for (std::size_t k = 0; k < kept.size(); ++k) kept[k] = with_.sub(kept[k], with_.mul(c[d][k], mu[d]));
      }
    }
    for (std::size_t k = 0; k < kept.size(); ++k) full[at(draft_.kept[k].row)] = kept[k];
    return full;
  }

  /// C of the ideal forces and multipliers of the problem with C = 0.
  std::vector<Number> calc_C() {
    const std::vector<Number> full = by_rows(lambda_ideal_);
    std::vector<Number> ideal(at(eqs_.n()), zero), multipliers;
    for (const auto* rows : {&draft_.kept, &draft_.dropped})
      for (const auto& row : *rows) {
        const Number l = with_.mul(constant_number(row.scale), full[at(row.row)]);
        for (const auto& [i, a] : row.a) ideal[at(i)] = with_.add(ideal[at(i)], with_.mul(a, l));
      }
    for (std::size_t j = 0; j < eqs_.multipliers.size(); ++j) multipliers.push_back(full[j]);
    std::vector<Expr> symbols = eqs_.ideal;
    symbols.insert(symbols.end(), eqs_.multipliers.begin(), eqs_.multipliers.end());
    ideal.resize(eqs_.ideal.size(), zero);
    ideal.insert(ideal.end(), multipliers.begin(), multipliers.end());
    return draft_.evaluate(eqs_.C, symbols, ideal);
  }

  /// Dropped rows must hold without having been asked to; kept ones do by themselves.
  void watch_rows(const std::vector<Number>& b) {
    for (const auto& row : draft_.dropped) {
      const Number target = draft_.scaled_rhs(row, eqs_.b[at(row.row)]);
      Number off = target, size = draft_.abs(target);
      for (const auto& [i, a] : row.a) {
        const Number term = with_.mul(a, qdd_[at(i)]);
        off = with_.sub(off, term);
        // What q̈ is a difference of: where it is small, its rounding is not.
        const Number force =
            with_.mul(draft_.abs(a), with_.mul(draft_.abs(given_[at(i)]), with_.reciprocal(draft_.M_diagonal[at(i)])));
        size = with_.add(with_.add(size, draft_.abs(term)), force);
      }
      const Number allowed = with_.mul(constant_number(options_.dropped_tolerance), size);
      draft_.margins.push_back(with_.add(with_.sub(allowed, draft_.abs(off)), constant_number(1e-300)));
    }
    // Rows without a gradient say 0 = b.
    for (const int j : options_.inert) {
      const std::vector<Number> qd = draft_.evaluate(eqs_.qd);
      const Number allowed = with_.mul(constant_number(1e-8), with_.add(one, draft_.square_sum(qd)));
      draft_.margins.push_back(with_.sub(allowed, draft_.abs(draft_.evaluate({eqs_.b[at(j)]})[0])));
    }
    // φ > 10⁻⁸ Σ |φ_q q|: what is nearer may touch.
    for (const int j : options_.open) {
      Number room = draft_.evaluate({eqs_.rows[at(j)].residual})[0];
      for (const auto& e : eqs_.A.entries) {
        if (e.row != j) continue;
        const std::vector<Number> term = draft_.evaluate({e.value, eqs_.q[at(e.col)]});
        room = with_.sub(room, with_.mul(constant_number(1e-8), draft_.abs(with_.mul(term[0], term[1]))));
      }
      draft_.margins.push_back(room);
    }
    if (!options_.check_rows) return;
    // (b − A q̈)² ≤ tol² (b² + P·q̈ᵀ diag(M) q̈), by Cauchy and Schwarz in the mass metric.
    std::vector<Numbers::Product> squares;
    for (std::size_t i = 0; i < qdd_.size(); ++i) squares.push_back({draft_.M_diagonal[i], qdd_[i], qdd_[i]});
    const Number energy = with_.sum(squares);
    for (std::size_t j = 0; j < draft_.kept.size(); ++j) {
      Number off = b[j];
      for (const auto& [i, a] : draft_.kept[j].a) off = with_.sub(off, with_.mul(a, qdd_[at(i)]));
      const Number size = with_.add(with_.mul(b[j], b[j]), with_.mul(draft_.elimination->row_sizes()[j], energy));
      const Number margin = with_.sub(with_.mul(constant_number(1e-20), size), with_.mul(off, off));
      draft_.margins.push_back(with_.add(margin, constant_number(1e-300)));
    }
  }

  /// Beside constraints and C; where it is believed, it is among the given forces from the beginning.
  void add_control() {
    if (!eqs_.control.is_direct()) {
      open_ = draft_open_control(draft_, eqs_, qdd_);
      return;
    }
    control_ = draft_control(draft_, eqs_, qdd_, options_.most_steps);
    for (std::size_t i = 0; i < control_.qdd.size(); ++i) qdd_[i] = with_.add(qdd_[i], control_.qdd[i]);
    for (std::size_t j = 0; j < std::min(lambda_ideal_.size(), control_.lambda.size()); ++j)
      lambda_ideal_[j] = with_.add(lambda_ideal_[j], control_.lambda[j]);
  }

  std::vector<Number> calc_powers(const Number& K) {
    std::vector<Number> qd = draft_.evaluate(eqs_.qd), powers(at(num_powers()), zero);
    Number given = K;
    if (!options_.given_power)
      for (std::size_t i = 0; i < qd.size(); ++i) given = with_.add(given, with_.mul(qd[i], Q_[i]));
    powers[0] = given;
    if (!control_.u.empty()) powers[3] = draft_.dot(qd, control_.u);
    std::vector<Number> along(control_.tau.size(), zero);
    const std::vector<Number> E = draft_.evaluate(entries_of(eqs_.control.E));
    for (std::size_t k = 0; k < E.size() && !along.empty(); ++k) {
      Number& speed = along[at(eqs_.control.E.entries[k].col)];
      speed = with_.add(speed, with_.mul(E[k], qd[at(eqs_.control.E.entries[k].row)]));
    }
    for (std::size_t k = 0; k < along.size(); ++k)
      powers[at(4 + num_constraints_) + k] = with_.mul(control_.tau[k], along[k]);
    add_reaction_powers(qd, full_ideal_, qdd_, Q_, powers);
    return powers;
  }

  std::vector<Number> calc_column_powers(std::size_t k) {
    const OpenControl::Column& column = open_.columns[k];
    std::vector<Number> qd = draft_.evaluate(eqs_.qd), powers(at(num_powers()), zero);
    powers[3] = draft_.dot(qd, column.u);
    if (!eqs_.control.actuators.empty()) powers[at(4 + num_constraints_) + k] = powers[3];
    add_reaction_powers(qd, by_rows(column.lambda), column.qdd, std::vector<Number>(qd.size(), zero), powers);
    return powers;
  }

  /// `full`: multipliers by row; x: the acceleration with them and with the force f.
  void add_reaction_powers(const std::vector<Number>& qd, const std::vector<Number>& full, const std::vector<Number>& x,
                           const std::vector<Number>& f, std::vector<Number>& powers) {
    Number held = zero;  // by all constraint rows
    for (const auto* rows : {&draft_.kept, &draft_.dropped})
      for (const auto& row : *rows) {
        const bool powerless = eqs_.rows[at(row.row)].powerless();
        if (powerless && !eqs_.has_C) continue;
        Number rate = zero;
        for (const auto& [i, a] : row.a) rate = with_.add(rate, with_.mul(a, qd[at(i)]));
        const Number l = with_.mul(constant_number(row.scale), full[at(row.row)]);
        const Number power = with_.mul(l, rate);
        held = with_.add(held, power);
        if (powerless) continue;
        powers[1] = with_.add(powers[1], power);
        powers[at(4 + row.row)] = power;
      }
    if (!eqs_.has_C) return;
    // q̇ᵀ(M x − f) less what the others do.
    std::vector<Number> force = draft_.times_mass(x);
    for (std::size_t i = 0; i < qd.size(); ++i) force[i] = with_.sub(force[i], f[i]);
    powers[2] = with_.sub(with_.sub(draft_.dot(qd, force), powers[3]), held);
  }

  const Equations& eqs_;
  const AccelerationOptions& options_;
  KktDraft draft_;
  Numbers& with_;
  int num_constraints_ = 0;
  std::vector<Number> Q_, given_, qdd_;            ///< given_: with what control believes to be right
  std::vector<std::vector<Number>> coefficients_;  ///< of dropped rows in kept ones, rows as scaled
  std::vector<Number> lambda_ideal_;               ///< of kept rows, as scaled
  std::vector<Number> full_ideal_;                 ///< by row, as written
  DraftControl control_;
  OpenControl open_;
};

}  // namespace

AccelerationProgramResult make_acceleration_program(const Equations& eqs, const AccelerationOptions& options) {
  if (!eqs.measured.empty()) return {std::nullopt, "measured constraints are weighed by the general solver"};
  if (!eqs.unknowns.empty()) return {std::nullopt, "a function has no value"};
  if (eqs.num_control() > 0 && !eqs.control.is_direct()) {
    if (!options.open_control) return {std::nullopt, "control with limits, weights, priorities or samples"};
    if (!eqs.control.nominal.empty())
      return {std::nullopt, "a controller that searches by a model that it believes in"};
    if (eqs.control.has_free) return {std::nullopt, "a free force beside requirements that need not act"};
    if (eqs.control.every && eqs.control.actuators.empty()) return {std::nullopt, "samples of control by coordinate"};
  }
  return Maker(eqs, options).make();
}

}  // namespace mechanician
