/// Large systems with more rows than they need:
///
///     bench_redundant MODEL [NAME=VALUE…] [--dependent FAMILY[,FAMILY…]]
///
/// --dependent says which rows are the dependent ones by construction: exactly those of these families must be named.
/// Prints the rank, how many rows depend on others, the residuals of A q̈ = b and M q̈ = Q + Aᵀλ against their terms, and the
/// times of the whole diagnosis, of one answer of the robust path, and of one acceleration with the rows that a motion holds.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "mechanician/large/large_dynamics.hpp"
#include "mechanician/large/large_instant.hpp"

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
    LargeSystem system(read_family_model(argv[1], set));
    const auto start = system.start();
    LargeInstant instant;
    const double examine_ms = least_ms(2, [&] { instant = examine(system, start.t, start.q, start.qd); });
    fmt::print(
        "n = {}, m = {}: rank {}{}, {} rows depend on others; residuals {:.1e} of rows, {:.1e} of forces; smallest "
        "sine {:.1e}; diagnosis {:.3g} ms",
        system.n(), system.m(), instant.rows.rank, instant.rows.decided ? "" : " (not decided)",
        instant.rows.redundant.size(), instant.row_residual, instant.force_residual, instant.smallest_sine, examine_ms);
    if (!instant.why.empty()) fmt::print("; {}", instant.why);
    if (!families.empty()) {
      std::vector<int> truth;
      for (int row = 0; row < system.m(); ++row) {
        const std::string name = system.row_name(row);
        if (families.find(',' + name.substr(0, name.find('[')) + ',') != std::string::npos) truth.push_back(row);
      }
      fmt::print("; names {}", instant.rows.redundant == truth ? "as they must be" : "WRONG");
    }
    LargeSystem::Values values = system.make_values();
    system.evaluate(start.t, start.q, start.qd, values);
    SparseRobust robust(pattern_of(system));
    const double robust_ms =
        least_ms(3, [&] { robust.solve(values.M, values.A, values.Q, values.b, SparseExplain::nothing); });
    LargeDynamics dynamics(system);
    if (!dynamics.hold_rows(start.t, start.q.data(), start.qd.data())) throw std::runtime_error(dynamics.why());
    std::vector<double> qdd(start.q.size());
    const double held_ms =
        least_ms(10, [&] { dynamics.accelerate(start.t, start.q.data(), start.qd.data(), qdd.data()); });
    fmt::print("; robust {:.3g} ms, held rows {:.3g} ms\n", robust_ms, held_ms);
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
}
