#pragma once

/// Names in a model whose families stay as they are written: a member is a symbol of its own, a sum a placeholder for its terms, and
/// a definition is read where it is used. For FamilyReader.

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "mechanician/expression/parse.hpp"
#include "mechanician/model/family_model.hpp"
#include "mechanician/model/names.hpp"

namespace mechanician {

bool same_symbol(const Expr& a, const Expr& b);

class FamilyNames {
 protected:
  /// Terms that a sum stands for, behind a placeholder.
  struct Sum {
    Expr symbol;
    std::vector<Term> terms;
  };
  struct Definition {
    std::string text;
    std::vector<std::string> indices;
    std::vector<IndexBounds> bounds;  ///< of its indices; none: not known
  };

  NameScope scope(const std::vector<TermIndex>& indices);
  /// What an index cannot be called.
  std::optional<ParseProblem> taken_index(const IndexRange& range, const std::vector<TermIndex>& around) const;
  /// Bounds that are known already; 1..0 is nothing, as sums over nothing are.
  static std::optional<ParseProblem> backwards_index(const IndexRange& range, const Expr& from, const Expr& to);
  /// f = Σ (what sums stand for) + what is left; nothing where a sum stands in a product with something that moves.
  std::optional<std::vector<Term>> split(const Expr& f);
  /// The term with what it mentions.
  void complete(Term& term);

  FamilyModel model_;
  std::unordered_map<std::string, double> scalars_;
  std::unordered_map<std::string, std::size_t> families_, arrays_;
  std::unordered_map<std::string, Definition> definitions_;
  std::unordered_set<std::string> unreadable_;  ///< lists and definitions that have a mistake in them
  std::vector<Term::Guard> guards_;             ///< of the field that is read now
  std::vector<std::string> active_;             ///< indices around what is read now, also those that it cannot see
  std::map<std::string, MemberSymbol> members_;
  std::vector<Sum> sums_;

 private:
  struct Reading {
    std::optional<Expr> value;  ///< none: it has a mistake, or is being read
    std::vector<Term::Guard> guards;
  };
  /// The sum of a definition may use the letter of a sum around it, and is another index all the same.
  std::string fresh_index(const std::string& name) const;
  static Expr primed(Expr x, int primes);
  void mention(const std::string& name, MemberSymbol member);
  void guard(Term::Guard guard);
  /// A definition with its indices at the places asked for, of the name `member`; nothing where it cannot be read.
  std::optional<Expr> expand(const Definition& definition, const std::vector<Expr>& at, const std::string& member);

  std::unordered_map<std::string, Expr> mentioned_;
  std::unordered_map<std::string, Expr> expanded_;     ///< members of definitions
  std::unordered_map<std::string, Reading> readings_;  ///< of definitions, by what stands around them
  int depth_ = 0;                                      ///< of definitions within definitions
};

}  // namespace mechanician
