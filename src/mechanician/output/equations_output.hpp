#pragma once

/// The equations of motion for reading: text, LaTeX and JSON.

#include <optional>
#include <string>

#include "mechanician/equations/closed_form.hpp"
#include "mechanician/equations/equations.hpp"

namespace mechanician {

/// What is printed. Without a closed form, `no_closed_form` says why.
struct EquationsReport {
  const Model& model;
  const Equations& eqs;
  std::optional<ClosedForm> closed;
  std::string no_closed_form;
};

std::string equations_text(const EquationsReport& report);
std::string equations_latex(const EquationsReport& report);
std::string equations_json(const EquationsReport& report);

}  // namespace mechanician
