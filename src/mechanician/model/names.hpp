#pragma once

/// The names that expressions of a model file may use, and what is said about those they may not.
///
/// A family is read as it is written: x[i - 1] becomes a symbol of its own, and what it stands for is kept in the model. Which members
/// there are is asked once the text has been read, for all values of the indices around it.

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "mechanician/expression/force_names.hpp"
#include "mechanician/expression/parse.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/expression/table.hpp"
#include "mechanician/model/family_model.hpp"

namespace mechanician {

/// Names that no coordinate, parameter, definition or unknown may take: t, pi, the functions, and, or, not.
bool is_reserved(std::string_view name);

enum class NameKind { coordinate, state, parameter, input, definition, unknown, constraint, vector, table };
/// "coordinate", "state", "parameter", "input", "defined name", "unknown function"
std::string_view in_words(NameKind kind);
inline bool is_moving(NameKind kind) { return kind == NameKind::coordinate || kind == NameKind::state; }
inline bool is_number(NameKind kind) { return kind == NameKind::parameter || kind == NameKind::input; }

/// What may stand in an expression: everything; ideal() and multiplier() too; all forces too; or parameters only.
enum class Words { all, reactions, forces, parameters };

class NameTable {
 public:
  explicit NameTable(FamilyModel& model) : model_(model) {}

  /// The first of two things of the same name stays.
  void add(std::string name, NameKind kind, std::optional<Expr> value);
  /// Gives a name its value later; nothing leaves it without one.
  void set_value(std::string_view name, std::optional<Expr> value);
  /// A vector, or a definition that turned out to be one.
  void set_vector(std::string_view name, std::vector<Expr> components);
  /// What is known of the dimension of a name, of a family by its name; what is not here is not known.
  void set_measure(const std::string& name, const Measure& measure) { measures_.insert_or_assign(name, measure); }
  const Measure* find_measure(const std::string& name) const {
    const auto found = measures_.find(name);
    return found == measures_.end() ? nullptr : &found->second;
  }
  bool units = false;  ///< dimensions are checked
  bool is_vector(const std::string& name) const {
    const auto single = entries_.find(name);
    const auto family = families_.find(name);
    return (single == entries_.end() || single->second.kind == NameKind::vector) &&
           (family == families_.end() || family->second.kind == NameKind::vector);
  }
  bool is_known(const std::string& name) const { return entries_.contains(name) || families_.contains(name); }
  const std::vector<std::string>& names() const { return names_; }
  /// What forces are called by: a constraint, a control requirement or an actuator.
  void add_row(ForceName::Of of, const std::string& name) {
    auto& [list, set] = rows_of_[static_cast<std::size_t>(of)];
    if (set.insert(name).second) list.push_back(name);
  }

  /// A function given by data; nothing: it has a mistake. Of a table of several columns each is added as "record.ax", and "record" by
  /// itself without a value.
  void add_table(const std::string& name, std::optional<Table> table) { tables_.emplace(name, std::move(table)); }
  void set_table(const std::string& name, Table table) { tables_.at(name) = std::move(table); }
  /// In which units a table is given, by column: its arguments, then its value.
  void set_table_units(const std::string& name, std::vector<Measure> measures) {
    table_measures_[name] = std::move(measures);
  }

  /// Things of one name with an index.
  struct Family {
    NameKind kind = NameKind::coordinate;
    int number = 0;                   ///< of the family of coordinates or of numbers
    std::vector<IndexBounds> bounds;  ///< a box around its members
    /// Of a definition, a constraint or a point: the indices that it is written with, and how they follow from those of a member.
    std::vector<TermIndex> indices = {};
    struct Inverse {
      std::size_t piece;
      double factor, shift;
    };
    std::vector<Inverse> inverse = {};
    std::vector<Expr> values = {};  ///< of a definition one; none: it has a mistake
  };
  void add_family(const std::string& name, Family family) {
    (family.kind == NameKind::constraint ? rows_ : families_).emplace(name, std::move(family));
  }
  Family* find_family(const std::string& name);
  /// Works out `bounds` and `inverse` of what is called name[label]; false where a label does not tell the indices.
  bool finish_family(Family& family, std::span<const Expr> label) const;
  /// The values of a family for the member at these indices.
  std::vector<Expr> instance(const Family& family, std::span<const Expr> at);

  // ---- a text that is read

  /// Of the texts that follow: the indices around them.
  void begin(std::vector<TermIndex> indices = {});
  const std::vector<TermIndex>& indices() const { return *domain_; }
  /// Where a stretch of the text stands, and how a mistake in it is reported.
  std::function<Place(std::size_t offset, std::size_t length)> place_of = [](std::size_t, std::size_t) {
    return Place();
  };
  std::function<void(const Problem&)> report = [](const Problem&) {};
  NameScope scope(Words words = Words::all);
  /// Definitions are put in where an index may be called like one of theirs: then it is another symbol all the same.
  bool definitions = false;
  /// Adds an index to those around; what is wrong with its range else.
  std::optional<ParseProblem> add_index(const IndexRange& range, Words words);
  /// The ranges of all indices around: whole numbers that do not run backwards? Reports.
  bool check_indices();
  /// An index made of numbers and indices, or what is wrong with it.
  struct Known {
    std::optional<Expr> value;
    std::string problem = {}, hint = {};
  };
  Known known(const Expr& f) const;
  /// x[i - 1]: notes that it was mentioned.
  MemberName member(std::string_view name, std::span<const Expr> indices, std::size_t offset, std::size_t length,
                    Words words = Words::all);
  /// Notes that an index must be a whole number; those of coordinates that are keys are also told apart by what is said.
  void mention_label(std::string_view name, std::span<const Expr> indices);
  void mention_key(const std::string& name, const Family& family, std::span<const Expr> indices,
                   std::string_view problem);
  /// Do all members exist that were mentioned since the last time? Reports.
  bool check_members();

  /// Values of parameters, where they are known. Null: while parameters themselves are read.
  std::function<std::optional<double>(const std::string& parameter)> parameter_value = nullptr;
  /// Names that may be defined in a part of the file that could not be read: nothing is said about them.
  std::function<bool(std::string_view name)> is_excused = [](std::string_view) { return false; };
  std::function<bool(std::string_view constraint)> is_constraint_excused = [](std::string_view) { return false; };
  /// Looking for the nearest name takes time; off once there are more problems than anyone reads.
  std::function<bool()> wants_hints = [] { return true; };

 private:
  struct Entry {
    NameKind kind;
    std::optional<Expr> value;     ///< absent: has a problem of its own
    std::vector<Expr> parts = {};  ///< of a vector
  };
  struct Mention {
    std::string name;
    std::vector<Expr> indices;
    std::vector<IndexBounds> bounds;
    std::vector<Expr> whole, least_zero;  ///< what else has to be a whole number, or not negative
    std::string key = {};                 ///< of a key: "is no coordinate"
    std::size_t offset = 0, length = 0;
    std::shared_ptr<const std::vector<TermIndex>> domain = nullptr;
  };
  const Entry* entry(std::string_view name) const;
  std::optional<Expr> find(std::string_view name, int primes, Words words);
  ParseProblem explain(std::string_view name, int primes, Words words) const;
  std::optional<Expr> find_reaction(std::string_view function, std::string_view name, Words words) const;
  ParseProblem explain_reaction(std::string_view function, std::string_view name, Words words) const;
  std::optional<NamedFunction> find_function_of(std::string_view name, int primes) const;
  std::optional<ParseProblem> explain_function(std::string_view name, int primes) const;
  ParseProblem explain_table(std::string_view name) const;
  ParsedExpression sum(std::span<const IndexRange> ranges, std::string_view body, std::size_t offset, Words words);
  Expr add_sum(std::vector<TermIndex> own, const Expr& body);
  /// d/dt of what a definition stands for, so often; nothing where there is none.
  std::optional<Expr> time_derivative(const Expr& f, int times);
  std::optional<Expr> sum_rate(const Expr& sum);
  /// r, r', r[i]: of a vector its components.
  std::optional<std::vector<Expr>> vector(std::string_view name, int primes);
  /// Those of a name without primes, or null.
  const std::vector<Expr>* components(const std::string& name) const;
  /// r.x of a vector r: which component; nothing else.
  struct Component {
    const std::vector<Expr>* of;
    std::size_t number;
  };
  std::optional<Component> component(std::string_view name) const;
  Measure measure(std::string_view name, int primes) const;
  MemberName no_family(std::string_view name) const;
  void note(Mention mention);
  std::vector<Expr> indices_of_member(const Family& family, std::span<const Expr> at) const;
  Expr canonical(const Expr& f) const;
  /// fs with expressions in the place of indices, in members and in sums too.
  std::vector<Expr> rewrite(std::span<const Expr> fs, std::span<const Replacement> by);
  Expr rewrite_sum(const QuantitySum& sum, std::span<const Replacement> by);
  void explain_member(const Mention& mention, std::span<const double> values, std::span<const double> at);

  FamilyModel& model_;
  std::unordered_map<std::string, Entry> entries_;
  std::unordered_map<std::string, Family> families_, rows_;
  std::unordered_map<std::string, std::optional<Expr>> instances_;  ///< members of definitions
  std::unordered_map<std::string, std::vector<Expr>> vectors_;      ///< members of vectors
  std::unordered_map<std::string, Measure> measures_;
  std::unordered_map<std::string, std::optional<Expr>> sum_rates_;  ///< derivatives of sums, by the name of the sum
  std::vector<std::string> names_;
  struct RowNames {
    std::vector<std::string> list;
    std::unordered_set<std::string> set;
  };
  std::array<RowNames, 4> rows_of_;  ///< by ForceName::Of; coordinates are elsewhere
  std::map<std::string, std::optional<Table>, std::less<>> tables_;
  std::map<std::string, std::vector<Measure>, std::less<>> table_measures_;

  std::shared_ptr<const std::vector<TermIndex>> domain_ = std::make_shared<const std::vector<TermIndex>>();
  std::size_t base_ = 0;  ///< where the text that is read begins in the whole
  std::vector<Mention> mentions_;
  std::unordered_set<std::string> mentioned_;
  int fresh_ = 0;
};

}  // namespace mechanician
