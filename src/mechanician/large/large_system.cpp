#include "mechanician/large/large_system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <stdexcept>

#include "mechanician/base/text.hpp"
#include "mechanician/equations/divisors.hpp"
#include "mechanician/equations/equations.hpp"
#include "mechanician/equations/mass_rate.hpp"
#include "mechanician/expression/degree.hpp"
#include "mechanician/expression/differentiate.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/expression/tape.hpp"
#include "mechanician/large/large_kernel_internal.hpp"
#include "mechanician/large/large_terms.hpp"
#include "mechanician/large/term_equations.hpp"
#include "mechanician/model/index_values.hpp"
#include "mechanician/model/source_map.hpp"

namespace mechanician {

namespace {

constexpr KindSet moving =
    kind_bit(SymbolKind::coordinate) | kind_bit(SymbolKind::velocity) | kind_bit(SymbolKind::time);

constexpr std::int64_t least_shared = 80'000;  ///< members of a term from which threads share them

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

LargeSystem::LargeSystem(FamilyModel model, int num_threads)
    : LargeSystem(roll_terms(kernel_terms(std::move(model))), num_threads) {}

LargeSystem::LargeSystem(RolledModel model, int num_threads)
    : model_(std::move(model.model)),
      n_(static_cast<int>(model_.num_coordinates())),
      threads_(std::make_shared<SparseThreads>(num_threads)) {
  for (std::size_t i = 0; i < model_.terms.size(); ++i)
    if (!is_number_of_coordinate(model_.terms[i].kind)) add_kernel(model_.terms[i], model.numbers[i], nullptr);
  for (const std::shared_ptr<RolledTerm>& rolled : model.rolled) add_kernel(rolled->term, 0, rolled);
  add_members();
  add_switches();
  find_narrow();
  find_patterns();
  find_unfelt();
  find_sums();
  evaluate_constants();
  for (const auto& kernel : kernels_) kernel->sources = sources_of(*kernel, kernel->needed);
  set_up_desks();
}

void LargeSystem::add_kernel(const Term& term, std::size_t stated, std::shared_ptr<RolledTerm> rolled) {
  if (term.kind == TermKind::kinetic && !has_degree_at_most(term.body, SymbolKind::velocity, 2))
    throw ModelError({{term.place, "the kinetic energy is not quadratic in the velocities", {}}}, model_.source);
  if ((term.kind == TermKind::potential) && term.body.contains(SymbolKind::velocity))
    throw ModelError({{term.place, "the potential energy contains velocities", {}}}, model_.source);
  auto kernel = std::make_shared<Kernel>();
  kernel->term = &term, kernel->number = stated, kernel->rolled = std::move(rolled);

  // What one member gives.
  const auto begin = std::chrono::steady_clock::now();
  Equations eqs = derive(model_of(model_, term));
  std::vector<Kernel::Output> outputs_of_member;
  const auto add = [&](Kernel::Part part, int a, int b, const Expr& value) {
    if (!value.is_zero()) outputs_of_member.push_back({part, a, b, value, {}, -1});
  };
  for (const auto& e : eqs.M.entries) add(Kernel::Part::mass, e.row, e.col, e.value);
  for (int i = 0; i < eqs.n(); ++i) add(Kernel::Part::force, i, 0, eqs.Q[at(i)]);
  for (const auto& e : eqs.A.entries) add(Kernel::Part::row, e.col, 0, e.value);
  if (!eqs.b.empty()) add(Kernel::Part::right, 0, 0, eqs.b.front());
  if (term.kind == TermKind::force) add(Kernel::Part::force, static_cast<int>(term.coordinates.size()), 0, term.body);
  // Residual and rate of a row, and the power of masses, are smooth by the same sides.
  std::vector<Expr> all;
  for (const Kernel::Output& o : outputs_of_member) all.push_back(o.value);
  const bool is_row = term.kind == TermKind::constraint;
  if (is_row) {
    const Row& row = eqs.rows.front();
    kernel->traits = row, kernel->traits.place = term.place, kernel->traits.text = term.text;
    kernel->traits.is_rate = term.is_rate, kernel->traits.integrable &= !term.is_rate;
    all.push_back(row.residual), all.push_back(row.level == Level::position ? row.rate : row.residual);
  }
  const Expr power = term.kind == TermKind::kinetic ? simplify(mass_rate(eqs)) : Expr(0);
  all.push_back(power);
  for (const Expr& e : all) depends_on_time_ |= e.contains(SymbolKind::time);
  Frozen frozen = freeze(all);
  kernel->switches = std::move(frozen.switches), kernel->divisors = find_divisors(all);
  for (const Switch& s : kernel->switches) kernel->sides.symbols.push_back(s.side);
  for (std::size_t k = 0; k < outputs_of_member.size(); ++k) {
    Kernel::Output& o = outputs_of_member[k];
    const bool varies = (o.value.kinds() & moving) != 0;
    o.value = frozen.expressions[k];
    if (o.part == Kernel::Part::mass) mass_is_constant_ &= !varies;
    if (o.part == Kernel::Part::force) force_is_constant_ &= !varies;
    (varies ? kernel->varying : kernel->constant).push_back(std::move(o));
  }
  const std::vector<Expr> inputs = kernel->inputs();
  const auto compile = [&](const std::vector<Expr>& outputs) {
    ProgramBuilder builder(static_cast<int>(inputs.size()));
    std::vector<ProgramBuilder::Value> in;
    for (std::size_t i = 0; i < inputs.size(); ++i) in.push_back(builder.input(static_cast<int>(i)));
    CompiledFunction function(builder.finish(builder.append(Tape(outputs, inputs), in)),
                              {.lanes = static_cast<int>(lanes)});
    function.make_quick_code();
    std::vector<double>& room = kernel->desks.front().outputs;
    room.resize(std::max(room.size(), outputs.size() * at(lanes * batch)));
    const auto need = [&](std::int32_t number) {
      if (number < function.num_inputs()) kernel->needed[at(number)] = 1;
    };
    for (const Step& step : function.program().steps) need(step.a), need(step.b), need(step.c);
    for (const std::int32_t number : function.program().outputs) need(number);
    return function;
  };
  kernel->needed.assign(inputs.size(), 0);
  kernel->desks.front().inputs.resize(inputs.size() * at(lanes * batch));
  std::vector<Expr> outputs;
  for (const Kernel::Output& o : kernel->varying) outputs.push_back(o.value);
  if (!outputs.empty()) kernel->function = compile(outputs);
  const std::size_t num_outputs = kernel->constant.size() + kernel->varying.size();
  if (is_row) {
    rows_are_linear_ &= kernel->traits.linear;
    kernel->row_expressions = {frozen.expressions[num_outputs], frozen.expressions[num_outputs + 1]};
    kernel->rows = compile(kernel->row_expressions);
  }
  if (!power.is_zero()) kernel->mass_power = compile({frozen.expressions.back()});
  if (!kernel->switches.empty()) {
    std::vector<Tangent> along{{time_symbol(), 1.0}};
    std::vector<Expr> g;
    for (const MemberSymbol& c : term.coordinates)
      along.push_back({c.symbol, dot(c.symbol)}), along.push_back({dot(c.symbol), ddot(c.symbol)});
    for (const Switch& s : kernel->switches) g.push_back(s.g);
    kernel->rates_of_switches = directional(g, along);
  }
  seconds_of_deriving_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();

  kernels_.push_back(std::move(kernel));
}

/// Once everything is compiled: what does not grow with the size is not kept waiting for memory by what does.
void LargeSystem::add_members() {
  for (const auto& kernel : kernels_) {
    kernel->members = kernel->rolled ? std::move(kernel->rolled->members) : find_members(model_, *kernel->term);
    if (kernel->term->kind == TermKind::force) kernel->members.coordinates.push_back(kernel->members.target);
    for (const auto& numbers : kernel->members.coordinates) {
      bool sequence = true;
      for (std::size_t j = 1; j < numbers.size() && sequence; ++j) sequence = numbers[j] == numbers[j - 1] + 1;
      kernel->first.push_back(sequence && !numbers.empty() ? numbers[0] : -1);
    }
  }
  add_rows();
}

/// In the order in which constraints are stated.
void LargeSystem::add_rows() {
  struct Rows {
    std::size_t number;
    std::int32_t kernel, from, to;  ///< members
  };
  std::vector<Rows> all;
  for (std::size_t k = 0; k < kernels_.size(); ++k) {
    Kernel& kernel = *kernels_[k];
    if (kernel.term->kind != TermKind::constraint) continue;
    const auto own = static_cast<std::int32_t>(k), count = static_cast<std::int32_t>(kernel.members.count);
    kernel.row.resize(at(count));
    if (!kernel.rolled) all.push_back({kernel.number, own, 0, count});
    for (std::int32_t j = 0; kernel.rolled && j < count; ++j)
      all.push_back({kernel.rolled->numbers[at(j)], own, j, j + 1});
  }
  std::sort(all.begin(), all.end(), [](const Rows& a, const Rows& b) { return a.number < b.number; });
  for (const Rows& rows : all)
    for (std::int32_t j = rows.from; j < rows.to; ++j) {
      Kernel& kernel = *kernels_[at(rows.kernel)];
      kernel.row[at(j)] = m_++;
      row_places_.push_back({rows.kernel, j});
      if (kernel.term->is_rate) states_.push_back({kernel.members.target[at(j)], kernel.row[at(j)]});
    }
}

/// Which side belongs to which member. What is the same for all members is one switch, whichever terms it is in.
void LargeSystem::add_switches() {
  struct Common {
    Expr g;
    std::int64_t place;
  };
  std::vector<Common> common;
  std::int64_t num_sides = 0;
  // Indices, numbers of lists and sides are parameters here, and nothing else is.
  const auto is_common = [](const Expr& e) { return (e.kinds() & ~kind_bit(SymbolKind::time)) == 0; };
  for (const auto& kernel : kernels_) {
    const Term& term = *kernel->term;
    const std::int64_t count = kernel->members.count;
    std::vector<Expr> g;
    for (const Switch& s : kernel->switches) {
      g.push_back(s.g);
      const bool one = is_common(s.g);
      kernel->sides.common.push_back(one);
      const auto known =
          std::find_if(common.begin(), common.end(), [&](const Common& c) { return one && same(c.g, s.g); });
      if (known != common.end()) {
        kernel->sides.first.push_back(known->place);
        continue;
      }
      kernel->sides.first.push_back(num_sides);
      if (one) common.push_back({s.g, num_sides});
      num_sides += one ? 1 : count;
    }
    if (!g.empty()) {
      kernel->switch_functions = MemberFunctions(model_, term, kernel->members, g, kernel->sides.symbols);
      kernel->switch_rates =
          MemberFunctions(model_, term, kernel->members, kernel->rates_of_switches, kernel->sides.symbols);
    }
    if (kernel->divisors.empty()) continue;
    kernel->divisor_functions = MemberFunctions(model_, term, kernel->members, kernel->divisors, {});
    for (std::size_t i = 0; i < kernel->divisors.size(); ++i) {
      kernel->first_divisor.push_back(num_divisors_);
      num_divisors_ += static_cast<int>(count);
    }
  }
  sides_.assign(at(num_sides), 1.0);
}

/// Where each output of each member belongs.
void LargeSystem::find_patterns() {
  // M: pairs of coordinates, each once.
  const auto key = [](std::int64_t row, std::int64_t col) { return row << 32 | col; };
  std::vector<std::int64_t> keys;
  const auto each_mass = [&](auto&& visit) {
    for (const auto& kernel : kernels_)
      for (auto* list : {&kernel->constant, &kernel->varying})
        for (Kernel::Output& o : *list)
          if (o.part == Kernel::Part::mass) visit(*kernel, o);
  };
  each_mass([&](Kernel& kernel, Kernel::Output& o) {
    const auto &a = kernel.members.coordinates[at(o.a)], &b = kernel.members.coordinates[at(o.b)];
    for (std::size_t j = 0; j < a.size(); ++j)
      if (a[j] >= b[j]) keys.push_back(key(a[j], b[j]));
  });
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  pattern_.n = n_, pattern_.m = m_;
  for (const std::int64_t k : keys) pattern_.M.push_back({static_cast<int>(k >> 32), static_cast<int>(k & 0xffffffff)});
  each_mass([&](Kernel& kernel, Kernel::Output& o) {
    const auto &a = kernel.members.coordinates[at(o.a)], &b = kernel.members.coordinates[at(o.b)];
    o.to.resize(a.size());
    for (std::size_t j = 0; j < a.size(); ++j)
      o.to[j] =
          a[j] < b[j]
              ? -1
              : static_cast<std::int32_t>(std::lower_bound(keys.begin(), keys.end(), key(a[j], b[j])) - keys.begin());
  });
  // A: for each entry of a family its members one after the other; a coordinate that a member has twice has one place.
  for (const auto& kernel : kernels_) {
    std::vector<Kernel::Output*> entries;
    for (auto* list : {&kernel->constant, &kernel->varying})
      for (Kernel::Output& o : *list) {
        if (o.part == Kernel::Part::row) entries.push_back(&o);
        if (o.part == Kernel::Part::force) o.to = kernel->members.coordinates[at(o.a)];
        if (o.part == Kernel::Part::right) {
          o.to = kernel->row;
        }
      }
    for (std::size_t k = 0; k < entries.size(); ++k) {
      const auto& columns = kernel->members.coordinates[at(entries[k]->a)];
      entries[k]->to.resize(columns.size());
      for (std::size_t j = 0; j < columns.size(); ++j) {
        std::int32_t place = -1;
        for (std::size_t l = 0; l < k && place < 0; ++l)
          if (kernel->members.coordinates[at(entries[l]->a)][j] == columns[j]) place = entries[l]->to[j];
        if (place < 0) {
          place = static_cast<std::int32_t>(pattern_.A.size());
          pattern_.A.push_back({kernel->row[j], columns[j]});
        }
        entries[k]->to[j] = place;
      }
    }
    for (auto* list : {&kernel->constant, &kernel->varying})
      for (Kernel::Output& o : *list) {
        bool sequence = !o.to.empty() && o.to.front() >= 0;
        for (std::size_t j = 1; j < o.to.size() && sequence; ++j) sequence = o.to[j] == o.to[j - 1] + 1;
        if (sequence) o.first = o.to.front();
      }
  }
}

/// Rates of states that no other row mentions (RowTraits::unfelt), for whole kernels.
void LargeSystem::find_unfelt() {
  std::vector<int> uses(at(n_), 0);
  for (const SparseEntry& e : pattern_.A) ++uses[at(e.col)];
  for (const auto& kernel : kernels_)
    kernel->traits.unfelt =
        kernel->term->is_rate && std::all_of(kernel->members.target.begin(), kernel->members.target.end(),
                                             [&](std::int32_t i) { return uses[at(i)] == 1; });
  for (const auto& kernel : kernels_) {
    if (!kernel->rolled) continue;
    for (const RolledTerm::Stated& stated : kernel->rolled->stated) {
      RowTraits& own = kernel->own_traits.emplace_back(kernel->traits);
      own.place = stated.place, own.text = stated.text;
    }
  }
}

LargeSystem::Values LargeSystem::make_values() const { return constant_; }

/// Which parts are sums that have to begin anew at every evaluation.
void LargeSystem::find_sums() {
  std::vector<std::uint8_t> count[4];
  count[0].assign(pattern_.M.size(), 0), count[1].assign(at(n_), 0), count[2].assign(pattern_.A.size(), 0),
      count[3].assign(at(m_), 0);
  for (const auto& kernel : kernels_)
    for (auto* list : {&kernel->constant, &kernel->varying})
      for (const Kernel::Output& o : *list)
        for (const std::int32_t place : o.to)
          if (place >= 0)
            count[static_cast<int>(o.part)][at(place)] =
                static_cast<std::uint8_t>(std::min(2, count[static_cast<int>(o.part)][at(place)] + 1));
  for (const auto& kernel : kernels_)
    for (Kernel::Output& o : kernel->varying) {
      o.alone = std::all_of(o.to.begin(), o.to.end(), [&](std::int32_t place) {
        return place >= 0 && count[static_cast<int>(o.part)][at(place)] == 1;
      });
      is_sum_[static_cast<int>(o.part)] |= !o.alone;
    }
}

void LargeSystem::evaluate_constants() {
  constant_.M.assign(pattern_.M.size(), 0.0), constant_.A.assign(pattern_.A.size(), 0.0);
  constant_.Q.assign(at(n_), 0.0), constant_.b.assign(at(m_), 0.0);
  for (const auto& kernel : kernels_) {
    if (kernel->constant.empty()) continue;
    std::vector<Expr> symbols, values;
    for (const TermIndex& index : kernel->term->indices) symbols.push_back(index.symbol);
    for (const MemberSymbol& c : kernel->term->numbers) symbols.push_back(c.symbol);
    for (const Kernel::Output& o : kernel->constant) values.push_back(o.value);
    const Tape tape(values, symbols);
    std::vector<double> inputs(symbols.size()), registers(at(tape.num_registers())), outputs(values.size());
    for (std::int64_t j = 0; j < kernel->members.count; ++j) {
      std::size_t k = 0;
      for (const auto& index : kernel->members.indices) inputs[k++] = index[at(j)];
      for (std::size_t l = 0; l < kernel->members.numbers.size(); ++l)
        inputs[k++] = model_.numbers[at(kernel->term->numbers[l].family)].values[at(kernel->members.numbers[l][at(j)])];
      tape.evaluate<double>(inputs, registers, outputs);
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        const Kernel::Output& o = kernel->constant[i];
        LargeVector& part = o.part == Kernel::Part::mass    ? constant_.M
                            : o.part == Kernel::Part::force ? constant_.Q
                            : o.part == Kernel::Part::row   ? constant_.A
                                                            : constant_.b;
        if (o.to[at(j)] >= 0) part[at(o.to[at(j)])] += outputs[i];
      }
    }
  }
}

std::vector<Expr> LargeSystem::Kernel::inputs() const {
  std::vector<Expr> all{time_symbol()};
  for (const bool velocity : {false, true})
    for (const MemberSymbol& c : term->coordinates) all.push_back(velocity ? dot(c.symbol) : c.symbol);
  for (const TermIndex& index : term->indices) all.push_back(index.symbol);
  for (const MemberSymbol& c : term->numbers) all.push_back(c.symbol);
  all.insert(all.end(), sides.symbols.begin(), sides.symbols.end());
  return all;
}

/// In the order of Kernel::inputs().
std::vector<LargeSystem::Source> LargeSystem::sources_of(const Kernel& kernel, const std::vector<char>& needed) const {
  using From = Source::From;
  std::vector<Source> sources;
  std::int64_t number = 0;
  const auto add = [&](Source source) {
    source.place = lanes * number;
    if (needed[at(number++)]) sources.push_back(source);
  };
  const TermMembers& members = kernel.members;
  add({From::time, 0});
  for (const From from : {From::position, From::velocity})
    for (std::size_t i = 0; i < kernel.term->coordinates.size(); ++i)
      add({from, 0, kernel.first[i], members.coordinates[i].data()});
  for (const auto& index : members.indices) add({From::index, 0, 0, nullptr, index.data()});
  for (std::size_t i = 0; i < members.numbers.size(); ++i)
    add({From::number, 0, -1, members.numbers[i].data(),
         model_.numbers[at(kernel.term->numbers[i].family)].values.data()});
  for (std::size_t i = 0; i < kernel.sides.symbols.size(); ++i)
    add({kernel.sides.common[i] ? From::common : From::index, 0, 0, nullptr, sides_.data() + kernel.sides.first[i]});
  return sources;
}

/// Members that are worth it are shared among threads: their numbers go to places of their own.
void LargeSystem::set_up_desks() {
  for (const auto& kernel : kernels_) {
    kernel->shared = kernel->members.count >= least_shared && threads_->count() > 1 && !kernel->varying.empty() &&
                     std::all_of(kernel->varying.begin(), kernel->varying.end(), [](const auto& o) { return o.alone; });
    Desk& first = kernel->desks.front();
    if (kernel->function) first.function = kernel->function;
    first.lines.resize(kernel->varying.size());
    if (!kernel->shared) continue;
    kernel->desks.resize(at(threads_->count()), first);
    threads_->start();
  }
}

const RowTraits& LargeSystem::row(int row) const {
  const RowPlace place = row_places_[at(row)];
  const Kernel& kernel = *kernels_[at(place.kernel)];
  return kernel.own_traits.empty() ? kernel.traits : kernel.own_traits[at(place.member)];
}

bool LargeSystem::forces_depend_on(int coordinate) const {
  for (const auto& kernel : kernels_)
    for (const Kernel::Output& o : kernel->varying) {
      if (o.part != Kernel::Part::force) continue;
      const std::vector<Expr> symbols = symbols_of(std::span(&o.value, 1));
      for (std::size_t c = 0; c < kernel->term->coordinates.size(); ++c) {
        const Expr& own = kernel->term->coordinates[c].symbol;
        const auto& members = kernel->members.coordinates[c];
        if (std::any_of(symbols.begin(), symbols.end(),
                        [&](const Expr& s) { return same(s, own) || same(s, dot(own)); }) &&
            std::find(members.begin(), members.end(), coordinate) != members.end())
          return true;
      }
    }
  return false;
}

std::int64_t LargeSystem::num_operations() const {
  std::int64_t count = 0;
  for (const auto& kernel : kernels_)
    if (kernel->function)
      count += kernel->members.count * static_cast<std::int64_t>(kernel->function.program().steps.size());
  return count;
}

LargeSystem::Start LargeSystem::start() const {
  Start result{model_.start_time, std::vector<double>(at(n_), 0.0), std::vector<double>(at(n_), 0.0), {}};
  const auto refuse = [&](const Place& place, std::string message, std::string hint = {}) {
    throw ModelError({{place, std::move(message), std::move(hint)}}, model_.source);
  };
  struct Numbers {
    TermKind kind;
    const char *path, *name;
    std::vector<double>& values;
    std::vector<char> given = {};
  };
  if (model_.run.scale_of_all) result.scale.assign(at(n_), IndexValues(model_, {*model_.run.scale_of_all}, {})({})[0]);
  for (Numbers& numbers : std::array{Numbers{TermKind::position, "start.position", "start values", result.q},
                                     Numbers{TermKind::velocity, "start.velocity", "start values", result.qd},
                                     Numbers{TermKind::scale, "run.scale", "scales", result.scale}}) {
    for (const Term& term : model_.terms) {
      if (term.kind != numbers.kind) continue;
      numbers.values.resize(at(n_), 0.0), numbers.given.resize(at(n_), 0);
      if (term.indices.empty() && term.target.indices.empty() && term.body.is_constant() && !term.of_sum) {
        const long number = model_.coordinates[at(term.target.family)].first;
        if (std::isfinite(term.body.value()) && !numbers.given[at(number)]++) {
          numbers.values[at(number)] += term.body.value();
          continue;
        }
      }
      const TermMembers members = find_members(model_, term);
      // The terms of a sum come with one that stands for the whole.
      if (!term.of_sum)
        for (const std::int32_t number : members.target)
          if (numbers.given[at(number)]++)
            refuse(term.key, fmt::format("{} has two {}", mechanician::quoted(model_.name_of(number)), numbers.name));
      std::vector<Expr> symbols;
      for (const TermIndex& index : term.indices) symbols.push_back(index.symbol);
      for (const MemberSymbol& c : term.numbers) symbols.push_back(c.symbol);
      const Tape tape(std::span(&term.body, 1), symbols);
      std::vector<double> inputs(symbols.size()), registers(at(tape.num_registers())), value(1);
      for (std::int64_t j = 0; j < members.count; ++j) {
        std::size_t k = 0;
        for (const auto& index : members.indices) inputs[k++] = index[at(j)];
        for (std::size_t l = 0; l < members.numbers.size(); ++l)
          inputs[k++] = model_.numbers[at(term.numbers[l].family)].values[at(members.numbers[l][at(j)])];
        tape.evaluate<double>(inputs, registers, value);
        if (!std::isfinite(value.front()))
          refuse(term.place, fmt::format("`{}.{}` is not finite", numbers.path, model_.name_of(members.target[at(j)])));
        // What is rounding is zero, as in start_state().
        double exact = 0.0, rounding = 0.0;
        tape.evaluate_with_bounds(inputs, std::span(&exact, 1), std::span(&rounding, 1));
        if (std::abs(value.front()) > rounding) numbers.values[at(members.target[at(j)])] += value.front();
      }
    }
  }
  return result;
}

}  // namespace mechanician
