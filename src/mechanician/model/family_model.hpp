#pragma once

/// A model whose families stay as they are written: terms with indices instead of a list of members, for systems of a
/// million coordinates. What it holds grows with the text of the model, not with its size; lists of numbers apart.
///
///     kinetic = Σ terms,  each  Σ over its indices of an expression of a few members:   m/2·x[i]'²,  i = 1..N
///
/// A member in a term is a symbol of its own, "x[i - 1]", with the family and the index it stands for. Scalar
/// parameters are numbers here.

#include <string>
#include <string_view>
#include <vector>

#include "mechanician/base/diagnostic.hpp"
#include "mechanician/expression/expression.hpp"
#include "mechanician/model/model.hpp"
#include "mechanician/model/parameters.hpp"

namespace mechanician {

struct IndexBounds {
  long from = 0, to = 0;
  long count() const { return to - from + 1; }
};

/// x[1..N], or a single coordinate: then it has no bounds. Members follow each other, the last index fastest.
struct CoordinateFamily {
  std::string name;
  std::vector<IndexBounds> bounds;
  long first = 0;  ///< number of its first member among all coordinates
  long count = 1;
  Place place;
};

/// A list of numbers, indexed from 1.
struct NumberFamily {
  std::string name;
  std::vector<IndexBounds> bounds;
  std::vector<double> values;
};

/// A member that a term mentions; its indices are expressions of those of the term.
struct MemberSymbol {
  Expr symbol;  ///< a coordinate, or a parameter
  int family = 0;
  std::vector<Expr> indices;
};

/// Bounds may contain the indices before it.
struct TermIndex {
  std::string name;
  Expr symbol, from, to;
};

enum class TermKind { kinetic, potential, force, constraint, position, velocity, quantity };

struct Term {
  TermKind kind = TermKind::kinetic;
  std::string name;  ///< of a constraint
  std::vector<TermIndex> indices;
  Expr body;  ///< of a constraint: left − right
  std::vector<MemberSymbol> coordinates, numbers;
  /// Members of definitions that it mentioned: written into the body, and kept to see that they exist.
  struct Guard {
    std::string name;
    std::vector<IndexBounds> bounds;
    std::vector<Expr> indices;
  };
  std::vector<Guard> guards;
  bool of_sum = false;  ///< one of the terms that a sum() consists of
  MemberSymbol target;  ///< of a force or a start value
  std::string text;
  Place place;
  Place key;  ///< of a force or a start value: where its coordinate is named
};

/// A sum over members within an expression, where a symbol stands for it.
struct QuantitySum {
  Expr symbol;
  std::vector<Term> terms;
};

/// An output, or what an event looks at: an expression of members and of sums, one for each set of its indices.
struct FamilyQuantity {
  std::string name;         ///< without indices, where there are any
  std::vector<Expr> label;  ///< the indices in the name of a member
  Term term;                ///< its indices, and the expression
  std::vector<QuantitySum> sums;
};

struct FamilyEvent {
  FamilyQuantity when;
  EventDirection direction = EventDirection::both;
  EventAction action = EventAction::record;
};

struct FamilyModel {
  std::string title;
  std::vector<CoordinateFamily> coordinates;
  std::vector<NumberFamily> numbers;
  std::vector<std::string> parameter_names;    ///< of single parameters
  std::vector<double> parameters;              ///< their values
  std::vector<std::string> unknown_overrides;  ///< names that were set and are no parameters
  std::vector<Term> terms;
  std::vector<FamilyQuantity> outputs;
  std::vector<FamilyEvent> events;
  double start_time = 0.0;
  RunSettings run;
  struct RunPlaces {
    Place to, tolerance;
  } run_places;
  SourceText source;

  long num_coordinates() const { return coordinates.empty() ? 0 : coordinates.back().first + coordinates.back().count; }
  /// "x[3]"
  std::string name_of(long coordinate) const;
  /// The number of "x[3]", or −1.
  long find(std::string_view name) const;
};

/// For models of energies, forces, equations on positions and velocities, and start values; what else a file says is
/// refused. Throws FileError and ModelError as read_model() does.
FamilyModel read_family_model(const std::string& file, const ParameterOverrides& overrides = {});
FamilyModel read_family_model_text(std::string_view text, std::string file_name,
                                   const ParameterOverrides& overrides = {});

/// How many coordinates a model has, without reading more of it; 0 where it has no families or cannot be read.
long count_family_coordinates(const std::string& file, const ParameterOverrides& overrides = {});

}  // namespace mechanician
