#pragma once

/// The equations of motion for reading: text, LaTeX and JSON.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mechanician/equations/closed_form.hpp"
#include "mechanician/equations/equations.hpp"

namespace mechanician {

/// What is printed. Without a closed form, `no_closed_form` says why.
struct EquationsReport {
  const Model& model;
  Equations eqs;  ///< without states that no constraint mentions: the rates of all stand in `model`
  std::optional<ClosedForm> closed;
  std::string no_closed_form;
};

/// With the closed form where there is one; `independent_rows` as for closed_form().
EquationsReport make_equations_report(const Model& model, const Equations& eqs, std::span<const int> independent_rows);

/// A formula with its name, or a remark between formulas.
struct LatexBlock {
  std::string name;   ///< "Mass matrix", …
  std::string latex;  ///< of a display; may be empty
  std::string note;
};
/// Expressions of more bytes than `longest` are said to be long in their place.
std::vector<LatexBlock> equations_latex_blocks(const EquationsReport& report, std::size_t longest = 100'000);

std::string equations_text(const EquationsReport& report);
std::string equations_latex(const EquationsReport& report);
std::string equations_json(const EquationsReport& report);

}  // namespace mechanician
