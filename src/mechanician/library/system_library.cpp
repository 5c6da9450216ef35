// What a System offers to those who include mechanician.hpp: made of all stages, hence behind them.

#include <fmt/format.h>

#include <stdexcept>

#include "mechanician/base/text.hpp"
#include "mechanician/instant/family_numbers.hpp"
#include "mechanician/instant/generic_rows.hpp"
#include "mechanician/instant/project.hpp"
#include "mechanician/library/acceleration.hpp"
#include "mechanician/library/instant_answer.hpp"
#include "mechanician/library/system_cache.hpp"
#include "mechanician/motion/stage_model.hpp"
#include "mechanician/output/equations_output.hpp"
#include "mechanician/output/term_equations_output.hpp"

namespace mechanician {

namespace {

void refuse_unknown(const FamilyModel& model) {
  if (model.unknown_overrides.empty()) return;
  const std::vector<std::string> known = parameter_names(model, 10'000);
  const std::string& name = model.unknown_overrides.front();
  const std::string near = nearest(name, known);
  throw std::invalid_argument(fmt::format("there is no parameter `{}`{}", name,
                                          !near.empty()   ? fmt::format("; did you mean `{}`?", near)
                                          : known.empty() ? "; the model has none"
                                                          : fmt::format("; the parameters are {}", quote_list(known))));
}

}  // namespace

System System::from_file(const std::string& file, const std::map<std::string, double>& set) {
  return cached_system({.name = file, .text = {}, .is_file = true, .set = set}, [&] {
    FamilyModel model = read_family_model(file, ParameterOverrides(set.begin(), set.end()));
    refuse_unknown(model);
    System system(std::move(model));
    system.given_ = set;
    return system;
  });
}

System System::from_text(std::string_view text, const std::map<std::string, double>& set, std::string name) {
  return cached_system({.name = name, .text = std::string(text), .is_file = false, .set = set}, [&] {
    FamilyModel model = read_family_model_text(text, name, ParameterOverrides(set.begin(), set.end()));
    refuse_unknown(model);
    System system(std::move(model));
    system.given_ = set;
    return system;
  });
}

InstantAnswer System::instant() const { return instant(InstantRequest{}); }
InstantAnswer System::instant(const InstantRequest& request) const {
  const System system = system_at_start(*this);
  State state = start_of(system, request.position, request.velocity, request.time);
  if (system.start_rules().assemble)
    if (const Projection projection = project_start(system, state); projection.converged) state = projection.state;
  return {system, accelerate(system, state, {.diagnose = true, .parts = request.parts})};
}

std::string System::equations_as(const std::string& format) const {
  if (format != "text" && format != "json" && format != "latex")
    throw std::invalid_argument(fmt::format("equations are text, json or latex, not {}", format));
  if (stays_in_families(*this)) {
    const FamilyModel stated =
        read_family_model_text(source().text, source().file, ParameterOverrides(given_.begin(), given_.end()));
    if (format == "latex")
      throw std::invalid_argument(
          fmt::format("of {} coordinates there are the equations by term, as text or json", n()));
    return format == "json" ? term_equations_json(stated) : term_equations_text(stated);
  }
  std::vector<int> rows;
  if (equations().contacts.empty()) rows = find_generic_rows(*this, start()).rows;
  const EquationsReport report = make_equations_report(model(), equations(), rows);
  if (format == "json") return equations_json(report);
  return format == "latex" ? equations_latex(report) : equations_text(report);
}

Acceleration System::compiled() const { return {*this, start()}; }

}  // namespace mechanician
