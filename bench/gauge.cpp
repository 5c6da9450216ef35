/// How undisturbed the core is: two loops in registers alone, neither of which depends on memory or on other programs of
/// this machine.
///
///     bench_gauge      writes {"waits_ns": …, "busy_ns": …}: one turn of each, median of some batches
///
/// The first is a chain of divisions, which waits for its own results most of the time; the second keeps the core busy
/// with twelve chains side by side. Where the second becomes slower and the first does not, another program has the other
/// half of the core: what is quick because it keeps the core busy loses most then.

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace {

constexpr int num_chains = 12, num_turns = 4000, num_batches = 301;

void keep(double& x) { asm volatile("" : "+x"(x)); }

double waits() {
  double x = 1.0;
  for (int i = 0; i < num_turns; ++i) x = 1.0 + 1.0 / x, keep(x);
  return x;
}

double busy() {
  double x[num_chains];
  for (int k = 0; k < num_chains; ++k) x[k] = k;
  for (int i = 0; i < num_turns; ++i)
    for (double& a : x) a = a * 1.0001 + 0.5, keep(a);
  return x[3];
}

double median(double (*loop)()) {
  double times[num_batches];
  for (double& time : times) {
    const auto begin = std::chrono::steady_clock::now();
    double x = loop();
    keep(x);
    time = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
  }
  std::nth_element(times, times + num_batches / 2, times + num_batches);
  return times[num_batches / 2] / num_turns;
}

}  // namespace

int main() { std::printf("{\"waits_ns\": %.5g, \"busy_ns\": %.5g}\n", median(waits), median(busy)); }
