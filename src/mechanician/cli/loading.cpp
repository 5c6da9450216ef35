#include "mechanician/cli/loading.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "mechanician/base/safe_text.hpp"
#include "mechanician/base/text.hpp"
#include "mechanician/model/parameters.hpp"
#include "mechanician/model/read_model.hpp"
#include "mechanician/result/file_clashes.hpp"
#include "mechanician/result/text_sink.hpp"

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

void refuse_overwriting(const CommandOptions& o) {
  std::vector<UsedFile> outputs, inputs;
  const auto named = [](const std::string& file) { return file == "-" ? std::string("/dev/stdin") : file; };
  if (!o.output.empty()) outputs.push_back({o.output, fmt::format("-o {}", o.output)});
  if (!o.report.empty()) outputs.push_back({o.report, fmt::format("--report {}", o.report)});
  if (outputs.empty()) return;
  if (!o.model.empty()) {
    inputs.push_back({named(o.model), "the model"});
    for (const std::string& file : data_files(o.model))
      inputs.push_back({file, "a file that the model takes numbers from"});
  }
  if (!o.samples.empty()) inputs.push_back({o.samples, "the file of samples"});
  if (!o.result.empty()) inputs.push_back({named(o.result), "what is to be plotted"});
  if (const auto clash = find_clash(outputs, inputs)) throw UsageError(*clash);
}

void write_out(const std::string& text) {
  const auto sink = make_standard_output_sink();
  sink->append(text);
  sink->finish();
}

void show(const std::string& text) { write_out(safe_lines(text)); }

}  // namespace mechanician
