#include "mechanician/library/latex_document.hpp"

#include <fmt/format.h>

#include <set>
#include <stdexcept>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/latex_letters.hpp"
#include "mechanician/instant/accelerate.hpp"
#include "mechanician/instant/family_numbers.hpp"
#include "mechanician/instant/generic_rows.hpp"
#include "mechanician/motion/stage_model.hpp"
#include "mechanician/output/check_output.hpp"
#include "mechanician/output/equations_output.hpp"
#include "mechanician/report/still_picture.hpp"

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

/// How letters beyond ASCII are set that occur in a text. A font leaves out without a word what it does not have, and the formula that is
/// left is another one: such letters come from the formulas, or are named by their numbers.
std::string letters_of(std::string_view text) {
  std::set<char32_t> letters;
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint c = decode_utf8(text, i);
    if (c.valid && c.value >= 0x80) letters.insert(c.value);
    i += static_cast<std::size_t>(c.length);
  }
  if (letters.empty()) return {};
  std::string out =
      "\\newcommand{\\letter}[2]{\\ifmmode#2\\else\\iffontchar\\font\"#1 \\char\"#1 \\else\\ensuremath{#2}\\fi\\fi}\n"
      "\\newcommand{\\lettertext}[1]{\\text{\\iffontchar\\font\"#1 \\char\"#1 \\else[U+#1]\\fi}}\n";
  for (const char32_t c : letters) {
    const std::string code = fmt::format("{:04X}", static_cast<std::uint32_t>(c));
    const std::string_view named = latex_letter(c);
    out += fmt::format("\\catcode\"{0}=13 \\protected\\def^^^^^^{1:06x}{{\\letter{{{0}}}{{{2}}}}}\n", code,
                       static_cast<std::uint32_t>(c),
                       named.empty() ? fmt::format("\\lettertext{{{}}}", code) : std::string(named));
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
  const std::string begin =
      "% For lualatex or xelatex.\n\\documentclass[a4paper]{article}\n\\usepackage{amsmath}\n\\usepackage{fontspec}\n"
      "\\usepackage[margin=25mm]{geometry}\n\\allowdisplaybreaks\n"
      "\\tracinglostchars=3\n";  // what a font does not have is a mistake
  std::string out =
      fmt::format("\\title{{{}}}\n\\author{{}}\n\\date{{}}\n\\begin{{document}}\n\\maketitle\n", escaped(title));
  if (!system.source().text.empty()) out += "\n\\section{Model}\n" + listing(system.source().text);
  if (const std::string picture = still_latex(system_at_start(system), start); !picture.empty())
    out += fmt::format("\n\\begin{{figure}}[h]\n\\centering\n{}\\caption{{The start, t = {}.}}\n\\end{{figure}}\n",
                       picture, short_number(start.t));
  out += "\n\\section{Equations of motion}\n$M \\ddot q = Q + Q^c$, $A \\ddot q = b$.\n";
  for (const LatexBlock& block : equations_latex_blocks(report, longest_expression)) {
    if (!block.name.empty()) out += fmt::format("\n\\paragraph{{{}.}}", escaped(block.name));
    if (!block.note.empty()) out += fmt::format(" {}", escaped(block.note));
    out += '\n';
    if (!block.latex.empty()) out += fmt::format("\\[\n{}\n\\]\n", block.latex);
  }
  const System begun = system_at_start(system);
  out += "\n\\section{At the start}\n" + listing(check_text(begun, accelerate(begun, start, {.diagnose = true})));
  out += "\n\\end{document}\n";
  return begin + letters_of(out) + out;
}

}  // namespace mechanician
