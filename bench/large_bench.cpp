/// Large systems, from the model file to one acceleration:
///
///     bench_large MODEL N[,N…] [SECONDS]
///
/// Reads MODEL with --set N=…, and prints times of reading, of setting up, of one acceleration (median of many) and,
/// where SECONDS is given, of a motion of that length at tolerance 1e-8.

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "kernel_acceleration.hpp"
#include "mechanician/instant/system.hpp"
#include "mechanician/motion/integrator.hpp"

namespace {

using namespace mechanician;
using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

double peak_mib() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_maxrss) / 1024.0;
}

double median_ns(int least_rounds, double least_ms, const auto& call) {
  std::vector<double> times;
  const auto begin = Clock::now();
  while (static_cast<int>(times.size()) < least_rounds || (ms_since(begin) < least_ms && times.size() < 100000)) {
    const auto now = Clock::now();
    call();
    times.push_back(1e6 * ms_since(now));
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: bench_large MODEL N[,N...] [SECONDS]\n");
    return 2;
  }
  try {
    double before_size = 0.0, before_ns = 0.0;
    for (const char* at = argv[2]; *at;) {
      char* end = nullptr;
      const double size = std::strtod(at, &end);
      at = *end ? end + 1 : end;
      const auto reading = Clock::now();
      FamilyModel model = read_family_model(argv[1], {{"N", size}});
      const double read_ms = ms_since(reading);
      const auto making = Clock::now();
      const System whole(std::move(model), System::Numbers::kernels);
      LargeSystem& system = *whole.kernels();
      const auto start = system.start();
      KernelAcceleration accelerate(system);
      const double made_ms = ms_since(making);
      std::vector<double> qdd(static_cast<std::size_t>(system.n()));
      const auto one = [&] { accelerate(start.t, start.q.data(), start.qd.data(), qdd.data()); };
      one();
      LargeSystem::Values values = system.make_values();
      const std::vector<double> sides(system.num_sides(), 1.0);
      const double evaluate_ns = median_ns(5, 100, [&] {
        system.evaluate({start.t, start.q, start.qd, sides}, values);
      });
      const double checked_ns = median_ns(5, 100, one);
      const SparseResult checked = accelerate.result();
      accelerate.set_check_residuals(false);
      const double ns = median_ns(5, 200, one);
      fmt::print(
          "N = {:.0f}: n = {}, m = {}; read {:.3g} ms, set up {:.3g} ms, {:.0f} MiB; one acceleration {:.4g} us, "
          "{:.3g} ns per N ({:.3g} of it M, Q, A, b; {:.3g} with residuals checked, residual {:.1e}, {} refinements)",
          size, system.n(), system.m(), read_ms, made_ms, peak_mib(), 1e-3 * ns, ns / size, evaluate_ns / size,
          checked_ns / size, checked.residual, checked.num_refinements);
      if (before_ns > 0.0) fmt::print("; exponent {:.2f}", std::log(ns / before_ns) / std::log(size / before_size));
      fmt::print("\n");
      before_size = size, before_ns = ns;
      if (argc > 3) {
        Integrator motion(whole, whole.start(), {.to = start.t + std::atof(argv[3]), .tolerance = 1e-8});
        const auto begin = Clock::now();
        while (motion.advance()) {
        }
        const Certificate c = motion.certificate();
        const Statistics& s = motion.statistics();
        fmt::print(
            "  {} s of motion in {:.3g} s: {} steps, {} rejected, {} evaluations; violation {:.1e}, {:.1e}; balance "
            "{:.1e} of {:.1e} allowed{}\n",
            argv[3], 1e-3 * ms_since(begin), s.steps, s.rejected, s.evaluations, c.position_violation,
            c.velocity_violation, c.balance_largest, c.balance_allowed,
            motion.stop().failed() ? "; " + motion.stop().message : "");
      }
    }
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
}
