#include <fmt/format.h>

#include <iterator>

#include "mechanician/expression/print.hpp"
#include "mechanician/output/equations_output.hpp"

namespace mechanician {

namespace {

std::string shown(const Expr& f) { return print(f, {.format = PrintFormat::text, .max_length = 4000}); }

}  // namespace

std::string equations_text(const Model& model, const Equations& eqs) {
  std::string out;
  const auto line = [&]<class... T>(fmt::format_string<T...> format, T&&... args) {
    fmt::format_to(std::back_inserter(out), format, std::forward<T>(args)...);
    out += '\n';
  };
  if (!model.title.empty()) line("{}\n", model.title);
  const auto& q = eqs.coordinates;
  const auto name = [](const auto& names, int i) -> const std::string& { return names[static_cast<std::size_t>(i)]; };
  std::vector<std::string> rows;
  for (const Row& row : eqs.rows) rows.push_back(row.name);

  line("M q'' = Q + Qc,   A q'' = b{}", eqs.has_C ? ",   v·Qc = v·C for every v with A v = 0" : "");
  line("\nM, the mass matrix ({} of {} entries are not zero)", eqs.M.entries.size(), eqs.n() * eqs.n());
  for (const auto& e : eqs.M.entries)
    if (e.row <= e.col) line("  M[{}, {}] = {}", name(q, e.row), name(q, e.col), shown(e.value));
  line("\nQ, the given force");
  for (int i = 0; i < eqs.n(); ++i) line("  Q[{}] = {}", name(q, i), shown(eqs.Q[static_cast<std::size_t>(i)]));
  if (eqs.m() > 0) {
    line("\nA and b, the constraints");
    for (int i = 0; i < eqs.m(); ++i) {
      if (eqs.rows[static_cast<std::size_t>(i)].kind == RowKind::control) line("  {} is a control requirement", name(rows, i));
      for (const auto& e : eqs.A.entries)
        if (e.row == i) line("  A[{}, {}] = {}", name(rows, i), name(q, e.col), shown(e.value));
      line("  b[{}] = {}", name(rows, i), shown(eqs.b[static_cast<std::size_t>(i)]));
    }
  }
  if (eqs.has_C) {
    line("\nC, the prescribed work of the constraint forces");
    for (int i = 0; i < eqs.n(); ++i) line("  C[{}] = {}", name(q, i), shown(eqs.C[static_cast<std::size_t>(i)]));
  }
  return out;
}

}  // namespace mechanician
