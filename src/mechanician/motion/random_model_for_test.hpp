#pragma once

/// Random models with chosen features, and a state on their constraints.
///
/// Constraints are random smooth functions, moved so that they hold at a random state: φ = f(q, t) − f₀ − ḟ₀·(t − t₀)
/// holds there with its rate, ψ = g(q, q̇, t) − g₀ too. Without `rheonomic` the velocity is projected instead.

#include <random>
#include <string>
#include <vector>

#include "mechanician/expression/differentiate.hpp"
#include "mechanician/expression/tape.hpp"
#include "mechanician/instant/project.hpp"
#include "mechanician/instant/system.hpp"

namespace mechanician {

struct Features {
  bool matrices = false;   ///< mass and forces instead of energies
  bool rheonomic = false;  ///< time in energies, forces and constraints
  int holonomic = 1, nonholonomic = 0;
  bool nonlinear = false;      ///< nonholonomic rows quadratic in the velocities
  int redundant = 0;           ///< further rows that depend on the others on the constraints
  bool singular_mass = false;  ///< one more coordinate without mass, determined by a further row
  bool acceleration = false;   ///< a row that prescribes accelerations
  bool nonideal = false;       ///< C of state and time
  bool reactions = false;      ///< C of ideal() and multiplier() too
  int control = 0;
  int actuators = 0;          ///< without: every coordinate can be forced
  bool coupled_cost = false;  ///< of actuators, by a whole matrix
  bool free_force = false;    ///< beside control without actuators
  bool nominal = false;       ///< the controller believes in another mass, force and cost
  int measured = 0;
  int contradicting =
      0;  ///< further measured rows that say otherwise than others, of constraints and measured ones in turns
};

struct RandomModel {
  Model model;
  State state;  ///< near enough to the constraints for project()
};

class ModelMaker {
 public:
  ModelMaker(unsigned seed, const Features& features) : random_(seed), with_(features) {}

  RandomModel make() {
    const int free = 2 + static_cast<int>(random_() % 2);  // degrees of freedom that the constraints leave, about
    n_ = free + with_.holonomic + with_.nonholonomic + with_.control;
    for (int i = 0; i < n_; ++i) q_.push_back(model_.add_coordinate("q" + std::to_string(i)));
    if (with_.singular_mass) u_ = model_.add_coordinate("u");
    for (const Expr& q : q_) qd_.push_back(dot(q));
    all_q_ = q_, all_qd_ = qd_;
    if (with_.singular_mass) all_q_.push_back(u_), all_qd_.push_back(dot(u_));

    state_.t = number();
    state_.q = state_.qd = Eigen::VectorXd(static_cast<Eigen::Index>(all_q_.size()));
    for (Eigen::Index i = 0; i < state_.q.size(); ++i) state_.q(i) = number(), state_.qd(i) = number();

    add_dynamics();
    add_rows();
    return {std::move(model_), std::move(state_)};
  }

 private:
  double number() { return std::uniform_real_distribution<double>(-1.0, 1.0)(random_); }
  double positive() { return std::uniform_real_distribution<double>(0.5, 2.0)(random_); }
  Expr time() { return with_.rheonomic ? time_symbol() : Expr(0.0); }
  const Expr& any(const std::vector<Expr>& x) { return x[random_() % x.size()]; }

  /// A smooth function of some coordinates (and time).
  Expr function(const std::vector<Expr>& x) {
    Expr f = 0;
    for (const Expr& s : x) f += number() * s;
    f += number() * sin(any(x) + number() * any(x) + number() * time());
    f += number() * any(x) * any(x);
    return f + number() * any(x) * cos(number() + time()) * (with_.rheonomic ? 1.0 : 0.0);
  }

  void add_dynamics() {
    if (with_.matrices) {
      model_.mass.assign(all_q_.size(), std::vector<Expr>(all_q_.size(), Expr(0.0)));
      std::vector<Expr> coupling;
      for (int i = 0; i < n_; ++i) coupling.push_back(0.5 * cos(any(q_) + number() * time()));
      for (int i = 0; i < n_; ++i)
        for (int j = 0; j < n_; ++j) model_.mass[i][j] = coupling[i] * coupling[j] + (i == j ? positive() : 0.0);
    } else {
      Expr T = 0, shared = 0;
      for (int i = 0; i < n_; ++i) {
        T += positive() / 2 * pow(qd_[i], 2);
        shared += 0.5 * cos(any(q_) + number() * time()) * qd_[i];
      }
      T += pow(shared, 2) / 2 + number() * (q_[0] * qd_[1] - q_[1] * qd_[0]) + number() * time() * qd_[0] * q_[1];
      model_.kinetic = T;
      model_.potential = function(q_);
    }
    for (int i = 0; i < n_; ++i)
      model_.add_force(q_[i], -positive() * qd_[i] + number() * any(q_) * any(q_) + number() * cos(time() + number()));
  }

  double value_at_state(const Expr& f) {
    std::vector<Expr> inputs{time_symbol()};
    std::vector<double> x{state_.t};
    for (std::size_t i = 0; i < all_q_.size(); ++i) {
      inputs.push_back(all_q_[i]), x.push_back(state_.q(static_cast<Eigen::Index>(i)));
      inputs.push_back(all_qd_[i]), x.push_back(state_.qd(static_cast<Eigen::Index>(i)));
    }
    return Tape(std::vector<Expr>{f}, inputs)(std::span<const double>(x))[0];
  }
  Expr rate_of(const Expr& f) {
    std::vector<Tangent> along{{time_symbol(), 1.0}};
    for (std::size_t i = 0; i < all_q_.size(); ++i) along.push_back({all_q_[i], all_qd_[i]});
    return directional(f, along);
  }
  /// f moved to hold at the state.
  Expr held_position(const Expr& f) {
    Expr phi = f - value_at_state(f);
    if (with_.rheonomic) phi -= value_at_state(rate_of(f)) * (time_symbol() - state_.t);
    return phi;
  }
  Expr held_velocity(const Expr& g) { return g - value_at_state(g); }

  void add_rows() {
    std::vector<Expr> positions, velocities;
    int named = 0;
    const auto add = [&](const Expr& row) { model_.add_constraint("c" + std::to_string(named++), row, 0.0); };
    for (int j = 0; j < with_.holonomic; ++j) positions.push_back(held_position(function(q_))), add(positions.back());
    if (with_.singular_mass) positions.push_back(held_position(u_ - function(q_))), add(positions.back());
    for (int j = 0; j < with_.nonholonomic; ++j) {
      Expr g = number() * any(q_) + number() * time();
      for (const Expr& v : qd_) g += number() * v * (1.0 + 0.5 * sin(any(q_)));
      if (with_.nonlinear) g += 0.3 * any(qd_) * any(qd_);
      velocities.push_back(held_velocity(g));
      add(velocities.back());
    }
    // Dependent on the constraints and nowhere else.
    for (int j = 0; j < with_.redundant; ++j) {
      if (positions.size() > 1)
        add(sinh(positions[0]) * (2.0 + cos(q_[0])) + positions[1]);
      else if (!positions.empty())
        add(exp(positions[0]) - 1.0 + positions[0] * q_[1]);
      if (!velocities.empty()) add(3.0 * velocities[0] * (2.0 + sin(q_[1])));
    }
    if (with_.acceleration) add(ddot(q_[0]) + number() * ddot(q_[1]) + 2.0 * qd_[0] + q_[1] - number());
    std::vector<Expr> gauges;
    for (int j = 0; j < with_.measured; ++j) {
      gauges.push_back(function(q_));
      model_.add_constraint("gauge" + std::to_string(j), gauges.back(), number(), {.weight = positive()});
    }
    for (int j = 0; j < with_.contradicting; ++j) {
      const Expr& other = j % 2 == 0 ? gauges[static_cast<std::size_t>(j) % gauges.size()] : positions[0];
      const Expr moving = number() * time_symbol() * time_symbol();
      model_.add_constraint("doubt" + std::to_string(j), positive() * other + moving, number(), {.weight = positive()});
    }
    for (int j = 0; j < with_.control; ++j)
      model_.add_control("aim" + std::to_string(j), function(q_), number(),
                         {.frequency = positive(), .damping = positive()});
    add_actuators();
    if (with_.nonideal || with_.reactions)
      for (int i = 0; i < n_; ++i) {
        Expr C = -0.3 * qd_[i] + number() * any(q_);
        if (with_.reactions) {
          C += -0.2 * abs(make_symbol(SymbolKind::ideal_force, "q" + std::to_string(i))) * qd_[i];
          if (with_.redundant == 0 && named > 0) C += 0.1 * make_symbol(SymbolKind::multiplier, "c0");
        }
        model_.add_nonideal(q_[i], C);
      }
  }

  void add_actuators() {
    for (int k = 0; k < with_.actuators; ++k) {
      const std::size_t own = static_cast<std::size_t>(k) % q_.size();
      const Expr work = positive() * q_[own] + 0.3 * function(q_);
      model_.add_actuator("motor" + std::to_string(k), work);
      model_.actuators.back().cost = positive() + 0.1 * q_[own] * q_[own];
    }
    if (with_.coupled_cost) {
      const auto count = static_cast<std::size_t>(with_.actuators);
      model_.control.cost.assign(count, std::vector<Expr>(count, Expr(0)));
      for (std::size_t i = 0; i < count; ++i)
        for (std::size_t k = 0; k <= i; ++k)
          model_.control.cost[i][k] = model_.control.cost[k][i] =
              i == k ? Expr(static_cast<double>(count)) + positive() : 0.5 * number() * sin(q_[0]);
    }
    if (with_.free_force) model_.control.free.push_back({"q0", number() * any(q_), {}});
    if (with_.nominal) {
      const Expr believed = model_.add_parameter("load", Expr(0.3));
      model_.add_force(q_[0], believed * any(q_));
      model_.control.nominal.push_back({"load", Expr(1.0) - 0.5 * believed, {}});
    }
  }

  std::mt19937_64 random_;
  Features with_;
  int n_ = 0;
  Model model_;
  State state_;
  Expr u_ = 0.0;
  std::vector<Expr> q_, qd_, all_q_, all_qd_;
};

/// A system with a state on its constraints; nothing where the random constraints have none nearby.
struct RandomSystem {
  RandomSystem(unsigned seed, const Features& features) : RandomSystem(ModelMaker(seed, features).make()) {}
  explicit RandomSystem(RandomModel made)
      : system(std::move(made.model), {}), projection(project(system, made.state)) {}
  System system;
  Projection projection;
  const State& state() const { return projection.state; }
  bool good() const { return projection.converged; }
};

}  // namespace mechanician
