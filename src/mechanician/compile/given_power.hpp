#pragma once

/// The power of the given forces, shorter than ½ q̇ᵀṀ q̇ + q̇ᵀQ where M and Q come from energies. With T = T₂ + T₁ + T₀ by
/// degree in q̇, M = ∂²T/∂q̇∂q̇ and Q = F − V_q + T_q − T_q̇q q̇ − T_q̇t, Euler's theorem for homogeneous functions leaves
///
///     ½ q̇ᵀṀ q̇ + q̇ᵀQ = q̇ᵀ(F − V_q + T₀_q) − (T₂ + T₁)_t
///
/// F and V_q are parts of Q already, so that this costs a product for each coordinate; Ṁ of an arm of seven axes alone
/// costs as much as M and Q together.

#include <optional>

#include "mechanician/model/model.hpp"

namespace mechanician {

/// Nothing where the model gives M instead of energies.
std::optional<Expr> make_given_power(const Model& model);

}  // namespace mechanician
