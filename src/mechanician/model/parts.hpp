#pragma once

/// [parts]: models in other files, put into the tree of this one with a prefix before all their names. See bodies.hpp.

#include <string>
#include <string_view>
#include <vector>

#include "mechanician/model/bodies.hpp"
#include "mechanician/model/expression_fields.hpp"
#include "mechanician/model/parameters.hpp"
#include "mechanician/model/toml_source.hpp"

namespace mechanician {

/// What is left to do about parts when they have been joined.
struct JoinedParts {
  std::vector<std::string> kinetic, potential;  ///< definitions that hold energies
  struct Placed {
    std::string prefix;
    TomlValue at, turned;  ///< of no type but `table` without members where nothing is said
    std::size_t begin = 0, end = 0;
  };
  std::vector<Placed> placed;  ///< outer ones first
};

/// Files lie in the folder of `model_file` or below it. False: reported. Throws ModelError for mistakes in the file of a part.
bool join_parts(TomlValue& root, const std::string& model_file, FieldReader& fields, const EvaluateField& evaluate,
                JoinedParts& joined, int depth = 0);

/// The tree of the file of a part, its own families written out and its own parts joined. Throws ModelError.
TomlValue part_tree(std::string_view text, const std::string& file, const ParameterOverrides& overrides,
                    JoinedParts& joined, int depth);

/// `for` in bodies, points, directions, joints, springs, forces, contacts and parts, written out: link[1], link[2], … What else of
/// the file mentions these with an index of its own is written out with them.
bool write_out_families(TomlValue& root, FieldReader& fields, const EvaluateField& evaluate);

}  // namespace mechanician
