#pragma once

/// Where a motion draws lines about ranks: one place for all, each with its reason.
///
/// Sines are those of the angle between a row and others, in the mass metric, of unit rows: eps·(number of rows) is what
/// rounding makes of a sine that is zero, eps/sine the relative error of positions, eps/sine² that of velocities.

namespace mechanician::rank_limits {

/// A sine up to this, against the largest pivot, is rounding where no generic rank is known yet: a start is given with
/// some ten digits.
inline constexpr double of_start = 1e-9;
/// A sine below this is rounding for certain; above it, an instant still tells rows apart.
inline constexpr double of_instant = 3e-14;
/// A start so near to a singular configuration that rounding decides there is treated as one on it: eps^(1/3), where
/// eps/σ² and σ meet.
inline constexpr double almost = 3e-6;
/// The same for rates of rows, which are differences: half of the digits are left.
inline constexpr double of_rate = 1e-7;
/// And so many roundings of a row of size 1, over the time of the difference.
inline constexpr double roundings_of_rate = 64.0;
/// A pivot beyond the generic rank that is larger than this is no rounding: the rank has grown.
inline constexpr double has_grown = 1e-6;
/// Rows that are further apart than this need no closer look at a start.
inline constexpr double clearly_independent = 1e-2;
/// A row that has shrunk by this much since the start may have become rounding error of its own terms.
inline constexpr double suspicious = 1e-6;
/// Further from singular states than this, rows are kept as they are; nearer, rounding decides between them.
inline constexpr double far_from_singular = 1e-3;
/// Rows with a smaller sine are the weak ones of a crossing.
inline constexpr double weak = 0.05;
/// Measured rows with a larger sine to the others are independent of them beyond doubt where its square is all that is known, with a
/// smaller one than the second they depend on them: residuals of solutions are not larger.
inline constexpr double clear_of_measured = 1e-4, of_measured = 1e-11;
/// Singular values below this are rounding in all that follows from them.
inline constexpr double lost_in_rounding = 1e-7;

}  // namespace mechanician::rank_limits
