// Kinks, divisors and narrow functions of a large system, member by member.

#include <cmath>

#include "mechanician/expression/print.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/expression/where_defined.hpp"
#include "mechanician/large/large_kernel_internal.hpp"

namespace mechanician {

namespace {

/// An expression of a term as one of its members has it.
Expr of_member(const FamilyModel& model, const Term& term, const TermMembers& members, std::size_t member,
               const Expr& e) {
  std::vector<Replacement> names;
  for (std::size_t c = 0; c < term.coordinates.size(); ++c) {
    const Expr own = coordinate(model.name_of(members.coordinates[c][member])), &symbol = term.coordinates[c].symbol;
    names.push_back({symbol, own}), names.push_back({dot(symbol), dot(own)});
  }
  for (std::size_t i = 0; i < term.indices.size(); ++i)
    names.push_back({term.indices[i].symbol, Expr(members.indices[i][member])});
  for (std::size_t k = 0; k < term.numbers.size(); ++k)
    names.push_back({term.numbers[k].symbol, Expr(model.numbers[static_cast<std::size_t>(term.numbers[k].family)]
                                                      .values[static_cast<std::size_t>(members.numbers[k][member])])});
  return substitute(e, names);
}

}  // namespace

std::vector<LargeSystem::SwitchText> LargeSystem::describe_switches() const {
  std::vector<SwitchText> result(sides_.size());
  for (const auto& kernel : kernels_)
    for (std::size_t i = 0; i < kernel->switches.size(); ++i) {
      const std::size_t count = kernel->sides.common[i] ? 1 : static_cast<std::size_t>(kernel->members.count);
      for (std::size_t j = 0; j < count; ++j)
        result[static_cast<std::size_t>(kernel->sides.first[i]) + j] = {kernel->switches[i].text,
                                                                        kernel->switches[i].is_discontinuous};
    }
  return result;
}

std::vector<double> LargeSystem::sides_at(double t, std::span<const double> q, std::span<const double> qd) {
  std::vector<double> sides(sides_.size(), 1.0), g(sides.size());
  // Those of inner switches are right first.
  for (int round = 0; round < 8 && !g.empty(); ++round) {
    calc_switches({t, q.data(), qd.data(), nullptr, sides.data()}, g, {});
    bool turned = false;
    for (std::size_t i = 0; i < g.size(); ++i) {
      const double side = g[i] > 0.0 ? 1.0 : g[i] < 0.0 ? -1.0 : 0.0;
      turned |= side != sides[i];
      sides[i] = side;
    }
    if (!turned) break;
  }
  return sides;
}

std::string LargeSystem::divisor_text(int divisor) const {
  for (const auto& kernel : kernels_)
    for (std::size_t i = 0; i < kernel->divisors.size(); ++i)
      if (const std::int64_t member = divisor - kernel->first_divisor[i]; member >= 0 && member < kernel->members.count)
        return to_text(
            of_member(model_, *kernel->term, kernel->members, static_cast<std::size_t>(member), kernel->divisors[i]));
  return "";
}

void LargeSystem::calc_switches(const MemberPoint& point, std::span<double> g, std::span<double> bounds) {
  const Lock lock(mutex_);
  for (const auto& kernel : kernels_)
    kernel->switch_functions.evaluate(model_, *kernel->term, kernel->members, kernel->sides, point, !bounds.empty(),
                                      [&](std::size_t i, std::size_t j, double value, double bound) {
                                        const std::size_t place = static_cast<std::size_t>(kernel->sides.first[i]) +
                                                                  (kernel->sides.common[i] ? 0 : j);
                                        g[place] = value;
                                        if (!bounds.empty()) bounds[place] = bound;
                                      });
}

void LargeSystem::bound_switches(const Interval& t, const Interval* q, const Interval* qd, const double* sides,
                                 std::span<Interval> g) {
  const Lock lock(mutex_);
  for (const auto& kernel : kernels_)
    kernel->switch_functions.bound<Interval>(
        model_, *kernel->term, kernel->members, kernel->sides, {t, q, qd, nullptr}, sides,
        [&](std::size_t j, std::span<const Interval> values) {
          for (std::size_t i = 0; i < values.size(); ++i)
            g[static_cast<std::size_t>(kernel->sides.first[i]) + (kernel->sides.common[i] ? 0 : j)] = values[i];
        });
}

void LargeSystem::find_narrow() {
  for (const auto& kernel : kernels_) {
    std::vector<Expr> outputs;
    for (const Kernel::Output& o : kernel->varying) outputs.push_back(o.value);
    outputs = where_defined(outputs);
    kernel->narrow = NarrowFunctions(outputs);
    if (!kernel->narrow.any()) continue;
    can_be_narrow_ = true;
    kernel->narrow_arguments =
        MemberFunctions(model_, *kernel->term, kernel->members, kernel->narrow.arguments(), kernel->sides.symbols);
    kernel->narrow_outputs = MemberFunctions(model_, *kernel->term, kernel->members, outputs, kernel->sides.symbols);
  }
}

bool LargeSystem::varies_fast(const MemberState<Interval>& box, const double* sides) {
  const Lock lock(mutex_);
  bool fast = false;
  for (const auto& kernel : kernels_)
    kernel->narrow_arguments.bound<Interval>(
        model_, *kernel->term, kernel->members, kernel->sides, box, sides,
        [&](std::size_t, std::span<const Interval> arguments) { fast = fast || kernel->narrow.vary_fast(arguments); });
  return fast;
}

template <class T>
void LargeSystem::calc_unseen_as(const MemberState<Interval>& box, const double* sides, UnseenValues& to) {
  const Lock lock(mutex_);
  to.M.assign(pattern_.M.size(), 0.0), to.Q.assign(static_cast<std::size_t>(n_), 0.0);
  to.A.assign(pattern_.A.size(), 0.0), to.b.assign(static_cast<std::size_t>(m_), 0.0);
  to.size_of_A.assign(constant_.A.begin(), constant_.A.end());
  for (double& x : to.size_of_A) x = std::abs(x);
  for (const auto& kernel : kernels_) {
    const auto& outputs = kernel->varying;
    kernel->narrow_outputs.bound<T>(model_, *kernel->term, kernel->members, kernel->sides, box, sides,
                                    [&](std::size_t j, std::span<const T> values) {
                                      for (std::size_t k = 0; k < values.size(); ++k) {
                                        const std::int32_t place = outputs[k].to[j];
                                        if (place < 0) continue;
                                        const auto i = static_cast<std::size_t>(place);
                                        const Kernel::Part part = outputs[k].part;
                                        (part == Kernel::Part::mass    ? to.M
                                         : part == Kernel::Part::force ? to.Q
                                         : part == Kernel::Part::row   ? to.A
                                                                       : to.b)[i] += values[k].unseen;
                                        if (part == Kernel::Part::row)
                                          to.size_of_A[i] +=
                                              std::max(std::abs(values[k].range.low), std::abs(values[k].range.high));
                                      }
                                    });
  }
}

void LargeSystem::calc_unseen(const MemberState<Interval>& box, const double* sides, SeenBy shown, UnseenValues& to) {
  with_variation(shown, [&]<class T>(T) { calc_unseen_as<T>(box, sides, to); });
}

void LargeSystem::calc_switch_rates(const MemberPoint& point, std::span<double> rates, std::span<double> bounds) {
  const Lock lock(mutex_);
  for (const auto& kernel : kernels_)
    kernel->switch_rates.evaluate(model_, *kernel->term, kernel->members, kernel->sides, point, true,
                                  [&](std::size_t i, std::size_t j, double value, double bound) {
                                    const std::size_t place = static_cast<std::size_t>(kernel->sides.first[i]) +
                                                              (kernel->sides.common[i] ? 0 : j);
                                    rates[place] = value, bounds[place] = bound;
                                  });
}

void LargeSystem::calc_divisors(const MemberPoint& point, std::span<double> values) {
  const Lock lock(mutex_);
  const MemberSides none;
  for (const auto& kernel : kernels_)
    kernel->divisor_functions.evaluate(model_, *kernel->term, kernel->members, none, point, false,
                                       [&](std::size_t i, std::size_t j, double value, double) {
                                         values[static_cast<std::size_t>(kernel->first_divisor[i]) + j] = value;
                                       });
}

}  // namespace mechanician
