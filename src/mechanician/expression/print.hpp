#pragma once

/// Expressions as text of the model language, as LaTeX and as C.
///
/// The text form parses back to the same value. Printing is linear in the length of the output; as a shared
/// subexpression is printed as often as it is used, the length is limited and what is longer ends in "…" (print_length
/// tells first).

#include <functional>
#include <string>

#include "mechanician/expression/expression.hpp"

namespace mechanician {

enum class PrintFormat { text, latex, c };

struct PrintOptions {
  PrintFormat format = PrintFormat::text;
  std::size_t max_length = 20000;  ///< bytes
  /// Names of symbols, if not the default ones of the format.
  std::function<std::string(const Symbol&)> name_of = nullptr;
};

std::string print(const Expr& f, const PrintOptions& options = {});
inline std::string to_text(const Expr& f) { return print(f); }
inline std::string to_latex(const Expr& f) { return print(f, {.format = PrintFormat::latex}); }
inline std::string to_c(const Expr& f) { return print(f, {.format = PrintFormat::c}); }

/// The name of a symbol: x, x', x'', alpha'.
std::string symbol_text(const Symbol& symbol);
std::string symbol_latex(const Symbol& symbol);
std::string symbol_c(const Symbol& symbol);
/// A model name as LaTeX: theta_1 → \theta_{1}.
std::string name_latex(std::string_view name);
/// The shortest decimal that reads back as the same number.
std::string number_text(double value);

/// Number of nodes of the expression written out as a tree, as a double because it can be astronomical.
double tree_size(const Expr& f);

}  // namespace mechanician
