#include "mechanician/cli/loading.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "mechanician/base/text.hpp"
#include "mechanician/model/parameters.hpp"
#include "mechanician/model/read_model.hpp"

namespace mechanician {

namespace {

void assign(Eigen::VectorXd& x, const Assignments& values, const Model& model, const char* option) {
  for (const auto& [name, value] : values) {
    const int i = model.find_coordinate(name);
    if (i < 0) {
      std::vector<std::string> known;
      for (const Coordinate& c : model.coordinates) known.push_back(c.name);
      const std::string near = nearest(name, known);
      throw UsageError(fmt::format("{}: the model has no coordinate `{}`{}", option, name,
                                   near.empty() ? "" : fmt::format("; did you mean `{}`?", near)));
    }
    x(i) = value;
  }
}

ParameterValues parameters_of(const Model& model, const Assignments& set) {
  try {
    return evaluate_parameters(model, ParameterOverrides(set.begin(), set.end()));
  } catch (const std::invalid_argument& e) {
    throw UsageError(fmt::format("--set: {}", e.what()));
  }
}

}  // namespace

Loaded load(const CommandOptions& options) {
  Model model = read_model(options.model, ParameterOverrides(options.set.begin(), options.set.end()));
  const ParameterValues parameters = parameters_of(model, options.set);
  State start = state_of(start_state(model, parameters));
  assign(start.q, options.position, model, "--position");
  assign(start.qd, options.velocity, model, "--velocity");
  if (!options.time.empty()) start.t = parse_number(options.time, "--time");
  return {System(std::move(model), parameters.values), std::move(start)};
}

void write_out(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw FileError(fmt::format("standard output: {}", std::strerror(errno)));
}

}  // namespace mechanician
