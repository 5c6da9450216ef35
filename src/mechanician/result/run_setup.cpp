#include "mechanician/result/run_setup.hpp"

#include "mechanician/base/version.hpp"
#include "mechanician/output/json_writer.hpp"

namespace mechanician {

RunSetup make_setup(const System& system, const State& start, const MotionOptions& motion, std::optional<double> every,
                    bool verify) {
  RunSetup setup;
  setup.model = system.source();
  setup.parameter_names = system.parameter_names();
  setup.parameters = system.parameters();
  setup.start = start;
  setup.motion = motion;
  setup.every = every;
  setup.verify = verify;
  setup.version = version();
  return setup;
}

std::string options_json(const RunSetup& setup, const Columns& columns) {
  JsonWriter json;
  json.begin_object();
  json.key("to").value(setup.motion.to);
  json.key("every");
  setup.every ? json.value(*setup.every) : json.null();
  json.key("tolerance").value(setup.motion.tolerance);
  json.key("method").value(name_of(setup.motion.method));
  if (!setup.motion.scale.empty() && setup.motion.scale.size() == columns.coordinates().size())
    json.key("scale").named(columns.coordinates(),
                            Eigen::Map<const Eigen::VectorXd>(setup.motion.scale.data(), setup.start.q.size()));
  json.key("verify").value(setup.verify);
  if (!setup.columns.empty()) json.key("columns").value(setup.columns);
  json.key("parameters").begin_object();
  for (std::size_t i = 0; i < setup.parameter_names.size(); ++i)
    json.key(setup.parameter_names[i]).value(setup.parameters[i]);
  json.end_object();
  json.key("start").begin_object();
  json.key("time").value(setup.start.t);
  if (columns.coordinates().size() == static_cast<std::size_t>(setup.start.q.size())) {
    json.key("position").named(columns.coordinates(), setup.start.q);
    json.key("velocity").named(columns.coordinates(), setup.start.qd);
  }
  json.end_object();
  json.end_object();
  return json.text();
}

}  // namespace mechanician
