#pragma once

/// From the tree of a TOML text to a Model, section by section.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mechanician/model/expression_fields.hpp"
#include "mechanician/model/model.hpp"
#include "mechanician/model/names.hpp"
#include "mechanician/model/parameters.hpp"
#include "mechanician/model/toml_source.hpp"
#include "mechanician/model/unreadable.hpp"

namespace mechanician {

class ModelReader {
 public:
  /// `cleaned` is the source text without the bytes that `problems` are about.
  /// `overrides`: of parameters, for those that bounds of families are made of.
  ModelReader(SourceText source, std::string cleaned, std::vector<Problem> problems,
              const ParameterOverrides& overrides);
  ModelReader(const ModelReader&) = delete;
  ModelReader& operator=(const ModelReader&) = delete;

  /// Throws ModelError.
  Model read();

 private:
  // model_reader.cpp: what names stand for
  void read_top_level();
  void read_coordinates();
  void declare_names();
  void read_parameters();
  void read_unknowns();
  void read_definitions();

  // model_sections.cpp: what is said with them
  void read_dynamics();
  void read_mass(const TomlMember& field);
  void read_mass_rows(const TomlValue& rows);
  void read_mass_diagonal(const TomlValue& table);
  void read_by_coordinate(const TomlMember& field, const std::string& path, const NameScope& scope, bool nonideal);
  void read_constraints();
  bool read_constraint(const TomlMember& field, const TomlValue& value);
  /// restitution, friction and slip of a constraint that is written as a table
  void read_contact(const TomlMember& field, const TomlValue& value, const std::string& path,
                    ConstraintOptions& options);
  void read_controls();
  bool read_control(const TomlMember& field, const TomlValue& table);
  void read_measured();
  void read_start();
  void read_start_values(const TomlMember& field, const std::string& path, std::map<std::string, Expr>& values);
  void read_run();
  void read_run_number(const TomlValue& table, const std::string& key, const std::function<void(double)>& set);
  void read_events();
  bool read_event(const TomlMember& field, const TomlValue& table);
  void read_outputs();
  void read_view();  // view_section.cpp

  /// A section of the file, or null if it is not there (or no table, which is reported).
  const TomlValue* section(const std::string& name);
  /// The expression of a field; what cannot be read is noted under its path.
  std::optional<Expr> expression(const TomlValue& value, const std::string& path, const NameScope& scope);
  std::optional<FieldReader::Equation> equation(const TomlValue& value, const std::string& path);
  /// Reports a key that is no coordinate.
  bool is_coordinate(const TomlMember& key);

  // families.cpp: members are written out one by one
  /// Values of parameters before anything else is read: sizes of families are made of them.
  void find_sizes();
  void read_coordinate_family(const TomlValue& item);
  void read_array(const TomlMember& field);
  bool add_array(const TomlMember& field, const std::vector<const TomlValue*>& items,
                 const std::vector<double>& numbers, std::size_t columns);
  /// The bounds of constraint families, for multiplier(), and of definitions.
  void declare_constraint_family(const TomlMember& field);
  void declare_definition_family(const TomlMember& field);
  /// Calls `read` for each member that the field stands for: once, with its name, for an ordinary one; where its value is a
  /// table with `for`, for each set of indices, with the name that its key has then.
  void each_member(const TomlMember& field, const std::string& path,
                   const std::function<bool(const TomlMember& member, const TomlValue& value)>& read);
  /// The same for what is a table anyway, and has the indices added to its name: rod[2], rod[3], …
  void each_index(const TomlMember& field, const TomlValue& table, const std::string& path,
                  const std::function<bool(const TomlMember& member)>& read);
  /// The name that a key with an index has now.
  std::optional<std::string> member_name(const TomlMember& key);
  bool report_in(const TomlValue& value, const ParseProblem& problem);
  void fail(const std::string& path) { unreadable_.add(path); }

  Model model_;
  std::string text_;
  SourceMap map_;
  FieldReader fields_;
  Unreadable unreadable_;
  TomlValue root_;
  NameTable names_;
  std::unordered_map<std::string, int> coordinates_;
  std::unordered_map<std::string, double> sizes_;
  NameTable size_names_;  ///< parameters alone, for bounds
  const ParameterOverrides overrides_;
};

}  // namespace mechanician
