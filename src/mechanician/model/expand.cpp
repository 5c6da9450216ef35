// Families written out. See expand_internal.hpp.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mechanician/expression/family_name.hpp"
#include "mechanician/expression/rewrite.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/model/expand_internal.hpp"
#include "mechanician/model/held_quantity.hpp"
#include "mechanician/model/source_map.hpp"

namespace mechanician {

namespace {

constexpr std::size_t most_work = 20'000'000;  ///< nodes and values of indices; a node takes some 100 bytes
constexpr std::size_t most_view_items = 20'000;

std::vector<Expr*> expressions_of(ViewItem& item) {
  std::vector<Expr*> result;
  for (ViewVector& p : item.points)
    for (Expr& f : p) result.push_back(&f);
  for (Expr& f : item.vector) result.push_back(&f);
  for (Expr& f : item.turn.values) result.push_back(&f);
  result.push_back(&item.radius), result.push_back(&item.thickness);
  if (item.scale) result.push_back(&*item.scale);
  if (item.seconds) result.push_back(&*item.seconds);
  return result;
}

}  // namespace

/// Expressions for any values of indices.
struct Expander::Program {
  /// A symbol that depends on indices.
  struct Leaf {
    std::size_t index = 0;  ///< which of the indices, unless it is one of these:
    const MemberSymbol* member = nullptr;
    SymbolKind kind = SymbolKind::coordinate;
    std::size_t first = 0;  ///< of the indices of the member
    struct Sum {
      IndexWalk walk;
      std::unique_ptr<Program> body;
    };
    std::vector<Sum> sums = {};
    bool is_sum = false, alone = false;  ///< alone: the same for all values of the indices
    Expr symbol = 0.0;
  };
  std::vector<Leaf> leaves;
  std::unique_ptr<IndexValues> places;
  Rewriter rewrite;
  std::vector<Expr> values;
};

Expander::Expander(const FamilyModel& stated, bool whole) : stated_(stated), whole_(whole) {}
Expander::~Expander() = default;

IndexWalk Expander::walk_of(std::span<const TermIndex> indices, std::vector<Expr> outer) {
  IndexWalk walk(stated_, indices, std::move(outer));
  walk.steps = &work_, walk.most_steps = whole_ ? most_work : std::size_t{1} << 40;
  walk.too_many = {{},
                   "the families of the model are too large to be written out member by member",
                   "larger ones are not supported yet"};
  return walk;
}

template <class Sum>
std::vector<Sum> Expander::compile_sum(const QuantitySum& stated, const std::vector<Expr>& around) {
  std::vector<Sum> sums;
  for (const Term& term : stated.terms) {
    IndexWalk walk = walk_of(term.indices, around);
    auto body = compile(std::span(&term.body, 1), walk.symbols());
    sums.push_back({std::move(walk), std::move(body)});
  }
  return sums;
}

std::unique_ptr<Expander::Program> Expander::compile(std::span<const Expr> fs, const std::vector<Expr>& indices) {
  auto program = std::make_unique<Program>();
  std::vector<Expr> symbols, places;
  for (const Expr& s : symbols_of(fs)) {
    Program::Leaf leaf;
    leaf.kind = s.symbol().kind;
    leaf.index = indices.size();
    for (std::size_t k = 0; k < indices.size(); ++k)
      if (same(s, indices[k])) leaf.index = k;
    if (leaf.index == indices.size()) {
      if (const QuantitySum* sum = stated_.sum_of(s)) {
        leaf.is_sum = true, leaf.symbol = s, leaf.alone = sum->around.empty();
        if (!leaf.alone) leaf.sums = compile_sum<Program::Leaf::Sum>(*sum, indices);
      } else if (const MemberSymbol* member = stated_.member_of(s);
                 member && (!member->indices.empty() || (kind_bit(leaf.kind) & forces_of_rows) != 0)) {
        leaf.member = member, leaf.first = places.size();
        places.insert(places.end(), member->indices.begin(), member->indices.end());
      } else {
        continue;  // stays as it is
      }
    }
    symbols.push_back(s);
    program->leaves.push_back(std::move(leaf));
  }
  program->places = std::make_unique<IndexValues>(stated_, std::move(places), indices);
  program->rewrite = Rewriter(fs, symbols);
  program->values.resize(symbols.size());
  return program;
}

template <class Leaf>
Expr Expander::sum_of(Leaf& leaf, std::span<const double> at) {
  const std::string& name = leaf.symbol.symbol().name;
  if (leaf.alone) {
    if (const auto known = sums_.find(name); known != sums_.end()) return known->second;
    leaf.sums = compile_sum<typename decltype(leaf.sums)::value_type>(*stated_.sum_of(leaf.symbol), {});
    at = {};
  }
  std::optional<Expr> total;
  for (auto& sum : leaf.sums) {
    const auto add = [&](std::span<const double> inner) {
      const Expr f = run(*sum.body, inner).front();
      total = total ? make_raw(Op::add, {*total, f}) : f;
      return true;
    };
    if (whole_) {
      sum.walk.each(at, add);
      continue;
    }
    std::vector<double> first, last;  // as good as all, as far as it matters what kinds of symbols there are
    if (sum.walk.find_end(at, false, first)) add(first);
    if (sum.walk.find_end(at, true, last) && last != first) add(last);
  }
  const Expr result = total.value_or(Expr(0.0));
  if (leaf.alone) sums_.emplace(name, result);
  return result;
}

std::span<const Expr> Expander::run(Program& program, std::span<const double> at) {
  const std::span<const double> places = (*program.places)(at);
  for (std::size_t k = 0; k < program.leaves.size(); ++k) {
    Program::Leaf& leaf = program.leaves[k];
    if (leaf.is_sum)
      program.values[k] = sum_of(leaf, at);
    else if (leaf.member)
      program.values[k] = member_of(*leaf.member, leaf.kind, places.subspan(leaf.first, leaf.member->indices.size()));
    else
      program.values[k] = Expr(at[leaf.index]);
  }
  work_ += program.rewrite.num_steps();
  return program.rewrite(program.values);
}

Expr Expander::member_of(const MemberSymbol& member, SymbolKind kind, std::span<const double> at) {
  if ((kind_bit(kind) & forces_of_rows) != 0) {
    const std::string& name = member.symbol.symbol().name;
    return make_symbol(kind, member_text(family_of(name), at));
  }
  const auto family = static_cast<std::size_t>(member.family);
  const bool of_list = kind == SymbolKind::parameter;
  const auto& bounds = of_list ? stated_.numbers[family].bounds : stated_.coordinates[family].bounds;
  const std::string& name = of_list ? stated_.numbers[family].name : stated_.coordinates[family].name;
  const long number = number_of_member(bounds, at);
  if (number < 0 && !whole_) return 0.0;  // said where it stands
  if (number < 0)
    throw ModelError({{{}, fmt::format("there is no {}", quoted(member_text(name, at))), {}}}, stated_.source);
  auto& made = symbols_[{of_list ? -1 - member.family : member.family, number}];
  if (!made) made = make_symbol(of_list ? kind : SymbolKind::coordinate, member_text(name, at));
  switch (kind) {
    case SymbolKind::velocity:
      return derivative_symbol(*made);
    case SymbolKind::acceleration:
      return derivative_symbol(derivative_symbol(*made));
    case SymbolKind::ideal_force:
    case SymbolKind::constraint_force:
    case SymbolKind::control_force:
      return make_symbol(kind, made->symbol().name);
    default:
      return *made;
  }
}

/// Expressions without indices, all at once: definitions share what they are made of.
void Expander::prepare() {
  std::vector<Expr> fs{stated_.start_time_stated};
  const auto add = [&](const Term& term) {
    if (!term.indices.empty()) return;
    fs.push_back(term.body), fs.push_back(term.target.symbol);
    for (const Term::Part& part : term.parts) fs.push_back(part.value);
  };
  for (const Parameter& p : stated_.scalars) fs.push_back(p.value);
  for (const NumberFamily& list : stated_.numbers)
    for (const auto& [k, item] : list.expressions) fs.push_back(item.value);
  for (const FamilyQuantity& d : stated_.definitions) add(d.term);
  for (const FamilyQuantity& o : stated_.outputs) add(o.term);
  for (const FamilyEvent& e : stated_.events) {
    add(e.when.term);
    for (const FamilyChange& change : e.changes)
      if (e.when.term.indices.empty()) fs.push_back(change.value);
  }
  for (const Term& term : stated_.terms) add(term);
  const auto program = compile(fs, {});
  const std::span<const Expr> made = run(*program, {});
  for (std::size_t k = 0; k < fs.size(); ++k) plain_.emplace(fs[k].node(), made[k]);
  keep_ = std::move(fs);
}

void Expander::each(std::span<const TermIndex> indices, std::span<const Expr> fs, const Take& take,
                    const std::vector<std::vector<double>>& more) {
  if (indices.empty() && std::all_of(fs.begin(), fs.end(), [&](const Expr& f) { return plain_.contains(f.node()); })) {
    std::vector<Expr> made;
    for (const Expr& f : fs) made.push_back(plain_.at(f.node()));
    return take({}, made);
  }
  IndexWalk walk = walk_of(indices, {});
  const auto program = compile(fs, walk.symbols());
  const auto visit = [&](std::span<const double> at) {
    take(at, run(*program, at));
    return true;
  };
  if (whole_) {
    walk.each({}, visit);
    return;
  }
  std::vector<std::vector<double>> chosen(1);
  std::vector<double> last;
  if (!walk.find_end({}, false, chosen.front()) || !walk.find_end({}, true, last)) return;
  chosen.insert(chosen.end(), more.begin(), more.end());
  chosen.push_back(std::move(last));
  for (std::size_t k = 0; k < chosen.size(); ++k)
    if (std::find(chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(k), chosen[k]) ==
        chosen.begin() + static_cast<std::ptrdiff_t>(k))
      visit(chosen[k]);
}

Expr Expander::plain(const Expr& f) {
  Expr result = f;
  each({}, std::span(&f, 1), [&](std::span<const double>, std::span<const Expr> made) { result = made.front(); });
  return result;
}

Model Expander::expand() {
  model_.title = stated_.title, model_.source = stated_.source, model_.places = stated_.places;
  model_.run = stated_.run, model_.unknowns = stated_.unknowns, model_.tables = stated_.tables;
  prepare();
  if (whole_) {
    if (stated_.num_coordinates() > most_coordinates)
      throw ModelError(
          {{stated_.places.contains("coordinates") ? stated_.places.at("coordinates") : Place{},
            fmt::format("the model has {} coordinates; {} are possible", stated_.num_coordinates(), most_coordinates),
            "here every member is written out, which takes some kilobytes for each; give smaller families (--set)"}},
          stated_.source);
    for (const CoordinateFamily& family : stated_.coordinates)
      for (long k = 0; k < family.count; ++k)
        model_.coordinates.push_back({stated_.name_of(family.first + k), family.place, family.is_state});
  }
  for (const FamilyQuantity& d : stated_.definitions) add_quantity(d, model_.definitions);
  for (const Term& term : stated_.terms) add_term(term);
  add_control_settings();
  add_matrices();
  for (const FamilyEvent& event : stated_.events) add_event(event);
  const std::size_t num_columns = stated_.outputs.size() - stated_.summary.size();
  for (std::size_t i = 0; i < stated_.outputs.size(); ++i) {
    const std::size_t first = model_.outputs.size();
    add_quantity(stated_.outputs[i], model_.outputs);
    for (std::size_t k = first; i >= num_columns && k < model_.outputs.size(); ++k)
      model_.summary.push_back(
          {model_.outputs[k].name, stated_.summary[i - num_columns].kind, stated_.summary[i - num_columns].place});
  }
  model_.units = stated_.units;
  model_.start.assemble = stated_.start_rules.assemble, model_.start.from = stated_.start_rules.from;
  if (whole_) {
    for (const int i : stated_.start_rules.held_positions) model_.start.hold.push_back(stated_.name_of(i));
    for (const int i : stated_.start_rules.held_velocities) model_.start.hold.push_back(stated_.name_of(i) + "'");
    for (auto i = stated_.places.lower_bound(std::string(held_quantity));
         i != stated_.places.end() && i->first.starts_with(held_quantity); ++i)
      if (i->first.size() > held_quantity.size()) model_.start.hold.push_back(i->first.substr(held_quantity.size()));
  }
  model_.start.time = plain(stated_.start_time_stated);
  if (stated_.run.scale_of_all) model_.run.scale_of_all = plain(*stated_.run.scale_of_all);
  add_view();
  add_parameters();
  if (!whole_) add_mentioned();
  for (const auto& [i, f] : diagonal_) {
    const auto n = static_cast<std::size_t>(model_.num_coordinates());
    if (model_.mass.empty()) model_.mass.assign(n, std::vector<Expr>(n));
    const auto k = static_cast<std::size_t>(whole_ ? stated_.find(i) : model_.find_coordinate(i));
    model_.mass[k][k] = f.value;
    model_.places[fmt::format("mass.{}.{}", k, k)] = f.place;
  }
  return std::move(model_);
}

void Expander::add_quantity(const FamilyQuantity& quantity, std::vector<Named>& to) {
  std::vector<Expr> symbols;
  for (const TermIndex& index : quantity.term.indices) symbols.push_back(index.symbol);
  IndexValues label(stated_, quantity.label, symbols);
  each(quantity.term.indices, std::span(&quantity.term.body, 1),
       [&](std::span<const double> at, std::span<const Expr> made) {
         to.push_back({member_text(quantity.name, label(at)), made.front(), quantity.term.place});
       });
}

namespace {

/// Of z' − rate.
Expr rate_in(const Expr& body) { return body.op() == Op::sub ? body.arg(1) : Expr(0.0); }

}  // namespace
void Expander::add_event(const FamilyEvent& event) {
  const Term& term = event.when.term;
  std::vector<Expr> symbols, fs{term.body};
  for (const TermIndex& index : term.indices) symbols.push_back(index.symbol);
  IndexValues label(stated_, event.when.label, symbols);
  for (const FamilyChange& change : event.changes) fs.push_back(change.value);
  each(term.indices, fs, [&](std::span<const double> at, std::span<const Expr> made) {
    Event& e = model_.events.emplace_back();
    e.name = member_text(event.when.name, label(at)), e.when = made[0];
    e.direction = event.direction, e.action = event.action, e.place = term.place;
    for (std::size_t k = 0; k < event.changes.size(); ++k) {
      const FamilyChange& stated = event.changes[k];
      const auto add = [&](std::string name) {
        e.changes.push_back({stated.what, std::move(name), made[1 + k], stated.place});
      };
      if (!stated.indices.empty() || stated.what == EventChange::What::set) {
        IndexValues indices(stated_, stated.indices, symbols);
        add(member_text(stated.name, indices(at)));
        continue;
      }
      // The name of a family stands for all its members.
      std::size_t members = 0;
      const auto add_members = [&](const auto& rows) {
        for (const auto& row : rows)
          if (row.name.size() > stated.name.size() && row.name[stated.name.size()] == '[' &&
              row.name.starts_with(stated.name))
            add(row.name), ++members;
      };
      add_members(model_.constraints), add_members(model_.controls);
      if (members == 0) add(stated.name);
    }
  });
}

void Expander::add_term(const Term& term) {
  std::vector<Expr> fs{term.body, term.target.symbol};
  for (const Term::Part& part : term.parts) fs.push_back(part.value);
  each(
      term.indices, fs,
      [&](std::span<const double> at, std::span<const Expr> made) {
        const auto target = [&] { return made[1].symbol().name; };
        switch (term.kind) {
          case TermKind::kinetic:
            model_.kinetic = made[0];
            break;
          case TermKind::potential:
            model_.potential = made[0];
            break;
          case TermKind::force:
            model_.forces.push_back({target(), made[0], term.place});
            break;
          case TermKind::nonideal:
            model_.nonideal.push_back({target(), made[0], term.place});
            break;
          case TermKind::free_force:
            model_.control.free.push_back({target(), made[0], term.place});
            break;
          case TermKind::actuator:
            add_actuator(term, member_text(term.name, at), made);
            break;
          case TermKind::mass:
            diagonal_.insert_or_assign(target(), NumberFamily::Item{made[0], term.place});
            break;
          case TermKind::position:
            model_.start.position.emplace(target(), made[0]);
            break;
          case TermKind::velocity:
            model_.start.velocity.emplace(target(), made[0]);
            break;
          case TermKind::scale:
            model_.run.scale.emplace(target(), made[0]);
            break;
          case TermKind::quantity:
            break;
          default:
            if (term.is_rate)
              model_.states.push_back({target(), rate_in(made[0]), term.text, term.place});
            else
              add_row(term, member_text(term.name, at), made);
        }
      },
      suspects(term));
}

void Expander::add_row(const Term& term, std::string name, std::span<const Expr> made) {
  Constraint row;
  row.name = std::move(name), row.residual = made[0], row.one_sided = term.one_sided;
  // What is a sum over nothing on the right is the zero of left = 0.
  if (term.body.op() == Op::sub && made[0].arg(1).is_zero() && !term.body.arg(1).is_zero())
    row.residual = made[0].arg(0);
  row.text = term.text, row.place = term.place;
  row.engaged = term.engaged, row.bare = term.bare;
  Control control;
  control.engaged = term.engaged;
  for (std::size_t k = 0; k < term.parts.size(); ++k) {
    const Expr& value = made[2 + k];
    switch (term.parts[k].kind) {
      case Term::Part::Kind::weight:
        row.weight = value;
        break;
      case Term::Part::Kind::restitution:
        row.restitution = value;
        break;
      case Term::Part::Kind::friction:
      case Term::Part::Kind::friction_force:
        row.friction = Friction{value, {}, term.parts[k].place, term.parts[k].kind != Term::Part::Kind::friction};
        break;
      case Term::Part::Kind::slip:
        row.friction->slip.push_back(value);
        break;
      case Term::Part::Kind::frequency:
        control.frequency = value;
        break;
      case Term::Part::Kind::damping:
        control.damping = value;
        break;
      case Term::Part::Kind::law:
        control.law = value;
        break;
      case Term::Part::Kind::low:
      case Term::Part::Kind::high:
      case Term::Part::Kind::cost:
        break;
    }
  }
  if (term.kind == TermKind::constraint) {
    model_.constraints.push_back(std::move(row));
    return;
  }
  control.name = std::move(row.name), control.residual = row.residual, control.text = term.text,
  control.place = term.place;
  control.one_sided = term.one_sided, control.priority = term.priority, control.weight = row.weight;
  model_.controls.push_back(std::move(control));
}

void Expander::add_actuator(const Term& term, std::string name, std::span<const Expr> made) {
  Actuator actuator;
  actuator.work = made[0], actuator.place = term.place;
  for (std::size_t k = 0; k < term.parts.size(); ++k) {
    const Expr& value = made[2 + k];
    if (term.parts[k].kind == Term::Part::Kind::low) actuator.low = value;
    if (term.parts[k].kind == Term::Part::Kind::high) actuator.high = value;
    if (term.parts[k].kind == Term::Part::Kind::cost) actuator.cost = value;
  }
  actuator.name = std::move(name);
  model_.actuators.push_back(std::move(actuator));
}

/// What is said of control as a whole.
void Expander::add_control_settings() {
  ControlSettings& control = model_.control;
  const ControlSettings& stated = stated_.control;
  control.every = stated.every, control.place = stated.place;
  for (const std::vector<Expr>& row : stated.cost) {
    auto& entries = control.cost.emplace_back();
    for (const Expr& f : row) entries.push_back(plain(f));
  }
  if (stated.gain) control.gain = plain(*stated.gain);
  if (stated.layer) control.layer = plain(*stated.layer);
  for (const Named& p : stated.nominal) control.nominal.push_back({p.name, plain(p.value), p.place});
  // What is said of single members comes before what is said of all.
  for (Actuator& a : model_.actuators)
    for (const std::string& key : {std::string(family_of(a.name)), a.name})
      if (const auto found = stated_.control_cost.find(key); found != stated_.control_cost.end())
        a.cost = plain(found->second);
}

void Expander::add_matrices() {
  for (const std::vector<Expr>& row : stated_.mass) {
    auto& entries = model_.mass.emplace_back();
    each({}, row,
         [&](std::span<const double>, std::span<const Expr> made) { entries.assign(made.begin(), made.end()); });
  }
  for (const Measured& stated : stated_.measured) {
    Measured& measured = model_.measured.emplace_back(stated);
    for (auto& row : measured.weight)
      for (Expr& f : row) f = plain(f);
  }
}

void Expander::add_view() {
  if (!stated_.view || !whole_) return;
  model_.view = stated_.view;
  for (const FamilyViewItem& family : stated_.view_items) {
    ViewItem stated = family.item;
    // Points that stand for more than one are written out by themselves.
    const std::vector<ViewVector> points = stated.points;
    if (!family.ranges.empty()) stated.points.clear();
    std::vector<Expr> fs;
    for (const Expr* f : expressions_of(stated)) fs.push_back(*f);
    each(family.indices, fs, [&](std::span<const double> at, std::span<const Expr> made) {
      ViewItem item = stated;
      const std::vector<Expr*> to = expressions_of(item);
      for (std::size_t k = 0; k < to.size(); ++k) *to[k] = made[k];
      item.name = member_text(item.name, at);
      for (std::size_t k = 0; k < points.size() && !family.ranges.empty(); ++k) {
        std::vector<Expr> around;
        for (const TermIndex& index : family.indices) around.push_back(index.symbol);
        const auto range = family.ranges.find(k);
        IndexWalk walk = walk_of(range == family.ranges.end() ? std::span<const TermIndex>() : range->second, around);
        const auto program = compile(points[k], walk.symbols());
        walk.each(at, [&](std::span<const double> inner) {
          const std::span<const Expr> p = run(*program, inner);
          item.points.push_back({p[0], p[1], p[2]});
          return true;
        });
      }
      if (model_.view->items.size() >= most_view_items)
        throw ModelError({{item.place, fmt::format("a picture has at most {} parts", most_view_items), {}}},
                         stated_.source);
      model_.view->items.push_back(std::move(item));
    });
  }
  const auto put = [&](std::optional<ViewVector>& v) {
    if (v)
      for (Expr& f : *v) f = plain(f);
  };
  ViewCamera& camera = model_.view->camera;
  put(camera.from), put(camera.at), put(camera.up), put(camera.follow);
  if (camera.height) camera.height = plain(*camera.height);
}

void Expander::add_parameters() {
  std::size_t list = 0;
  for (std::size_t i = 0; i <= stated_.scalars.size(); ++i) {
    for (; list < stated_.numbers.size() && stated_.numbers[list].position == i; ++list)
      if (whole_) add_list(static_cast<int>(list));
    if (i == stated_.scalars.size()) break;
    const Parameter& p = stated_.scalars[i];
    model_.parameters.push_back({p.name, plain(p.value), p.place, p.is_input, p.is_mode});
    if (!whole_) parameters_.push_back(stated_.parameters[i]);
  }
}

void Expander::add_list(int list) {
  const NumberFamily& family = stated_.numbers[static_cast<std::size_t>(list)];
  for (std::size_t k = 0; k < family.values.size(); ++k) {
    const auto stated = family.expressions.find(k);
    const std::string name = family.member_name(k);
    model_.parameters.push_back(
        {name, stated == family.expressions.end() ? Expr(family.values[k]) : plain(stated->second.value), family.place,
         family.is_input});
    if (stated != family.expressions.end()) model_.places["parameters." + name] = stated->second.place;
  }
}

Model expand(const FamilyModel& model) { return Expander(model, true).expand(); }

}  // namespace mechanician
