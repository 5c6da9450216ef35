#pragma once

/// Forces as they are called in expressions: ideal(x), multiplier(rod), …

#include <array>
#include <cstdint>
#include <string_view>

#include "mechanician/expression/expression.hpp"

namespace mechanician {

struct ForceName {
  std::string_view name;
  SymbolKind kind;
  /// What its argument names.
  enum class Of : std::uint8_t { coordinate, constraint, requirement, actuator };
  constexpr Of of() const {
    return (kind_bit(kind) & forces_of_coordinates) != 0 ? Of::coordinate
           : kind == SymbolKind::effort                  ? Of::actuator
           : kind == SymbolKind::control_error           ? Of::requirement
                                                         : Of::constraint;
  }
};

constexpr std::string_view in_words(ForceName::Of of) {
  constexpr std::array<std::string_view, 4> words{"coordinate", "constraint", "control requirement", "actuator"};
  return words[static_cast<std::size_t>(of)];
}

inline constexpr std::array<ForceName, 9> force_names{{{"ideal", SymbolKind::ideal_force},
                                                       {"multiplier", SymbolKind::multiplier},
                                                       {"constraint", SymbolKind::constraint_force},
                                                       {"control", SymbolKind::control_force},
                                                       {"friction", SymbolKind::friction},
                                                       {"power", SymbolKind::power},
                                                       {"work", SymbolKind::work},
                                                       {"tau", SymbolKind::effort},
                                                       {"e", SymbolKind::control_error}}};

/// Null: there is none.
constexpr const ForceName* find_force(std::string_view name) {
  for (const ForceName& force : force_names)
    if (force.name == name) return &force;
  return nullptr;
}
constexpr const ForceName* find_force(SymbolKind kind) {
  for (const ForceName& force : force_names)
    if (force.kind == kind) return &force;
  return nullptr;
}

/// What [nonideal] may use: those of the ideal case.
constexpr bool is_reaction(SymbolKind kind) {
  return kind == SymbolKind::ideal_force || kind == SymbolKind::multiplier;
}

}  // namespace mechanician
