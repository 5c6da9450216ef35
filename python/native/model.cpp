#include "model.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "mechanician/base/text.hpp"
#include "mechanician/instant/generic_rows.hpp"
#include "mechanician/instant/project.hpp"
#include "mechanician/model/family_model.hpp"
#include "mechanician/output/accelerate_output.hpp"
#include "mechanician/output/check_output.hpp"
#include "mechanician/output/equations_output.hpp"
#include "mechanician/output/term_equations_output.hpp"

namespace mechanician::python {

namespace {

FamilyModel read(const std::string& file, const std::optional<std::string>& text,
                 const std::map<std::string, double>& set) {
  const ParameterOverrides overrides(set.begin(), set.end());
  FamilyModel model = text ? read_family_model_text(*text, file, overrides) : read_family_model(file, overrides);
  if (!model.unknown_overrides.empty()) {
    const std::vector<std::string> known = parameter_names(model, 10'000);
    throw std::invalid_argument(fmt::format(
        "there is no parameter `{}`{}", model.unknown_overrides.front(),
        known.empty() ? "; the model has none" : fmt::format("; the parameters are {}", quote_list(known))));
  }
  return model;
}

std::vector<std::string> render_all(const std::vector<Remark>& remarks, std::string_view severity,
                                    const SourceText& source) {
  std::vector<std::string> texts;
  for (const Remark& r : remarks) texts.push_back(render(r, severity, source));
  return texts;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : "\n") + text;
  return all;
}

void assign(const System& system, const std::map<std::string, double>& values, Eigen::VectorXd& x) {
  for (const auto& [name, value] : values) {
    const int i = system.find_coordinate(name);
    if (i < 0) throw std::invalid_argument(fmt::format("the model has no coordinate `{}`", name));
    x(i) = value;
  }
}

}  // namespace

NativeModel::NativeModel(std::string file, std::optional<std::string> text, const std::map<std::string, double>& set)
    : file_(std::move(file)),
      text_(std::move(text)),
      set_(set),
      system_(std::make_shared<const System>(read(file_, text_, set))) {}

State NativeModel::state(const Start& start) const {
  State state = system_->start();
  assign(*system_, start.position, state.q);
  assign(*system_, start.velocity, state.qd);
  if (start.time) state.t = *start.time;
  return state;
}

Answer NativeModel::check(const Start& start) const {
  const Instant instant = mechanician::accelerate(*system_, state(start));
  const SourceText& source = system_->source();
  std::vector<Remark> reasons;
  if (!instant.impact) reasons = refusals(*system_, instant);
  for (Remark& r : start_refusals(*system_, instant)) reasons.push_back(std::move(r));
  return {check_json(*system_, instant), render_all(reasons, "error", source),
          render_all(warnings(*system_, instant), "note", source)};
}

Answer NativeModel::accelerate(const Start& start, bool parts) const {
  const Instant instant = mechanician::accelerate(*system_, state(start), {.diagnose = true, .parts = parts});
  const SourceText& source = system_->source();
  return {accelerate_json(*system_, instant), render_all(refusals(*system_, instant), "error", source),
          render_all(warnings(*system_, instant), "note", source)};
}

std::string NativeModel::equations(const std::string& format) const {
  const FamilyModel stated = read(file_, text_, set_);
  if (stated.unknowns.empty() && system_->kernels()) {
    if (format == "latex")
      throw std::invalid_argument(fmt::format("of {} coordinates there are the equations by term, as text or JSON",
                                              stated.num_coordinates()));
    return format == "json" ? term_equations_json(stated) : term_equations_text(stated);
  }
  const Model model = expand(stated);
  const Equations eqs = derive(model);
  std::vector<int> rows;
  if (eqs.contacts.empty()) rows = find_generic_rows(*system_, system_->start()).rows;
  const EquationsReport report = make_equations_report(model, eqs, rows);
  if (format == "json") return equations_json(report);
  return format == "latex" ? equations_latex(report) : equations_text(report);
}

State NativeModel::project(const State& state) const {
  const Projection projection = mechanician::project(*system_, state);
  if (!projection.converged)
    throw std::invalid_argument(render(projection_offer(*system_, state, projection), "error", system_->source()));
  return projection.state;
}

State NativeModel::accept_start(const Start& start, bool project_it) const {
  State state = this->state(start);
  Instant instant = mechanician::accelerate(*system_, state);
  if (project_it && !instant.not_finite && !instant.violations().empty()) {
    state = project(state);
    instant = mechanician::accelerate(*system_, state);
  }
  std::vector<Remark> reasons;
  if (!instant.impact) reasons = refusals(*system_, instant);
  for (Remark& r : start_refusals(*system_, instant)) reasons.push_back(std::move(r));
  if (!reasons.empty()) throw std::invalid_argument(joined(render_all(reasons, "error", system_->source())));
  return state;
}

}  // namespace mechanician::python
