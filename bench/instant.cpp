/// What one instant costs: reading, deriving, evaluating, solving and diagnosing, and the solution beside its peers.
///
///     bench_instant MODEL...
///
/// Peers, measured in the same run and interleaved: the forms F1 to F5 of the papers, and the two-line formula that
/// people write by hand, q̈ = a + M⁻¹Aᵀ(A M⁻¹Aᵀ)⁺(b − A a), with Eigen's complete orthogonal decomposition. Medians of
/// many rounds; ratios are what counts, times depend on the machine.

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "mechanician/instant/accelerate.hpp"
#include "mechanician/model/parameters.hpp"
#include "mechanician/model/read_model.hpp"

namespace {

using namespace mechanician;
using Clock = std::chrono::steady_clock;

double microseconds(const std::function<void()>& work) {
  const auto begin = Clock::now();
  work();
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

struct Entry {
  std::string name;
  std::function<void()> work;
  std::vector<double> times = {};
  double median() {
    std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
    return times[times.size() / 2];
  }
};

Eigen::VectorXd by_hand(const InstantValues& v) {
  const Eigen::LLT<Eigen::MatrixXd> M(v.M.to_dense());
  const Eigen::MatrixXd A = v.A.to_dense();
  const Eigen::VectorXd a = M.solve(v.Q);
  const Eigen::MatrixXd X = M.solve(A.transpose());
  return a + X * (A * X).completeOrthogonalDecomposition().solve(v.b - v.A * a);
}

void measure(const std::string& file) {
  double read_us = 0, derive_us = 0;
  Model model;
  read_us = microseconds([&] { model = read_model(file); });
  const ParameterValues parameters = evaluate_parameters(model);
  derive_us = microseconds([&] { derive(model); });
  const System system(model, parameters.values);
  const State start = state_of(start_state(model, parameters));
  const InstantValues values = system.evaluate(start).values;
  const Solution reference = solve(values);
  if (!reference.has_acceleration()) {
    fmt::print("{}: no acceleration ({})\n", file, describe(reference.status));
    return;
  }

  double sink = 0;
  std::vector<Entry> entries;
  entries.push_back({"solve (auto)", [&] { sink += solve(values).qdd(0); }});
  entries.push_back({"evaluate M Q A b with error bounds", [&] { sink += system.evaluate(start).values.b.sum(); }});
  entries.push_back({"accelerate with diagnosis", [&] { sink += accelerate(system, start).solution.qdd(0); }});
  const bool definite = reference.a.has_value();
  const std::vector<std::pair<const char*, Form>> forms{
      {"F1", Form::f1}, {"F2", Form::f2}, {"F3", Form::f3}, {"F4", Form::f4}, {"F5", Form::f5}};
  for (const auto& [name, form] : forms)
    if (definite || form == Form::f4 || form == Form::f5)
      entries.push_back({name, [&values, &sink, f = form] { sink += solve_with_form(values, f).qdd(0); }});
  if (definite) entries.push_back({"by hand, pseudo-inverse", [&] { sink += by_hand(values)(0); }});

  constexpr int num_rounds = 101;
  for (int round = 0; round < num_rounds; ++round)
    for (Entry& e : entries) e.times.push_back(microseconds(e.work));

  const double base = entries.front().median();
  fmt::print("{}: {} coordinates, {} rows, {} operations; read {:.0f} µs, derive {:.0f} µs\n", file, system.n(),
             system.m(), system.num_operations(), read_us, derive_us);
  for (Entry& e : entries) fmt::print("  {:<38}{:>10.1f} µs {:>8.2f} × solve\n", e.name, e.median(), e.median() / base);
  if (sink == 42.0) fmt::print("\n");  // keeps the work from being optimised away
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: bench_instant MODEL...\n");
    return 2;
  }
  try {
    for (int i = 1; i < argc; ++i) measure(argv[i]);
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
  return EXIT_SUCCESS;
}
