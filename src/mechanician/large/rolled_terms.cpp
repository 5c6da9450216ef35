#include "mechanician/large/rolled_terms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "mechanician/expression/shape.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/large/large_terms.hpp"

namespace mechanician {

namespace {

constexpr long not_known = -2;

/// f = Σ
std::vector<Expr> summands_of(const Expr& f) {
  struct Part {
    Expr f;
    bool negative;
  };
  std::vector<Part> stack{{f, false}};
  std::vector<Expr> found;
  while (!stack.empty()) {
    const Part part = std::move(stack.back());
    stack.pop_back();
    const Op op = part.f.op();
    if (op == Op::add || op == Op::sub) {
      stack.push_back({part.f.arg(1), part.negative != (op == Op::sub)});
      stack.push_back({part.f.arg(0), part.negative});
    } else if (op == Op::neg) {
      stack.push_back({part.f.arg(0), !part.negative});
    } else if (!part.f.is_zero()) {
      found.push_back(part.negative ? make_simplified(Op::neg, {part.f}) : part.f);
    }
  }
  return found;
}

class Rolling {
 public:
  explicit Rolling(FamilyModel model) {
    result_.model = std::move(model);
    leaf_of_ = [this](const Expr& symbol) { return leaf(symbol); };
    for (const CoordinateFamily& family : result_.model.coordinates)
      is_state_.insert(is_state_.end(), static_cast<std::size_t>(family.count), family.is_state);
  }

  RolledModel take() {
    std::vector<Term> terms = std::move(result_.model.terms);
    result_.model.terms.clear();
    for (std::size_t i = 0; i < terms.size(); ++i) {
      Term& term = terms[i];
      const bool is_energy = term.kind == TermKind::kinetic || term.kind == TermKind::potential;
      if (!term.indices.empty() || is_number_of_coordinate(term.kind)) {
        keep(std::move(term), i);
      } else if (is_energy) {
        const std::vector<Expr> sums = with_their_own(summands_of(term.body));
        term.coordinates.clear(), term.numbers.clear();  // of the whole
        for (const Expr& f : sums) {
          Term part = term;
          part.body = f;
          sort(std::move(part), i);
        }
      } else {
        sort(std::move(term), i);
      }
    }
    for (Group& group : groups_) finish(group);
    return std::move(result_);
  }

 private:
  struct Group {
    std::vector<Term> terms;  ///< the first
    Shape shape;
    std::vector<std::vector<long>> coordinates;  ///< by member
    std::vector<std::vector<double>> numbers;
    std::vector<std::int32_t> target;
    std::vector<std::size_t> places;
    std::vector<RolledTerm::Stated> stated;
  };

  /// What is not moved by an index.
  std::optional<long> member_number(const std::vector<IndexBounds>& bounds, const MemberSymbol& member) const {
    std::vector<double> at;
    for (const Expr& index : member.indices) {
      if (!index.is_constant()) return std::nullopt;
      at.push_back(index.value());
    }
    if (at.size() != bounds.size()) return std::nullopt;
    const long number = number_of_member(bounds, at);
    return number < 0 ? std::nullopt : std::optional(number);
  }

  ShapeLeaf leaf(const Expr& symbol) {
    const SymbolKind kind = symbol.symbol().kind;
    if (kind == SymbolKind::time) return {};
    const auto [known, fresh] = leaves_.emplace(symbol.node(), ShapeLeaf{not_known, {}});
    if (!fresh) return known->second;
    held_.push_back(symbol);
    const FamilyModel& model = result_.model;
    const auto found = model.members.find(symbol.symbol().name);
    if (found == model.members.end()) return known->second;
    const MemberSymbol& member = found->second;
    const bool is_list = member.symbol.symbol().kind == SymbolKind::parameter;
    if (is_list != (kind == SymbolKind::parameter)) return known->second;
    if (is_list) {
      const NumberFamily& list = model.numbers[static_cast<std::size_t>(member.family)];
      if (const auto k = member_number(list.bounds, member))
        known->second = {-1, list.values[static_cast<std::size_t>(*k)]};
    } else {
      const CoordinateFamily& family = model.coordinates[static_cast<std::size_t>(member.family)];
      if (const auto k = member_number(family.bounds, member)) known->second = {family.first + *k, {}};
    }
    return known->second;
  }

  std::vector<long> coordinates_in(const Expr& f) {
    std::vector<long> found;
    for (const Expr& s : symbols_of(std::span(&f, 1)))
      if (const ShapeLeaf l = leaf(s); l.coordinate >= 0) found.push_back(l.coordinate);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  /// Summands with coordinates that another one has all of are added to it, in the order in which they stand.
  std::vector<Expr> with_their_own(const std::vector<Expr>& summands) {
    constexpr std::size_t most_looked_at = 64;
    struct Sum {
      std::vector<long> coordinates;
      std::vector<std::size_t> parts;
    };
    std::vector<Sum> sums;
    std::vector<std::vector<long>> own;
    for (const Expr& f : summands) own.push_back(coordinates_in(f));
    std::vector<std::size_t> by_size(summands.size());
    for (std::size_t i = 0; i < by_size.size(); ++i) by_size[i] = i;
    std::stable_sort(by_size.begin(), by_size.end(),
                     [&](std::size_t a, std::size_t b) { return own[a].size() > own[b].size(); });
    std::unordered_map<long, std::vector<std::size_t>> sums_with;
    for (const std::size_t i : by_size) {
      const std::vector<std::size_t>* candidates = nullptr;
      for (const long c : own[i])
        if (const auto& list = sums_with[c]; !candidates || list.size() < candidates->size()) candidates = &list;
      std::size_t to = sums.size();
      for (std::size_t k = 0; candidates && k < std::min(candidates->size(), most_looked_at) && to == sums.size();
           ++k) {
        const std::vector<long>& all = sums[(*candidates)[k]].coordinates;
        if (std::includes(all.begin(), all.end(), own[i].begin(), own[i].end())) to = (*candidates)[k];
      }
      if (to == sums.size()) {
        sums.push_back({own[i], {}});
        for (const long c : own[i]) sums_with[c].push_back(to);
      }
      sums[to].parts.push_back(i);
    }
    for (Sum& sum : sums) std::sort(sum.parts.begin(), sum.parts.end());
    std::sort(sums.begin(), sums.end(), [](const Sum& a, const Sum& b) { return a.parts.front() < b.parts.front(); });
    std::vector<Expr> result;
    for (const Sum& sum : sums) {
      Expr f = summands[sum.parts.front()];
      for (std::size_t k = 1; k < sum.parts.size(); ++k) f = make_simplified(Op::add, {f, summands[sum.parts[k]]});
      result.push_back(std::move(f));
    }
    return result;
  }

  /// States are of first order, and what is derived of them is something else.
  bool same_orders(const std::vector<long>& a, const std::vector<long>& b) const {
    for (std::size_t k = 0; k < a.size(); ++k)
      if (is_state_[static_cast<std::size_t>(a[k])] != is_state_[static_cast<std::size_t>(b[k])]) return false;
    return true;
  }

  void keep(Term term, std::size_t place) {
    if (!is_number_of_coordinate(term.kind)) {
      const std::size_t size = count_nodes(std::span(&term.body, 1));
      result_.size += size, result_.stated_size += size;
    }
    result_.model.terms.push_back(std::move(term)), result_.numbers.push_back(place);
  }

  /// Into the group of its shape.
  void sort(Term term, std::size_t place) {
    Shape shape = shape_of(term.body, leaf_of_);
    std::optional<long> target = -1;
    const bool aims = term.kind == TermKind::force || term.is_rate;
    if (aims) {
      const ShapeLeaf l = leaf(term.target.symbol);
      target = l.coordinate >= 0 ? std::optional(l.coordinate) : std::nullopt;
    }
    bool known = target.has_value();
    for (const Expr& s : symbols_of(std::span(&term.body, 1)))
      known = known && (s.symbol().kind == SymbolKind::time || leaf(s).coordinate != not_known);
    if (!known) {
      complete_term(result_.model, term);
      keep(std::move(term), place);
      return;
    }
    result_.stated_size += shape.num_nodes;
    Group* to = nullptr;
    for (const std::size_t k : by_hash_[shape.hash]) {
      Group& g = groups_[k];
      const Term& first = g.terms.front();
      if (g.shape.code == shape.code && first.kind == term.kind && first.is_rate == term.is_rate &&
          first.of_sum == term.of_sum && same_orders(g.coordinates.front(), shape.coordinates))
        to = &g;
    }
    if (!to) {
      by_hash_[shape.hash].push_back(groups_.size());
      to = &groups_.emplace_back();
      result_.size += shape.num_nodes;
      to->shape = shape;
    }
    to->coordinates.push_back(std::move(shape.coordinates)), to->numbers.push_back(std::move(shape.numbers));
    if (aims) to->target.push_back(static_cast<std::int32_t>(*target));
    to->places.push_back(place);
    if (term.kind == TermKind::constraint) to->stated.push_back({term.name, term.text, term.place});
    if (to->terms.empty()) to->terms.push_back(std::move(term));
  }

  void finish(Group& group) {
    RolledTerm rolled;
    rolled.term = std::move(group.terms.front());
    if (group.places.size() == 1) {
      complete_term(result_.model, rolled.term);
      result_.model.terms.push_back(std::move(rolled.term)), result_.numbers.push_back(group.places.front());
      return;
    }
    const std::size_t count = group.places.size();
    complete_term(result_.model, rolled.term);
    // In the order of the shape.
    std::vector<MemberSymbol> own;
    for (const long c : group.coordinates.front())
      for (const MemberSymbol& m : rolled.term.coordinates)
        if (leaf(m.symbol).coordinate == c) {
          own.push_back(m);
          break;
        }
    rolled.term.coordinates = std::move(own);
    rolled.term.numbers.clear();
    TermMembers& members = rolled.members;
    members.count = static_cast<std::int64_t>(count);
    for (std::size_t c = 0; c < group.coordinates.front().size(); ++c) {
      auto& list = members.coordinates.emplace_back(count);
      for (std::size_t j = 0; j < count; ++j) list[j] = static_cast<std::int32_t>(group.coordinates[j][c]);
    }
    members.target = std::move(group.target);
    // Numbers that are the same for all stay what they are; others are lists, those of equal numbers one.
    std::vector<Expr> instead;
    std::vector<std::size_t> lists;
    std::vector<std::vector<double>> values;
    for (std::size_t k = 0; k < group.numbers.front().size(); ++k) {
      std::vector<double> list(count);
      for (std::size_t j = 0; j < count; ++j) list[j] = group.numbers[j][k];
      if (std::all_of(list.begin(), list.end(), [&](double x) { return x == list.front(); })) {
        instead.emplace_back(list.front());
        continue;
      }
      std::size_t known = 0;
      while (known < values.size() && values[known] != list) ++known;
      if (known == values.size()) add_list(rolled, values.emplace_back(std::move(list)));
      instead.push_back(rolled.term.numbers[known].symbol);
    }
    if (!instead.empty()) rolled.term.body = put_numbers(rolled.term.body, leaf_of_, instead);
    if (!values.empty() && rolled.term.kind != TermKind::constraint) rolled.term.body = simplify(rolled.term.body);
    rolled.numbers = std::move(group.places);
    rolled.stated = std::move(group.stated);
    group = {};
    result_.rolled.push_back(std::make_shared<RolledTerm>(std::move(rolled)));
  }

  void add_list(RolledTerm& rolled, const std::vector<double>& values) {
    NumberFamily list;
    list.name = fmt::format("number #{}", result_.model.numbers.size());  // no name that a file can have
    list.bounds = {{1, static_cast<long>(values.size())}};
    list.values = values;
    list.position = result_.model.scalars.size();
    MemberSymbol symbol;
    symbol.symbol = parameter(list.name), symbol.family = static_cast<int>(result_.model.numbers.size());
    rolled.term.numbers.push_back(std::move(symbol));
    std::vector<std::int32_t> each(values.size());
    for (std::size_t j = 0; j < each.size(); ++j) each[j] = static_cast<std::int32_t>(j);
    rolled.members.numbers.push_back(std::move(each));
    result_.model.numbers.push_back(std::move(list));
  }

  RolledModel result_;
  LeafOf leaf_of_;
  std::unordered_map<const ExprNode*, ShapeLeaf> leaves_;
  std::vector<Expr> held_;      ///< nodes stay what they are as long as somebody has them
  std::vector<char> is_state_;  ///< by coordinate
  std::vector<Group> groups_;
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> by_hash_;
};

}  // namespace

RolledModel roll_terms(FamilyModel model) { return Rolling(std::move(model)).take(); }

}  // namespace mechanician
