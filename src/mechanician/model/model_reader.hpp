#pragma once

/// From the tree of a TOML text to a model as it is stated, section by section. One reader for models of every size.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "mechanician/model/expression_fields.hpp"
#include "mechanician/model/family_model.hpp"
#include "mechanician/model/names.hpp"
#include "mechanician/model/parameters.hpp"
#include "mechanician/model/parts.hpp"
#include "mechanician/model/toml_source.hpp"
#include "mechanician/model/unreadable.hpp"

namespace mechanician {

class ModelReader {
 public:
  /// `cleaned` is the source text without the bytes that `problems` are about.
  /// `overrides`: of parameters. `most`: how many coordinates there may be.
  ModelReader(SourceText source, std::string cleaned, std::vector<Problem> problems,
              const ParameterOverrides& overrides, long most);
  ModelReader(const ModelReader&) = delete;
  ModelReader& operator=(const ModelReader&) = delete;

  /// Throws ModelError.
  FamilyModel read();
  /// How many coordinates there are; 0 where something is wrong so far.
  long count();
  /// The tree of the plain model. Throws ModelError.
  TomlValue plain();
  /// What is worth saying of the layer of bodies. Throws ModelError.
  std::vector<Problem> notes();
  /// The tree with families of bodies written out and parts joined, of a model that is a part itself. Throws ModelError.
  TomlValue with_parts(JoinedParts& joined, int depth);

 private:
  /// Of a text that has been read.
  ModelReader(SourceText source, std::string cleaned, TomlValue root, Unreadable unreadable,
              const ParameterOverrides& overrides, long most);
  /// Puts plain statements in the place of bodies and joints. False: these have mistakes.
  bool lower();
  /// Does something with the numbers of bodies, which are made of parameters: a reader of its own works these out.
  using WithNumbers = std::function<bool(FieldReader& fields, const EvaluateField& evaluate)>;
  bool with_numbers(const WithNumbers& act);

  // model_reader.cpp: what names stand for
  void read_top_level();
  void declare_names();
  void declare_families();
  void read_coordinates();
  void read_coordinate_family(const TomlValue& item);
  void read_unknowns();
  void read_definitions();
  /// A definition, a vector of [vectors], or an input that is an expression as long as nobody sets it.
  struct Definition {
    const TomlMember* field;
    bool is_vector, is_input = false;
    const char* section() const { return is_vector ? "vectors" : is_input ? "inputs" : "define"; }
  };
  std::vector<Definition> definitions() const;
  void read_definition(const Definition& stated);
  void declare_family(const Definition& stated);

  // unit_section.cpp
  void read_units();
  void check_units();  ///< that what has a unit is there
  const UnitOf* unit_of(std::string_view name) const;
  /// A number in the unit of a name is put into SI; what is made of names is checked against it. `over`: units of time below it.
  void take_unit(const TomlValue& value, const std::string& name, int over, Expr& f);
  void expect_measure(const TomlValue& value, const Measure& wanted);
  /// Energies, and forces times their coordinates.
  void expect_energy(const TomlValue& value, const Measure& measure, std::string_view what);

  // state_section.cpp
  /// States as coordinates, behind the others; families by the box of their members.
  void declare_states();
  /// What one key of [states] says of a family.
  struct StatePiece {
    const TomlMember* field;
    std::vector<TermIndex> indices;
    std::vector<Expr> label;
  };
  void declare_state_family(const std::string& name, const std::vector<StatePiece>& pieces);
  void read_state(const TomlMember& field);

  // table_section.cpp
  void read_tables();
  void read_table(const TomlMember& field);

  // parameter_section.cpp
  /// Members of [inputs] that are numbers, or have been set, are parameters; the others are definitions.
  bool is_number_input(const TomlMember& field) const;
  void open_inputs();
  void read_parameters();
  /// A parameter that is a text: member `number` of a list, or a single one where `list` is −1.
  struct ListItem {
    const TomlValue* value;
    int list;
    std::size_t number;
  };
  bool read_list(const TomlMember& field, const std::string& section, std::vector<ListItem>& texts);
  std::vector<Problem> evaluate_parameters();

  // model_sections.cpp: what is said with them
  void read_dynamics();
  void read_mass(const TomlMember& field);
  void read_mass_rows(const TomlValue& rows);
  void read_by_coordinate(const TomlMember& field, const std::string& path, TermKind kind);
  void read_constraint(const TomlMember& field);
  /// restitution, friction and slip of a constraint that is written as a table
  void read_contact(const TomlMember& field, const std::string& path, Term& term);
  // control_section.cpp
  void read_control(const TomlMember& field);
  void read_control_setting(const TomlMember& field);
  void add_promises();
  void read_priority(const TomlMember* field, const std::string& path, Term& term);
  void read_law(const TomlMember& field, const std::string& path, KindSet kinds, Term& term);
  void read_actuator(const TomlMember& field);
  bool is_actuator(const std::string& name) const;
  void read_nominal(const TomlMember& field);
  void read_measured();
  void read_start();  // start_section.cpp
  void read_hold(const TomlMember& field);
  bool hold_item(const TomlValue& name, const std::vector<TermIndex>& indices);
  void read_from(const TomlMember* from, const TomlMember* at);
  void read_run();
  void read_event(const TomlMember& field);
  // change_section.cpp: what events do
  void read_action(const TomlValue& item, const std::vector<TermIndex>& indices, FamilyEvent& event);
  std::optional<FamilyChange> read_row_change(const TomlValue& item, std::size_t at,
                                              const std::vector<TermIndex>& indices);
  std::optional<FamilyChange> read_mode_change(const TomlValue& item, std::size_t equals,
                                               const std::vector<TermIndex>& indices);
  /// `engaged` of a constraint or a requirement.
  void read_engaged(const TomlValue& table, Term& term);
  void read_output(const TomlMember& field);
  void read_summary(const TomlMember& field);
  void read_view();  // view_section.cpp

  /// A section of the file, or null if it is not there (or no table, which is reported).
  const TomlValue* section(const std::string& name);
  /// The expression of a field; what cannot be read is noted under its path. For all sets of the indices, the members that it
  /// mentions exist.
  std::optional<Expr> expression(const TomlValue& value, const std::string& path, Words words = Words::all,
                                 const std::vector<TermIndex>& indices = {});
  std::optional<FieldReader::Equation> equation(const TomlValue& value, const std::string& path,
                                                const std::vector<TermIndex>& indices);
  /// A part of a constraint or a requirement.
  bool read_part(const TomlMember* field, Term::Part::Kind kind, const std::string& path, Term& term);

  // families.cpp: fields that stand for many
  /// The indices that `for` gives; none where there is no `for`. Nothing: reported.
  std::optional<std::vector<TermIndex>> indices_of(const TomlValue& table);
  /// What is given for all members together: the value of { for = ..., value = ... }, or the field itself. Null: reported.
  const TomlValue* value_of(const TomlMember& field, const std::string& path);
  /// The indices of a key such as "x[i - 1]".
  std::optional<std::vector<Expr>> label_of(const TomlMember& key, const ParsedName& name);
  std::optional<std::vector<Expr>> label_of(const TomlMember& key, const ParsedName& name,
                                            const std::vector<TermIndex>& indices);
  /// The coordinate that a key names.
  std::optional<MemberSymbol> target_of(const TomlMember& key, const std::vector<TermIndex>& indices);
  bool no_coordinate(const TomlMember& key, const std::string& name);
  /// Mistakes in what is read next are in this value, or in this key.
  void read_in(const TomlValue& value);
  void read_in(const TomlMember& key);
  void report_in(const TomlValue& value, const ParseProblem& problem);
  void fail(const std::string& path) { unreadable_.add(path); }

  FamilyModel model_;
  std::string text_;
  SourceMap map_;
  FieldReader fields_;
  Unreadable unreadable_;
  TomlValue root_;
  NameTable names_;
  std::unordered_map<std::size_t, std::optional<std::vector<TermIndex>>> ranges_;  ///< by place
  const ParameterOverrides overrides_;
  const long most_coordinates_;
  bool only_sizes_ = false;
};

}  // namespace mechanician
