#include "mechanician/report/mode_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "mechanician/base/text.hpp"
#include "mechanician/instant/project.hpp"
#include "mechanician/motion/stage_model.hpp"
#include "mechanician/report/report.hpp"

namespace mechanician {

namespace {

constexpr int rows_of_mode = 60;
/// The largest deviation of a coordinate, as a part of the largest coordinate; of one, where all are zero.
constexpr double part_shown = 0.15;

std::string name_of_mode(int number, const Eigenvalue& e) {
  if (e.value.imag() == 0.0)
    return fmt::format("{}: {}", number, e.value == 0.0 ? "0, stays or drifts" : short_number(e.value.real()) + " 1/s");
  return fmt::format("{}: {} rad/s, damping {}", number, short_number(e.frequency()), short_number(e.damping()));
}

/// How far a mode is at a part of its time: once round, or to and from nothing where it does not oscillate.
std::complex<double> phase(const Eigenvalue& e, double part) {
  if (e.value.imag() != 0.0) return std::polar(1.0, 2.0 * std::numbers::pi * part);
  if (e.value.real() < 0.0) return std::exp(-4.0 * part);
  if (e.value.real() > 0.0) return std::exp(4.0 * (part - 1.0));
  return part;
}

}  // namespace

std::string mode_report_html(std::string_view page, const System& system, const LineariseReport& report) {
  const State& at = report.linear.state;
  const std::vector<int> modes = list_modes(report, most_modes_shown);
  MotionOptions motion;
  motion.to = static_cast<double>(std::max<std::size_t>(modes.size(), 1));
  State begin = at;
  begin.t = 0.0;
  const RunSetup setup = make_setup(system, begin, motion, 1.0 / rows_of_mode, false);
  ReportRecorder rows(system, setup, view_for(system, at));
  const std::vector<std::string> shown{"t", "q"};
  rows.keep_groups(shown);
  const auto n = static_cast<Eigen::Index>(system.n());
  const Eigen::Index constraints = system.m();
  Sample sample;
  // Forces are not known, and no arrow of them is drawn.
  for (Eigen::VectorXd* x : {&sample.qd, &sample.qdd, &sample.Qc, &sample.Qc_i, &sample.Qc_ni, &sample.Q_control})
    x->setZero(n);
  for (Eigen::VectorXd* x : {&sample.lambda, &sample.power, &sample.works.constraints}) x->setZero(constraints);
  sample.outputs.setZero(static_cast<Eigen::Index>(system.output_names().size()));
  sample.normal.setZero(constraints), sample.friction.setZero(2 * constraints);
  sample.error.setZero(system.num_control());
  if (system.num_control() > 0) {
    const auto actuators = std::ssize(system.equations().control.actuators);
    sample.tau.setZero(actuators), sample.works.actuators.setZero(actuators);
  }
  if (system.is_staged()) {
    const std::vector<Parameter>& all = system.model().parameters;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].is_mode) {
        sample.modes.conservativeResize(sample.modes.size() + 1);
        sample.modes(sample.modes.size() - 1) = system.parameters()[i];
      }
    sample.engaged.setOnes(std::ssize(rows_that_change(system.model())));
  }

  const double largest = n > 0 ? at.q.cwiseAbs().maxCoeff() : 0.0, size = part_shown * (largest > 0.0 ? largest : 1.0);
  std::vector<MotionEvent> events;
  for (std::size_t k = 0; k < modes.size(); ++k) {
    const Eigenvalue& e = report.spectrum.eigenvalues[static_cast<std::size_t>(modes[k])];
    const Eigen::VectorXcd shape = mode_shape(report, modes[k]);
    MotionEvent& event = events.emplace_back();
    event.time = static_cast<double>(k), event.kind = EventKind::user, event.name = name_of_mode(modes[k] + 1, e);
    const int last = k + 1 == modes.size() ? rows_of_mode : rows_of_mode - 1;
    for (int i = 0; i <= last; ++i) {
      const double part = static_cast<double>(i) / rows_of_mode;
      sample.t = static_cast<double>(k) + part;
      const Eigen::VectorXcd moved = phase(e, part) * shape;
      State state{at.t, at.q + size * moved.real(), Eigen::VectorXd::Zero(n)};
      // On the constraints, so that rods keep their lengths.
      if (const Projection on = project(system, state, ProjectionGoal::any); on.converged) state.q = on.state.q;
      sample.q = state.q;
      rows.add(sample);
    }
  }
  if (modes.empty()) sample.q = at.q, rows.add(sample);
  // No run, and so nothing that was checked of one.
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  Summary summary;
  summary.status = RunStatus::done;
  summary.end = motion.to;
  summary.method = "none", summary.tolerance = summary.wall_time = none;
  Certificate& c = summary.certificate;
  c.holds = false;
  c.works.given = c.works.ideal = c.works.nonideal = c.works.control = none;
  for (double* x : {&c.position_violation, &c.velocity_violation, &c.kinetic_start, &c.kinetic_end, &c.balance,
                    &c.balance_largest, &c.balance_allowed})
    *x = none;
  return report_html(page, {system, begin, rows, summary, events, "modes, no motion",
                            "Modes of the linear equations, no motion: each is shown for one unit of time, with an "
                            "amplitude that can be seen; the events name them."});
}

}  // namespace mechanician
