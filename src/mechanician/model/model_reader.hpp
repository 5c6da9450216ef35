#pragma once

/// From the tree of a TOML text to a Model, section by section.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mechanician/model/expression_fields.hpp"
#include "mechanician/model/model.hpp"
#include "mechanician/model/names.hpp"
#include "mechanician/model/toml_source.hpp"
#include "mechanician/model/unreadable.hpp"

namespace mechanician {

class ModelReader {
 public:
  /// `cleaned` is the source text without the bytes that `problems` are about.
  ModelReader(SourceText source, std::string cleaned, std::vector<Problem> problems);
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
  void read_constraint(const TomlMember& field);
  /// restitution, friction and slip of a constraint that is written as a table
  void read_contact(const TomlMember& field, const std::string& path, ConstraintOptions& options);
  void read_controls();
  void read_control(const TomlMember& field, const TomlValue& table);
  void read_measured();
  void read_start();
  void read_start_values(const TomlMember& field, const std::string& path, std::map<std::string, Expr>& values);
  void read_run();
  void read_run_number(const TomlValue& table, const std::string& key, const std::function<void(double)>& set);
  void read_events();
  void read_outputs();
  void read_view();  // view_section.cpp

  /// A section of the file, or null if it is not there (or no table, which is reported).
  const TomlValue* section(const std::string& name);
  /// The expression of a field; what cannot be read is noted under its path.
  std::optional<Expr> expression(const TomlValue& value, const std::string& path, const NameScope& scope);
  std::optional<FieldReader::Equation> equation(const TomlValue& value, const std::string& path);
  /// Reports a key that is no coordinate.
  bool is_coordinate(const TomlMember& key);
  /// A name with an index, as families have it; reported.
  bool is_family(std::string_view name, std::size_t begin, std::size_t end);
  void fail(const std::string& path) { unreadable_.add(path); }

  Model model_;
  std::string text_;
  SourceMap map_;
  FieldReader fields_;
  Unreadable unreadable_;
  TomlValue root_;
  NameTable names_;
  std::unordered_map<std::string, int> coordinates_;
};

}  // namespace mechanician
