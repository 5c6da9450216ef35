#include "mechanician/motion/motion_record.hpp"

#include <array>
#include <string_view>

namespace mechanician {

namespace {
constexpr std::array method_names{std::string_view("auto"), std::string_view("dop853"), std::string_view("bdf")};
constexpr std::array event_names{
    std::string_view("impact"),    std::string_view("release"),        std::string_view("contact"),
    std::string_view("stick"),     std::string_view("slip"),           std::string_view("singular"),
    std::string_view("user"),      std::string_view("sliding begins"), std::string_view("sliding ends"),
    std::string_view("saturated"), std::string_view("released"),       std::string_view("acts"),
    std::string_view("rests")};
}  // namespace

void add(Works& to, const Works& from) {
  to.given += from.given, to.ideal += from.ideal, to.nonideal += from.nonideal, to.control += from.control;
  to.constraints += from.constraints;
  if (from.actuators.size() == 0) return;
  if (to.actuators.size() == 0)
    to.actuators = from.actuators;
  else
    to.actuators += from.actuators;
}

void add(Statistics& to, const Statistics& from) {
  to.steps += from.steps, to.rejected += from.rejected, to.evaluations += from.evaluations, to.robust += from.robust;
  to.projections += from.projections, to.jacobians += from.jacobians, to.crossings += from.crossings;
  to.switches += from.switches, to.restarts += from.restarts;
}

std::optional<Method> method_of(std::string_view name) {
  for (std::size_t i = 0; i < method_names.size(); ++i)
    if (method_names[i] == name) return static_cast<Method>(i);
  return std::nullopt;
}

std::string_view name_of(Method method) { return method_names[static_cast<std::size_t>(method)]; }
std::string_view name_of(EventKind kind) { return event_names[static_cast<std::size_t>(kind)]; }

}  // namespace mechanician
