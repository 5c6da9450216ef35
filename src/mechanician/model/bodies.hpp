#pragma once

/// Bodies, points, directions, joints, springs, forces and contacts, as statements of the plain language.
///
/// The layer reads its sections from the tree of a TOML text and puts coordinates, definitions, energies, forces, constraints and
/// start values in their place, each at the place of what it comes from. The one reader of models reads them like what people write.

#include <functional>
#include <optional>
#include <string>

#include "mechanician/model/expression_fields.hpp"
#include "mechanician/model/parameters.hpp"
#include "mechanician/model/toml_source.hpp"

namespace mechanician {

struct JoinedParts;

/// Does a text have sections of this layer?
bool has_bodies(const TomlValue& root);

/// A parameter that a model is read with has every body by itself, whatever its formulation: then the reactions of all joints are there.
inline constexpr std::string_view every_body_by_itself = "world.by_itself";
/// Behind the name of a coordinate of a joint: a definition of models that are read with it, what the joint stands at.
inline constexpr std::string_view found_of_joints = ".found";
/// Among overrides, a name that no parameter has: no pictures are made of bodies and joints, whose expressions are a large part of what is read, where
/// the file has no [view] that may mention them.
inline constexpr const char* nothing_drawn = "#unseen";
/// A definition of models along a tree some of whose reactions are not determined.
inline constexpr std::string_view reactions_left_open = "world.reactions_left_open";

/// A definition of models along a tree whose joints are open where the file puts the bodies.
inline constexpr std::string_view begins_apart = "world.begins_apart";

/// The value of a number or an expression of parameters; nothing where it has none, which is reported.
using EvaluateField = std::function<std::optional<double>(const TomlValue& value, const std::string& path)>;

/// False: there are mistakes, and they are reported.
///
/// `overrides`: "hinge.angle.start" and "hinge.angle.start_rate" are where a joint begins, in the place of what [start] says. They become
/// parameters of the model, and all bodies that hang on the joint begin where these put them.
bool lower_bodies(TomlValue& root, FieldReader& fields, const EvaluateField& evaluate, const JoinedParts& parts,
                  const ParameterOverrides& overrides = {});

}  // namespace mechanician
