#include "mechanician/ensemble/start_lanes.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "mechanician/compile/nearest_program.hpp"
#include "mechanician/compile/violation_program.hpp"
#include "mechanician/instant/held_quantities.hpp"
#include "mechanician/motion/phase_model.hpp"

namespace mechanician {

struct StartLanes::Code {
  const System system;
  const State nominal;
  const std::vector<int> varied;
  std::once_flag once;
  Nearest positions, velocities;

  Code(const System& s, State start, std::vector<int> v) : system(s), nominal(std::move(start)), varied(std::move(v)) {}

  void make() {
    if (!nominal.q.allFinite() || !nominal.qd.allFinite()) return;
    if (!held_quantities(system).empty()) return;  // one by one
    // The equations alone: one-sided constraints move nothing, and friction does not act on starts.
    std::vector<ContactStatus> statuses;
    for (const ContactRow& c : system.equations().contacts)
      statuses.push_back(system.row(c.row).one_sided ? ContactStatus::open : ContactStatus::holding);
    const PhaseSystem phase = system.has_contacts() ? make_phase_system(system, statuses) : PhaseSystem{};
    const System& equations = phase.system ? *phase.system : system;
    const RowsLeftOut dependent = find_dependent_rows(equations, nominal);
    ProgramOptions options = make_lane_options(equations, nominal, dependent, varied);
    options.refine = true;  // on the way from afar rows come nearer to each other than they are in the end
    const StartRules rules = system.start_rules();
    for (const ProjectionOf what : {ProjectionOf::positions, ProjectionOf::velocities}) {
      const bool of_positions = what == ProjectionOf::positions;
      options.dropped = of_positions ? dependent.positions : dependent.velocities;
      NearestProgramResult found = make_nearest_program(equations.equations(), what, options,
                                                        of_positions ? rules.held_positions : rules.held_velocities);
      if (!found.made) continue;
      Nearest& nearest = of_positions ? positions : velocities;
      nearest.entries = std::move(found.made->entries);
      nearest.metric = CompiledFunction(std::move(found.made->metric), {.lanes = lanes});
      nearest.step = CompiledFunction(std::move(found.made->step), {.lanes = lanes});
    }
  }
};

StartLanes::StartLanes(const System& system, const State& nominal, std::vector<int> varied)
    : code_(std::make_shared<Code>(system, nominal, varied)),
      varied_(std::move(varied)),
      n_(system.n()),
      num_parameters_(static_cast<int>(system.parameters().size())) {
  ProgramOptions options;
  options.parameters = system.parameters();
  options.varied = varied_;
  meeting_ = CompiledFunction(make_meeting_program(system.equations(), options), {.lanes = lanes});
  inputs_.resize(static_cast<std::size_t>(meeting_.num_inputs() * lanes));
  meets_.resize(static_cast<std::size_t>(meeting_.num_outputs() * lanes));
  normal_ = tangent_ = Eigen::VectorXd::Zero(n_);
  M_ = Eigen::MatrixXd::Zero(n_, n_);
}

void StartLanes::take_code() {
  if (taken_) return;
  taken_ = true;
  std::call_once(code_->once, [&] { code_->make(); });
  positions_ = code_->positions, velocities_ = code_->velocities;
  for (const Nearest* nearest : {&positions_, &velocities_}) {
    if (!nearest->step) continue;
    const auto grow = [](AlignedNumbers& x, int count) {
      x.resize(std::max(x.size(), static_cast<std::size_t>(count * lanes)));
    };
    grow(inputs_, nearest->step.num_inputs()), grow(outputs_, nearest->step.num_outputs());
    grow(metric_, nearest->metric.num_outputs());
  }
}

void StartLanes::fill(const Block& block, int l, int row) {
  const auto at = static_cast<std::ptrdiff_t>(row);
  of(inputs_, 0, l) = block.t;
  for (int i = 0; i < n_; ++i)
    of(inputs_, 1 + i, l) = block.q[at * n_ + i], of(inputs_, 1 + n_ + i, l) = block.qd[at * n_ + i];
  for (int i = 0; i < static_cast<int>(varied_.size()); ++i)
    of(inputs_, 1 + 2 * n_ + i, l) = block.parameters[at * num_parameters_ + varied_[static_cast<std::size_t>(i)]];
}

/// Which constraints up to `lanes` rows meet.
void StartLanes::meet(const Block& block, const int* rows, int count) {
  for (int l = 0; l < lanes; ++l) fill(block, l, rows[std::min(l, count - 1)]);
  meeting_(inputs_.data(), meets_.data());
}

void StartLanes::move(double t, std::vector<int>& which, const double* parameters, double* q, double* qd) {
  const Block block{t, parameters, q, qd};
  // Rows that do not meet some of the constraints [first, end) of the meeting program, in packs.
  const auto find_off = [&](const std::vector<int>& rows, int first, int end) {
    std::vector<int> off;
    for (std::size_t begin = 0; begin < rows.size(); begin += lanes) {
      const int used = static_cast<int>(std::min<std::size_t>(lanes, rows.size() - begin));
      meet(block, rows.data() + begin, used);
      for (int l = 0; l < used; ++l) {
        bool on = true;
        for (int i = first; i < end; ++i) on &= of(meets_, i, l) >= 0.0;
        if (!on) off.push_back(rows[begin + static_cast<std::size_t>(l)]);
      }
    }
    return off;
  };
  which = find_off(which, 0, 3);
  if (which.empty()) return;
  take_code();
  const auto size = static_cast<std::size_t>(*std::max_element(which.begin(), which.end()) + 1),
             n = static_cast<std::size_t>(n_);
  const std::vector<double> q_given(q, q + size * n), qd_given(qd, qd + size * n);
  failed_.assign(size, 0);
  move_all(positions_, false, block, find_off(which, 0, 1));
  move_all(velocities_, true, block, find_off(which, 1, 2));
  for (const int row : find_off(which, 0, 3)) failed_[static_cast<std::size_t>(row)] = 1;
  std::erase_if(which, [&](int row) { return !failed_[static_cast<std::size_t>(row)]; });
  for (const int row : which) {
    const auto at = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(row) * n);
    std::copy_n(q_given.begin() + at, n_, q + at), std::copy_n(qd_given.begin() + at, n_, qd + at);
  }
}

/// Each lane has its own way; one that is at its end takes the next row.
void StartLanes::move_all(Nearest& nearest, bool velocities, const Block& block, const std::vector<int>& rows) {
  if (!nearest.step) {
    for (const int row : rows) failed_[static_cast<std::size_t>(row)] = 1;
    return;
  }
  std::size_t next = 0;
  for (Lane& lane : lanes_) lane.row = -1;
  for (;;) {
    bool any = false, fresh = false;
    for (int l = 0; l < lanes; ++l) {
      Lane& lane = lanes_[static_cast<std::size_t>(l)];
      while (lane.row < 0 && next < rows.size()) {
        if (const int row = rows[next++]; !failed_[static_cast<std::size_t>(row)]) {
          fill(block, l, lane.row = row);
          lane.fresh = fresh = true;
        }
      }
      any |= lane.row >= 0;
    }
    if (!any) return;
    if (fresh) begin(nearest, velocities);
    nearest.step(inputs_.data(), outputs_.data());
    for (int l = 0; l < lanes; ++l) {
      Lane& lane = lanes_[static_cast<std::size_t>(l)];
      if (lane.row < 0 || advance(l, velocities)) continue;
      const auto row = static_cast<std::size_t>(std::exchange(lane.row, -1));
      if (lane.search.found())
        std::copy_n(lane.search.x().data(), n_, (velocities ? block.qd : block.q) + row * static_cast<std::size_t>(n_));
      else
        failed_[row] = 1;
    }
  }
}

/// Lanes that have a new row: x₀ and M are those of here.
void StartLanes::begin(Nearest& nearest, bool velocities) {
  nearest.metric(inputs_.data(), metric_.data());
  const int first = velocities ? 1 + n_ : 1, given = 1 + 2 * n_ + static_cast<int>(varied_.size());
  for (int l = 0; l < lanes; ++l) {
    Lane& lane = lanes_[static_cast<std::size_t>(l)];
    if (!std::exchange(lane.fresh, false)) continue;
    for (int i = 0; i < n_; ++i) normal_(i) = of(inputs_, given + i, l) = of(inputs_, first + i, l);
    M_.setZero();
    for (int k = 0; k < static_cast<int>(nearest.entries.size()); ++k) {
      const auto [i, j] = nearest.entries[static_cast<std::size_t>(k)];
      M_(i, j) = M_(j, i) = of(inputs_, given + n_ + k, l) = of(metric_, k, l);
    }
    // What is held has no entries there, and a search measures only what moves.
    lane.search.begin(normal_, M_, true);
  }
}

/// Takes what was evaluated to the search; whether it goes on. What is not vouched for ends it.
bool StartLanes::advance(int l, bool velocities) {
  NearestSearch& search = lanes_[static_cast<std::size_t>(l)].search;
  const int at_far = 2 * n_, at_vouch = at_far + 1, first = velocities ? 1 + n_ : 1;
  if (!(of(outputs_, at_vouch, l) > 0.0)) return false;
  if (search.look(true, of(outputs_, at_far, l))) {
    const bool rounding = of(outputs_, at_far, l) == 0.0;
    for (int i = 0; i < n_; ++i)
      normal_(i) = rounding ? 0.0 : of(outputs_, i, l), tangent_(i) = of(outputs_, n_ + i, l);
    search.step(normal_, tangent_);
  }
  for (int i = 0; i < n_; ++i) of(inputs_, first + i, l) = search.x()(i);
  return search.goes_on();
}

}  // namespace mechanician
