#pragma once

/// What the picture of a motion shows: the section [view] of a model.
///
/// Points are expressions of everything that is known at a time; shapes hang on points. Nothing here takes part in the
/// mechanics. Two components make a flat picture (to the right and up), three one in space.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "mechanician/base/diagnostic.hpp"
#include "mechanician/expression/expression.hpp"

namespace mechanician {

using ViewVector = std::array<Expr, 3>;

enum class ViewKind { point, line, rod, spring, disc, sphere, box, mesh, ground, trace, arrow };
/// "point", "line", …: as the report names them.
std::string_view name_of(ViewKind kind);

/// How a body is turned from the axes of the picture.
struct ViewTurn {
  enum class Given {
    nothing,
    quaternion,  ///< 4 values, the scalar part first; need not have unit length
    axes,        ///< 6 values: where the x axis of the body points, and its y axis (made perpendicular to it)
    normal,      ///< 3 values: where its z axis points
  };
  Given given = Given::nothing;
  std::vector<Expr> values;
};

/// A force that is known by coordinate, as an arrow.
enum class ViewForce { none, constraint, ideal, nonideal, control };

struct ViewItem {
  ViewKind kind = ViewKind::point;
  std::string name;
  std::string colour;              ///< of the list of colours, or "#rrggbb"; empty: what is usual
  std::vector<ViewVector> points;  ///< at; from and to; the corners of a line
  ViewVector vector;               ///< edges of a box, scale of a mesh, normal of a ground, an arrow
  std::string file;                ///< of a mesh, to be opened: STL or OBJ
  Expr radius = 0.0;               ///< 0: fit for the picture; of a ground: its width
  Expr thickness = 0.0;            ///< of a disc
  std::optional<Expr> scale;       ///< of an arrow: length for a unit; absent: fit for the picture
  ViewTurn turn;
  bool closed = false, dashed = false;  ///< of a line
  bool hollow = false;                  ///< of a disc: a ring
  int turns = 8;                        ///< of a spring
  std::optional<Expr> seconds;          ///< of a trace: how long it stays; absent: for ever
  ViewForce force = ViewForce::none;    ///< of an arrow, instead of `vector`
  std::array<std::string, 3> force_of;  ///< coordinates whose components it has; empty: zero
  Place place;
};

struct ViewCamera {
  std::optional<ViewVector> from, at, up;  ///< expressions of parameters
  std::optional<Expr> height;              ///< of what is seen, in a flat picture
  std::optional<ViewVector> follow;        ///< moves with this point
};

struct View {
  int dimension = 2;
  std::vector<ViewItem> items;
  ViewCamera camera;
  bool forces = true;      ///< arrows of the constraint forces at points whose components are coordinates
  bool automatic = false;  ///< made from the coordinates, not by the model
};

/// Colours by name that a view may use.
const std::vector<std::string>& view_colours();

}  // namespace mechanician
