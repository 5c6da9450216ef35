#include "mechanician/exports/c_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <map>
#include <stdexcept>

#include "mechanician/exports/c_printer.hpp"

namespace mechanician {

namespace {

constexpr std::size_t part_size = 400;     // steps of a function
constexpr std::size_t longest_text = 120;  // of an expression that is written into another one
constexpr std::size_t least_shared = 40;   // steps that are worth a function of their own
constexpr int most_programs = 64;          // that have something in common: a bit for each

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

}  // namespace

std::int32_t CPool::node_of(const Node& node, int program) {
  std::string key;
  const auto put = [&](const auto& x) { key.append(reinterpret_cast<const char*>(&x), sizeof x); };
  put(node.action), put(node.operands), put(node.input), put(node.constant);
  const int owner = program < most_programs ? 0 : program;
  put(owner);
  const auto [found, is_new] = known_.emplace(std::move(key), static_cast<std::int32_t>(nodes_.size()));
  if (is_new) nodes_.push_back(node);
  if (program < most_programs) nodes_[at(found->second)].users |= std::uint64_t{1} << program;
  return found->second;
}

void CPool::add(const Program& program, std::string_view name, int common, int alike) {
  Function made;
  made.name = name, made.index = static_cast<int>(functions_.size());
  std::vector<std::int32_t> node;  // by register
  for (std::int32_t i = 0; i < program.num_inputs; ++i) {
    Node input;
    input.input = i;
    // What is not the same for all is told apart by a constant that has no other meaning.
    input.constant = i < common ? 0.0 : i < alike ? -1.0 : 1.0 + made.index;
    node.push_back(node_of(input, made.index));
  }
  for (const double c : program.constants) {
    Node constant;
    constant.constant = c;
    node.push_back(node_of(constant, made.index));
  }
  for (const Step& s : program.steps) {
    Node step;
    step.action = s.action;
    const std::int32_t registers[] = {s.a, s.b, s.c};
    const int count = s.action == action_of(Op::lookup) ? 3 : num_operands(s.action);
    for (int i = 0; i < count; ++i) step.operands[i] = node[at(registers[i])];
    node.push_back(node_of(step, made.index));
  }
  for (const std::int32_t out : program.outputs) made.outputs.push_back(node[at(out)]);
  functions_.push_back(std::move(made));
}

/// Steps by the programs that have them; what few steps have in common is computed by each.
void CPool::group() {
  unit_of_.assign(nodes_.size(), -1);
  place_.assign(nodes_.size(), -1);
  std::map<std::uint64_t, std::vector<std::int32_t>> by_users;
  for (std::size_t k = 0; k < nodes_.size(); ++k)
    if (nodes_[k].is_step() && std::popcount(nodes_[k].users) > 1)
      by_users[nodes_[k].users].push_back(static_cast<std::int32_t>(k));
  for (auto& [users, nodes] : by_users)
    if (nodes.size() >= least_shared) units_.push_back({"", users, std::move(nodes)});
  // A unit needs those that more programs have.
  std::stable_sort(units_.begin(), units_.end(),
                   [](const Unit& a, const Unit& b) { return std::popcount(a.users) > std::popcount(b.users); });
  for (std::size_t u = 0; u < units_.size(); ++u) {
    units_[u].name = fmt::format("{}shared{}", prefix_, u + 1);
    for (const std::int32_t k : units_[u].nodes) unit_of_[at(k)] = static_cast<std::int32_t>(u);
  }
}

std::vector<std::int32_t> CPool::closure(const std::vector<std::int32_t>& from, std::int32_t unit) const {
  std::vector<std::int32_t> found, open;
  std::vector<char> seen(nodes_.size(), 0);
  const auto visit = [&](std::int32_t k) {
    if (k < 0 || seen[at(k)] || !nodes_[at(k)].is_step()) return;
    if (unit_of_[at(k)] >= 0 && unit_of_[at(k)] != unit) return;
    seen[at(k)] = 1;
    found.push_back(k), open.push_back(k);
  };
  for (const std::int32_t k : from) visit(k);
  while (!open.empty()) {
    const std::int32_t k = open.back();
    open.pop_back();
    for (const std::int32_t operand : nodes_[at(k)].operands) visit(operand);
  }
  std::sort(found.begin(), found.end());  // operands come before what is made of them
  return found;
}

CPool::Piece CPool::piece_of(const std::vector<std::int32_t>& from, std::int32_t unit) {
  Piece piece;
  const std::vector<std::int32_t> all = closure(from, unit);
  std::vector<std::int32_t> part_of(nodes_.size(), -1);
  for (std::size_t begin = 0; begin < all.size(); begin += part_size) {
    for (std::size_t k = begin; k < std::min(begin + part_size, all.size()); ++k)
      part_of[at(all[k])] = static_cast<std::int32_t>(piece.parts.size());
    piece.parts.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(begin),
                             all.begin() + static_cast<std::ptrdiff_t>(std::min(begin + part_size, all.size())));
  }
  const auto keep = [&](std::int32_t k) {
    if (place_[at(k)] < 0) place_[at(k)] = num_places_++;
  };
  for (const std::int32_t k : all)
    for (const std::int32_t operand : nodes_[at(k)].operands)
      if (operand >= 0 && nodes_[at(operand)].is_step() && part_of[at(operand)] != part_of[at(k)]) keep(operand);
  // Results: of a unit those that others ask for are kept by these; of a function all that are not made where they are written.
  if (unit < 0)
    for (const std::int32_t k : from)
      if (nodes_[at(k)].is_step() && (part_of[at(k)] < 0 || piece.parts.size() > 1)) keep(k);
  return piece;
}

namespace {

/// What a function is made of; `text` of values that are written where they are used.
struct Local {
  int uses = 0;
  std::int32_t name = -1;
  std::string text = {};
};

}  // namespace

std::string CPool::steps(const std::vector<std::int32_t>& nodes, const std::vector<std::int32_t>& outputs) const {
  std::unordered_map<std::int32_t, Local> local;
  for (const std::int32_t k : nodes) local[k] = {};
  const auto use = [&](std::int32_t k) {
    if (const auto found = local.find(k); found != local.end()) ++found->second.uses;
  };
  for (const std::int32_t k : nodes)
    for (const std::int32_t operand : nodes_[at(k)].operands) use(operand);
  for (const std::int32_t k : outputs) use(k);

  const auto operand = [&](std::int32_t k) -> std::string {
    const Node& node = nodes_[at(k)];
    if (node.input >= 0) return fmt::format("x[{}]", node.input);
    if (!node.is_step())
      return std::signbit(node.constant) ? "(" + c_number(node.constant) + ")" : c_number(node.constant);
    const auto found = local.find(k);
    if (found == local.end()) return fmt::format("w[{}]", place_[at(k)]);
    if (!found->second.text.empty()) return std::move(found->second.text);
    return found->second.name >= 0 ? fmt::format("r{}", found->second.name) : fmt::format("w[{}]", place_[at(k)]);
  };
  const auto spelled = [&](const Node& node) {
    const std::string a = operand(node.operands[0]), b = node.operands[1] >= 0 ? operand(node.operands[1]) : "";
    if (node.action != action_of(Op::lookup)) {
      const std::string c = node.operands[2] >= 0 ? operand(node.operands[2]) : "";
      return with_prefix(fmt::format(fmt::runtime(c_spelling(node.action)), a, b, c), prefix_);
    }
    // The table that a lookup is of is known when the program is made.
    const Node& key = nodes_[at(node.operands[2])];
    if (key.is_step() || key.input >= 0) throw std::invalid_argument("C has no way to write a table of this model");
    return with_prefix(fmt::format("{}({}, {})", tables_.name_of(key.constant), a, b), prefix_);
  };

  std::string out;
  std::int32_t names = 0;
  bool listing = false;
  const auto finish = [&] {
    if (listing) out += ";\n";
    listing = false;
  };
  // Sine and cosine of the same angle come together.
  std::map<std::int32_t, std::array<std::int32_t, 2>> angles;
  for (const std::int32_t k : nodes)
    for (const int which : {0, 1})
      if (nodes_[at(k)].action == action_of(which == 0 ? Op::sin : Op::cos))
        angles.try_emplace(nodes_[at(k)].operands[0], std::array{-1, -1})
            .first->second[static_cast<std::size_t>(which)] = k;
  const auto both = [&](const Node& node) -> std::array<std::int32_t, 2> {
    if (node.action != action_of(Op::sin) && node.action != action_of(Op::cos)) return {-1, -1};
    return angles.at(node.operands[0]);
  };
  for (const std::int32_t k : nodes) {
    const Node& node = nodes_[at(k)];
    Local& here = local[k];
    if (here.name >= 0) continue;  // with its other
    if (const auto [sine, cosine] = both(node); sine >= 0 && cosine >= 0) {
      finish();
      const std::int32_t s = names++, c = names++;
      out += fmt::format("  double r{0}, r{1};\n  {2}sine_cosine({3}, &r{0}, &r{1});\n", s, c, prefix_,
                         operand(node.operands[0]));
      local[sine].name = s, local[cosine].name = c;
      for (const std::int32_t one : {sine, cosine})
        if (outputs.empty() && place_[at(one)] >= 0)
          out += fmt::format("  w[{}] = r{};\n", place_[at(one)], local[one].name);
      continue;
    }
    std::string text = spelled(node);
    const bool kept = outputs.empty() && place_[at(k)] >= 0;  // where there are outputs nobody else comes behind
    if (here.uses == 1 && !kept && text.size() <= longest_text) {
      const bool is_call = std::isalpha(static_cast<unsigned char>(text.front())) && text.back() == ')' &&
                           c_spelling(node.action).front() != '{';
      here.text = is_call ? std::move(text) : "(" + text + ")";
      continue;
    }
    if (kept && here.uses <= 1) {
      finish();
      out += fmt::format("  w[{}] = {};\n", place_[at(k)], text);
      continue;
    }
    here.name = names++;
    out += fmt::format("{}r{} = {}", listing ? ",\n    " : "  double ", here.name, text);
    listing = true;
    if (kept) finish(), out += fmt::format("  w[{}] = r{};\n", place_[at(k)], here.name);
  }
  finish();
  for (std::size_t i = 0; i < outputs.size(); ++i) out += fmt::format("  y[{}] = {};\n", i, operand(outputs[i]));
  return out;
}

namespace {

/// How long w has to be for this code.
int num_places_in(std::string_view code) {
  int most = 0;
  for (std::size_t i = code.find("w["); i != std::string_view::npos; i = code.find("w[", i + 2))
    if (i > 0 && !std::isalnum(static_cast<unsigned char>(code[i - 1])) && code[i - 1] != '_')
      most = std::max(most, std::atoi(code.data() + i + 2) + 1);
  return most;
}

}  // namespace

/// A function with many fused products is compiled for processors that have them, too (c_preamble).
std::string CPool::fused(const std::string& text) const {
  constexpr std::size_t enough = 8;
  std::size_t count = 0;
  for (std::size_t i = text.find("fma("); i != std::string::npos; i = text.find("fma(", i + 4)) ++count;
  return count < enough ? text : fmt::format("{}FUSED ", prefix_) + text;
}

/// Parts as functions; what calls them in order.
std::string CPool::print_parts(const Piece& piece, const std::string& name, std::string& calls) const {
  std::string out;
  for (std::size_t i = 0; i < piece.parts.size(); ++i) {
    const std::string part = piece.parts.size() == 1 ? name : fmt::format("{}_part{}", name, i + 1);
    out += fused(fmt::format("static void {}(const double *x, double *w)\n{{\n  (void)x, (void)w;\n", part) +
                 steps(piece.parts[i], {})) +
           "}\n\n";
    calls += fmt::format("  {}(x, w);\n", part);
  }
  return out;
}

std::string CPool::code() {
  group();
  std::vector<Piece> of_units, of_functions;
  for (std::size_t u = 0; u < units_.size(); ++u)
    of_units.push_back(piece_of(units_[u].nodes, static_cast<std::int32_t>(u)));
  for (const Function& f : functions_) of_functions.push_back(piece_of(f.outputs, -1));
  std::string out;
  std::vector<std::string> calls(units_.size());
  std::vector<int> places(units_.size());
  for (std::size_t u = 0; u < units_.size(); ++u) {
    const std::string text = print_parts(of_units[u], units_[u].name, calls[u]);
    places[u] = num_places_in(text), out += text;
  }
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    const Function& f = functions_[i];
    std::string before;
    int length = 0;
    for (std::size_t u = 0; u < units_.size(); ++u)
      if (f.index < most_programs && (units_[u].users >> f.index & 1) != 0)
        before += calls[u], length = std::max(length, places[u]);
    const Piece& piece = of_functions[i];
    const bool whole = piece.parts.size() <= 1;
    if (!whole) {
      const std::string parts = print_parts(piece, f.name, before);
      length = std::max(length, num_places_in(parts)), out += parts;
    }
    const std::string own =
        steps(whole && !piece.parts.empty() ? piece.parts.front() : std::vector<std::int32_t>{}, f.outputs);
    length = std::max(length, num_places_in(own));
    out +=
        fused(fmt::format("static void {}(const double *x, double *y)\n{{\n", f.name) +
              (before.empty() ? "  (void)x, (void)y;\n" : fmt::format("  double w[{}];\n{}", length, before)) + own) +
        "}\n\n";
  }
  return out;
}

}  // namespace mechanician
