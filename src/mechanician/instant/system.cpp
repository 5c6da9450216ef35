#include "mechanician/instant/system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/model/validate.hpp"
#include "mechanician/solve/instant_pattern.hpp"

namespace mechanician {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

/// Where the parts of the dynamics lie among the outputs of its tape.
struct Layout {
  int M, Q, A, b, W, residual, rate, end;
};
Layout layout_of(const Equations& eqs) {
  Layout at{};
  at.M = 0;
  at.Q = at.M + static_cast<int>(eqs.M.entries.size());
  at.A = at.Q + eqs.n();
  at.b = at.A + static_cast<int>(eqs.A.entries.size());
  at.W = at.b + eqs.m();
  at.residual = at.W + static_cast<int>(eqs.measured.size() * eqs.measured.size());
  at.rate = at.residual + eqs.m();
  at.end = at.rate + eqs.m();
  return at;
}

std::string row_name(const Row& row) {
  return fmt::format("{} `{}`", row.kind == RowKind::control ? "control requirement" : "constraint", row.name);
}

}  // namespace

SparseRows fill_rows(const SparseExprMatrix& pattern, std::span<const double> values) {
  SparseRows result(0, pattern.cols);
  std::size_t k = 0;
  for (int row = 0; row < pattern.rows; ++row) {
    for (; k < pattern.entries.size() && pattern.entries[k].row == row; ++k)
      result.add(pattern.entries[k].col, values[k]);
    result.end_row();
  }
  return result;
}

State state_of(const StartState& start) {
  const auto vector = [](const std::vector<double>& x) {
    return Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(x.data(), static_cast<Eigen::Index>(x.size())));
  };
  return {start.time, vector(start.q), vector(start.qd)};
}

std::string NotFinite::message() const {
  if (!problem.empty()) return problem;
  return fmt::format("{} is not a finite number: {}{}", quantity, expression,
                     operands.empty() ? "" : fmt::format(" ({})", operands));
}

namespace {

/// A model that was built in C++ has been seen by nobody yet.
Model validated(Model model) {
  if (std::vector<Problem> problems = validate(model); !problems.empty())
    throw ModelError(std::move(problems), model.source);
  return model;
}

}  // namespace

System::System(Model model, std::vector<double> parameters)
    : System(validated(std::move(model)), std::move(parameters), Checked::already) {
  if (std::vector<Problem> problems = validate_values(model_, {parameters_}); !problems.empty())
    throw ModelError(std::move(problems), model_.source);
}

System::System(Model model, std::vector<double> parameters, Checked)
    : model_(std::move(model)), eqs_(derive(model_)), parameters_(std::move(parameters)) {
  if (parameters_.size() != model_.parameters.size())
    throw std::invalid_argument(fmt::format("the model has {}, but {} given",
                                            count_noun(model_.parameters.size(), "parameter"), parameters_.size()));
  if (!eqs_.unknowns.empty()) {
    std::vector<Problem> problems;
    for (const Expr& u : model_.unknowns) {
      problems.push_back(
          {model_.place_of("unknown." + u.symbol().name),
           fmt::format("the function `{}` has no value", u.symbol().name),
           "`equations` prints unknown functions as they are; for numbers, define it in [define] or [parameters]"});
    }
    throw ModelError(std::move(problems), model_.source);
  }

  std::vector<Expr> inputs{eqs_.t};
  inputs.insert(inputs.end(), eqs_.q.begin(), eqs_.q.end());
  inputs.insert(inputs.end(), eqs_.qd.begin(), eqs_.qd.end());
  inputs.insert(inputs.end(), eqs_.parameters.begin(), eqs_.parameters.end());

  std::vector<Expr> outputs;
  for (const auto& e : eqs_.M.entries) outputs.push_back(e.value);
  outputs.insert(outputs.end(), eqs_.Q.begin(), eqs_.Q.end());
  for (const auto& e : eqs_.A.entries) outputs.push_back(e.value);
  outputs.insert(outputs.end(), eqs_.b.begin(), eqs_.b.end());
  for (const auto& line : eqs_.W) outputs.insert(outputs.end(), line.begin(), line.end());
  for (const Row& row : eqs_.rows) outputs.push_back(row.level == Level::acceleration ? Expr(0) : row.residual);
  for (const Row& row : eqs_.rows) outputs.push_back(row.rate);
  dynamics_ = Tape(outputs, inputs);

  std::vector<Expr> of_contacts;
  for (const ContactRow& c : eqs_.contacts) {
    of_contacts.push_back(c.restitution);
    of_contacts.push_back(c.friction);
    of_contacts.insert(of_contacts.end(), c.slip.begin(), c.slip.end());
    for (const auto& e : c.T.entries) of_contacts.push_back(e.value);
    of_contacts.insert(of_contacts.end(), c.slip_b.begin(), c.slip_b.end());
  }
  contacts_ = Tape(of_contacts, inputs);

  inputs.insert(inputs.end(), eqs_.ideal.begin(), eqs_.ideal.end());
  inputs.insert(inputs.end(), eqs_.multipliers.begin(), eqs_.multipliers.end());
  nonideal_ = Tape(eqs_.C, inputs);
  const std::vector<double> zeros(std::max(eqs_.M.entries.size(), eqs_.A.entries.size()), 0.0);
  pattern_ = std::make_shared<const InstantPattern>(fill_rows(eqs_.M, zeros), fill_rows(eqs_.A, zeros));
  for (const Expr& c : eqs_.C)
    needs_reactions_ |= c.contains(SymbolKind::ideal_force) || c.contains(SymbolKind::multiplier);
}

void System::set_parameters(std::span<const double> values) {
  assert(values.size() == parameters_.size());
  std::copy(values.begin(), values.end(), parameters_.begin());
}

std::vector<double> System::inputs(const State& state) const {
  std::vector<double> x{state.t};
  x.insert(x.end(), state.q.begin(), state.q.end());
  x.insert(x.end(), state.qd.begin(), state.qd.end());
  x.insert(x.end(), parameters_.begin(), parameters_.end());
  return x;
}

NotFinite explain_not_finite(const Tape& tape, int output, std::span<const double> inputs, std::string quantity,
                             Place place) {
  NotFinite result{std::move(quantity), "an input is not finite", {}, place};
  const auto culprit = tape.find_culprit(output, inputs);
  if (!culprit) return result;
  result.expression = print(culprit->expression, {.format = PrintFormat::text, .max_length = 200});
  std::vector<std::string> operands;
  for (const double x : culprit->operands) operands.push_back(number_text(x));
  const OperatorRow& row = row_of(culprit->expression.op());
  if (row.op == Op::div && culprit->operands[1] == 0.0)
    result.operands = fmt::format("{} divided by zero", operands[0]);
  else
    result.operands = fmt::format("`{}` of {} is {}", row.name, join_and(operands), number_text(culprit->value));
  return result;
}

NotFinite System::explain_dynamics(int output, std::span<const double> inputs) const {
  const Layout at = layout_of(eqs_);
  const auto place_of = [&](const std::string& key) { return model_.place_of(key); };
  if (output < at.Q) {
    const auto& e = eqs_.M.entries[static_cast<std::size_t>(output)];
    return explain_not_finite(dynamics_, output, inputs,
                              fmt::format("the mass matrix entry ({}, {})", coordinate(e.row), coordinate(e.col)),
                              place_of(model_.kinetic ? "kinetic" : "mass"));
  }
  if (output < at.A) {
    const std::string& name = coordinate(output - at.Q);
    Place place = place_of(model_.potential ? "potential" : "kinetic");
    for (const Named& f : model_.forces)
      if (f.name == name) place = f.place;
    return explain_not_finite(dynamics_, output, inputs, fmt::format("the given force on `{}`", name), place);
  }
  if (output < at.b) {
    const auto& e = eqs_.A.entries[static_cast<std::size_t>(output - at.A)];
    return explain_not_finite(dynamics_, output, inputs,
                              fmt::format("the coefficient of {}'' in {}", coordinate(e.col), row_name(row(e.row))),
                              row(e.row).place);
  }
  if (output < at.W)
    return explain_not_finite(dynamics_, output, inputs, fmt::format("b of {}", row_name(row(output - at.b))),
                              row(output - at.b).place);
  if (output < at.residual) {
    const auto size = static_cast<int>(eqs_.measured.size());
    const Row& r = row(eqs_.measured[static_cast<std::size_t>((output - at.W) / size)]);
    return explain_not_finite(dynamics_, output, inputs, fmt::format("the weight of {}", row_name(r)), r.place);
  }
  const int i = output < at.rate ? output - at.residual : output - at.rate;
  return explain_not_finite(dynamics_, output, inputs,
                            fmt::format("{}{}", output < at.rate ? "" : "the rate of ", row_name(row(i))),
                            row(i).place);
}

Evaluation System::evaluate(const State& state) const {
  const Layout at = layout_of(eqs_);
  const std::vector<double> x = inputs(state);
  std::vector<double> values(static_cast<std::size_t>(at.end)), bounds(values.size());
  dynamics_.evaluate_with_bounds(x, values, bounds);

  Evaluation result;
  InstantValues& v = result.values;
  const int n = this->n(), m = this->m();
  v.M = fill_rows(eqs_.M, std::span<const double>(values).subspan(static_cast<std::size_t>(at.M)));
  v.A = fill_rows(eqs_.A, std::span<const double>(values).subspan(static_cast<std::size_t>(at.A)));
  v.M_noise = fill_rows(eqs_.M, std::span<const double>(bounds).subspan(static_cast<std::size_t>(at.M)));
  v.A_noise = fill_rows(eqs_.A, std::span<const double>(bounds).subspan(static_cast<std::size_t>(at.A)));
  const auto segment = [](const std::vector<double>& from, int begin, int size) {
    return Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(from.data() + begin, size));
  };
  v.Q = segment(values, at.Q, n);
  v.Q_noise = segment(bounds, at.Q, n);
  v.b = segment(values, at.b, m);
  v.b_noise = segment(bounds, at.b, m);
  v.b_size = v.b.cwiseAbs().cwiseMax(v.b_noise / eps);
  v.num_control = eqs_.num_control();
  v.pattern = pattern_;
  const auto size = static_cast<Eigen::Index>(eqs_.measured.size());
  v.W.resize(size, size);
  for (Eigen::Index i = 0; i < size; ++i) {
    v.measured.push_back(eqs_.measured[static_cast<std::size_t>(i)]);
    for (Eigen::Index j = 0; j < size; ++j) v.W(i, j) = values[static_cast<std::size_t>(at.W + i * size + j)];
  }
  result.residual = segment(values, at.residual, m);
  result.residual_noise = segment(bounds, at.residual, m);
  result.rate = segment(values, at.rate, m);
  result.rate_noise = segment(bounds, at.rate, m);
  for (int i = 0; i < at.end && !result.not_finite; ++i)
    if (!std::isfinite(values[static_cast<std::size_t>(i)])) result.not_finite = explain_dynamics(i, x);
  // A bound that overflows says nothing, as does one of a quantity at the edge of its domain.
  const auto finite_only = [](auto& noise) {
    noise = noise.unaryExpr([](double e) { return std::isfinite(e) ? e : 0.0; });
  };
  finite_only(v.Q_noise), finite_only(v.b_noise), finite_only(v.b_size);
  for (SparseRows* noise : {&v.M_noise, &v.A_noise})
    for (SparseRows::Entry& e : noise->entries())
      if (!std::isfinite(e.value)) e.value = 0.0;
  return result;
}

std::vector<ContactValues> System::evaluate_contacts(const State& state, std::optional<NotFinite>& not_finite) const {
  std::vector<ContactValues> result;
  if (!has_contacts()) return result;
  const std::vector<double> x = inputs(state);
  const std::vector<double> values = contacts_(std::span<const double>(x));
  for (std::size_t i = 0; i < values.size() && !not_finite; ++i)
    if (!std::isfinite(values[i])) not_finite = explain_contacts(static_cast<int>(i), x);
  std::size_t next = 0;
  for (const ContactRow& c : eqs_.contacts) {
    ContactValues v;
    v.row = c.row;
    v.one_sided = row(c.row).one_sided;
    v.level = row(c.row).level;
    v.restitution = values[next++];
    v.has_friction = c.has_friction;
    v.mu = values[next++];
    const auto k = static_cast<Eigen::Index>(c.slip.size());
    v.slip.resize(k), v.slip_b.resize(k);
    for (double& psi : v.slip) psi = values[next++];
    v.T = fill_rows(c.T, std::span<const double>(values).subspan(next));
    next += c.T.entries.size();
    for (double& b : v.slip_b) b = values[next++];
    result.push_back(std::move(v));
  }
  return result;
}

NotFinite System::explain_contacts(int output, std::span<const double> inputs) const {
  int first = 0;
  for (const ContactRow& c : eqs_.contacts) {
    const int end = first + 2 + static_cast<int>(2 * c.slip.size() + c.T.entries.size());
    if (output < end) {
      const Row& r = row(c.row);
      const char* key = output == first ? "restitution" : output == first + 1 ? "friction" : "slip";
      const Place place = model_.place_of(fmt::format("constraints.{}.{}", r.name, key));
      return explain_not_finite(contacts_, output, inputs, fmt::format("the {} of {}", key, row_name(r)),
                                place.line > 0 ? place : r.place);
    }
    first = end;
  }
  return {};
}

System::Nonideal System::calc_C(const State& state, const Solution& ideal) const {
  Nonideal result;
  result.C = Eigen::VectorXd::Zero(n());
  if (!eqs_.has_C) return result;
  for (const Expr& s : symbols_of(eqs_.C)) {
    if (s.symbol().kind != SymbolKind::multiplier) continue;
    for (const Eigen::Index i : ideal.multipliers_undetermined)
      if (row(static_cast<int>(i)).name == s.symbol().name) result.not_unique.push_back(s.symbol().name);
  }
  if (!result.not_unique.empty()) return result;
  std::vector<double> x = inputs(state);
  if (needs_reactions_) {
    x.insert(x.end(), ideal.Qc_i.begin(), ideal.Qc_i.end());
    x.insert(x.end(), ideal.multipliers.begin(), ideal.multipliers.end());
  }
  x.resize(static_cast<std::size_t>(nonideal_.num_inputs()), 0.0);
  const std::vector<double> values = nonideal_(std::span<const double>(x));
  for (int i = 0; i < n(); ++i) {
    result.C(i) = values[static_cast<std::size_t>(i)];
    if (std::isfinite(result.C(i)) || result.not_finite) continue;
    Place place;
    for (const Named& c : model_.nonideal)
      if (c.name == coordinate(i)) place = c.place;
    result.not_finite =
        explain_not_finite(nonideal_, i, x, fmt::format("the non-ideal force on `{}`", coordinate(i)), place);
  }
  return result;
}

}  // namespace mechanician
