#pragma once

/// Letters and signs beyond ASCII in formulas: fonts of mathematics have them by name only, and leave out without a word what they
/// do not have.

#include <string_view>

namespace mechanician {

/// What a letter is called in a formula, φ: "\varphi"; empty where it has no name there.
std::string_view latex_letter(char32_t letter);

}  // namespace mechanician
