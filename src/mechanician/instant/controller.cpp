#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "mechanician/instant/controller_internal.hpp"
#include "mechanician/solve/factorisation.hpp"
#include "mechanician/solve/row_selection.hpp"

namespace mechanician {

namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// What control is up against: the accelerations that forces make, around a force that acts already.
class Response {
 public:
  explicit Response(const Instant& at) : values_(take_rows(at.values, at.acting)) {
    values_.C.resize(0);
    values_.b_noise.resize(0), values_.b_size.resize(0);
    // Slips of contacts that stick are constraints too.
    const Index rows = values_.A.rows();
    for (const Contact& c : at.contacts)
      if (c.status == ContactStatus::sticking) values_.A.add_rows(c.values.T);
    if (values_.A.rows() > rows) {
      values_.A_noise = SparseRows(0, values_.M.rows());
      values_.pattern.reset(), values_.pattern_rows.clear();
    }
    values_.b.setZero(values_.A.rows());
    factors_ = factor(values_);
  }

  /// N f.
  VectorXd operator()(const VectorXd& f) {
    values_.Q = f;
    Solution s = solve(factors_, values_);
    if (!s.has_acceleration()) {
      multipliers_.setZero(values_.A.rows());
      return VectorXd::Zero(f.size());
    }
    multipliers_ = std::move(s.multipliers);
    return std::move(s.qdd);
  }
  /// What rows that act do against the force of the last call, in the order of Instant::acting.
  const VectorXd& multipliers() const { return multipliers_; }

 private:
  InstantValues values_;
  Factorisation factors_;
  VectorXd multipliers_;
};

MatrixXd dense_rows(const SparseRows& A) {
  MatrixXd rows = MatrixXd::Zero(A.rows(), A.cols());
  for (Index j = 0; j < A.rows(); ++j)
    for (const SparseRows::Entry& e : A.row(j)) rows(j, e.col) += e.value;
  return rows;
}

class Controller {
 public:
  Controller(const System& system, const Evaluation& now, const std::vector<Contact>& contacts, const Plant& plant)
      : system_(system),
        now_(now),
        contacts_(contacts),
        control_(now.control),
        plant_(plant),
        A_(dense_rows(now.control.A)) {
    has_actuators_ = control_.E.cols() > 0;
    F_ = has_actuators_ ? control_.E : MatrixXd(A_.transpose());
    units_ = calc_units(now.values);
    // Reactions, and friction, feel what actuators do.
    const std::vector<ContactRow>& rows = system.equations().contacts;
    const bool friction = std::any_of(rows.begin(), rows.end(), [](const ContactRow& c) { return c.has_friction; });
    reacts_ = has_actuators_ && (system.needs_reactions() || friction);
    settles_at_once_ = !reacts_ && !system.has_contacts();
    for (std::size_t c = 0; c < contacts.size(); ++c)
      if (const ContactValues& v = contacts[c].values;
          contacts[c].status == ContactStatus::touching && v.one_sided && !v.has_friction && !v.bare)
        touching_.push_back(c);
  }

  Instant run(const AccelerateOptions& options) {
    quick_ = options;
    quick_.diagnose = quick_.parts = false;
    Instant at = plant_({}, quick_, nullptr);
    const std::optional<VectorXd> a = at.solution.a;
    if (!at.has_acceleration()) return plant_({}, options, nullptr);
    for (const std::size_t c : touching_)
      if (!at.contacts[c].acts()) opening_.push_back(c);
    Outcome best = settle(nullptr, std::move(at));
    if (!contacts_.empty() && !(best.settled && best.meets_all() && best.carried.empty())) {
      find_contacts(best);
      if (best.settled && !best.answer.refused.empty()) miss_what_contacts_prevent(best);
    }
    if (!best.settled) return std::move(best.at);
    Instant result = plant_(best.u, options, nullptr);
    result.values.Q = now_.values.Q;
    // What control just keeps closed stays so, and carries nothing.
    for (const std::size_t c : best.carried)
      if (Contact& contact = result.contacts[c]; contact.status == ContactStatus::leaving)
        contact.status = ContactStatus::holding, contact.normal = contact.gap_acceleration = 0.0;
    report(best, a, result);
    return result;
  }

 private:
  /// Where force and response agree.
  struct Outcome {
    bool settled = false;
    Instant at;  ///< with the force; where nothing is settled: why
    VectorXd u, tau, delta;
    ControlStage stage;
    ControlAnswer answer;
    double cost = 0.0;
    std::vector<std::size_t> carried = {};  ///< contacts that control keeps from opening, or from closing

    bool meets_all() const {
      return answer.refused.empty() &&
             std::all_of(answer.met.begin(), answer.met.end(), [](char met) { return met != 0; });
    }
  };

  static double largest_force(const Instant& at) {
    return std::max({at.values.Q.cwiseAbs().maxCoeff(),
                     at.solution.Qc.size() ? at.solution.Qc.cwiseAbs().maxCoeff() : 0.0, 1e-300});
  }

  /// From no force on, with contacts as they are or as a guess says.
  Outcome settle(const std::vector<Contact>* guess, Instant at) {
    Outcome o;
    const double force = largest_force(at);
    o.u = VectorXd::Zero(system_.n());
    o.tau = VectorXd::Zero(F_.cols());
    constexpr int most = 40;
    for (int round = 0; round < most; ++round) {
      const VectorXd next = improve(at, guess, o);
      const double change = (next - o.u).cwiseAbs().maxCoeff();
      o.u = next;
      at = plant_(o.u, quick_, guess);
      if (!at.has_acceleration()) break;
      o.settled = settles_at_once_ || change <= 1e-11 * (force + o.u.cwiseAbs().maxCoeff());
      if (o.settled) break;
      if (round + 1 == most)
        at.contact_trouble = "control and contacts do not settle at this state: no force was found that both agree on";
    }
    o.at = std::move(at);
    o.cost = has_actuators_ ? o.tau.dot(control_.R * o.tau) : o.delta.dot(now_.values.M * o.delta);
    return o;
  }

  // ---- contacts that are in the way
  //
  // Around a contact that holds, or sticks, the response to a force is that of a constraint, and what would open it or make it slip
  // seems to be out of reach. So where requirements are missed, others are tried: contacts that are let go, and those that slide. The force
  // that is right then is put to the contacts as they are: where they do with it what was guessed, that is what happens.

  enum class Doing { as_it_is, open, held, up, down, along };

  void find_contacts(Outcome& best) {
    const std::vector<Contact>& given = contacts_;
    std::vector<std::size_t> changing;
    std::vector<std::vector<Doing>> doings;
    for (std::size_t c = 0; c < given.size(); ++c) {
      if (given[c].status != ContactStatus::touching) continue;
      std::vector<Doing> may{Doing::as_it_is};
      if (given[c].values.one_sided) may.push_back(Doing::open);
      if (std::find(opening_.begin(), opening_.end(), c) != opening_.end()) may.push_back(Doing::held);
      if (given[c].values.has_friction && given[c].direction.size() == 0) {
        if (given[c].values.slip.size() == 1)
          may.insert(may.end(), {Doing::up, Doing::down});
        else
          may.push_back(Doing::along);
      }
      if (may.size() > 1) changing.push_back(c), doings.push_back(std::move(may));
    }
    constexpr std::size_t most_guesses = 256;
    std::size_t all = 1;
    for (const auto& may : doings) all = std::min(most_guesses + 1, all * may.size());
    const auto try_all = [&](auto&& take) {
      if (all <= most_guesses) {
        for (std::size_t number = 1; number < all; ++number) {
          std::vector<Doing> what(given.size(), Doing::as_it_is);
          std::size_t rest = number;
          for (std::size_t k = 0; k < changing.size(); rest /= doings[k].size(), ++k)
            what[changing[k]] = doings[k][rest % doings[k].size()];
          take(make_outcome(given, what));
        }
        return;
      }
      // Too many: each by itself, and all of them alike.
      for (std::size_t k = 0; k <= changing.size(); ++k)
        for (std::size_t d = 1; d < 4; ++d) {
          std::vector<Doing> what(given.size(), Doing::as_it_is);
          bool any = false;
          for (std::size_t i = 0; i < changing.size(); ++i)
            if ((i == k || k == changing.size()) && d < doings[i].size()) what[changing[i]] = doings[i][d], any = true;
          if (any) take(make_outcome(given, what));
        }
    };
    try_all([&](Outcome o) {
      if (o.settled && (!best.settled || is_better(o, best))) best = std::move(o);
    });
    // What only limits prevent is missed, not refused.
    const bool limited = control_.low.array().isFinite().any() || control_.high.array().isFinite().any();
    if (!best.settled || best.answer.refused.empty() || !limited) return;
    const VectorXd low = control_.low, high = control_.high;
    control_.low.setConstant(-std::numeric_limits<double>::infinity());
    control_.high.setConstant(std::numeric_limits<double>::infinity());
    bool prevented = false;
    try_all([&](const Outcome& o) { prevented |= o.settled && o.meets_all(); });
    control_.low = low, control_.high = high;
    if (prevented) best.answer.refused.clear();
  }

  /// What comes behind others and only contacts prevent is missed, as far as it must be; what comes first is refused.
  void miss_what_contacts_prevent(Outcome& best) {
    const auto priority = [&](Index j) { return control_.rows[static_cast<std::size_t>(j)].priority; };
    int first = std::numeric_limits<int>::max();
    for (Index j = 0; j < A_.rows(); ++j) first = std::min(first, priority(j));
    const auto comes_first = [&](const ControlAnswer::Refusal& r) {
      return std::all_of(r.rows.begin(), r.rows.end(), [&](Index j) { return priority(j) == first; });
    };
    auto& refused = best.answer.refused;
    if (std::all_of(refused.begin(), refused.end(), comes_first)) return;
    std::vector<Contact> none = contacts_;
    for (Contact& c : none) {
      if (c.values.one_sided) c.status = ContactStatus::separating;
      c.values.has_friction = false;
    }
    Instant free = plant_({}, quick_, &none);
    if (!free.has_acceleration()) return;
    const Outcome without = settle(&none, std::move(free));
    if (!without.settled) return;
    std::erase_if(refused, [&](const ControlAnswer::Refusal& r) {
      const auto& still = without.answer.refused;
      return !comes_first(r) && std::none_of(still.begin(), still.end(), [&](const ControlAnswer::Refusal& other) {
        return std::any_of(other.rows.begin(), other.rows.end(),
                           [&](Index j) { return std::find(r.rows.begin(), r.rows.end(), j) != r.rows.end(); });
      });
    });
  }

  static double slip_along(const Contact& c, const VectorXd& qdd, VectorXd& direction) {
    direction = c.values.T * qdd - c.values.slip_b;
    const double size = direction.norm();
    if (size > 0.0) direction /= size;
    return size;
  }

  /// The force that is right where contacts do as guessed, and what they do with it.
  Outcome make_outcome(const std::vector<Contact>& given, const std::vector<Doing>& what) {
    std::vector<Contact> guess = given;
    bool along = false;
    for (std::size_t c = 0; c < guess.size(); ++c) {
      Contact& contact = guess[c];
      if (what[c] == Doing::open) contact.status = ContactStatus::separating;
      if (what[c] == Doing::held) contact.values.one_sided = false;
      if (what[c] == Doing::up || what[c] == Doing::down)
        contact.direction = VectorXd::Constant(1, what[c] == Doing::up ? 1.0 : -1.0);
      if (what[c] == Doing::along) contact.values.has_friction = false, along = true;
    }
    const auto settled = [&] {
      Instant free = plant_({}, quick_, &guess);
      return free.has_acceleration() ? settle(&guess, std::move(free)) : Outcome();
    };
    Outcome o = settled();
    // Which way a contact with two slips goes is where it goes without friction, and then with that.
    for (int round = 0; along && o.settled && round < 50; ++round) {
      double turned = 0.0;
      for (std::size_t c = 0; c < guess.size(); ++c) {
        if (what[c] != Doing::along) continue;
        VectorXd direction;
        if (!(slip_along(guess[c], o.at.solution.qdd, direction) > 0.0)) return {};
        turned = std::max(turned, guess[c].direction.size() ? (direction - guess[c].direction).norm() : 1.0);
        guess[c].values.has_friction = true, guess[c].direction = direction;
      }
      if (turned <= 1e-13) break;
      o = settled();
    }
    if (!o.settled) return o;
    o.at = plant_(o.u, quick_, nullptr);
    o.settled = o.at.has_acceleration();
    if (!o.settled) return o;
    // What is met is what happens.
    const VectorXd& qdd = o.at.solution.qdd;
    o.answer.missing = control_.b - A_ * qdd;
    const VectorXd size =
        control_.b_size + A_.cwiseAbs() * (qdd.cwiseAbs() + o.at.values.Q.cwiseAbs().cwiseProduct(units_.cwiseAbs2()));
    o.answer.refused.clear();
    for (Index j = 0; j < size.size(); ++j) {
      double& missing = o.answer.missing(j);
      if (control_.rows[static_cast<std::size_t>(j)].one_sided) missing = std::max(missing, 0.0);
      o.answer.met[static_cast<std::size_t>(j)] = std::abs(missing) <= 1e-9 * size(j);
    }
    return o;
  }

  /// By priority, what is missed; then by cost.
  bool is_better(const Outcome& o, const Outcome& than) const {
    std::map<std::pair<int, bool>, std::array<double, 2>> missed;
    for (Index j = 0; j < A_.rows(); ++j) {
      const ControlEquations::Requirement& row = control_.rows[static_cast<std::size_t>(j)];
      const double weight = row.weighted ? control_.weights(j) : 1.0;
      auto& both = missed[{row.priority, row.weighted}];
      const auto add = [&](const Outcome& from, double& to) {
        if (!from.answer.met[static_cast<std::size_t>(j)]) to += weight * std::pow(from.answer.missing(j), 2);
      };
      add(o, both[0]), add(than, both[1]);
    }
    constexpr double clearly = 1e-10;
    for (const auto& [stage, both] : missed) {
      if (both[0] < (1.0 - clearly) * both[1]) return true;
      if (both[1] < (1.0 - clearly) * both[0]) return false;
    }
    return o.meets_all() && than.meets_all() && o.cost < (1.0 - clearly) * than.cost;
  }

  /// N F; of reactions by differences, which are exact as long as contacts do what they do. `pressed`: by how much each of touching_ is
  /// pressed, where it acts.
  MatrixXd respond(const Instant& at, const VectorXd& u, Response& N, const std::vector<Contact>* guess,
                   MatrixXd& pressed) {
    MatrixXd X(system_.n(), F_.cols());
    pressed.setZero(std::ssize(touching_), F_.cols());
    for (Index k = 0; k < F_.cols(); ++k) {
      X.col(k) = N(F_.col(k));
      for (std::size_t i = 0; i < touching_.size(); ++i) {
        const auto row = std::find(at.acting.begin(), at.acting.end(), contacts_[touching_[i]].values.row);
        if (row != at.acting.end()) pressed(static_cast<Index>(i), k) = N.multipliers()(row - at.acting.begin());
      }
      if (!reacts_) continue;
      // Where no force acts yet there is none to be small against.
      const double force = largest_force(at) > 1e-200 ? 1e-3 * largest_force(at) : 1.0;
      const double step = force / std::max(F_.col(k).cwiseAbs().maxCoeff(), 1e-300);
      const Instant moved = plant_(u + step * F_.col(k), quick_, guess);
      if (!moved.has_acceleration() || moved.acting != at.acting) continue;
      X.col(k) = (moved.solution.qdd - at.solution.qdd) / step;
      for (std::size_t i = 0; i < touching_.size(); ++i)
        pressed(static_cast<Index>(i), k) =
            (moved.contacts[touching_[i]].normal - at.contacts[touching_[i]].normal) / step;
    }
    return X;
  }

  /// Whether contacts that hold do not pull with this, and those that are open are not entered.
  bool agrees_with_contacts(const Instant& at, const MatrixXd& pressed, const VectorXd& qdd,
                            const VectorXd& change) const {
    constexpr double rounding = 1e-12;
    for (std::size_t i = 0; i < touching_.size(); ++i) {
      const Contact& contact = at.contacts[touching_[i]];
      const Index j = contact.values.row;
      if (!contact.acts()) {
        const double terms = now_.values.A.abs_dot(j, qdd) + std::abs(now_.values.b(j));
        if (now_.values.A.dot(j, qdd) - now_.values.b(j) < -rounding * terms) return false;
      } else if (has_actuators_) {
        const Eigen::RowVectorXd by_effort = pressed.row(static_cast<Index>(i));
        const double terms = std::abs(contact.normal) + by_effort.cwiseAbs().dot(change.cwiseAbs());
        if (contact.normal + by_effort.dot(change) < -rounding * terms) return false;
      }
    }
    return true;
  }

  /// Contacts come before all requirements: those that hold must not pull, those that are open must not be entered. Where neither can be had
  /// for what is asked for by itself, control keeps the contact just closed.
  ControlAnswer solve_beside_contacts(const Instant& at, const MatrixXd& X, const MatrixXd& pressed,
                                      const VectorXd& qdd, const VectorXd& terms, Response& N, Outcome& o) {
    const Index count = A_.rows();
    int first = 1;
    for (const auto& row : control_.rows) first = std::min(first, row.priority);
    ControlValues all = control_;
    MatrixXd A = A_, response = X;
    std::vector<std::size_t> which;
    const auto add = [&](std::size_t i) {
      which.push_back(touching_[i]);
      ControlEquations::Requirement row;
      row.priority = first - 1, row.one_sided = true;
      all.rows.push_back(row);
    };
    for (std::size_t i = 0; i < touching_.size(); ++i) {
      if (at.contacts[touching_[i]].acts()) continue;
      add(i);
      const Index j = contacts_[touching_[i]].values.row, rows = A.rows();
      A.conservativeResize(rows + 1, Eigen::NoChange);
      A.row(rows).setZero();
      for (const SparseRows::Entry& e : now_.values.A.row(j)) A(rows, e.col) += e.value;
      for (VectorXd* x : {&all.b, &all.b_size, &all.weights}) x->conservativeResize(rows + 1);
      all.b(rows) = now_.values.b(j), all.b_size(rows) = std::abs(now_.values.b(j)), all.weights(rows) = 0.0;
      if (has_actuators_) continue;
      response.conservativeResize(Eigen::NoChange, rows + 1);
      response.col(rows) = N(A.row(rows).transpose());
    }
    ControlStage stage;
    make_control_stage(all, A, response, qdd, terms, units_, stage);
    ControlProgramme& p = stage.programme;
    for (std::size_t i = 0; has_actuators_ && i < touching_.size(); ++i) {
      if (!at.contacts[touching_[i]].acts()) continue;
      add(i);
      const Index rows = p.G.rows();
      const Eigen::RowVectorXd by_effort = pressed.row(static_cast<Index>(i));
      p.rows.push_back({first - 1, true, 0.0});
      p.G.conservativeResize(rows + 1, Eigen::NoChange);
      for (VectorXd* x : {&p.r, &p.size, &p.r_size}) x->conservativeResize(rows + 1);
      p.G.row(rows) = by_effort * p.T;
      const double normal = at.contacts[touching_[i]].normal;
      p.r(rows) = by_effort.dot(o.tau) - normal;
      p.size(rows) = (by_effort.cwiseAbs() * p.T.cwiseAbs()).norm();
      p.r_size(rows) = std::abs(normal) + by_effort.cwiseAbs().dot(o.tau.cwiseAbs());
    }
    ControlAnswer answer = solve_control(p);
    o.delta = stage.space.D * answer.y;
    o.tau = stage.space.T * answer.y;
    o.carried.clear();
    for (std::size_t i = 0; i < which.size(); ++i)
      if (answer.mode.held[static_cast<std::size_t>(count) + i]) o.carried.push_back(which[i]);
    answer.missing.conservativeResize(count);
    answer.met.resize(static_cast<std::size_t>(count)), answer.mode.held.resize(static_cast<std::size_t>(count));
    std::erase_if(answer.refused, [&](const ControlAnswer::Refusal& r) {
      return std::any_of(r.rows.begin(), r.rows.end(), [&](Index j) { return j >= count; });
    });
    return answer;
  }

  /// The control force that is right where the response to it is that around the one so far.
  VectorXd improve(const Instant& at, const std::vector<Contact>* guess, Outcome& o) {
    Response N(at);
    MatrixXd pressed;
    const MatrixXd X = respond(at, o.u, N, guess, pressed);
    const VectorXd before = has_actuators_ ? VectorXd(X * o.tau) : N(o.u);
    const VectorXd qdd = at.solution.qdd - before;
    make_control_stage(control_, A_, X, qdd, qdd.cwiseAbs() + before.cwiseAbs(), units_, o.stage);
    const ControlSpace& space = o.stage.space;
    const VectorXd effort = o.tau;
    o.answer = solve_control(o.stage.programme);
    o.delta = space.D * o.answer.y;
    o.tau = space.T * o.answer.y;
    o.carried.clear();
    // Without actuators efforts are those of requirements, and there may have been more of them, of contacts.
    const VectorXd change = has_actuators_ ? VectorXd(o.tau - effort) : VectorXd();
    if (!agrees_with_contacts(at, pressed, qdd + o.delta, change)) {
      o.tau = effort;
      o.answer = solve_beside_contacts(at, X, pressed, qdd, qdd.cwiseAbs() + before.cwiseAbs(), N, o);
    }
    if (has_actuators_) {
      for (Index i = 0; i < o.tau.size(); ++i) o.tau(i) = std::clamp(o.tau(i), control_.low(i), control_.high(i));
      return control_.E * o.tau;
    }
    VectorXd next = now_.values.M * o.delta;
    if (control_.free.size() > 0) {
      // What the requirements would feel of it is taken off.
      const VectorXd felt = N(control_.free);
      const VectorXd across = space.D * (space.T.transpose() * (A_ * felt));
      next += control_.free - now_.values.M * across;
      o.delta += felt - across;
    }
    return next;
  }

  void report(const Outcome& o, const std::optional<VectorXd>& a, Instant& to) const {
    InstantControl c;
    const Index count = A_.rows();
    const SparseRows& M = now_.values.M;
    if (has_actuators_) c.tau = o.tau;
    c.cost = o.cost;
    c.error = now_.residual.tail(count), c.error_rate = now_.rate.tail(count);
    c.met = o.answer.met, c.missing = o.answer.missing, c.mode = o.answer.mode, c.refused = o.answer.refused;
    c.rank = static_cast<int>(find_control_rank(o.stage.programme, c.influenced));
    Solution& s = to.solution;
    if (s.has_acceleration()) {
      s.Q_control = o.u;
      s.a = a;
      if (a) {
        const VectorXd moved = s.qdd - *a;
        s.gaussian = moved.dot(M * moved);
      }
      if (to.parts && to.parts->power) to.parts->power->control = to.state.qd.dot(o.u);
      if (!c.refused.empty()) s.status = SolveStatus::requirements_not_met;
    }
    to.control = std::move(c);
  }

  const System& system_;
  const Evaluation& now_;
  const std::vector<Contact>& contacts_;
  ControlValues control_;
  const Plant& plant_;
  AccelerateOptions quick_;
  MatrixXd A_, F_;  ///< requirements by row, forces by column
  VectorXd units_;
  std::vector<std::size_t> touching_;  ///< one-sided contacts without friction that may act
  std::vector<std::size_t> opening_;   ///< those of them that do not, without control
  bool has_actuators_ = false, reacts_ = false, settles_at_once_ = true;
};

}  // namespace

Instant find_control(const System& system, const Evaluation& now, const AccelerateOptions& options,
                     const std::vector<Contact>& contacts, const Plant& plant) {
  return Controller(system, now, contacts, plant).run(options);
}

}  // namespace mechanician
