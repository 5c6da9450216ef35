/// Checks of one-sided constraints, restitution and friction. See validate.hpp.

#include <fmt/format.h>

#include <cmath>
#include <unordered_set>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/degree.hpp"
#include "mechanician/model/source_map.hpp"
#include "mechanician/model/validate_internal.hpp"

namespace mechanician {

Place slip_place(const Model& model, const Constraint& c, std::size_t k) {
  return place_in(model, fmt::format("constraints.{}.slip.{}", c.name, k), c.friction ? c.friction->place : c.place);
}

void check_restitution_value(const Model& model, const Constraint& c, double e, std::vector<Problem>& problems) {
  if (!(e >= 0.0 && e <= 1.0))
    problems.push_back({place_in(model, "constraints." + c.name + ".restitution", c.place),
                        fmt::format("the restitution of {} is {}", mechanician::quoted(c.name), short_number(e)),
                        "it lies between 0 (no bounce) and 1 (no loss)"});
}

void check_friction_value(const Constraint& c, double mu, std::vector<Problem>& problems) {
  if (!(mu >= 0.0 && std::isfinite(mu)))
    problems.push_back({c.friction->place,
                        fmt::format("the friction of {} is {}; it cannot be {}", mechanician::quoted(c.name),
                                    short_number(mu), mu < 0.0 ? "negative" : "infinite or undefined"),
                        c.friction->is_force
                            ? "it is the largest friction force"
                            : "it is the coefficient of friction: largest friction force over normal force"});
}

namespace {

class ContactChecks {
 public:
  explicit ContactChecks(const Model& model) : model_(model) {
    for (const Measured& m : model.measured) measured_.insert(m.constraints.begin(), m.constraints.end());
  }

  std::vector<Problem> check() {
    for (const Constraint& c : model_.constraints) {
      if (c.one_sided) check_one_sided(c);
      if (c.restitution) check_restitution(c);
      if (c.friction) check_friction(c);
    }
    return std::move(problems_);
  }

 private:
  void report(const Place& place, std::string message, std::string hint = {}) {
    if (problems_.size() < 1000) problems_.push_back({place, std::move(message), std::move(hint)});
  }
  bool is_measured(const Constraint& c) const { return c.weight || measured_.contains(c.name); }

  void check_one_sided(const Constraint& c) {
    if (c.level() == Level::acceleration)
      report(c.place, fmt::format("the one-sided constraint {} contains accelerations", mechanician::quoted(c.name)),
             "a one-sided constraint is one on positions or on velocities");
    if (is_measured(c))
      report(c.place, fmt::format("the constraint {} is measured and one-sided", mechanician::quoted(c.name)),
             "a measured constraint is written left = right");
  }

  void check_restitution(const Constraint& c) {
    const Place at = place_in(model_, "constraints." + c.name + ".restitution", c.place);
    if (!c.one_sided)
      report(at, fmt::format("the constraint {} has a restitution but is an equation", mechanician::quoted(c.name)),
             "impacts are where a gap closes: write the constraint with >= or <=");
    else if (c.level() == Level::velocity)
      report(at,
             fmt::format("the constraint {} has a restitution but is one on velocities", mechanician::quoted(c.name)),
             "impacts are where a gap closes: restitution belongs to constraints on positions");
    if (c.restitution->is_constant()) check_restitution_value(model_, c, c.restitution->value(), problems_);
  }

  void check_friction(const Constraint& c) {
    const Friction& friction = *c.friction;
    if (friction.coefficient.is_constant()) check_friction_value(c, friction.coefficient.value(), problems_);
    if (c.bare && !friction.is_force)
      report(friction.place, fmt::format("the constraint {} has friction but no equation", mechanician::quoted(c.name)),
             "friction needs a normal force; friction_force is a limit of its own");
    if (!c.one_sided && c.level() == Level::acceleration)  // else it is said of the one-sided constraint
      report(friction.place,
             fmt::format("the constraint {} has friction and contains accelerations", mechanician::quoted(c.name)),
             "friction belongs to constraints on positions or on velocities");
    if (!c.one_sided && !friction.is_force && is_measured(c))
      report(friction.place, fmt::format("the constraint {} is measured and has friction", mechanician::quoted(c.name)),
             "a measured constraint has no constraint force of its own that friction could follow");
    if (friction.slip.empty() || friction.slip.size() > 2)
      report(place_in(model_, "constraints." + c.name + ".slip", friction.place),
             fmt::format("the slip of {} has {}", mechanician::quoted(c.name),
                         count_noun(friction.slip.size(), "expression")),
             "a slip is one expression, or two in a list");
    for (std::size_t k = 0; k < friction.slip.size(); ++k) {
      const Expr& psi = friction.slip[k];
      if (psi.is_condition() || psi.contains(SymbolKind::acceleration)) continue;  // said where symbols are checked
      if (!psi.contains(SymbolKind::velocity))
        report(slip_place(model_, c, k),
               fmt::format("the slip of {} mentions no velocity", mechanician::quoted(c.name)),
               "a slip is the velocity that friction acts against, for example slip = \"x'\"");
      else if (!has_degree_at_most(psi, SymbolKind::velocity, 1))
        report(slip_place(model_, c, k),
               fmt::format("the slip of {} is not linear in the velocities", mechanician::quoted(c.name)),
               "friction acts along its gradient by the velocities, which must not depend on them");
    }
  }

  const Model& model_;
  std::unordered_set<std::string> measured_;
  std::vector<Problem> problems_;
};

}  // namespace

std::vector<Problem> validate_contacts(const Model& model) { return ContactChecks(model).check(); }

}  // namespace mechanician
