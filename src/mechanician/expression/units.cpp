#include "mechanician/expression/units.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "mechanician/base/text.hpp"

namespace mechanician {

namespace {

constexpr double pi = std::numbers::pi;
constexpr std::array<const char*, 7> base_names{"kg", "m", "s", "A", "K", "mol", "cd"};

struct NamedUnit {
  std::string_view name;
  Dimension dimension;
  double factor;
  bool prefixes = false;  ///< takes k, M, m, …
};

const std::vector<NamedUnit>& units() {
  static const std::vector<NamedUnit> all{
      {"m", {{0, 1}}, 1.0, true},
      {"g", {{1}}, 1e-3, true},
      {"s", {{0, 0, 1}}, 1.0, true},
      {"A", {{0, 0, 0, 1}}, 1.0, true},
      {"K", {{0, 0, 0, 0, 1}}, 1.0, true},
      {"mol", {{0, 0, 0, 0, 0, 1}}, 1.0, true},
      {"cd", {{0, 0, 0, 0, 0, 0, 1}}, 1.0, true},
      {"N", {{1, 1, -2}}, 1.0, true},
      {"J", {{1, 2, -2}}, 1.0, true},
      {"W", {{1, 2, -3}}, 1.0, true},
      {"Pa", {{1, -1, -2}}, 1.0, true},
      {"bar", {{1, -1, -2}}, 1e5, true},
      {"atm", {{1, -1, -2}}, 101325.0},
      {"psi", {{1, -1, -2}}, 4.4482216152605 / (0.0254 * 0.0254)},
      {"Hz", {{0, 0, -1}}, 1.0, true},
      {"V", {{1, 2, -3, -1}}, 1.0, true},
      {"C", {{0, 0, 1, 1}}, 1.0, true},
      {"F", {{-1, -2, 4, 2}}, 1.0, true},
      {"ohm", {{1, 2, -3, -2}}, 1.0, true},
      {"Ω", {{1, 2, -3, -2}}, 1.0, true},
      {"H", {{1, 2, -2, -2}}, 1.0, true},
      {"T", {{1, 0, -2, -1}}, 1.0, true},
      {"Wb", {{1, 2, -2, -1}}, 1.0, true},
      {"rad", {}, 1.0, true},
      {"deg", {}, pi / 180.0},
      {"°", {}, pi / 180.0},
      {"rev", {}, 2.0 * pi},
      {"rpm", {{0, 0, -1}}, 2.0 * pi / 60.0},
      {"%", {}, 0.01},
      {"min", {{0, 0, 1}}, 60.0},
      {"h", {{0, 0, 1}}, 3600.0},
      {"d", {{0, 0, 1}}, 86400.0},
      {"day", {{0, 0, 1}}, 86400.0},
      {"t", {{1}}, 1e3},
      {"l", {{0, 3}}, 1e-3, true},
      {"L", {{0, 3}}, 1e-3, true},
      {"in", {{0, 1}}, 0.0254},
      {"inch", {{0, 1}}, 0.0254},
      {"ft", {{0, 1}}, 0.3048},
      {"yd", {{0, 1}}, 0.9144},
      {"mi", {{0, 1}}, 1609.344},
      {"nmi", {{0, 1}}, 1852.0},
      {"lb", {{1}}, 0.45359237},
      {"oz", {{1}}, 0.028349523125},
      {"slug", {{1}}, 4.4482216152605 / 0.3048},
      {"lbf", {{1, 1, -2}}, 4.4482216152605},
      {"kgf", {{1, 1, -2}}, 9.80665},
      {"kph", {{0, 1, -1}}, 1.0 / 3.6},
      {"mph", {{0, 1, -1}}, 0.44704},
      {"kn", {{0, 1, -1}}, 1852.0 / 3600.0},
      {"hp", {{1, 2, -3}}, 745.6998715822702},
      {"PS", {{1, 2, -3}}, 735.49875},
      {"cal", {{1, 2, -2}}, 4.184, true},
      {"eV", {{1, 2, -2}}, 1.602176634e-19, true},
      {"Wh", {{1, 2, -2}}, 3600.0, true},
      {"u", {{1}}, 1.66053906660e-27},
  };
  return all;
}

struct Prefix {
  std::string_view name;
  double factor;
};
constexpr std::array<Prefix, 15> prefixes{{{"da", 1e1},
                                           {"h", 1e2},
                                           {"k", 1e3},
                                           {"M", 1e6},
                                           {"G", 1e9},
                                           {"T", 1e12},
                                           {"P", 1e15},
                                           {"d", 1e-1},
                                           {"c", 1e-2},
                                           {"m", 1e-3},
                                           {"u", 1e-6},
                                           {"µ", 1e-6},
                                           {"μ", 1e-6},
                                           {"n", 1e-9},
                                           {"p", 1e-12}}};

std::optional<Unit> find_unit(std::string_view name) {
  for (const NamedUnit& u : units())
    if (u.name == name) return Unit{u.dimension, u.factor};
  for (const Prefix& p : prefixes) {
    if (!name.starts_with(p.name)) continue;
    const std::string_view rest = name.substr(p.name.size());
    for (const NamedUnit& u : units())
      if (u.prefixes && u.name == rest) {
        // 1e-3·1e-3 and the like are not what they are when written; decimal powers of one sign are.
        const double factor = u.name == "g" && p.name == "k"   ? 1.0
                              : u.name == "g" && p.name == "m" ? 1e-6
                                                               : u.factor * p.factor;
        return Unit{u.dimension, factor};
      }
  }
  return std::nullopt;
}

std::string power_text(const char* name, double power) {
  return power == 1.0 ? std::string(name) : fmt::format("{}^{:g}", name, power);
}

/// "2", "3/4", "0.5": numbers that stand for counts.
bool is_count(double value) {
  const double x = std::abs(value);
  if (x == std::numbers::pi) return true;
  for (const double by : {1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0})
    if (const double y = x * by; y <= 12.0 && y == std::round(y)) return true;
  return false;
}

}  // namespace

bool Dimension::operator==(const Dimension& other) const {
  for (std::size_t i = 0; i < power.size(); ++i)
    if (!(std::abs(power[i] - other.power[i]) < 1e-9)) return false;
  return true;
}

Dimension Dimension::times(const Dimension& other, double exponent) const {
  Dimension result = *this;
  for (std::size_t i = 0; i < power.size(); ++i) result.power[i] += exponent * other.power[i];
  return result;
}

std::string text_of(const Dimension& d) {
  if (d.is_plain()) return "1";
  std::string above, below;
  for (std::size_t i = 0; i < d.power.size(); ++i) {
    const double p = d.power[i];
    if (std::abs(p) < 1e-9) continue;
    std::string& to = p > 0.0 ? above : below;
    to += (to.empty() ? "" : p > 0.0 ? "*" : "/") + power_text(base_names[i], std::abs(p));
  }
  const std::string whole = (above.empty() ? "1" : above) + (below.empty() ? "" : "/" + below);
  for (const std::string_view name : {"N", "J", "W", "Pa", "V"})
    if (const auto u = find_unit(name); u && u->dimension == d) return fmt::format("{} ({})", name, whole);
  return whole;
}

ParsedUnit parse_unit(std::string_view text) {
  Unit result;
  const auto wrong = [&](std::size_t offset, std::size_t length, std::string problem, std::string hint) {
    return ParsedUnit{std::nullopt, offset, std::max<std::size_t>(length, 1), std::move(problem), std::move(hint)};
  };
  constexpr const char* example = "for example \"mm\", \"kg*m^2\", \"N/m\" or \"1/s\"";
  std::size_t at = 0;
  const auto skip = [&] {
    while (at < text.size() && text[at] == ' ') ++at;
  };
  double sign = 1.0;
  bool first = true;
  for (skip(); at < text.size() || first; skip()) {
    if (!first) {
      const char c = text[at];
      if (c != '*' && c != '/') return wrong(at, 1, "a unit is made of products, quotients and powers", example);
      if (c == '/') sign = -1.0;
      if (c == '*') sign = 1.0;
      ++at;
      skip();
    }
    const std::size_t begin = at;
    const auto ends = [](char c) { return c == '*' || c == '/' || c == '^' || c == ' ' || c == '(' || c == ')'; };
    while (at < text.size() && !ends(text[at])) ++at;
    const std::string_view name = text.substr(begin, at - begin);
    if (name.empty()) return wrong(begin, 1, text.empty() ? "the unit is empty" : "a unit is missing here", example);
    double exponent = 1.0;
    skip();
    if (at < text.size() && text[at] == '^') {
      ++at;
      skip();
      const std::size_t number = at;
      if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
      while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
      const std::string digits(text.substr(number, at - number));
      if (digits.empty() || digits.size() > 3 || digits == "-" || digits == "+")
        return wrong(number, at - number, "the power of a unit is a small whole number", "for example m^2 or s^-1");
      exponent = std::stod(digits);
    }
    exponent *= sign;
    first = false;
    if (name == "1") continue;
    const auto unit = find_unit(name);
    if (!unit) {
      std::vector<std::string> known;
      for (const NamedUnit& u : units()) {
        known.emplace_back(u.name);
        if (u.prefixes)
          for (const std::string_view p : {"k", "M", "m", "c"}) known.push_back(std::string(p) + std::string(u.name));
      }
      std::string near = nearest(name, known);
      if (near.empty() && name.size() > 1) {  // "Kg", "MM", "newton"
        std::string lower(name);
        for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        for (const std::string& k : known) {
          std::string other = k;
          for (char& c : other) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
          if (other == lower) near = k;
        }
      }
      return wrong(begin, name.size(), fmt::format("`{}` is no unit", name),
                   near.empty() ? std::string("units are those of SI with prefixes, min, h, deg, rpm, bar, in, ft, lb "
                                              "and the like; products are written with *")
                                : fmt::format("did you mean `{}`?", near));
    }
    result.dimension = result.dimension.times(unit->dimension, exponent);
    // Products of decimal powers are to be exact where they can be.
    const int times = static_cast<int>(std::abs(exponent));
    double factor = 1.0;
    for (int k = 0; k < times; ++k) factor *= unit->factor;
    if (unit->factor < 1.0 && unit->factor > 0.0) {
      const double inverse = std::round(1.0 / unit->factor);
      if (std::abs(inverse * unit->factor - 1.0) < 1e-15) {
        factor = 1.0;
        for (int k = 0; k < times; ++k) factor *= inverse;
        factor = 1.0 / factor;
      }
    }
    if (exponent < 0.0)
      result.factor /= factor;
    else
      result.factor *= factor;
  }
  return {result, 0, 1, {}, {}};
}

Measure measure_of_number(double value) { return {Measure::Kind::number, {}, is_count(value), true, false, false}; }

Measure measure_of_unit(const Unit& unit) {
  return {Measure::Kind::known, unit.dimension, true, false, unit.factor != 1.0 && !unit.dimension.is_plain(), false};
}

Measure measure_of_time() { return {Measure::Kind::known, seconds(), true, false, false, true}; }

Measure product(const Measure& a, const Measure& b, double exponent) {
  using Kind = Measure::Kind;
  if (a.kind == Kind::unknown || b.kind == Kind::unknown) return {};
  Measure result;
  result.kind = Kind::known;
  result.dimension = a.dimension.times(b.dimension, exponent);
  result.plain_numbers = a.plain_numbers && b.plain_numbers;
  result.has_number = a.has_number || b.has_number;
  result.scaled = (a.scaled || b.scaled) && !result.dimension.is_plain();
  if (a.kind == Kind::number && b.kind == Kind::number) {
    result.kind = Kind::number;
    return result;
  }
  const Measure* number = a.kind == Kind::number ? &a : b.kind == Kind::number ? &b : nullptr;
  if (!number) return result;
  const Measure& other = number == &a ? b : a;
  if (other.clock) return {};
  if (other.dimension.is_plain())
    result.kind = Kind::number;  // 2*sin(a) may be two metres
  else if (!number->plain_numbers)
    return {};
  return result;
}

Measure power(const Measure& a, std::optional<double> exponent) {
  using Kind = Measure::Kind;
  if (a.kind == Kind::unknown) return {};
  Measure result = a;
  result.clock = false;
  if (a.dimension.is_plain()) return result;
  if (!exponent) return {};
  result.dimension = Dimension{}.times(a.dimension, *exponent);
  return result;
}

Measure rate(Measure a, int times) {
  if (a.kind == Measure::Kind::unknown || times == 0) return a;
  if (a.kind == Measure::Kind::number) return {};
  a.dimension = a.dimension.times(seconds(), -times);
  a.clock = false;
  return a;
}

std::optional<Measure> common(const Measure& a, const Measure& b) {
  using Kind = Measure::Kind;
  if (a.kind == Kind::unknown) return b.kind == Kind::number ? Measure{} : b;
  if (b.kind == Kind::unknown) return a.kind == Kind::number ? Measure{} : a;
  Measure both = a.kind == Kind::number ? b : a;
  both.scaled = a.scaled || b.scaled;
  both.clock = a.clock && b.clock;
  if (a.kind == Kind::known && b.kind == Kind::known) {
    if (!(a.dimension == b.dimension)) return std::nullopt;
    both.has_number = a.has_number && b.has_number, both.plain_numbers = a.plain_numbers && b.plain_numbers;
    return both;
  }
  if (a.kind == Kind::number && b.kind == Kind::number) {
    both.plain_numbers = a.plain_numbers && b.plain_numbers;
    return both;
  }
  if (!both.dimension.is_plain() && both.scaled) return std::nullopt;
  return both;
}

MeasureProblem explain_mismatch(const Measure& a, const Measure& b) {
  const auto text = [](const Measure& m) {
    return m.kind == Measure::Kind::number ? std::string("a number without a unit") : text_of(m.dimension);
  };
  const bool number = a.kind == Measure::Kind::number || b.kind == Measure::Kind::number;
  return {fmt::format("the units do not agree: {} and {}", text(a), text(b)),
          number ? "numbers in expressions are in SI: give it a name in [parameters] and its unit in [units]"
                 : "terms of a sum, and what is compared or equated, have one unit"};
}

bool may_be_plain(const Measure& a) {
  return a.kind != Measure::Kind::known || a.dimension.is_plain() || a.has_number || a.clock;
}

}  // namespace mechanician
