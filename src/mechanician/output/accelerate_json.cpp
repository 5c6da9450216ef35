#include "mechanician/output/accelerate_output.hpp"
#include "mechanician/output/json_writer.hpp"
#include "mechanician/output/remarks.hpp"

namespace mechanician {

namespace {

using Eigen::VectorXd;

class AccelerateJson {
 public:
  AccelerateJson(const System& system, const Instant& instant) : system_(system), instant_(instant) {
    for (int i = 0; i < system.m(); ++i) {
      rows_.push_back(system.row(i).name);
      if (system.row(i).kind == RowKind::constraint) constraints_.push_back(system.row(i).name);
    }
  }

  std::string text() {
    const Solution& s = instant_.solution;
    const bool has = instant_.has_some_acceleration();
    json_.begin_object();
    json_.key("time").value(instant_.state.t);
    by_coordinate("position", instant_.state.q);
    by_coordinate("velocity", instant_.state.qd);
    by_coordinate("acceleration", s.qdd, instant_.has_acceleration());
    if (has && !instant_.has_acceleration()) by_coordinate("determined_acceleration", s.qdd);
    by_coordinate("unconstrained_acceleration", s.a);
    by_coordinate("constraint_force", s.Qc, has);
    by_coordinate("ideal_force", s.Qc_i, has);
    by_coordinate("nonideal_force", s.Qc_ni, has);
    by_coordinate("control_force", s.Q_control, has);
    named("multipliers", constraints_, s.multipliers, has);
    json_.key("multipliers_unique").value(s.multipliers_unique);
    json_.key("multipliers_undetermined").list(row_names(system_, s.multipliers_undetermined));
    json_.fields({{"gaussian", instant_.has_acceleration() ? s.gaussian : std::nullopt},
                  {"rank", s.rank},
                  {"rows", s.num_rows}});
    if (instant_.diagnosis) diagnosis(*instant_.diagnosis);
    json_.fields({{"unique", s.unique}, {"solvable", s.solvable}, {"consistent", s.consistent}});
    json_.key("undetermined").list(coordinate_names(system_, s.undetermined));
    json_.fields({{"control_split_unique", s.control_split_unique},
                  {"rank_gap", s.rank_gap},
                  {"rank_doubtful", s.rank_doubtful},
                  {"constraint_residual", instant_.constraint_residual}});
    contacts();
    if (instant_.parts) parts(*instant_.parts);
    json_.end_object();
    return json_.text();
  }

 private:
  /// By name; null where it is not there.
  void named(std::string_view key, const std::vector<std::string>& names, const VectorXd& x, bool there = true) {
    json_.key(key);
    there ? json_.named(names, x) : json_.null();
  }
  void by_coordinate(std::string_view key, const VectorXd& x, bool there = true) {
    named(key, system_.equations().coordinates, x, there);
  }
  void by_coordinate(std::string_view key, const std::optional<VectorXd>& x) {
    by_coordinate(key, x.value_or(VectorXd()), x.has_value());
  }

  void contacts() {
    if (instant_.contacts.empty()) return;
    json_.key("contacts").begin_object();
    for (const Contact& c : instant_.contacts) {
      json_.key(rows_[c.values.row]).begin_object();
      json_.key("status").value(name_of(c.status));
      if (c.values.one_sided) {
        if (c.values.level == Level::position) json_.key("gap").value(c.gap);
        const Eigen::Index j = c.values.row;
        std::optional<double> acceleration;
        if (instant_.has_acceleration())
          acceleration = instant_.values.A.dot(j, instant_.solution.qdd) - instant_.values.b(j);
        json_.fields({{"gap_rate", c.rate}, {"gap_acceleration", acceleration}});
      }
      json_.key("normal").value(c.normal);
      if (c.values.has_friction) {
        json_.key("friction_coefficient").value(c.values.mu);
        json_.key("slip").list(c.values.slip).key("friction").list(c.friction);
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
    json_.object([&] {
      by_coordinate("velocity_after", impact.qd_after, solved);
      const auto count = static_cast<Eigen::Index>(constraints_.size());
      named("impulses", constraints_, solved ? VectorXd(impact.impulses.head(count)) : VectorXd(), solved);
      json_.key("energy_lost").value(impact.energy_lost + impact.friction_lost);
    });
  }

  void diagnosis(const Diagnosis& d) {
    json_.key("redundant").list(row_names(system_, d.redundant));
    json_.key("depends").begin_object();
    for (const Dependence& dep : d.depends) {
      json_.key(rows_[dep.row]).begin_object();
      for (std::size_t k = 0; k < dep.on.size(); ++k) json_.key(rows_[dep.on[k]]).value(dep.coefficients[k]);
      json_.end_object();
    }
    json_.end_object();
    json_.key("conflicts").array(d.conflicts, [&](const Conflict& c) { json_.list(row_names(system_, c.rows)); });
    json_.key("conflict_residuals").array(d.conflicts, [&](const Conflict& c) { json_.value(c.residual); });
  }

  /// {"x": {"rod": …}}, a row for each coordinate.
  void matrix(std::string_view key, const Eigen::MatrixXd& K, const std::vector<std::string>& names, bool there) {
    json_.key(key);
    if (!there) {
      json_.null();
      return;
    }
    json_.begin_object();
    for (Eigen::Index i = 0; i < K.rows(); ++i)
      json_.key(system_.coordinate(static_cast<int>(i))).named(names, K.row(i).transpose());
    json_.end_object();
  }

  void parts(const Parts& p) {
    json_.key("parts").begin_object();
    named("error_signal", rows_, p.error_signal.value_or(VectorXd()), p.error_signal.has_value());
    matrix("gain", p.gain.value_or(Eigen::MatrixXd()), rows_, p.gain.has_value());
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
    json_.key("auxiliary").object([&] {
      const bool few = p.auxiliary.Ms.rows() >= system_.n();  // else too many numbers
      matrix("matrix", p.auxiliary.Ms, system_.equations().coordinates, few);
      by_coordinate("force", p.auxiliary.Delta);
      by_coordinate("acceleration", p.auxiliary.qdd_A);
    });
    by_coordinate("reaction_to_forces", p.reaction_to_forces);
    by_coordinate("reaction_to_motion", p.reaction_to_motion);
    json_.key("power");
    if (p.power)
      json_.object([&] {
        json_.fields({{"ideal", p.power->ideal}, {"nonideal", p.power->nonideal}, {"control", p.power->control}});
        json_.key("by_constraint").named(constraints_, p.power->by_row);
      });
    else
      json_.null();
    json_.end_object();
  }

  const System& system_;
  const Instant& instant_;
  std::vector<std::string> rows_, constraints_;
  JsonWriter json_;
};

}  // namespace

std::string accelerate_json(const System& system, const Instant& instant) {
  return AccelerateJson(system, instant).text();
}

}  // namespace mechanician
