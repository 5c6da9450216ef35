#include "mechanician/analysis/rest_modes.hpp"

#include <algorithm>
#include <cmath>

#include "mechanician/instant/accelerate.hpp"
#include "mechanician/instant/project.hpp"

namespace mechanician {

namespace {

/// Gaps and forces that are less, of what they are small against, are none.
constexpr double nothing = 1e-9;
/// Accelerations of a state of rest, found twice, over the terms that they are the difference of.
constexpr double balanced = 1e-8;

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
  for (Eigen::Index i = 0; i < qdd.size(); ++i)
    if (std::abs(qdd(i)) > balanced * linear.qdd_size(i)) return closed;
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

/// `watch`: steps end where they pass a gap; else only what is found must not be behind one.
std::optional<RestState> RestModes::settle(const Eigen::VectorXd& start, bool watch) {
  Eigen::VectorXd q = start;
  std::vector<double> gap = gaps(q);
  const std::size_t count = gap.size();
  Closed closed(count, 0);
  // Those of velocities always touch where nothing moves: held until their forces are known.
  for (std::size_t c = 0; c < count; ++c) closed[c] = !is_gap(c);
  const auto worst_passed = [&] {
    std::size_t worst = count;
    for (std::size_t c = 0; c < count; ++c)
      if (!closed[c] && is_gap(c) && gap[c] < -nothing && (worst == count || gap[c] < gap[worst])) worst = c;
    return worst;
  };
  const std::size_t rounds = 3 * count + 10;
  for (std::size_t round = 0; round < rounds; ++round) {
    if (const std::size_t worst = worst_passed(); worst < count) closed[worst] = 1;
    Mode& mode = mode_of(closed);
    const Projection on =
        project(mode.search->system(), {start_.t, q, Eigen::VectorXd::Zero(q.size())}, ProjectionGoal::any);
    if (!on.converged) return std::nullopt;
    q = on.state.q, gap = gaps(q);
    if (worst_passed() < count) continue;
    // Along the straight line of a step: the first that is passed, and where.
    double part = 1.0;
    std::size_t first = count;
    Eigen::VectorXd from, to;
    const auto passes = [&](const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
      from = a, to = b, gap = gaps(b), part = 1.0, first = count;
      for (std::size_t c = 0; c < count; ++c) {
        if (closed[c] || !is_gap(c) || !(gap[c] < -nothing)) continue;
        double low = 0.0, high = 1.0;
        for (int k = 0; k < 30; ++k) {
          const double middle = 0.5 * (low + high);
          (gaps(a + middle * (b - a))[c] < 0.0 ? high : low) = middle;
        }
        if (first == count || high < part) first = c, part = high;
      }
      return first < count;
    };
    std::optional<RestState> one = mode.search->settle(q, watch ? RestSearch::TooFar(passes) : RestSearch::TooFar{});
    if (one && first == count) passes(q, one->linear.state.q);
    if (first < count) {
      closed[first] = 1;
      q = from + part * (to - from), gap = gaps(q);
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
    closed = *next, q = one->linear.state.q, gap = gaps(q);
  }
  return std::nullopt;
}

std::vector<RestState> RestModes::find_all(const RestOptions& options, std::string* trouble) {
  RestSearch& search = open();
  if (!whole_->has_contacts()) return search.find_all(options, trouble);
  std::string first;
  auto found = search.find_all(options, trouble, [&](const Eigen::VectorXd& q) {
    std::optional<RestState> one = settle(q, true);
    if (!one) one = settle(q, false);
    for (const auto& [closed, mode] : modes_)
      if (first.empty()) first = mode->search->trouble();
    return one;
  });
  if (trouble && trouble->empty()) *trouble = first;
  return found;
}

}  // namespace mechanician
