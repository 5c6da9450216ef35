// MuJoCo's forward dynamics of a robot of bench/run --robot-speed. Limbs are held where the state has them: no error of position is left to be mended, and constraints are
// as hard as they can be made.
//
// usage: mujoco_robots ROBOT.xml ROBOT.states
//
// Prints one line of JSON as export_time.c does. What an acceleration does not need (energies, sensors, contacts) is not computed.

#include <mujoco/mujoco.h>

#include "contest.hpp"

namespace {

struct State {
  std::vector<double> q, v, a, eq;
};

std::vector<State> read_states(const char* file, int nq, int nv) {
  std::ifstream in(file);
  std::size_t count = 0;
  int q = 0, v = 0;
  in >> count >> q >> v;
  if (q != nq || v != nv) throw std::runtime_error("the states are of another robot");
  std::vector<State> states(count);
  for (State& s : states)
    for (auto* part : {&s.q, &s.v, &s.a}) {
      part->resize(static_cast<std::size_t>(part == &s.q ? nq : nv));
      for (double& x : *part) in >> x;
    }
  if (!in) throw std::runtime_error("the states cannot be read");
  return states;
}

/// Where the state has a body, as its weld or its point has it.
void hold(const mjModel* m, const mjData* d, std::vector<double>& data) {
  data.assign(m->eq_data, m->eq_data + m->neq * mjNEQDATA);
  for (int i = 0; i < m->neq; ++i) {
    double* own = data.data() + i * mjNEQDATA;
    const int body = m->eq_obj1id[i];
    if (m->eq_type[i] == mjEQ_CONNECT) {
      mju_mulMatVec3(own + 3, d->xmat + 9 * body, own);
      mju_addTo3(own + 3, d->xpos + 3 * body);
    } else {
      // The world as the body sees it.
      double back[4];
      mju_negQuat(back, d->xquat + 4 * body);
      mju_rotVecQuat(own + 3, d->xpos + 3 * body, back);
      mju_scl3(own + 3, own + 3, -1.0);
      std::copy(back, back + 4, own + 6);
      std::fill(own, own + 3, 0.0);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  char why[500] = "";
  mjModel* m = mj_loadXML(argv[1], nullptr, why, sizeof why);
  if (!m) {
    std::fprintf(stderr, "mujoco: %s\n", why);
    return 1;
  }
  mjData* d = mj_makeData(m);
  std::vector<State> states = read_states(argv[2], m->nq, m->nv);
  double error = 0.0, largest = 0.0, open = 0.0;
  for (State& s : states) {
    std::copy(s.q.begin(), s.q.end(), d->qpos);
    mj_kinematics(m, d);
    hold(m, d, s.eq);
  }
  const auto work = [&](int k) {
    const State& s = states[static_cast<std::size_t>(k)];
    std::copy(s.q.begin(), s.q.end(), d->qpos);
    std::copy(s.v.begin(), s.v.end(), d->qvel);
    std::copy(s.eq.begin(), s.eq.end(), m->eq_data);
    mj_forward(m, d);
  };
  for (std::size_t k = 0; k < states.size(); ++k) {
    work(static_cast<int>(k));
    for (int i = 0; i < m->nv; ++i) {
      largest = std::max(largest, std::abs(states[k].a[static_cast<std::size_t>(i)]));
      error = std::max(error, std::abs(d->qacc[i] - states[k].a[static_cast<std::size_t>(i)]));
    }
    for (int i = 0; i < d->nefc; ++i) open = std::max(open, std::abs(d->efc_pos[i]));
  }
  if (open > 1e-9) {
    std::fprintf(stderr, "mujoco: limbs are not where they are held, but %g off\n", open);
    return 1;
  }
  contest::report("Newton", contest::time_calls(static_cast<int>(states.size()), work), error / largest,
                  "\"rows\": " + std::to_string(d->nefc));
  mj_deleteData(d), mj_deleteModel(m);
}
