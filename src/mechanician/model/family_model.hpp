#pragma once

/// A model as it is stated: families and terms with indices instead of a list of members. What it holds grows with the
/// text of the model, not with its size; lists of numbers apart. A plain coordinate is a family of one.
///
///     kinetic = "sum(i = 1..N, m/2*x[i]'^2)"      a term with a sum in it; the sum has an index and a body
///
/// A member in an expression is a symbol of its own, "x[i - 1]", and a sum is one too, "sum #3": `members` and `sums` say
/// what they stand for. An index is a parameter that nothing else is called. Indices and their bounds are made of numbers and indices: parameters have been put into them, as they were when
/// the model was read.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
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
  bool is_state = false;
};

/// A list of numbers, indexed from 1.
struct NumberFamily {
  std::string name;
  std::vector<IndexBounds> bounds;
  std::vector<double> values;
  struct Item {
    Expr value;
    Place place;
  };
  std::map<std::size_t, Item> expressions = {};  ///< those of its members that are no numbers
  std::size_t position = 0;                      ///< how many single parameters stand before it
  Place place = {};
  bool is_input = false;
  /// "m[3]" of the third; from 0.
  std::string member_name(std::size_t number) const;
};

/// A member that an expression mentions; its indices are expressions of those around it.
struct MemberSymbol {
  Expr symbol;  ///< a coordinate, a parameter, or a force of a constraint
  int family = 0;
  std::vector<Expr> indices;
};

/// Bounds may contain the indices before it.
struct TermIndex {
  std::string name;
  Expr symbol, from, to;
  Place place = {}, from_place = {}, to_place = {};
};

enum class TermKind {
  kinetic,
  potential,
  force,
  constraint,
  position,
  velocity,
  scale,
  quantity,
  nonideal,
  control,
  actuator,
  free_force,  ///< of [control] free
  mass,        ///< of the diagonal
};

/// A number for each coordinate, no part of the equations.
inline bool is_number_of_coordinate(TermKind kind) {
  return kind == TermKind::position || kind == TermKind::velocity || kind == TermKind::scale;
}

struct Term;
/// A sum over members within an expression, where a symbol stands for it.
struct QuantitySum {
  Expr symbol;
  std::vector<Term> terms;
  KindSet kinds = 0;              ///< of all that it is made of
  std::vector<Expr> around = {};  ///< indices that it depends on and does not run through
  int depth = 1;                  ///< sums within sums
};

struct Term {
  TermKind kind = TermKind::kinetic;
  std::string name;  ///< of a constraint or a control requirement
  std::vector<TermIndex> indices;
  Expr body;  ///< of a constraint: left − right, or right − left of left <= right
  /// What the kernels of large/ go by: members and sums that the body mentions. The reader leaves them empty.
  std::vector<MemberSymbol> coordinates, numbers;
  std::vector<QuantitySum> sums;
  bool of_sum = false;  ///< one of the terms that a sum() consists of
  MemberSymbol target;  ///< of a force, a diagonal mass, a start value or a scale; the state whose rate it is
  std::string text;
  Place place;
  Place key;  ///< where it is named: its coordinate, or the constraint
  bool one_sided = false;
  bool is_rate = false;  ///< a constraint z' − rate of the state z, behind all others
  bool engaged = true;   ///< of a constraint or a requirement
  bool bare = false;     ///< of a constraint: friction alone
  int priority = 1;      ///< of a control requirement
  /// What else is said of a constraint or a requirement, for the same indices.
  struct Part {
    enum class Kind {
      weight,
      restitution,
      friction,
      friction_force,
      slip,
      frequency,
      damping,
      law,
      low,
      high,
      cost
    } kind;
    Expr value;
    Place place;
  };
  std::vector<Part> parts;
};

/// An output, a definition, or what an event looks at: one for each set of its indices.
struct FamilyQuantity {
  std::string name;         ///< without indices, where there are any
  std::vector<Expr> label;  ///< the indices in the name of a member
  Term term;                ///< its indices, and the expression
  std::vector<QuantitySum> sums;
};

/// What members of an event change: a constraint or requirement with its indices, or a mode.
struct FamilyChange {
  EventChange::What what = EventChange::What::release;
  std::string name;
  std::vector<Expr> indices = {};  ///< of a member; none: a plain name, or all members
  Expr value = 0.0;
  Place place = {};
};

struct FamilyEvent {
  FamilyQuantity when;
  EventDirection direction = EventDirection::both;
  EventAction action = EventAction::record;
  std::vector<FamilyChange> changes = {};
};

/// A part of the picture, for each set of its indices.
struct FamilyViewItem {
  std::vector<TermIndex> indices;
  ViewItem item;
  /// Of a line: which of its points stand for more than one, and the indices that these run through.
  std::map<std::size_t, std::vector<TermIndex>> ranges;
};

struct FamilyModel {
  std::string title;
  std::vector<CoordinateFamily> coordinates;
  std::vector<NumberFamily> numbers;
  std::vector<Parameter> scalars;              ///< single parameters as stated
  std::vector<std::string> parameter_names;    ///< of single parameters
  std::vector<double> parameters;              ///< their values
  std::vector<std::string> unknown_overrides;  ///< names that were set and are no parameters
  std::vector<std::string> open_inputs;        ///< inputs that are expressions until they are set
  std::vector<FamilyQuantity> definitions;     ///< behind those that they are made of
  std::vector<Expr> unknowns;                  ///< functions without a value
  std::vector<Table> tables;                   ///< functions given by data
  std::vector<Term> terms;
  std::vector<std::vector<Expr>> mass;  ///< n×n, if it is given row by row
  std::vector<Measured> measured;
  ControlSettings control;                   ///< but for the free force
  std::map<std::string, Expr> control_cost;  ///< by actuator or family of them
  std::vector<FamilyQuantity> outputs;       ///< the last ones are those of `summary`, and no columns
  std::vector<SummaryItem> summary;          ///< of families without their indices
  std::vector<FamilyEvent> events;
  double start_time = 0.0;
  Expr start_time_stated = 0.0;
  StartRules start_rules;
  RunSettings run;
  struct RunPlaces {
    Place to, tolerance;
  } run_places;
  std::optional<View> view;  ///< but for its parts
  std::vector<FamilyViewItem> view_items;
  std::map<std::string, Place> places;  ///< as in Model; of families without their indices
  std::map<std::string, UnitOf> units;  ///< as in Model
  SourceText source;

  std::unordered_map<std::string, MemberSymbol> members;  ///< by name of the symbol; plain coordinates too
  std::unordered_map<std::string, MemberSymbol> rows;     ///< constraints by name of the symbol of their forces
  std::unordered_map<std::string, QuantitySum> sums;
  std::unordered_map<std::string, std::size_t> parameter_numbers;  ///< of single parameters

  long num_coordinates() const { return coordinates.empty() ? 0 : coordinates.back().first + coordinates.back().count; }
  /// "x[3]"
  std::string name_of(long coordinate) const;
  /// The number of "x[3]", or −1.
  long find(std::string_view name) const;
  /// The value of a parameter or of a member of a list; null if there is none of this name.
  const double* find_parameter(std::string_view name) const;
  double* find_parameter(std::string_view name) {
    return const_cast<double*>(static_cast<const FamilyModel&>(*this).find_parameter(name));
  }
  /// The sum that a symbol stands for, or null.
  const QuantitySum* sum_of(const Expr& symbol) const;
  /// The member that a coordinate, one of its derivatives, its ideal force, a parameter or a multiplier is; null for a plain name.
  const MemberSymbol* member_of(const Expr& symbol) const;
  /// Indices that the value of an expression depends on.
  std::vector<Expr> indices_in(const Expr& f) const;
  /// Kinds of all symbols, within sums too.
  KindSet kinds_of(const Expr& f) const;
};

/// The number of a member: a box of indices, the last one fastest; −1 outside.
long number_of_member(const std::vector<IndexBounds>& bounds, std::span<const double> at);
std::string member_text(std::string_view family, std::span<const double> at);
/// "1..3, 0..N"
std::string text_of(const std::vector<IndexBounds>& bounds);

/// The model of a file, checked as in read_model(). Throws FileError and ModelError as read_model() does.
FamilyModel read_family_model(const std::string& file, const ParameterOverrides& overrides = {});
FamilyModel read_family_model_text(std::string_view text, std::string file_name,
                                   const ParameterOverrides& overrides = {});

/// Values of all parameters, lists included, in the order of Model::parameters; the first so many of their names.
std::vector<double> parameter_values(const FamilyModel& model);
std::vector<std::string> parameter_names(const FamilyModel& model, std::size_t most);
/// Puts values of that order in their places. False: there are not as many.
bool set_parameter_values(FamilyModel& model, std::span<const double> values);

/// Every family written out member by member: x[1], x[2], … Throws ModelError where that would be too much. Linear in what it makes.
Model expand(const FamilyModel& model);

/// How many coordinates a model has, without reading more of it; 0 where it has no families or cannot be read.
long count_family_coordinates(const std::string& file, const ParameterOverrides& overrides = {});

}  // namespace mechanician
