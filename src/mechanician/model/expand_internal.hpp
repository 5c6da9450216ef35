#pragma once

/// Families written out member by member, all of them or those by which a model is checked.
///
/// A text is compiled once: which of its symbols are members, and where their indices lead. Then each member costs what its nodes
/// cost. Checked are the first and the last member of each family, and those with a value that cannot be right: what may
/// stand where does not depend on the member, but for sums over nothing.

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "mechanician/model/family_model.hpp"
#include "mechanician/model/index_values.hpp"
#include "mechanician/model/unreadable.hpp"
#include "mechanician/model/validate.hpp"

namespace mechanician {

class Expander {
 public:
  Expander(const FamilyModel& stated, bool whole);
  ~Expander();
  /// Throws ModelError.
  Model expand();
  /// An expression without indices.
  Expr plain(const Expr& f);
  /// Of the parameters of what expand() returned, where it was not the whole.
  const std::vector<double>& parameters() const { return parameters_; }

 private:
  struct Program;
  using Take = std::function<void(std::span<const double> at, std::span<const Expr> made)>;
  IndexWalk walk_of(std::span<const TermIndex> indices, std::vector<Expr> outer);
  std::unique_ptr<Program> compile(std::span<const Expr> fs, const std::vector<Expr>& indices);
  template <class Sum>
  std::vector<Sum> compile_sum(const QuantitySum& stated, const std::vector<Expr>& around);
  std::span<const Expr> run(Program& program, std::span<const double> at);
  /// The leaf of a program that is a sum.
  template <class Leaf>
  Expr sum_of(Leaf& leaf, std::span<const double> at);
  void prepare();
  Expr member_of(const MemberSymbol& member, SymbolKind kind, std::span<const double> at);
  /// take(at, fs at these indices) for every set of them; `more`: sets that are looked at beside the first and the last.
  void each(std::span<const TermIndex> indices, std::span<const Expr> fs, const Take& take,
            const std::vector<std::vector<double>>& more = {});
  void add_quantity(const FamilyQuantity& quantity, std::vector<Named>& to);
  void add_event(const FamilyEvent& event);
  void add_term(const Term& term);
  void add_row(const Term& term, std::string name, std::span<const Expr> made);
  void add_actuator(const Term& term, std::string name, std::span<const Expr> made);
  void add_control_settings();
  void add_matrices();
  void add_view();
  void add_parameters();
  void add_list(int list);
  // validate_families.cpp
  /// The first member of each part of a term whose value cannot be right, and those that [measured] names.
  std::vector<std::vector<double>> suspects(const Term& term) const;
  /// Coordinates and members of lists that the chosen expressions mention.
  void add_mentioned();

  const FamilyModel& stated_;
  bool whole_;
  Model model_;
  std::vector<double> parameters_;
  std::size_t work_ = 0;
  std::unordered_map<std::string, Expr> sums_;  ///< those that depend on no index
  struct Hash {
    std::size_t operator()(const std::pair<int, long>& x) const {
      return static_cast<std::size_t>(x.second) * 64 + static_cast<std::size_t>(x.first);
    }
  };
  std::unordered_map<std::pair<int, long>, std::optional<Expr>, Hash>
      symbols_;  ///< by family (of a list: −1 − it) and number
  std::map<std::string, NumberFamily::Item> diagonal_;
  std::unordered_map<const ExprNode*, Expr> plain_;  ///< expressions without indices, as they are written out
  std::vector<Expr> keep_;
};

/// What is wrong with a model as it is stated: what validate() says, once for each family.
std::vector<Problem> validate_families(const FamilyModel& stated, const Unreadable& unreadable);

}  // namespace mechanician
