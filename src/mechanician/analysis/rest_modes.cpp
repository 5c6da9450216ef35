#include "mechanician/analysis/rest_modes.hpp"

#include <algorithm>
#include <cmath>

#include "mechanician/instant/accelerate.hpp"
#include "mechanician/instant/project.hpp"

namespace mechanician {

namespace {

using Eigen::VectorXd;
/// Steps of a fall.
constexpr int most_falls = 200;
/// Gaps and forces that are less, of what they are small against, are none.
constexpr double nothing = 1e-9;
/// Accelerations of a state of rest, found twice, over the terms that they are the difference of.
constexpr double balanced = 1e-8;

/// What given forces would do one by one, at most, in typical sizes.
double calc_given(const Instant& instant, const VectorXd& scale) {
  double given = 0.0;
  for (Eigen::Index i = 0; i < scale.size(); ++i)
    if (const double mass = instant.values.M(i, i); mass > 0.0)
      given = std::max(given, std::abs(instant.values.Q(i)) / (mass * scale(i)));
  return given;
}

}  // namespace

struct RestModes::Mode {
  std::optional<PhaseSystem> phase;  ///< none: the system has no contacts
  std::unique_ptr<RestSearch> search;
};

RestModes::RestModes(const System& system, const State& start, const std::string& varied, ParameterOverrides overrides)
    : whole_(std::make_shared<System>(system)), start_(start), varied_(varied), overrides_(std::move(overrides)) {
  start_.qd.setZero();
  seen_ = Eigen::VectorXd::Zero(start.q.size());
  open();
}

void RestModes::set_parameter(double value) {
  parameter_ = value;
  overrides_[varied_] = value;
  if (!whole_->has_contacts()) return;
  whole_->set_parameters(evaluate_parameters(whole_->model(), overrides_).values);
}

void RestModes::see(const Eigen::VectorXd& q) { seen_ = seen_.cwiseMax(q.cwiseAbs()); }

RestModes::Mode& RestModes::mode_of(const Closed& closed) {
  std::shared_ptr<Mode>& mode = modes_[closed];
  if (!mode) {
    mode = std::make_shared<Mode>();
    if (whole_->has_contacts()) {
      std::vector<ContactStatus> statuses;
      for (const char c : closed) statuses.push_back(c ? ContactStatus::holding : ContactStatus::open);
      mode->phase = make_phase_system(*whole_, statuses);
    }
    mode->search = std::make_unique<RestSearch>(mode->phase ? *mode->phase->system : *whole_, start_, varied_,
                                                overrides_, whole_.get());
  }
  mode->search->see(seen_);
  if (parameter_ && mode->search->parameter() != *parameter_) mode->search->set_parameter(*parameter_);
  return *mode;
}

RestSearch& RestModes::of(const Closed& closed) { return *mode_of(closed).search; }

std::string RestModes::name(std::size_t contact) const {
  return whole_->row_name(whole_->equations().contacts[contact].row);
}

bool RestModes::is_gap(std::size_t contact) const {
  return whole_->row(whole_->equations().contacts[contact].row).level == Level::position;
}

std::vector<double> RestModes::gaps(const Eigen::VectorXd& q) {
  if (!whole_->has_contacts()) return {};
  const auto& contacts = whole_->equations().contacts;
  std::vector<double> found(contacts.size(), 0.0);
  const Eigen::VectorXd scale = open().scale();
  const Evaluation now = whole_->evaluate({start_.t, q, Eigen::VectorXd::Zero(q.size())});
  for (std::size_t c = 0; c < contacts.size(); ++c) {
    if (!is_gap(c)) continue;
    double size = 0.0;
    for (const auto& e : now.values.A.row(contacts[c].row)) size += std::abs(e.value) * scale(e.col);
    found[c] = now.residual(contacts[c].row) / (size > 0.0 ? size : 1.0);
  }
  return found;
}

Eigen::VectorXd RestModes::multipliers(const Mode& mode, const Linearisation& linear) const {
  if (!mode.phase) return linear.multipliers;
  Eigen::VectorXd all = Eigen::VectorXd::Zero(whole_->m());
  for (std::size_t j = 0; j < mode.phase->row_of.size(); ++j)
    if (const int row = mode.phase->row_of[j]; row >= 0) all(row) = linear.multipliers(static_cast<Eigen::Index>(j));
  return all;
}

std::optional<RestModes::Closed> RestModes::holding(const Linearisation& linear, Eigen::VectorXd& multipliers) {
  const Instant instant = accelerate(*whole_, {start_.t, linear.state.q, Eigen::VectorXd::Zero(linear.state.q.size())},
                                     {.diagnose = false});
  Closed closed;
  for (const Contact& c : instant.contacts) closed.push_back(c.acts());
  if (!instant.has_acceleration()) return closed;
  const Eigen::VectorXd& qdd = instant.solution.qdd;
  // Coordinates that no force acts on, or nothing but constraints, have rounding of the others.
  const VectorXd scale = open().scale();
  const double largest = calc_given(instant, scale);
  for (Eigen::Index i = 0; i < qdd.size(); ++i)
    if (std::abs(qdd(i)) > balanced * std::max(linear.qdd_size(i), largest * scale(i))) return closed;
  // Where constraints depend on each other there are several sets of forces, and those of the programme press.
  const double size = multipliers.size() > 0 ? multipliers.cwiseAbs().maxCoeff() : 0.0;
  const bool pulls = std::any_of(instant.contacts.begin(), instant.contacts.end(),
                                 [&](const Contact& c) { return multipliers(c.values.row) < -nothing * size; });
  if (pulls && instant.solution.multipliers.size() == multipliers.size()) multipliers = instant.solution.multipliers;
  return std::nullopt;
}

std::vector<double> RestModes::guards(const Closed& closed, const Linearisation& linear) {
  std::vector<double> found = gaps(linear.state.q);
  if (found.empty()) return found;
  Eigen::VectorXd lambda = multipliers(mode_of(closed), linear);
  const auto& contacts = whole_->equations().contacts;
  const auto take = [&] {
    const double size = lambda.size() > 0 ? lambda.cwiseAbs().maxCoeff() : 0.0;
    bool press = true;
    for (std::size_t c = 0; c < found.size(); ++c)
      if (closed[c]) found[c] = size > 0.0 ? lambda(contacts[c].row) / size : 0.0, press &= found[c] >= -nothing;
    return press;
  };
  // Constraints that depend on each other share forces in many ways: some pull only because others do not carry theirs.
  if (!take() && !holding(linear, lambda)) take();
  return found;
}

std::vector<std::size_t> RestModes::idle(const RestState& s) const {
  std::vector<std::size_t> found;
  const double size = s.linear.multipliers.size() > 0 ? s.linear.multipliers.cwiseAbs().maxCoeff() : 0.0;
  for (std::size_t c = 0; c < s.closed.size(); ++c)
    if (s.closed[c] && std::abs(s.linear.multipliers(whole_->equations().contacts[c].row)) <= nothing * size)
      found.push_back(c);
  return found;
}

std::size_t RestModes::worst_passed(const Closed& closed, const std::vector<double>& gap) const {
  std::size_t worst = gap.size();
  for (std::size_t c = 0; c < gap.size(); ++c)
    if (!closed[c] && is_gap(c) && gap[c] < -nothing && (worst == gap.size() || gap[c] < gap[worst])) worst = c;
  return worst;
}

/// The first that a straight step passes, and which part of it leads there.
RestModes::Passed RestModes::first_passed(const Closed& closed, const VectorXd& a, const VectorXd& b) {
  const std::vector<double> gap = gaps(b);
  Passed first{gap.size(), 1.0};
  for (std::size_t c = 0; c < gap.size(); ++c) {
    if (closed[c] || !is_gap(c) || !(gap[c] < -nothing)) continue;
    double low = 0.0, high = 1.0;
    for (int k = 0; k < 40; ++k) {
      const double middle = 0.5 * (low + high);
      (gaps(a + middle * (b - a))[c] < 0.0 ? high : low) = middle;
    }
    if (first.contact == gap.size() || high < first.part) first = {c, high};
  }
  return first;
}

/// Onto the constraints and what is closed, with those closed too that are passed there, one by one.
bool RestModes::admit(VectorXd& q, Closed& closed) {
  for (std::size_t round = 0; round <= closed.size(); ++round) {
    if (const std::size_t worst = worst_passed(closed, gaps(q)); worst < closed.size()) closed[worst] = 1;
    const Projection on = project(of(closed).system(), {start_.t, q, VectorXd::Zero(q.size())}, ProjectionGoal::any);
    if (!on.converged) return false;
    q = on.state.q;
    if (worst_passed(closed, gaps(q)) == closed.size()) return true;
  }
  return false;
}

/// Along the accelerations from rest, as things fall and slide without inertia, until they come to rest or turn to and fro, or
/// the first contact closes.
bool RestModes::fall(VectorXd& q, Closed& closed, bool to_first_contact) {
  if (!admit(q, closed)) return false;
  const VectorXd scale = open().scale();
  VectorXd before;
  double h = 0.1;
  for (int step = 0; step < most_falls && h > 1e-5; ++step) {
    const Instant instant = accelerate(*whole_, {start_.t, q, VectorXd::Zero(q.size())}, {.diagnose = false});
    if (!instant.has_acceleration() || instant.contacts.size() != closed.size()) return false;
    for (std::size_t c = 0; c < closed.size(); ++c) closed[c] = instant.contacts[c].acts();
    VectorXd down = instant.solution.qdd;
    const double size = down.cwiseQuotient(scale).cwiseAbs().maxCoeff();
    const double given = calc_given(instant, scale);
    if (!(size > balanced * given)) return true;
    down /= size;
    if (before.size() > 0) h *= before.cwiseQuotient(scale).dot(down.cwiseQuotient(scale)) < 0.0 ? 0.4 : 1.3;
    h = std::min(h, 10.0), before = down;
    VectorXd next = q + h * down;
    if (const Passed first = first_passed(closed, q, next); first.contact < closed.size()) {
      closed[first.contact] = 1;
      next = q + first.part * (next - q), h = std::min(h, 0.1);
    }
    if (!admit(next, closed)) return false;
    q = next;
    if (to_first_contact && std::find(closed.begin(), closed.end(), 1) != closed.end()) return true;
  }
  return true;
}

/// `watch`: steps end where they pass a gap; else only what is found must not be behind one.
std::optional<RestState> RestModes::settle(VectorXd q, Closed closed, bool watch) {
  const std::size_t count = closed.size();
  const std::size_t rounds = 3 * count + 10;
  for (std::size_t round = 0; round < rounds; ++round) {
    if (!admit(q, closed)) return std::nullopt;
    Mode& mode = mode_of(closed);
    Passed first{count, 1.0};
    VectorXd from, to;
    const auto passes = [&](const VectorXd& a, const VectorXd& b) {
      from = a, to = b, first = first_passed(closed, a, b);
      return first.contact < count;
    };
    std::optional<RestState> one = mode.search->settle(q, watch ? RestSearch::TooFar(passes) : RestSearch::TooFar{});
    if (one && first.contact == count) passes(q, one->linear.state.q);
    if (first.contact < count) {
      closed[first.contact] = 1;
      q = from + first.part * (to - from);
      continue;
    }
    if (!one) return std::nullopt;
    one->linear.multipliers = multipliers(mode, one->linear);
    const std::optional<Closed> next = count > 0 ? holding(one->linear, one->linear.multipliers) : std::nullopt;
    if (!next) {
      one->closed = closed;
      return one;
    }
    if (*next == closed || next->size() != count) return std::nullopt;
    closed = *next, q = one->linear.state.q;
  }
  return std::nullopt;
}

std::vector<RestState> RestModes::find_all(const RestOptions& options, std::string* trouble) {
  RestSearch& search = open();
  if (!whole_->has_contacts()) return search.find_all(options, trouble);
  std::string first;
  int starts = 0;
  auto found = search.find_all(options, trouble, [&](const VectorXd& start) {
    // Those of velocities always touch where nothing moves: held until their forces are known.
    Closed none(whole_->equations().contacts.size(), 0);
    for (std::size_t c = 0; c < none.size(); ++c) none[c] = !is_gap(c);
    std::optional<RestState> one;
    // Newton's iteration goes to any state of rest; what falls comes to stable ones.
    const auto settle_from_fall = [&](bool to_first_contact) {
      VectorXd q = start;
      if (Closed closed = none; fall(q, closed, to_first_contact)) one = settle(q, closed, true);
    };
    const bool falls = starts++ % 3 == 0;
    if (falls) settle_from_fall(false);
    if (!one) one = settle(start, none, true);
    if (!one && !falls) settle_from_fall(true);
    if (!one) one = settle(start, none, false);
    for (const auto& [closed, mode] : modes_)
      if (first.empty()) first = mode->search->trouble();
    return one;
  });
  if (trouble && trouble->empty()) *trouble = first;
  return found;
}

}  // namespace mechanician
