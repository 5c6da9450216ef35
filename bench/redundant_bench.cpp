/// Large systems with more rows than they need:
///
///     bench_redundant MODEL [NAME=VALUE…] [--dependent FAMILY[,FAMILY…]]
///
/// --dependent says which rows are the dependent ones by construction: exactly those of these families must be named.
/// Prints the rank, how many rows depend on others, what is missing in A q̈ = b and M q̈ = Q + Aᵀλ against their terms, and the
/// times of the whole diagnosis, of one answer of the robust path, and of one acceleration with the rows that a motion holds.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "mechanician/instant/accelerate.hpp"
#include "mechanician/large/large_system.hpp"
#include "mechanician/motion/dynamics.hpp"
#include "mechanician/solve/sparse_robust.hpp"

namespace {

using namespace mechanician;
using Clock = std::chrono::steady_clock;

template <class Call>
double least_ms(int rounds, Call&& call) {
  double least = 1e300;
  for (int k = 0; k < rounds; ++k) {
    const auto begin = Clock::now();
    call();
    least = std::min(least, std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  }
  return least;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: bench_redundant MODEL [NAME=VALUE...] [--dependent FAMILY[,FAMILY...]]\n");
    return 2;
  }
  try {
    ParameterOverrides set;
    std::string families;
    for (int k = 2; k < argc; ++k) {
      const std::string text = argv[k];
      if (text == "--dependent" && k + 1 < argc) {
        families = fmt::format(",{},", argv[++k]);
        continue;
      }
      const auto at = text.find('=');
      if (at == std::string::npos) throw std::invalid_argument(text + " is not NAME=VALUE");
      set.emplace(text.substr(0, at), std::atof(text.c_str() + at + 1));
    }
    const System system(read_family_model(argv[1], set), System::Numbers::kernels);
    const State start = system.start();
    Instant instant;
    const double examine_ms = least_ms(2, [&] { instant = accelerate(system, start); });
    const Diagnosis& d = *instant.diagnosis;
    fmt::print("n = {}, m = {}: rank {}{}, {} rows depend on others; residual {:.1e}; diagnosis {:.3g} ms", system.n(),
               system.m(), d.rank, d.rank_doubtful ? " (near)" : "", d.redundant.size(),
               instant.has_acceleration() ? calc_solution_residual(instant) : 0.0, examine_ms);
    if (!instant.has_acceleration()) fmt::print("; {}", describe(instant.solution.status));
    if (!families.empty()) {
      std::vector<Eigen::Index> truth;
      for (int row = 0; row < system.m(); ++row) {
        const std::string name = system.row_name(row);
        if (families.find(',' + name.substr(0, name.find('[')) + ',') != std::string::npos) truth.push_back(row);
      }
      fmt::print("; names {}", d.redundant == truth ? "as they must be" : "WRONG");
    }
    LargeSystem& kernels = *system.kernels();
    const auto n = static_cast<std::size_t>(system.n());
    const std::vector<double> sides(kernels.num_sides(), 1.0);
    LargeSystem::Values values = kernels.make_values();
    kernels.evaluate({start.t, {start.q.data(), n}, {start.qd.data(), n}, sides}, values);
    SparseRobust robust(kernels.pattern());
    const double robust_ms =
        least_ms(3, [&] { robust.solve(values.M, values.A, values.Q, values.b, SparseExplain::nothing); });
    Dynamics dynamics(system);
    std::vector<double> y(static_cast<std::size_t>(dynamics.size())), rate(y.size());
    std::copy(start.q.begin(), start.q.end(), y.begin());
    std::copy(start.qd.begin(), start.qd.end(), y.begin() + static_cast<std::ptrdiff_t>(n));
    if (!dynamics.choose_rows(start.t, y.data())) throw std::runtime_error("rows cannot be chosen");
    const double held_ms = least_ms(10, [&] { dynamics.rhs(start.t, y.data(), rate.data()); });
    fmt::print("; robust {:.3g} ms, held rows {:.3g} ms\n", robust_ms, held_ms);
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
}
