#include "mechanician/expression/latex_letters.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace mechanician {

namespace {

using Letter = std::pair<char32_t, std::string_view>;

/// In the order of their numbers. Letters that look as Latin ones do have no name of their own.
constexpr auto letters = std::to_array<Letter>({
    {U'°', "{}^{\\circ}"},
    {U'±', "\\pm"},
    {U'²', "{}^{2}"},
    {U'³', "{}^{3}"},
    {U'µ', "\\mu"},
    {U'·', "\\cdot"},
    {U'¹', "{}^{1}"},
    {U'×', "\\times"},
    {U'Α', "\\mathrm{A}"},
    {U'Β', "\\mathrm{B}"},
    {U'Γ', "\\Gamma"},
    {U'Δ', "\\Delta"},
    {U'Ε', "\\mathrm{E}"},
    {U'Ζ', "\\mathrm{Z}"},
    {U'Η', "\\mathrm{H}"},
    {U'Θ', "\\Theta"},
    {U'Ι', "\\mathrm{I}"},
    {U'Κ', "\\mathrm{K}"},
    {U'Λ', "\\Lambda"},
    {U'Μ', "\\mathrm{M}"},
    {U'Ν', "\\mathrm{N}"},
    {U'Ξ', "\\Xi"},
    {U'Ο', "\\mathrm{O}"},
    {U'Π', "\\Pi"},
    {U'Ρ', "\\mathrm{P}"},
    {U'Σ', "\\Sigma"},
    {U'Τ', "\\mathrm{T}"},
    {U'Υ', "\\Upsilon"},
    {U'Φ', "\\Phi"},
    {U'Χ', "\\mathrm{X}"},
    {U'Ψ', "\\Psi"},
    {U'Ω', "\\Omega"},
    {U'α', "\\alpha"},
    {U'β', "\\beta"},
    {U'γ', "\\gamma"},
    {U'δ', "\\delta"},
    {U'ε', "\\varepsilon"},
    {U'ζ', "\\zeta"},
    {U'η', "\\eta"},
    {U'θ', "\\theta"},
    {U'ι', "\\iota"},
    {U'κ', "\\kappa"},
    {U'λ', "\\lambda"},
    {U'μ', "\\mu"},
    {U'ν', "\\nu"},
    {U'ξ', "\\xi"},
    {U'ο', "o"},
    {U'π', "\\pi"},
    {U'ρ', "\\rho"},
    {U'ς', "\\varsigma"},
    {U'σ', "\\sigma"},
    {U'τ', "\\tau"},
    {U'υ', "\\upsilon"},
    {U'φ', "\\varphi"},
    {U'χ', "\\chi"},
    {U'ψ', "\\psi"},
    {U'ω', "\\omega"},
    {U'ϑ', "\\vartheta"},
    {U'ϕ', "\\phi"},
    {U'ϖ', "\\varpi"},
    {U'ϱ', "\\varrho"},
    {U'ϵ', "\\epsilon"},
    {U'…', "\\dots"},
    {U'⁰', "{}^{0}"},
    {U'⁴', "{}^{4}"},
    {U'⁵', "{}^{5}"},
    {U'⁶', "{}^{6}"},
    {U'⁷', "{}^{7}"},
    {U'⁸', "{}^{8}"},
    {U'⁹', "{}^{9}"},
    {U'⁻', "{}^{-}"},
    {U'₀', "{}_{0}"},
    {U'₁', "{}_{1}"},
    {U'₂', "{}_{2}"},
    {U'₃', "{}_{3}"},
    {U'₄', "{}_{4}"},
    {U'₅', "{}_{5}"},
    {U'₆', "{}_{6}"},
    {U'₇', "{}_{7}"},
    {U'₈', "{}_{8}"},
    {U'₉', "{}_{9}"},
    {U'ℓ', "\\ell"},
    {U'→', "\\to"},
    {U'∂', "\\partial"},
    {U'∇', "\\nabla"},
    {U'∑', "\\textstyle\\sum"},
    {U'−', "-"},
    {U'√', "\\surd"},
    {U'∞', "\\infty"},
    {U'∫', "\\textstyle\\int"},
    {U'≈', "\\approx"},
    {U'≠', "\\ne"},
    {U'≤', "\\le"},
    {U'≥', "\\ge"},
});
static_assert(std::ranges::is_sorted(letters, {}, &Letter::first));

}  // namespace

std::string_view latex_letter(char32_t letter) {
  const auto* found = std::ranges::lower_bound(letters, letter, {}, &Letter::first);
  return found != letters.end() && found->first == letter ? found->second : std::string_view{};
}

}  // namespace mechanician
