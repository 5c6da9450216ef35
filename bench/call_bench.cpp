// What a compiled acceleration costs when C++ calls it: one state, and 10,000 at once. bench/run --python puts it beside Python's calls.
//
//   bench_call MODEL      prints {"single_ns": …, "batch_ns": …}

#include <algorithm>
#include <chrono>
#include <iostream>

#include "mechanician/mechanician.hpp"

namespace {

template <class Call>
double best_ns(int count, Call&& call) {
  double best = INFINITY;
  for (int round = 0; round < 9; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    for (int k = 0; k < count; ++k) call();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    best = std::min(best, took.count() / count);
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto system = mechanician::System::from_file(argv[1]);
  const auto f = system.compiled();
  const auto start = system.start();
  const auto n = static_cast<std::size_t>(system.n());
  constexpr std::size_t states = 10'000;
  std::vector<double> q, qd(n * states), qdd(n * states);
  for (std::size_t k = 0; k < states; ++k) q.insert(q.end(), start.q.data(), start.q.data() + n);
  const double t = start.t;
  const double single = best_ns(100'000, [&] { f(t, q.data(), qd.data(), nullptr, qdd.data()); });
  const double batch = best_ns(20, [&] { f.evaluate(states, &t, 0, q.data(), qd.data(), nullptr, qdd.data()); });
  std::cout << "{\"single_ns\": " << single << ", \"batch_ns\": " << batch / states << "}\n";
}
