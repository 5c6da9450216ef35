#include "mechanician/cli/large_loading.hpp"

#include <fmt/format.h>

#include <tuple>

#include "mechanician/base/text.hpp"

namespace mechanician {

std::optional<Large> load_large(const CommandOptions& options, long more_than, LargeSystem::Kinks kinks) {
  if (options.model.empty()) return std::nullopt;  // --resume
  const ParameterOverrides set(options.set.begin(), options.set.end());
  const long count = count_family_coordinates(options.model, set);
  if (count <= more_than) return std::nullopt;
  try {
    LargeSystem system(read_family_model(options.model, set), 0, kinks);
    if (const auto& unknown = system.model().unknown_overrides; !unknown.empty()) {
      const std::string near = nearest(unknown.front(), system.model().parameter_names);
      throw UsageError(fmt::format("--set: the model has no parameter `{}`{}", unknown.front(),
                                   near.empty() ? "" : fmt::format("; did you mean `{}`?", near)));
    }
    LargeSystem::Start start = system.start();
    for (const auto& [values, option, to] : {std::tuple(&options.position, "--position", &start.q),
                                             std::tuple(&options.velocity, "--velocity", &start.qd)})
      for (const auto& [name, value] : *values) {
        const long number = system.model().find(name);
        if (number < 0) throw UsageError(fmt::format("{}: the model has no coordinate `{}`", option, name));
        (*to)[static_cast<std::size_t>(number)] = value;
      }
    if (!options.time.empty()) start.t = parse_number(options.time, "--time");
    return Large{std::move(system), std::move(start)};
  } catch (const ModelError&) {
    if (count <= most_for_the_ordinary_path) return std::nullopt;
    throw;
  }
}

void refuse_many_coordinates(const CommandOptions& options, const char* command, const char* instead) {
  const long count =
      count_family_coordinates(options.model, ParameterOverrides(options.set.begin(), options.set.end()));
  if (count <= most_for_the_ordinary_path) return;
  throw UsageError(fmt::format("{} is for models of at most {} coordinates, and this one has {}{}{}", command,
                               most_for_the_ordinary_path, count, *instead ? "; " : "", instead));
}

}  // namespace mechanician
