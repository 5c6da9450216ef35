#pragma once

/// Units and dimensions: "N*m", "kg*m^2", "mm", "rpm" as powers of the base units of SI and a factor; and what is known of
/// the dimension of an expression, so that sums of lengths and masses are noticed and nothing else is.
///
/// A quantity without a unit may have any: nothing is said of it. A number in an expression is in SI. It is taken for a
/// plain number where it is a small whole number or such a fraction (2, 0.5, 3/4); others, such as 9.81, may stand for
/// something that has a unit.

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace mechanician {

/// Powers of kg, m, s, A, K, mol, cd. Angles have none.
struct Dimension {
  std::array<double, 7> power{};
  bool operator==(const Dimension& other) const;
  bool is_plain() const { return *this == Dimension{}; }
  Dimension times(const Dimension& other, double exponent = 1.0) const;
};
/// "kg*m^2/s^2" with a name where there is one: "J (kg*m^2/s^2)"; "1" of a plain number.
std::string text_of(const Dimension& d);

inline Dimension seconds(double power = 1.0) { return {{0, 0, power}}; }
inline Dimension joules() { return {{1, 2, -2}}; }

struct Unit {
  Dimension dimension;
  double factor = 1.0;  ///< 1 of it, in SI
};
struct ParsedUnit {
  std::optional<Unit> unit;
  std::size_t offset = 0, length = 1;  ///< of what is wrong
  std::string problem, hint;
};
/// Products, quotients and powers of units with prefixes: "kN/m", "m/s^2", "1/s".
ParsedUnit parse_unit(std::string_view text);

/// What is known of the dimension of an expression.
struct Measure {
  enum class Kind {
    unknown,
    number,  ///< made of numbers and of what has no unit: it may stand for anything
    known,
  } kind = Kind::unknown;
  Dimension dimension = {};
  bool plain_numbers = true;  ///< all numbers in it are taken for plain ones
  bool has_number = false;    ///< there is one among its factors
  bool scaled = false;  ///< something in it was given in a unit that is none of SI: numbers beside it are in doubt
  bool clock = false;   ///< it is the time: a number times that may be anything
};
Measure measure_of_number(double value);
Measure measure_of_unit(const Unit& unit);
Measure measure_of_time();

Measure product(const Measure& a, const Measure& b, double exponent);  ///< a b or a/b: exponent 1 or −1
Measure power(const Measure& a, std::optional<double> exponent);
/// d/dt, so often.
Measure rate(Measure a, int times);

/// What two things are that are added, compared or equated; nothing where they cannot be.
std::optional<Measure> common(const Measure& a, const Measure& b);
/// Why not: "m against kg", and what to do.
struct MeasureProblem {
  std::string message, hint;
};
MeasureProblem explain_mismatch(const Measure& a, const Measure& b);
/// Whether it may be the argument of a function of plain numbers.
bool may_be_plain(const Measure& a);

}  // namespace mechanician
