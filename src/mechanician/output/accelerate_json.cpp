#include "mechanician/output/accelerate_output.hpp"
#include "mechanician/output/json_writer.hpp"
#include "mechanician/output/reactions.hpp"
#include "mechanician/output/remarks.hpp"

namespace mechanician {

void depends_json(JsonWriter& json, const System& system, const Diagnosis& d) {
  const auto row = [&](Eigen::Index j) { return system.row_name(static_cast<int>(j)); };
  json.key("depends").begin_object();
  for (const Dependence& dep : d.depends) {
    json.key(row(dep.row)).begin_object();
    for (std::size_t k = 0; k < dep.on.size(); ++k) json.key(row(dep.on[k])).value(dep.coefficients[k]);
    json.end_object();
  }
  json.end_object();
  json.key("depends_complete").value(d.depends_complete);
}

namespace {

using Eigen::VectorXd;

class AccelerateJson {
 public:
  AccelerateJson(const System& system, const Instant& instant) : system_(system), instant_(instant) {}

  std::string text() {
    const Solution& s = instant_.solution;
    const bool has = instant_.has_some_acceleration();
    json_.begin_object();
    json_.key("time").value(instant_.state.t);
    by_coordinate("position", instant_.state.q);
    by_coordinate("velocity", instant_.state.qd);
    by_coordinate_if("acceleration", s.qdd, instant_.has_acceleration());
    if (has && !instant_.has_acceleration()) by_coordinate("determined_acceleration", s.qdd);
    by_coordinate_if("unconstrained_acceleration", s.a.value_or(VectorXd()), s.a.has_value());
    by_coordinate_if("constraint_force", s.Qc, has);
    by_coordinate_if("ideal_force", s.Qc_i, has);
    by_coordinate_if("nonideal_force", s.Qc_ni, has);
    by_coordinate_if("control_force", s.Q_control, has);
    if (system_.num_states() > 0) {
      std::vector<std::string> names;
      for (const StateRow& z : system_.states()) names.push_back(system_.coordinate(z.coordinate));
      json_.key("states").list(names);
    }
    if (instant_.control) control(*instant_.control);
    json_.key("multipliers");
    if (has)
      by_row(s.multipliers);
    else
      json_.null();
    json_.key("multipliers_unique").value(s.multipliers_unique);
    json_.key("multipliers_undetermined").list(row_names(system_, s.multipliers_undetermined));
    json_.key("gaussian");
    if (instant_.has_acceleration() && s.gaussian)
      json_.value(*s.gaussian);
    else
      json_.null();
    json_.key("rank").value(std::int64_t{s.rank - system_.num_states()});
    json_.key("rows").value(std::int64_t{s.num_rows - system_.num_states()});
    if (instant_.diagnosis) diagnosis(*instant_.diagnosis);
    json_.key("unique").value(s.unique && instant_.shared.empty());
    json_.key("solvable").value(s.solvable);
    json_.key("consistent").value(s.consistent);
    json_.key("undetermined").list(coordinate_names(system_, s.undetermined));
    json_.key("rank_gap").value(s.rank_gap);
    json_.key("rank_doubtful").value(s.rank_doubtful);
    json_.key("constraint_residual").value(instant_.constraint_residual);
    json_.key("solution_residual");
    instant_.has_acceleration() ? json_.value(calc_solution_residual(instant_)) : json_.null();
    reactions();
    contacts();
    if (instant_.parts) parts(*instant_.parts);
    json_.end_object();
    return json_.text();
  }

 private:
  void by_coordinate(std::string_view key, const VectorXd& x) {
    json_.key(key).named([&](int i) { return system_.coordinate(i); }, x);
  }
  /// Rows of constraints come first. Rates of states are nothing that pushes.
  void by_row(const VectorXd& x) {
    json_.begin_object();
    for (int j = 0; j < static_cast<int>(x.size()); ++j)
      if (!system_.row(j).is_rate) json_.key(system_.row_name(j)).value(x(j));
    json_.end_object();
  }
  std::string row(Eigen::Index j) const { return system_.row_name(static_cast<int>(j)); }
  void by_coordinate_if(std::string_view key, const VectorXd& x, bool there) {
    if (there)
      by_coordinate(key, x);
    else
      json_.key(key).null();
  }
  void by_coordinate(std::string_view key, const std::optional<VectorXd>& x) {
    by_coordinate_if(key, x.value_or(VectorXd()), x.has_value());
  }

  /// Definitions of multipliers: what joints do to bodies.
  void reactions() {
    const Reactions found = calc_reactions(system_, instant_);
    if (found.names.empty()) return;
    json_.key("reactions").begin_object();
    for (std::size_t i = 0; i < found.names.size(); ++i) json_.key(found.names[i]).value(found.values[i]);
    json_.end_object();
    json_.key("reactions_undetermined").list(found.undetermined);
  }

  void control(const InstantControl& c) {
    const ControlEquations& equations = system_.equations().control;
    if (c.tau.size() > 0)
      json_.key("actuators").named([&](int i) { return equations.actuators[static_cast<std::size_t>(i)].name; }, c.tau);
    json_.key("cost").value(c.cost);
    json_.key("requirements").begin_object();
    for (Eigen::Index j = 0; j < c.error.size(); ++j) {
      json_.key(row(system_.m() + j)).begin_object();
      json_.key("error").value(c.error(j));
      json_.key("error_rate").value(c.error_rate(j));
      json_.key("met").value(c.met[static_cast<std::size_t>(j)] != 0);
      json_.end_object();
    }
    json_.end_object();
  }

  void contacts() {
    if (instant_.contacts.empty()) return;
    json_.key("contacts").begin_object();
    for (const Contact& c : instant_.contacts) {
      json_.key(row(c.values.row)).begin_object();
      json_.key("status").value(name_of(c.status));
      if (c.values.one_sided) {
        if (c.values.level == Level::position) json_.key("gap").value(c.gap);
        json_.key("gap_rate").value(c.rate);
        json_.key("gap_acceleration");
        const bool known = instant_.has_acceleration();
        const Eigen::Index j = c.values.row;
        known ? json_.value(instant_.values.A.dot(j, instant_.solution.qdd) - instant_.values.b(j)) : json_.null();
      }
      json_.key("normal").value(c.normal);
      if (c.values.has_friction) {
        if (c.values.limit > 0.0 || c.values.bare)
          json_.key("friction_limit").value(c.values.limit);
        else
          json_.key("friction_coefficient").value(c.values.mu);
        json_.key("slip").begin_array();
        for (const double x : c.values.slip) json_.value(x);
        json_.end_array();
        json_.key("friction").begin_array();
        for (const double x : c.friction) json_.value(x);
        json_.end_array();
      }
      json_.end_object();
    }
    json_.end_object();
    json_.key("optimality").value(instant_.optimality.largest());
    json_.key("impact");
    if (!instant_.impact) {
      json_.null();
      return;
    }
    const Impact& impact = *instant_.impact;
    const bool solved = impact.status == SolveStatus::solved && impact.trouble.empty();
    json_.begin_object();
    by_coordinate_if("velocity_after", impact.qd_after, solved);
    json_.key("impulses");
    solved ? by_row(impact.impulses) : void(json_.null());
    json_.key("energy_lost").value(impact.energy_lost + impact.friction_lost);
    json_.end_object();
  }

  void diagnosis(const Diagnosis& d) {
    json_.key("redundant").list(row_names(system_, d.redundant));
    depends_json(json_, system_, d);
    json_.key("conflicts").begin_array();
    for (const Conflict& c : d.conflicts) json_.list(row_names(system_, c.rows));
    json_.end_array();
    json_.key("conflict_residuals").begin_array();
    for (const Conflict& c : d.conflicts) json_.value(c.residual);
    json_.end_array();
  }

  /// {"x": {"rod": …}}
  void matrix(std::string_view key, const std::optional<Eigen::MatrixXd>& K) {
    json_.key(key);
    if (!K) {
      json_.null();
      return;
    }
    json_.begin_object();
    for (Eigen::Index i = 0; i < K->rows(); ++i) {
      json_.key(system_.coordinate(static_cast<int>(i)));
      by_row(K->row(i).transpose());
    }
    json_.end_object();
  }

  void parts(const Parts& p) {
    json_.key("parts").begin_object();
    json_.key("error_signal");
    if (p.error_signal)
      by_row(*p.error_signal);
    else
      json_.null();
    matrix("gain", p.gain);
    by_coordinate("deviation", p.deviation);
    by_coordinate("deviation_ideal", p.deviation_ideal);
    by_coordinate("deviation_nonideal", p.deviation_nonideal);
    by_coordinate("z", p.z);
    by_coordinate("c_acting", p.c_acting);
    by_coordinate("c_absorbed", p.c_absorbed);
    by_coordinate("acceleration_null", p.acceleration_null);
    by_coordinate("acceleration_range", p.acceleration_range);
    by_coordinate("force_null", p.force_null);
    by_coordinate("force_range", p.force_range);
    json_.key("auxiliary").begin_object();
    json_.key("matrix");
    if (p.auxiliary.Ms.rows() < system_.n()) {
      json_.null();  // too many numbers
    } else {
      json_.begin_object();
      for (Eigen::Index i = 0; i < p.auxiliary.Ms.rows(); ++i)
        by_coordinate(system_.coordinate(static_cast<int>(i)), VectorXd(p.auxiliary.Ms.row(i).transpose()));
      json_.end_object();
    }
    by_coordinate("force", p.auxiliary.Delta);
    by_coordinate("acceleration", p.auxiliary.qdd_A);
    json_.end_object();
    by_coordinate("reaction_to_forces", p.reaction_to_forces);
    by_coordinate("reaction_to_motion", p.reaction_to_motion);
    json_.key("power");
    if (p.power) {
      json_.begin_object();
      json_.key("ideal")
          .value(p.power->ideal)
          .key("nonideal")
          .value(p.power->nonideal)
          .key("control")
          .value(p.power->control);
      json_.key("by_constraint");
      by_row(p.power->by_row);
      json_.end_object();
    } else {
      json_.null();
    }
    json_.end_object();
  }

  const System& system_;
  const Instant& instant_;
  JsonWriter json_;
};

}  // namespace

std::string accelerate_json(const System& system, const Instant& instant) {
  return AccelerateJson(system, instant).text();
}

}  // namespace mechanician
