#pragma once

/// A sweep made up for tests: motion k has numbers that follow from k, so that everything can be told from its place.

#include <cmath>
#include <limits>

#include "mechanician/result/sweep_store.hpp"

namespace mechanician {

inline constexpr double sweep_none = std::numeric_limits<double>::quiet_NaN();

inline SweepSetup example_sweep(std::int64_t motions) {
  SweepSetup s;
  s.version = "1.2.3";
  s.model = {"a b.toml", "coordinates = [\"x\"]\n# = \"=\"\n"};
  s.vary = {"m=1:2:3", "x'=normal(0,1)"};
  s.samples = {.count = motions, .seed = 7, .sampling = Sampling::sobol};
  s.options.to = 0.1;
  s.keep = {"lambda(*)"};
  s.computed_on = "cpu";
  s.format = "h5";
  s.motions = motions;
  s.sample_names = {"m", "start(x')"};
  s.coordinates = {"x"};
  s.kept_names = {"lambda(rod)"};
  return s;
}

/// Every seventh motion has failed, every eleventh of the others is suspect.
inline Outcome example_outcome(std::int64_t k) {
  return k % 7 == 3 ? Outcome::failed : k % 11 == 5 ? Outcome::suspect : Outcome::done;
}
/// What is kept of it.
inline double example_kept(std::int64_t k) { return std::sin(static_cast<double>(k)); }

inline SweepBlock example_block(std::int64_t first, int count) {
  MotionBatch batch;
  batch.count = count, batch.n = 1;
  batch.q.resize(static_cast<std::size_t>(count)), batch.qd.resize(static_cast<std::size_t>(count));
  SweepBlock block;
  block.first = first;
  block.result = BatchResult(batch);
  for (int i = 0; i < count; ++i) {
    const std::int64_t k = first + i;
    const auto at = static_cast<std::size_t>(i);
    const auto x = static_cast<double>(k);
    block.samples.push_back(x), block.samples.push_back(-x);
    BatchResult& r = block.result;
    r.t[at] = 0.1, r.q[at] = 10.0 * x, r.qd[at] = 100.0 * x;
    r.outcome[at] = example_outcome(k);
    if (r.outcome[at] == Outcome::failed) r.reason[at] = "motion " + std::to_string(k) + " says \"no\",\nand again";
    if (r.outcome[at] == Outcome::suspect) r.reason[at] = "doubtful";
    r.steps[at] = k, r.served[at] = k / 2;
    r.violation[at] = 1e-12 * x, r.balance[at] = 0.5;
    block.kept.push_back(r.outcome[at] == Outcome::failed ? sweep_none : example_kept(k));
  }
  return block;
}

}  // namespace mechanician
