#pragma once

/// How rest changes with a parameter: branches of states of rest, with folds and changes of stability.
///
/// Pseudo-arclength continuation: a branch is a curve of positions and the parameter p; the next point is looked for on a plane across its
/// tangent, so that the curve may turn back in p. r(x, p) = 0 (rest_states.hpp) and the plane are solved by Newton's iteration with
/// exact derivatives. Coordinates count in typical sizes, p in parts of its range.
///
/// Folds are where p turns back along the branch: zeros of the p-component of the tangent, found to rounding. Between folds stability
/// may change where another branch crosses (S singular: followed too, along its null vector) or where eigenvalues cross in pairs.
///
/// Where forces have kinks (tables, abs) the tangent turns at once: the branch goes on in the direction of its coordinates, with the parameter as it
/// comes out, and where that turns back there is a fold.
///
/// Beside one-sided constraints a branch has corners: where a gap closes, or a force vanishes and would pull. It goes on with that one
/// closed, or open (rest_modes.hpp), to the side on which forces press and nothing is passed.

#include "mechanician/analysis/rest_modes.hpp"

namespace mechanician {

struct BranchPoint {
  double parameter = 0.0;
  Eigen::VectorXd q = {};
  int num_unstable = 0;  ///< eigenvalues with a positive real part
  double growth = 0.0;   ///< the largest real part
};

enum class SpecialKind { fold, crossing, oscillation, closes, opens };
std::string_view name_of(SpecialKind kind);

/// A point where something changes; crossing: of another branch; oscillation: a pair of eigenvalues passes the axis; closes and opens: a
/// one-sided constraint does, along the branch.
struct SpecialPoint {
  SpecialKind kind = SpecialKind::fold;
  std::size_t branch = 0;
  double parameter = 0.0;
  Eigen::VectorXd q = {};
  std::string constraint = {};  ///< that closes or opens
};

struct Branches {
  std::vector<std::vector<BranchPoint>> branches;
  std::vector<SpecialPoint> special;
  std::vector<std::string> notes;
};

struct BranchOptions {
  double from = 0.0, to = 1.0;  ///< of the parameter; from < to
  double step = 0.02;           ///< of the curve, in typical sizes
  int most_points = 2000;       ///< of a branch
  int most_branches = 24;
  RestOptions rest = {};
};

/// From states of rest at both ends of the range, and where branches cross.
Branches follow_branches(RestModes& modes, const BranchOptions& options);

}  // namespace mechanician
