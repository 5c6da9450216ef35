#include "mechanician/instant/without_states.hpp"

#include <algorithm>
#include <vector>

#include "mechanician/solve/assemble.hpp"

namespace mechanician {

namespace {

using Eigen::Index;
using Eigen::VectorXd;

/// The coordinates and rows that are left, and the problem of these.
struct Rest {
  std::vector<Index> coordinates, rows;
  std::vector<StateRow> states;  ///< the others
  InstantValues values;
};

SparseRows select(const SparseRows& from, const std::vector<Index>& rows, const std::vector<Index>& columns) {
  if (from.size() == 0 && from.rows() == 0) return {};
  std::vector<Index> to(static_cast<std::size_t>(from.cols()), -1);
  for (std::size_t k = 0; k < columns.size(); ++k) to[static_cast<std::size_t>(columns[k])] = static_cast<Index>(k);
  SparseRows result(0, static_cast<Index>(columns.size()));
  for (const Index i : rows) {
    for (const SparseRows::Entry& e : from.row(i))
      if (const Index col = to[static_cast<std::size_t>(e.col)]; col >= 0) result.add(col, e.value);
    result.end_row();
  }
  return result;
}

VectorXd select(const VectorXd& from, const std::vector<Index>& entries) {
  return from.size() == 0 ? VectorXd() : VectorXd(from(entries));
}

Rest without_states(const System& system, const Instant& instant) {
  Rest rest;
  const InstantValues& v = instant.values;
  std::vector<char> row_left(static_cast<std::size_t>(v.b.size()), 1), left(static_cast<std::size_t>(v.Q.size()), 1);
  for (const StateRow& z : system.states())
    if (system.row(z.row).unfelt) {
      rest.states.push_back(z);
      row_left[static_cast<std::size_t>(z.row)] = left[static_cast<std::size_t>(z.coordinate)] = 0;
    }
  for (Index i = 0; i < v.Q.size(); ++i)
    if (left[static_cast<std::size_t>(i)]) rest.coordinates.push_back(i);
  for (const Index j : instant.acting)
    if (row_left[static_cast<std::size_t>(j)]) rest.rows.push_back(j);

  InstantValues& part = rest.values;
  part.M = select(v.M, rest.coordinates, rest.coordinates), part.Q = select(v.Q, rest.coordinates);
  part.A = select(v.A, rest.rows, rest.coordinates), part.b = select(v.b, rest.rows);
  part.C = select(v.C, rest.coordinates);
  part.M_noise = select(v.M_noise, rest.coordinates, rest.coordinates);
  part.Q_noise = select(v.Q_noise, rest.coordinates);
  part.A_noise = select(v.A_noise, rest.rows, rest.coordinates);
  part.b_noise = select(v.b_noise, rest.rows), part.b_size = select(v.b_size, rest.rows);
  part.measured = v.measured, part.W = v.W, part.path = v.path;
  for (Index& i : part.measured) i = std::lower_bound(rest.rows.begin(), rest.rows.end(), i) - rest.rows.begin();
  return rest;
}

/// A vector by coordinate that is left as one by coordinate of the whole.
class Whole {
 public:
  Whole(const Rest& rest, const InstantValues& values) : rest_(rest), values_(values) {}

  VectorXd force(const VectorXd& x) const {
    VectorXd whole = VectorXd::Zero(values_.Q.size());
    whole(rest_.coordinates) = x;
    return whole;
  }
  /// States follow: z̈ = b_z − A_z q̈, without b for a part of the acceleration.
  VectorXd acceleration(const VectorXd& x, bool with_b) const {
    VectorXd whole = force(x);
    for (const StateRow& z : rest_.states) {
      const double others = values_.A.dot(z.row, whole), own = values_.A(z.row, z.coordinate);
      whole(z.coordinate) = ((with_b ? values_.b(z.row) : 0.0) - others) / own;
    }
    return whole;
  }
  VectorXd rows(const VectorXd& x) const {
    VectorXd whole = VectorXd::Zero(values_.b.size());
    whole(rest_.rows) = x;
    return whole;
  }

 private:
  const Rest& rest_;
  const InstantValues& values_;
};

}  // namespace

bool needs_definite_mass(Form form) { return form == Form::f1 || form == Form::f2 || form == Form::f3; }

bool has_unfelt_states(const System& system) {
  return std::any_of(system.states().begin(), system.states().end(),
                     [&](const StateRow& z) { return system.row(z.row).unfelt; });
}

void add_without_states(const System& system, const AccelerateOptions& options, Instant& instant) {
  if (!has_unfelt_states(system) || instant.solution.mass.kind != MassKind::semidefinite) return;
  const Rest rest = without_states(system, instant);
  const Factorisation factors = factor(rest.values);
  const Solution alone = solve_with_form(factors, rest.values, options.form);
  if (alone.status == SolveStatus::form_not_applicable) instant.solution.status = alone.status;
  if (alone.mass.kind != MassKind::definite || !alone.a) return;
  const Whole whole(rest, instant.values);
  Solution& s = instant.solution;
  s.a = whole.acceleration(*alone.a, true);
  if (!alone.has_acceleration() || !instant.has_acceleration()) return;
  s.gaussian = alone.gaussian;
  if (needs_definite_mass(options.form)) {
    s.qdd = whole.acceleration(alone.qdd, true);
    s.Qc = whole.force(alone.Qc), s.Qc_i = whole.force(alone.Qc_i), s.Qc_ni = whole.force(alone.Qc_ni);
    s.multipliers = whole.rows(alone.multipliers);
  }
  if (!instant.parts) return;
  const Parts parts = calc_parts(factors, rest.values, alone, select(instant.state.qd, rest.coordinates));
  Parts& p = *instant.parts;
  p.error_signal = whole.rows(*parts.error_signal);
  if (parts.gain) {
    p.gain = Eigen::MatrixXd::Zero(instant.values.Q.size(), instant.values.b.size());
    (*p.gain)(rest.coordinates, rest.rows) = *parts.gain;
  }
  p.deviation = whole.acceleration(*parts.deviation, false);
  p.deviation_ideal = whole.acceleration(*parts.deviation_ideal, false);
  p.deviation_nonideal = whole.acceleration(*parts.deviation_nonideal, false);
  p.z = whole.force(*parts.z);
  p.reaction_to_forces = whole.force(*parts.reaction_to_forces);
  p.reaction_to_motion = whole.force(*parts.reaction_to_motion);
}

}  // namespace mechanician
