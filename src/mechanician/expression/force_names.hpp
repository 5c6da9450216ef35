#pragma once

/// Forces as they are called in expressions: ideal(x), multiplier(rod), …

#include <array>
#include <string_view>

#include "mechanician/expression/expression.hpp"

namespace mechanician {

struct ForceName {
  std::string_view name;
  SymbolKind kind;
  /// Of a coordinate; else of a constraint.
  constexpr bool of_coordinate() const { return (kind_bit(kind) & forces_of_coordinates) != 0; }
};

inline constexpr std::array<ForceName, 7> force_names{{{"ideal", SymbolKind::ideal_force},
                                                       {"multiplier", SymbolKind::multiplier},
                                                       {"constraint", SymbolKind::constraint_force},
                                                       {"control", SymbolKind::control_force},
                                                       {"friction", SymbolKind::friction},
                                                       {"power", SymbolKind::power},
                                                       {"work", SymbolKind::work}}};

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
