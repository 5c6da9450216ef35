#include "mechanician/library/latex_document.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "mechanician/instant/accelerate.hpp"
#include "mechanician/instant/family_numbers.hpp"
#include "mechanician/instant/generic_rows.hpp"
#include "mechanician/motion/stage_model.hpp"
#include "mechanician/output/check_output.hpp"
#include "mechanician/output/equations_output.hpp"

namespace mechanician {

namespace {

/// Plain text, no letter of which is a command.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '\\':
        out += "\\textbackslash{}";
        break;
      case '~':
        out += "\\textasciitilde{}";
        break;
      case '^':
        out += "\\textasciicircum{}";
        break;
      case '#':
      case '$':
      case '%':
      case '&':
      case '_':
      case '{':
      case '}':
        out += fmt::format("\\{}", c);
        break;
      default:
        out += static_cast<unsigned char>(c) < 32 ? ' ' : c;
    }
  }
  return out;
}

constexpr std::size_t longest_expression = 2000;  // bytes: what is longer nobody reads

/// As it is written, line by line. Nothing in it can end the listing.
std::string listing(std::string text) {
  constexpr std::string_view end = "\\end{verbatim}";
  for (std::size_t at = text.find(end); at != std::string::npos; at = text.find(end))
    text.replace(at, end.size(), "\\end {verbatim}");
  if (!text.empty() && text.back() != '\n') text += '\n';
  return fmt::format("{{\\footnotesize\n\\begin{{verbatim}}\n{}\\end{{verbatim}}\n}}\n", text);
}

}  // namespace

std::string latex_document(const System& system, const State& start) {
  if (stays_in_families(system))
    throw std::invalid_argument(
        fmt::format("of {} coordinates there are the equations by term, and no document", system.n()));
  std::vector<int> rows;
  if (system.equations().contacts.empty()) rows = find_generic_rows(system, start).rows;
  const EquationsReport report = make_equations_report(system.model(), system.equations(), rows);
  const std::string title = system.title().empty() ? "A model" : system.title();
  std::string out = fmt::format(
      "% For lualatex or "
      "xelatex.\n\\documentclass[a4paper]{{article}}\n\\usepackage{{amsmath}}\n\\usepackage{{fontspec}}\n"
      "\\usepackage[margin=25mm]{{geometry}}\n\\allowdisplaybreaks\n\\title{{{}}}\n\\author{{}}\n\\date{{}}\n\\begin{{"
      "document}}\n"
      "\\maketitle\n",
      escaped(title));
  if (!system.source().text.empty()) out += "\n\\section{Model}\n" + listing(system.source().text);
  out += "\n\\section{Equations of motion}\n$M \\ddot q = Q + Q^c$, $A \\ddot q = b$.\n";
  for (const LatexBlock& block : equations_latex_blocks(report, longest_expression)) {
    if (!block.name.empty()) out += fmt::format("\n\\paragraph{{{}.}}", escaped(block.name));
    if (!block.note.empty()) out += fmt::format(" {}", escaped(block.note));
    out += '\n';
    if (!block.latex.empty()) out += fmt::format("\\[\n{}\n\\]\n", block.latex);
  }
  const System begun = system_at_start(system);
  out += "\n\\section{At the start}\n" + listing(check_text(begun, accelerate(begun, start, {.diagnose = true})));
  return out + "\n\\end{document}\n";
}

}  // namespace mechanician
