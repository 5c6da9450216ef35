#pragma once

/// What models of every size say in the same way, whether their families are written out (model_reader.hpp) or not
/// (family_model.hpp): parameters, bounds of coordinates, lists, what an event does. One place for what is said of mistakes.

#include <optional>
#include <string>
#include <vector>

#include "mechanician/model/expression_fields.hpp"
#include "mechanician/model/family_model.hpp"
#include "mechanician/model/model.hpp"
#include "mechanician/model/names.hpp"
#include "mechanician/model/parameters_internal.hpp"

namespace mechanician {

/// The parameters that are one number each, made of numbers and each other.
struct ScalarParameters {
  Model model;  ///< of parameters alone
  ParameterEvaluation found;
};
/// Adds their names; mistakes in the fields are reported, those in the values are in `found`.
ScalarParameters read_scalars(const TomlValue& table, NameTable& names, FieldReader& fields,
                              const ParameterOverrides& overrides);

/// "x[1..N, 0..2]"
struct CoordinateBounds {
  std::string name;
  std::vector<NameTable::Bounds> bounds;
  double count = 1.0;
  std::optional<ParseProblem> problem;  ///< then the rest is not to be used
};
CoordinateBounds read_coordinate_bounds(const std::string& text, const NameTable& sizes);

/// Numbers from a file, or the items of a list or of a list of lists of equal length: one of the two.
struct NumberList {
  std::vector<double> numbers;
  std::vector<const TomlValue*> items;
  std::size_t columns = 0;  ///< of a list of lists
};
/// Nothing where it was reported what is wrong.
std::optional<NumberList> read_list(const TomlMember& field, FieldReader& fields, const std::string& model_file,
                                    std::size_t most_rows);

/// The value of an expression of numbers alone.
std::optional<double> number_of(const Expr& f);
/// m[3] of a family of numbers; false where it has no such member.
bool set_number(NumberFamily& family, const ParsedName& member, double value);

struct EventChoice {
  EventDirection direction = EventDirection::both;
  EventAction action = EventAction::record;
};
EventChoice read_event_choice(const TomlMember& field, const TomlValue& table, FieldReader& fields);

}  // namespace mechanician
