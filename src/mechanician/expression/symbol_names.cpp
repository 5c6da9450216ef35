#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/family_name.hpp"
#include "mechanician/expression/force_names.hpp"
#include "mechanician/expression/latex_letters.hpp"
#include "mechanician/expression/print.hpp"

namespace mechanician {

namespace {

/// Marks of differentiation of an unknown function of time alone: alpha', alpha''.
bool is_function_of_time(const Symbol& s) {
  return s.depends.size() == 1 && s.depends.front().symbol().kind == SymbolKind::time;
}

int total_order(const Symbol& s) {
  int order = 0;
  for (const int k : s.orders) order += k;
  return order;
}

constexpr std::array<std::string_view, 35> greek = {
    "alpha", "beta",  "gamma",  "delta", "epsilon", "zeta",  "eta",     "theta", "iota", "kappa", "lambda", "mu",
    "nu",    "xi",    "pi",     "rho",   "sigma",   "tau",   "upsilon", "phi",   "chi",  "psi",   "omega",  "Gamma",
    "Delta", "Theta", "Lambda", "Xi",    "Pi",      "Sigma", "Upsilon", "Phi",   "Psi",  "Omega", "varphi"};

/// Letters that stand for themselves: one in italics, a word upright. Fonts of mathematics have none beyond ASCII, those of text do.
std::string word_latex(std::string_view word) {
  if (word.empty()) return {};
  const bool ascii = std::ranges::all_of(word, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (ascii && word.size() == 1 && word != "_") return std::string(word);
  std::string escaped;
  for (const char c : word) escaped += c == '_' ? std::string("\\_") : std::string(1, c);
  return (ascii ? "\\mathrm{" : "\\text{") + escaped + "}";
}

std::string plain_latex(std::string_view part) {
  for (const auto g : greek)
    if (part == g) return "\\" + std::string(part);
  std::string out;
  std::size_t word = 0;  // where letters without a name of their own begin
  const auto put = [&out](std::string_view text) {
    // A command ends where no letter follows.
    const bool runs_on = !out.empty() && std::isalpha(static_cast<unsigned char>(out.back())) && !text.empty() &&
                         std::isalpha(static_cast<unsigned char>(text.front()));
    out += (runs_on ? " " : "") + std::string(text);
  };
  for (std::size_t i = 0; i < part.size();) {
    const CodePoint c = decode_utf8(part, i);
    const std::string_view named = c.valid ? latex_letter(c.value) : std::string_view{};
    if (!named.empty()) put(word_latex(part.substr(word, i - word))), put(named);
    i += static_cast<std::size_t>(c.length);
    if (!named.empty()) word = i;
  }
  put(word_latex(part.substr(word)));
  return out;
}

}  // namespace

std::string name_latex(std::string_view name) {
  // A member of a family: x[3], net[1,2]; what its name has of a subscript stays beside the index.
  if (const std::size_t open = family_of(name).size(); open < name.size())
    return "{" + name_latex(name.substr(0, open)) + "}_{" + std::string(name.substr(open + 1, name.size() - open - 2)) +
           "}";
  // x_1, theta1 and x12 carry a subscript.
  std::size_t split = name.find('_');
  if (split == std::string_view::npos || split == 0) {
    split = name.size();
    while (split > 0 && std::isdigit(static_cast<unsigned char>(name[split - 1]))) --split;
    if (split == 0) split = name.size();
  }
  const std::string_view head = name.substr(0, split);
  std::string_view tail = name.substr(split);
  if (!tail.empty() && tail.front() == '_') tail.remove_prefix(1);
  const bool number = std::ranges::all_of(tail, [](char c) { return std::isdigit(static_cast<unsigned char>(c)); });
  return plain_latex(head) + (tail.empty() ? "" : "_{" + (number ? std::string(tail) : plain_latex(tail)) + "}");
}

std::string symbol_text(const Symbol& s) {
  switch (s.kind) {
    case SymbolKind::velocity:
      return s.name + "'";
    case SymbolKind::acceleration:
      return s.name + "''";
    case SymbolKind::ideal_force:
    case SymbolKind::multiplier:
    case SymbolKind::constraint_force:
    case SymbolKind::control_force:
    case SymbolKind::friction:
    case SymbolKind::power:
    case SymbolKind::work:
    case SymbolKind::effort:
    case SymbolKind::control_error:
      return fmt::format("{}({})", find_force(s.kind)->name, s.name);
    case SymbolKind::unknown: {
      if (total_order(s) == 0) return s.name;
      if (is_function_of_time(s)) return s.name + std::string(static_cast<std::size_t>(s.orders[0]), '\'');
      // d/dx d/dt X as X_x_t
      std::string text = "D(" + s.name;
      for (std::size_t i = 0; i < s.depends.size(); ++i)
        for (int k = 0; k < s.orders[i]; ++k) text += ", " + symbol_text(s.depends[i].symbol());
      return text + ")";
    }
    default:
      return s.name;
  }
}

std::string symbol_latex(const Symbol& s) {
  const std::string name = name_latex(s.name);
  switch (s.kind) {
    case SymbolKind::velocity:
      return "\\dot{" + name + "}";
    case SymbolKind::acceleration:
      return "\\ddot{" + name + "}";
    case SymbolKind::ideal_force:
      return "Q^{c}_{i," + name + "}";
    case SymbolKind::multiplier:
      return "\\lambda_{" + name + "}";
    case SymbolKind::constraint_force:
    case SymbolKind::control_force:
    case SymbolKind::friction:
    case SymbolKind::power:
    case SymbolKind::work:
    case SymbolKind::effort:
    case SymbolKind::control_error:
      return fmt::format("\\mathrm{{{}}}_{{{}}}", find_force(s.kind)->name, name);
    case SymbolKind::unknown: {
      const int order = total_order(s);
      if (order == 0) return name;
      if (is_function_of_time(s) && order <= 2) return (order == 1 ? "\\dot{" : "\\ddot{") + name + "}";
      std::string below;
      for (std::size_t i = 0; i < s.depends.size(); ++i)
        for (int k = 0; k < s.orders[i]; ++k) below += "\\partial " + symbol_latex(s.depends[i].symbol()) + " ";
      return "\\frac{\\partial" + (order > 1 ? "^{" + std::to_string(order) + "}" : std::string()) + " " + name + "}{" +
             below + "}";
    }
    default:
      return name;
  }
}

std::string symbol_c(const Symbol& s) {
  // Letters outside ASCII become u03B8; what follows a prime becomes a suffix.
  std::string name;
  for (std::size_t i = 0; i < s.name.size();) {
    const auto c = static_cast<unsigned char>(s.name[i]);
    if (c < 0x80) {
      name += s.name[i++];
      continue;
    }
    const int length = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
    unsigned code = c & (0xFFu >> (length + 1));
    for (int k = 1; k < length && i + static_cast<std::size_t>(k) < s.name.size(); ++k)
      code = (code << 6) | (static_cast<unsigned char>(s.name[i + static_cast<std::size_t>(k)]) & 0x3Fu);
    i += static_cast<std::size_t>(length);
    constexpr std::string_view digits = "0123456789ABCDEF";
    name += 'u';
    for (int shift = code > 0xFFFF ? 20 : 12; shift >= 0; shift -= 4) name += digits[(code >> shift) & 0xF];
  }
  switch (s.kind) {
    case SymbolKind::velocity:
      return name + "_d";
    case SymbolKind::acceleration:
      return name + "_dd";
    case SymbolKind::ideal_force:
      return "ideal_" + name;
    case SymbolKind::multiplier:
      return "lambda_" + name;
    case SymbolKind::constraint_force:
    case SymbolKind::control_force:
    case SymbolKind::friction:
    case SymbolKind::power:
    case SymbolKind::work:
    case SymbolKind::effort:
    case SymbolKind::control_error:
      return fmt::format("{}_{}", find_force(s.kind)->name, name);
    case SymbolKind::unknown: {
      for (std::size_t i = 0; i < s.depends.size(); ++i)
        for (int k = 0; k < s.orders[i]; ++k) name += "_by_" + symbol_c(s.depends[i].symbol());
      return name;
    }
    default:
      return name;
  }
}

}  // namespace mechanician
