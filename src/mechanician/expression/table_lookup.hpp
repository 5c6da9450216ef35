#pragma once

/// What evaluators know of tables: numbers that name them.
///
/// A key is 1 + (id·2¹³ + view)·2⁻⁵², where the id comes from what the table holds and the view says what is asked of it: orders of derivatives,
/// which pieces are held, or where pieces end. So code that has a key in it, also code that is kept on the disk, knows no place in memory, and
/// finds either the table that it was made for or, where there is none of this id, nothing: the value is not a number. Keys are exact: a
/// view is changed by adding to the key.
///
/// Pieces: a table whose value or slope jumps at its points is one polynomial for the length of a step (equations/switches.hpp). Regions between these points
/// are counted; `guard` is positive in even ones, negative in odd ones, and zero where one ends and the next begins. With a side held, it is the polynomial of
/// the nearest region of that side.

#include <cstdint>
#include <memory>
#include <string>

#include "mechanician/expression/expression.hpp"

namespace mechanician {

struct Interval;
class TableContent;

namespace table_key {
inline constexpr double unit = 0x1p-52;
inline constexpr double by_x = unit, by_y = 8 * unit;             ///< one derivative more
inline constexpr double side_x = 64 * unit, side_y = 256 * unit;  ///< times the side that is held
inline constexpr double guard_x = 1024 * unit, guard_y = 2048 * unit, size = 3072 * unit;
inline constexpr double fine = 4096 * unit;  ///< regions end at all points, not only at the first and the last
}  // namespace table_key

/// What op(x, y, key) of Op::lookup is.
double calc_lookup(double x, double y, double key);
/// Between bounds: an enclosure.
Interval bound_lookup(const Interval& x, const Interval& y, double key);
/// How many samples show it between bounds: polynomials of as many equal pieces come near it.
double calc_lookup_turns(const Interval& x, const Interval& y, double key);
/// Whether it may have a kink or a jump between bounds.
bool lookup_breaks(const Interval& x, const Interval& y, double key);
/// Where the next region begins, of a guard; infinite where none does.
double next_break(double x, double key);

/// The leaf of a lookup, below what holds its sides; null of other expressions.
const TableContent* table_of(const Expr& lookup);
/// Neither a guard nor a size.
bool is_value_of_table(double key);
/// Has a value everywhere.
bool is_total_lookup(double key);
/// Why there is no value at (x, y); empty where there is one.
std::string explain_lookup(double x, double y, double key);

/// What has to be held for the length of a step so that a lookup is smooth, by argument.
enum class Breaks { none, ends, points };
Breaks breaks_of(const Expr& lookup, int argument);
/// Changes its sign where such a break is.
Expr guard_of(const Expr& lookup, int argument, Breaks breaks);
/// The key of a guard of the time itself; 0 of other expressions.
double clock_of(const Expr& guard);
/// Whether its value itself jumps there.
bool jumps(const Expr& lookup, int argument);
/// The same lookup with sides held.
Expr with_side(const Expr& lookup, int argument, Breaks breaks, const Expr& side);
/// ∂/∂argument.
Expr lookup_derivative(const Expr& lookup, int argument);
/// quake', for messages and listings.
std::string lookup_name(const Expr& lookup, bool latex);

/// The leaf of a table.
Expr table_leaf(const std::shared_ptr<const TableContent>& table, int order_x, int order_y);

}  // namespace mechanician
