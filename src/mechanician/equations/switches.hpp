#pragma once

/// Kinks made smooth for the length of a step.
///
/// Every abs, sign, min, max and comparison in the equations of motion switches where a function g changes sign. A step
/// across such a point loses its order, so the side of every switch is held for the whole step: all stages see smooth
/// expressions, the zero of g is found on the dense output (roots.hpp), the step ends there and the side is turned.
///
///     abs(x) → side·x     sign(x) → side     max(a, b) → if(side > 0, a, b)     a < b → side < 0     g = x, g = a − b
///
/// Angles jump where they are cut. Of atan2(y, x) that is where y changes its sign and x < 0, of atan(p/q) and atan(tan(v)) where
/// q or cos(v) does; with the side held they go on smoothly beyond, and what is asked of an angle does not switch where
/// it jumps, unless it is another answer on the other side:
///
///     atan2(y, x) → side·π + atan2(−y, −x) beyond the cut     g = y + 4·side·max(x, 0)
///     atan(p/q) → atan2(side·p, side·q) beyond the cut        g = q
///
/// So does mod(a, b), where a is a multiple of b: the same with the way from there, between −b/2 and b/2, in the place of y.
///
/// A table of data is a polynomial from each of its points to the next; where these do not meet smoothly, the polynomial is held
/// (expression/table_lookup.hpp):
///
///     quake(x) → that of the nearest piece of this side     g positive in every other piece
///
/// The second term of g is there because nothing happens at y = 0 < x: the side is turned somewhere on the way round.
///
/// Nothing is blended: a branch that is not taken may be infinite or undefined, and so may the g of a switch inside it.
/// What is undefined because g is (sign(sqrt(x)) where x < 0) stays undefined.
/// With sides equal to the signs of their g (0 where g = 0) the frozen expressions have the value of the originals.
/// Cost: linear in the number of nodes.

#include <span>
#include <string>
#include <vector>

#include "mechanician/expression/expression.hpp"

namespace mechanician {

/// One switching function and how it is used.
struct Switch {
  Expr g;            ///< itself frozen: may contain the sides of switches before it
  Expr side;         ///< a parameter with a name that no model can have; +1 or −1 (or 0: resting where g = 0)
  std::string text;  ///< where it was met first, e.g. "abs(x)", "x < 1"
  bool is_discontinuous = false;  ///< sign, conditions, angles: a value may jump; abs, min, max: only a derivative
  bool is_cut = false;            ///< of an angle, and of nothing else
  Expr zero = g;                  ///< changes its sign where the value or a derivative jumps, whatever the side is
};

struct Frozen {
  std::vector<Expr> expressions;
  std::vector<Switch> switches;  ///< inner before outer
};

/// All expressions that share switches have to be frozen in one call. The same g (or its negative) is one switch, so
/// that abs(x), its derivative sign(x) and x < 0 turn together. Left as they are: a == b, and switches whose g does not
/// change along a motion (parameters, constants, sides).
Frozen freeze(std::span<const Expr> expressions);

/// Turns sides to the signs of g; where g is zero or undefined they stay. True if one was turned: then g of outer
/// switches may have changed and is to be evaluated again; inner switches come first, so that this ends.
bool update_sides(std::span<const double> g, std::span<double> sides);

}  // namespace mechanician
