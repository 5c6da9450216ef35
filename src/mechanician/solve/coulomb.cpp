#include "mechanician/solve/coulomb.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "mechanician/solve/contact_modes.hpp"
#include "mechanician/solve/contact_system.hpp"
#include "mechanician/solve/factorisation.hpp"
#include "mechanician/solve/one_sided.hpp"
#include "mechanician/solve/row_selection.hpp"

namespace mechanician {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using Choice = UnitMode::Choice;
using Count = CoulombSolution::Count;

constexpr long most_searched = 4;  // modes with several unknown directions

/// Mode, forces and acceleration of all groups together.
struct Whole {
  std::vector<UnitMode> modes;  // by unit
  VectorXd f, qdd;
  double violation = 0;
  bool distributed = false;
};

Whole start_whole(const ContactSystem& s) {
  Whole whole;
  whole.modes.resize(s.units.size());
  whole.f = VectorXd::Zero(s.p());
  whole.qdd = s.qdd0;
  return whole;
}

void add(const ContactGroup& group, const ModeSolution& solution, Whole& whole) {
  for (std::size_t i = 0; i < group.units().size(); ++i) whole.modes[group.units()[i]] = solution.mode[i];
  whole.f += solution.f;
  whole.qdd += solution.qdd;
  whole.violation = std::max(whole.violation, solution.violation);
  whole.distributed = whole.distributed || solution.distributed;
}

/// The two-sided problem that a mode amounts to: closed and sticking rows hold, sliding friction is a given force.
struct RobustMode {
  InstantValues values;
  std::vector<Index> rows;            // of A, increasing
  std::vector<std::size_t> sticking;  // units, their rows after these
};

RobustMode make_robust(const ContactSystem& s, const Whole& whole) {
  RobustMode r;
  r.rows = s.equality;
  VectorXd sliding = VectorXd::Zero(s.p());
  Index num_stick = 0;
  for (std::size_t i = 0; i < s.units.size(); ++i) {
    const ContactUnit& u = s.units[i];
    if (whole.modes[i].choice == Choice::open) continue;
    if (!u.two_sided()) r.rows.push_back(u.row);
    if (whole.modes[i].choice == Choice::sticking) {
      r.sticking.push_back(i);
      num_stick += u.k;
    } else if (u.k > 0) {
      sliding.segment(u.tangent, u.k) = whole.f.segment(u.tangent, u.k);
    }
  }
  std::sort(r.rows.begin(), r.rows.end());
  const auto num = static_cast<Index>(r.rows.size());
  const InstantValues& v = s.values;
  r.values.M = v.M;
  r.values.Q = v.Q + s.G_transposed.transposed_times(s.D.cwiseProduct(sliding));
  if (v.C.size() > 0) r.values.Q += v.C;
  r.values.M_noise = v.M_noise;
  r.values.path = v.path;
  r.values.Q_noise = v.Q_noise;
  r.values.A = v.A.select(r.rows);
  r.values.b.resize(num + num_stick);
  r.values.b.head(num) = v.b(r.rows);
  Index at = num;
  for (const std::size_t i : r.sticking) {
    const ContactUnit& u = s.units[i];
    for (Index c = 0; c < u.k; ++c, ++at) {
      r.values.A.add_rows(s.G_transposed.select({u.tangent + c}));
      r.values.b(at) = s.slip_b(u.tangent + c);
    }
  }
  return r;
}

CoulombAnswer make_answer(const ContactSystem& s, const std::vector<FrictionContact>& contacts, const Whole& whole) {
  CoulombAnswer answer;
  const Index m = s.values.b.size();
  answer.violation = whole.violation <= mode_tolerance ? 0.0 : whole.violation;
  answer.mode.states.assign(contacts.size(), ContactState::open);
  answer.mode.directions.resize(contacts.size());
  answer.mode.sign.assign(contacts.size(), 1);
  answer.friction.resize(contacts.size());
  answer.multipliers = VectorXd::Zero(m);

  // Acceleration and forces of the reduced system, then those of the two-sided problem that it leads to.
  answer.qdd = whole.qdd;
  const VectorXd lambda = s.lambda0 + s.Lambda * whole.f;
  for (std::size_t i = 0; i < s.equality.size(); ++i) answer.multipliers(s.equality[i]) = lambda(static_cast<Index>(i));
  VectorXd f = s.D.cwiseProduct(whole.f);
  for (const ContactUnit& u : s.units) {
    if (!u.two_sided()) answer.multipliers(u.row) = f(u.normal);
  }
  const RobustMode robust = make_robust(s, whole);
  const Solution solution = solve(robust.values);
  if (solution.has_acceleration()) {
    const double size = s.scale + s.motion_norm(whole.qdd);
    if (s.motion_norm(solution.qdd - answer.qdd) <= distinct_answers * size) {
      answer.qdd = solution.qdd;
      if (solution.multipliers_unique) {
        Index at = 0;
        for (const Index row : robust.rows) answer.multipliers(row) = solution.multipliers(at++);
        for (const std::size_t i : robust.sticking) {
          const ContactUnit& u = s.units[i];
          f.segment(u.tangent, u.k) = solution.multipliers.segment(at, u.k);
          at += u.k;
        }
      }
    }
  }

  for (std::size_t i = 0; i < s.units.size(); ++i) {
    const ContactUnit& u = s.units[i];
    const UnitMode& mode = whole.modes[i];
    if (!u.two_sided() && mode.choice != Choice::open) {
      answer.mode.holding.push_back(u.row);
      // Rounding below zero is zero.
      double& normal = answer.multipliers(u.row);
      if (answer.violation == 0 && normal < 0) normal = 0;
    }
    if (u.k == 0) continue;
    ContactState state = ContactState::open;
    if (mode.choice == Choice::sticking) state = ContactState::sticking;
    if (mode.choice == Choice::sliding) state = ContactState::sliding;
    answer.mode.states[u.contact] = state;
    answer.mode.sign[u.contact] = u.two_sided() ? mode.sign : 1;
    if (state == ContactState::sliding) {
      answer.mode.directions[u.contact] = mode.direction;
      const FrictionContact& c = contacts[u.contact];
      const double normal = u.row < 0 ? 0.0 : mode.sign * answer.multipliers(u.row);
      f.segment(u.tangent, u.k) = -(c.mu * normal + c.limit) * mode.direction;
    } else if (state == ContactState::open) {
      f.segment(u.tangent, u.k).setZero();
    }
    answer.friction[u.contact] = f.segment(u.tangent, u.k);
  }
  std::sort(answer.mode.holding.begin(), answer.mode.holding.end());
  answer.friction_force = VectorXd::Zero(s.values.M.rows());
  for (std::size_t c = 0; c < contacts.size(); ++c)
    answer.friction_force += contacts[c].T.transposed_times(answer.friction[c]);
  answer.slack = VectorXd::Zero(static_cast<Index>(s.one_sided.size()));
  for (std::size_t i = 0; i < s.one_sided.size(); ++i) {
    const Index row = s.one_sided[i];
    if (std::binary_search(answer.mode.holding.begin(), answer.mode.holding.end(), row)) continue;
    const double slack = s.values.A.dot(row, answer.qdd) - s.values.b(row);
    answer.slack(static_cast<Index>(i)) = answer.violation == 0 ? std::max(0.0, slack) : slack;
  }
  return answer;
}

bool needs_direction(const UnitMode& mode) { return mode.choice == Choice::sliding && mode.direction.size() == 0; }

/// What a group can do.
struct GroupAnswers {
  std::vector<ModeSolution> list;  // different accelerations
  bool complete = true;            // there are no others
  bool continuum = false;
  bool shared = false;  // all of them are ways to share what the contacts of the first one carry
};

bool different(const ContactSystem& s, const VectorXd& qdd, const VectorXd& other) {
  return s.motion_norm(qdd - other) > distinct_answers * (s.scale + s.motion_norm(qdd) + s.motion_norm(other));
}

void keep_new(const ContactSystem& s, ModeSolution solution, GroupAnswers& answers) {
  for (const VectorXd& qdd : solution.others) {
    answers.continuum = answers.continuum || different(s, qdd, solution.qdd);
  }
  for (const ModeSolution& known : answers.list) {
    if (!different(s, known.qdd, solution.qdd)) return;
  }
  answers.list.push_back(std::move(solution));
}

/// Where contacts that slide carry more than is determined, as the corners of a crate that spins do, all answers are ways to share that: each
/// keeps all contacts closed that any of them presses. Then one stands for them in which all these act, with the least forces; before others one
/// in which these need no help to meet signs and cones.
void find_shared(const ContactGroup& group, GroupAnswers& answers) {
  std::optional<ModeSolution> found;
  bool plainly = false;
  for (const ModeSolution& one : answers.list) {
    if (one.others.empty() || plainly) continue;
    const bool all = std::all_of(answers.list.begin(), answers.list.end(), [&](const ModeSolution& other) {
      for (std::size_t i = 0; i < one.mode.size(); ++i)
        if (one.mode[i].choice == Choice::open && other.mode[i].choice != Choice::open) return false;
      return group.keeps_closed(other, one.mode);
    });
    if (!all) continue;
    const auto least = group.solve(one.mode, {.enforce = false});
    plainly = least && least->violation <= mode_tolerance;
    if (!found || plainly) found = one;
  }
  if (!found) return;
  answers.list.assign(1, std::move(*found));
  answers.shared = true;
}

std::optional<ModeSolution> find_one(const ContactGroup& group, long& num_modes) {
  if (auto found = group.find_by_pivoting(num_modes)) return found;
  if (auto found = group.find_by_smoothing(num_modes)) return found;
  return group.relax(num_modes);
}

GroupAnswers look_at(const ContactSystem& s, const ContactGroup& group, const CoulombOptions& options,
                     long& num_modes) {
  GroupAnswers answers;
  const auto choices = group.options();
  double count = 1;
  for (const auto& list : choices) count *= static_cast<double>(list.size());
  if (count > static_cast<double>(options.most_modes)) {
    answers.complete = false;
    if (auto found = find_one(group, num_modes)) keep_new(s, std::move(*found), answers);
  } else {
    // Modes with unknown directions one by one. Those with several of them come last, and where there are many only if
    // nothing else was found, by relaxation either.
    const auto visit = [&](auto&& take) {
      std::vector<std::size_t> at(choices.size(), 0);
      GroupMode mode(choices.size());
      while (true) {
        int num_free = 0;
        for (std::size_t i = 0; i < choices.size(); ++i) {
          mode[i] = choices[i][at[i]];
          num_free += needs_direction(mode[i]);
        }
        take(mode, num_free);
        std::size_t i = 0;
        while (i < at.size() && ++at[i] == choices[i].size()) at[i++] = 0;
        if (i == at.size()) break;
      }
    };
    const auto look = [&](const GroupMode& mode) {
      for (ModeSolution& found : group.find(mode, answers.complete)) keep_new(s, std::move(found), answers);
    };
    auto given = choices;
    bool any_free = false;
    for (auto& list : given) any_free = std::erase_if(list, needs_direction) > 0 || any_free;
    num_modes += static_cast<long>(count);
    if (s.U.cols() == 0) {
      group.visit_possible(given, look);
    } else {
      visit([&](const GroupMode& mode, int num_free) { num_free == 0 ? look(mode) : static_cast<void>(0); });
    }
    long num_searched = 0;
    // Contacts that begin to slip in a plane, several at once: of what they can do together the ways to share a load are left out.
    if (any_free && group.num_free() > 1)
      if (auto found = group.find_by_smoothing(num_modes)) {
        answers = {};
        keep_new(s, std::move(*found), answers);
        answers.complete = group.surely_unique();
        return answers;
      }
    if (any_free) {
      visit([&](const GroupMode& mode, int num_free) {
        if (num_free == 1) look(mode);
        num_searched += num_free > 1;
      });
    }
    if (num_searched > 0) {
      const bool proved = !answers.list.empty() && group.surely_unique();
      if (!proved && num_searched > most_searched && answers.list.empty()) {
        if (auto found = find_one(group, num_modes)) keep_new(s, std::move(*found), answers);
      }
      if (!proved && (num_searched <= most_searched || answers.list.empty())) {
        visit([&](const GroupMode& mode, int num_free) { num_free > 1 ? look(mode) : static_cast<void>(0); });
      }
      answers.complete = false;
    }
  }
  if (!answers.complete && answers.list.size() == 1 && group.surely_unique()) answers.complete = true;
  if (answers.list.size() > 1 || answers.continuum) find_shared(group, answers);
  return answers;
}

std::string describe(const CoulombSolution& solution) {
  switch (solution.count) {
    case Count::none:
      return "with Coulomb friction there is no acceleration at this state (Painlevé)";
    case Count::one:
      return "one acceleration satisfies Coulomb's law";
    case Count::shared:
      return "contacts can share what they carry in more than one way, and each way rubs differently: of these the "
             "forces are taken that are the least";
    case Count::several:
      if (!solution.answer->determined)
        return "Coulomb friction allows several accelerations at this state: contacts can share what they carry in "
               "more than one way, and each way rubs differently";
      return fmt::format("Coulomb friction allows several accelerations at this state (Painlevé): {} were found",
                         solution.alternatives.size() + 1);
    case Count::unknown:
      return solution.answer
                 ? "an acceleration satisfies Coulomb's law; whether it is the only one is not known"
                 : "no acceleration was found that satisfies Coulomb's law; whether there is one is not known";
  }
  return "";
}

}  // namespace

CoulombSolution solve_coulomb(const InstantValues& values, const std::vector<Index>& one_sided,
                              const std::vector<FrictionContact>& contacts, const CoulombOptions& options) {
  CoulombSolution result;
  const ContactSystem s = make_contact_system(values, one_sided, contacts);
  if (s.status != SolveStatus::solved) {
    result.status = s.status;
    result.description = mechanician::describe(s.status);
    return result;
  }
  std::vector<ContactGroup> groups;
  for (auto& units : find_groups(s)) groups.emplace_back(s, std::move(units));
  std::vector<GroupAnswers> answers;
  Count count = Count::one;
  for (const ContactGroup& group : groups) {
    answers.push_back(look_at(s, group, options, result.num_modes));
    const GroupAnswers& last = answers.back();
    if (last.list.empty()) {
      result.count = last.complete ? Count::none : Count::unknown;
      // Not friction's doing where the rows contradict each other without it.
      const OneSidedSolution smooth = solve_one_sided(values, one_sided);
      if (smooth.solution.status == SolveStatus::inconsistent) {
        result.status = SolveStatus::inconsistent;
        result.count = Count::none;
        result.conflict = smooth.conflict;
      }
      result.description =
          result.status == SolveStatus::solved ? describe(result) : mechanician::describe(result.status);
      return result;
    }
    if (last.shared) {
      if (count != Count::several) count = Count::shared;
    } else if (last.list.size() > 1 || last.continuum) {
      count = Count::several;
    } else if (!last.complete && count == Count::one) {
      count = Count::unknown;
    }
  }
  Whole whole = start_whole(s);
  for (std::size_t i = 0; i < groups.size(); ++i) add(groups[i], answers[i].list.front(), whole);
  if (groups.empty() && s.U.cols() > 0) {
    result.status = s.open_status;
    result.description = mechanician::describe(result.status);
    return result;
  }
  result.count = count;
  result.answer = make_answer(s, contacts, whole);
  // Alternatives: one group at a time does something else.
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto alternative = [&](const ModeSolution* solution, const VectorXd* qdd) {
      Whole other = start_whole(s);
      for (std::size_t j = 0; j < groups.size(); ++j) {
        add(groups[j], j == i && solution != nullptr ? *solution : answers[j].list.front(), other);
      }
      CoulombAnswer answer = make_answer(s, contacts, other);
      if (qdd != nullptr) answer.qdd = other.qdd - answers[i].list.front().qdd + *qdd;
      result.alternatives.push_back(std::move(answer));
    };
    for (std::size_t j = 1; j < answers[i].list.size(); ++j) alternative(&answers[i].list[j], nullptr);
    for (const VectorXd& qdd : answers[i].list.front().others) alternative(nullptr, &qdd);
    result.answer->determined &= answers[i].list.front().others.empty();
  }
  result.description = describe(result);
  return result;
}

std::optional<CoulombAnswer> solve_coulomb_mode(const InstantValues& values, const std::vector<Index>& one_sided,
                                                const std::vector<FrictionContact>& contacts, const CoulombMode& mode) {
  const ContactSystem s = make_contact_system(values, one_sided, contacts);
  if (s.status != SolveStatus::solved) return std::nullopt;
  Whole whole = start_whole(s);
  if (s.units.empty()) {
    if (s.U.cols() > 0) return std::nullopt;
    return make_answer(s, contacts, whole);
  }
  std::vector<std::size_t> all(s.units.size());
  GroupMode given(s.units.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = i;
    const ContactUnit& u = s.units[i];
    if (u.k == 0) {
      const bool holds = std::find(mode.holding.begin(), mode.holding.end(), u.row) != mode.holding.end();
      given[i].choice = holds ? Choice::held : Choice::open;
      continue;
    }
    const ContactState state = mode.states.at(u.contact);
    if (u.two_sided() && state == ContactState::open) throw std::invalid_argument("a two-sided contact cannot open");
    if (state == ContactState::sticking) given[i].choice = Choice::sticking;
    if (state == ContactState::sliding) {
      given[i].choice = Choice::sliding;
      given[i].direction = u.direction.size() > 0 ? u.direction : mode.directions.at(u.contact);
      if (given[i].direction.size() != u.k) throw std::invalid_argument("a sliding contact needs its direction");
    }
    if (u.two_sided() && mode.sign.size() == mode.states.size()) given[i].sign = mode.sign[u.contact] < 0 ? -1 : 1;
  }
  const ContactGroup group(s, all);
  std::optional<ModeSolution> best;
  for (int round = 0; round < 4; ++round) {
    auto solved = group.solve(given, {.enforce = true});
    if (!solved) solved = group.solve(given, {.enforce = false});
    if (!solved) break;
    if (!best || solved->violation < best->violation) best = solved;
    // Two-sided contacts whose normal force has the other sign.
    bool changed = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!s.units[i].two_sided() || given[i].sign * solved->lambda(static_cast<Index>(i)) >= 0) continue;
      given[i].sign = -given[i].sign;
      changed = true;
    }
    if (!changed) break;
  }
  if (!best) return std::nullopt;
  add(group, *best, whole);
  CoulombAnswer answer = make_answer(s, contacts, whole);
  answer.determined = best->others.empty();
  return answer;
}

}  // namespace mechanician
