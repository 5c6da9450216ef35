#include "mechanician/compile/ptx_code.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <random>

#include "mechanician/compile/device_functions.hpp"
#include "mechanician/compile/host_arithmetic_for_test.hpp"
#include "mechanician/compile/ptx_machine_for_test.hpp"
#include "mechanician/compile/ptx_tables.hpp"
#include "mechanician/compile/random_program_for_test.hpp"
#include "mechanician/compile/trigonometry.hpp"
#include "mechanician/expression/differentiate.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/expression/table.hpp"

namespace mechanician {
namespace {

double ulps(double got, long double truth) {
  if (std::isnan(truth)) return std::isnan(got) ? 0.0 : 1e30;
  const double near = static_cast<double>(truth);
  if (!std::isfinite(near)) return got == near ? 0.0 : 1e30;
  const double unit = std::nextafter(std::abs(near), std::numeric_limits<double>::infinity()) - std::abs(near);
  return static_cast<double>(std::abs(static_cast<long double>(got) - truth) / static_cast<long double>(unit));
}

using Device = DeviceFunctions<HostArithmetic>;

struct Claim {
  const char* name;
  std::function<double(double)> device;
  std::function<long double(long double)> truth;
  double from, to, most;
};

TEST(DeviceFunctions, AreAsAccurateAsTheHeaderSays) {
  Device d;
  const Claim claims[] = {
      {"exp", [&](double x) { return d.exp(x); }, [](long double x) { return std::exp(x); }, -700, 709, 1.0},
      {"log", [&](double x) { return d.log(x); }, [](long double x) { return std::log(x); }, 1e-300, 10, 0.9},
      {"log near 1", [&](double x) { return d.log(x); }, [](long double x) { return std::log(x); }, 0.5, 2, 0.9},
      {"atan", [&](double x) { return d.atan(x); }, [](long double x) { return std::atan(x); }, -5, 5, 1.3},
      {"asin", [&](double x) { return d.asin(x); }, [](long double x) { return std::asin(x); }, -1, 1, 3.0},
      {"acos", [&](double x) { return d.acos(x); }, [](long double x) { return std::acos(x); }, -1, 1, 3.0},
      {"tan", [&](double x) { return d.tan(x); }, [](long double x) { return std::tan(x); }, -20, 20, 2.1},
      {"sinh", [&](double x) { return d.sinh(x); }, [](long double x) { return std::sinh(x); }, -3, 3, 2.5},
      {"cosh", [&](double x) { return d.cosh(x); }, [](long double x) { return std::cosh(x); }, -9, 9, 2.5},
      {"tanh", [&](double x) { return d.tanh(x); }, [](long double x) { return std::tanh(x); }, -3, 3, 2.5},
      {"asinh", [&](double x) { return d.asinh(x); }, [](long double x) { return std::asinh(x); }, -9, 9, 3.0},
      {"acosh", [&](double x) { return d.acosh(x); }, [](long double x) { return std::acosh(x); }, 1, 9, 3.0},
      {"atanh", [&](double x) { return d.atanh(x); }, [](long double x) { return std::atanh(x); }, -1, 1, 3.0},
      {"hypot", [&](double x) { return d.hypot(x, 0.7); }, [](long double x) { return std::hypot(x, 0.7L); }, -9, 9,
       2.0},
  };
  constexpr int seed = 801;
  for (const Claim& claim : claims) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> number(claim.from, claim.to);
    double worst = 0.0, at = 0.0;
    for (int i = 0; i < 100'000; ++i) {
      double x = number(random);
      if (i % 4 == 0) x *= std::exp2(-static_cast<double>(i % 60));
      if (claim.name == std::string("acosh")) x = std::max(x, 1.0);
      if (claim.name == std::string("hypot") && i % 3 == 0) x = 0.7 + 1e-9 * x;
      const double error = ulps(claim.device(x), claim.truth(x));
      if (error > worst) worst = error, at = x;
    }
    EXPECT_LE(worst, claim.most) << claim.name << " at " << at << ", seed " << seed;
    RecordProperty(claim.name, std::to_string(worst));
  }
}

TEST(DeviceFunctions, PowersAreAccurateWhateverTheirSize) {
  Device d;
  constexpr int seed = 802;
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> base(-3, 3), exponent(-30, 30);
  double near = 0.0, far = 0.0;
  for (int i = 0; i < 100'000; ++i) {
    const double a = std::exp2(base(random) * (i % 2 ? 1.0 : 10.0)), b = exponent(random) * (i % 3 ? 0.1 : 1.0);
    const long double truth = std::pow(static_cast<long double>(a), static_cast<long double>(b));
    if (truth < 1e-300L || truth > 1e300L) continue;
    double& worst = std::abs(std::log(truth)) < 10 ? near : far;
    worst = std::max(worst, ulps(d.pow(a, b), truth));
  }
  EXPECT_LE(near, 2.0) << "seed " << seed;
  EXPECT_LE(far, 8.0) << "seed " << seed;
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const double numbers[] = {0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 0.5, -0.5, 2.5, inf, nan, -7.0, 1e-310};
  for (const double a : numbers)
    for (const double b : {0.0, 1.0, -1.0, 2.0, 3.0, -3.0, 0.5, -0.5, 2.5, 4.0, -4.0, nan}) {
      if ((a == 0.0 && std::signbit(a)) || (a == 1.0 && std::isnan(b))) continue;  // the sign of zero is not kept
      EXPECT_LE(ulps(d.pow(a, b), std::pow(static_cast<long double>(a), static_cast<long double>(b))), 1.0)
          << a << "^" << b;
    }
}

TEST(DeviceFunctions, KnowTheEndsOfTheirDomains) {
  Device d;
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  EXPECT_EQ(d.exp(-inf), 0.0);
  EXPECT_EQ(d.exp(inf), inf);
  EXPECT_EQ(d.exp(-745.0), std::exp(-745.0));
  EXPECT_EQ(d.log(0.0), -inf);
  EXPECT_EQ(d.log(inf), inf);
  EXPECT_LE(ulps(d.log(1e-310), std::log(1e-310L)), 1.0);
  for (const double x : {d.log(-1.0), d.asin(1.1), d.acos(-1.1), d.acosh(0.9), d.atanh(1.5), d.exp(nan), d.log(nan),
                         d.atan(nan), d.sinh(nan), d.tanh(nan), d.hypot(nan, 1.0), d.hypot(1.0, nan),
                         d.sine_cosine(2e6).sine, d.sine_cosine(nan).cosine})
    EXPECT_TRUE(std::isnan(x));
  for (const double y : {0.0, -0.0, 1.0, -1.0, 3.0, -1e-300, 1e300})
    for (const double x : {0.0, -0.0, 1.0, -1.0, -3.0, 1e-300, -1e300})
      EXPECT_LE(ulps(d.atan2(y, x), std::atan2(static_cast<long double>(y), static_cast<long double>(x))), 1.3)
          << y << " " << x;
}

TEST(DeviceFunctions, SineAndCosineHaveTheBitsOfTheProcessor) {
  Device d;
  constexpr int seed = 803;
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> number(-30, 30);
  for (int i = 0; i < 100'000; ++i) {
    const double x = number(random) * (i % 5 == 0 ? 1e4 : 1.0);
    const SineCosine expected = sine_cosine(x);
    const auto got = d.sine_cosine(x);
    ASSERT_EQ(got.sine, expected.sine) << x << ", seed " << seed;
    ASSERT_EQ(got.cosine, expected.cosine) << x << ", seed " << seed;
  }
}

bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// Functions that are the library's on the processor.
bool has_own_functions(const Program& program) {
  for (const Step& s : program.steps) {
    if (!is_op(s.action)) continue;
    const Op op = static_cast<Op>(s.action);
    if (op == Op::pow || op == Op::hypot || (op >= Op::tan && op <= Op::log)) return true;
  }
  return false;
}

TEST(PtxCode, ComputesWhatTheInterpreterComputes) {
  constexpr int seed = 804;
  std::mt19937_64 random(seed);
  int compared = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const Program program = random_program(random, {.num_steps = 20});
    if (has_own_functions(program) && trial >= 40) continue;  // these are only seen to run
    PtxMachine machine(make_ptx_map(program));
    ASSERT_EQ(machine.entry(), ptx_map_entry);
    constexpr int count = 3;
    const std::vector<double> inputs = random_inputs(random, count * program.num_inputs);
    std::vector<double> outputs(static_cast<std::size_t>(count * program.num_outputs()), -77.0);
    ASSERT_NO_THROW(machine.launch(
        {std::bit_cast<std::uint64_t>(inputs.data()), std::bit_cast<std::uint64_t>(outputs.data()), count}, 1, 4));
    if (has_own_functions(program)) continue;
    ++compared;
    std::vector<double> registers(static_cast<std::size_t>(program.num_registers())),
        expected(static_cast<std::size_t>(program.num_outputs()));
    for (int k = 0; k < count; ++k) {
      program.evaluate(inputs.data() + k * program.num_inputs, registers.data(), expected.data());
      // sin and cos of what is beyond 2²⁰ are not a number on the device, and so is what is made of them
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const double got = outputs[static_cast<std::size_t>(k) * expected.size() + i];
        const bool far =
            std::any_of(registers.begin(), registers.end(), [](double x) { return !(std::abs(x) <= 0x1p20); });
        EXPECT_TRUE(same(got, expected[i]) || far)
            << got << " for " << expected[i] << ", trial " << trial << ", seed " << seed;
      }
    }
  }
  EXPECT_GT(compared, 20);
}

/// x'' = −k x by explicit Euler; vouched for while x > −0.5.
Program oscillator_step() {
  ProgramBuilder b(5);  // t h x x' k
  const auto t = b.input(0), h = b.input(1), x = b.input(2), v = b.input(3), k = b.input(4);
  const auto a = b.neg(b.mul(k, x));
  return b.finish(std::vector{b.add(x, b.mul(h, v)), b.add(v, b.mul(h, a)),
                              b.add(b.add(x, b.constant(0.5)), b.mul(t, b.constant(0.0)))});
}

TEST(PtxCode, StepsUntilTheAnswerIsNotVouchedFor) {
  const Program step = oscillator_step();
  PtxMachine machine(make_ptx_step(step, 1));
  ASSERT_EQ(machine.entry(), ptx_step_entry);
  constexpr int count = 5;
  const double h = 0.01;
  std::vector<double> rows;
  for (int k = 0; k < count; ++k) rows.insert(rows.end(), {0.0, 1.0, 0.0, 1.0 + k});
  std::vector<std::uint32_t> done(count, 0);
  const auto launch = [&](std::uint64_t first, std::uint64_t steps) {
    machine.launch({std::bit_cast<std::uint64_t>(rows.data()), std::bit_cast<std::uint64_t>(done.data()), count,
                    std::bit_cast<std::uint64_t>(0.5), std::bit_cast<std::uint64_t>(h), 0, first, steps},
                   2, 3);
  };
  launch(0, 100);
  launch(100, 80);
  for (int k = 0; k < count; ++k) {
    double x = 1.0, v = 0.0;
    std::uint32_t expected = 0;
    while (expected < 180 && x + 0.5 > 0) {
      const double next = std::fma(h, v, x);
      v = std::fma(h, -((1.0 + k) * x), v);
      x = next;
      ++expected;
    }
    EXPECT_EQ(done[static_cast<std::size_t>(k)], expected) << k;
    EXPECT_EQ(rows[static_cast<std::size_t>(4 * k)], std::fma(expected, h, 0.5)) << k;
    EXPECT_NEAR(rows[static_cast<std::size_t>(4 * k + 1)], x, 1e-13) << k;
    EXPECT_NEAR(rows[static_cast<std::size_t>(4 * k + 2)], v, 1e-13) << k;
  }
  EXPECT_LT(done.back(), 180u);
  EXPECT_EQ(done.front(), 180u);
}

TEST(PtxCode, IsAcceptedByTheAssemblerWhereThereIsOne) {
  const char* assembler = std::getenv("MECHANICIAN_PTXAS");
  const std::string program = assembler ? assembler : "ptxas";
  if (std::system((program + " --version > /dev/null 2>&1").c_str()) != 0) GTEST_SKIP() << "no ptxas on this machine";
  constexpr int seed = 805;
  std::mt19937_64 random(seed);
  const auto file = std::filesystem::temp_directory_path() / ("mechanician_" + std::to_string(::getpid()) + ".ptx");
  for (int trial = 0; trial < 5; ++trial) {
    const std::string text =
        trial == 0 ? make_ptx_step(oscillator_step(), 1) : make_ptx_map(random_program(random, {.num_steps = 200}));
    std::ofstream(file) << text;
    EXPECT_EQ(std::system((program + " -arch=sm_90 -o /dev/null " + file.string()).c_str()), 0)
        << "trial " << trial << ", seed " << seed;
  }
  std::filesystem::remove(file);
}

/// Values and derivatives of all kinds of tables, inside, at points, at ends and beyond: the bits of the processor.
TEST(PtxCode, LooksTablesUpAsTheProcessorDoes) {
  const std::vector<double> x{-2.0, -1.0, 0.5, 1.0, 2.5}, v{1.0, -2.0, 0.5, 3.0, 1.0};
  const Expr a = parameter("a"), b = parameter("b");
  std::vector<Expr> lookups;
  for (const Outside o : {Outside::error, Outside::hold, Outside::zero, Outside::periodic})
    for (const Interpolation i :
         {Interpolation::linear, Interpolation::cubic, Interpolation::monotone, Interpolation::steps}) {
      const Table table({.name = "f", .arguments = {x}, .values = v, .interpolation = i, .outside = o});
      for (int order = 0; order < 4; ++order) lookups.push_back(table(a, order));
      if (i == Interpolation::monotone) continue;
      std::vector<double> grid;
      for (int k = 0; k < 25; ++k)
        grid.push_back(std::sin(1.7 * k) + (o == Outside::periodic && k % 5 == 4 ? 0.0 : 0.3));
      if (o == Outside::periodic)
        for (std::size_t k = 0; k < 5; ++k) grid[20 + k] = grid[k];
      if (o == Outside::periodic)
        for (std::size_t k = 0; k < 5; ++k) grid[5 * k + 4] = grid[5 * k];
      const Table map({.name = "g", .arguments = {x, x}, .values = grid, .interpolation = i, .outside = o});
      lookups.push_back(map(a, b));
    }
  int num_values = 0;
  for (const Expr& f : lookups) {
    if (f.op() != Op::lookup) continue;  // a derivative that is zero
    const Expr both[] = {f, derivative(f, a), derivative(f, b)};
    for (const Expr& g : both) {
      if (g.op() != Op::lookup) continue;
      const std::vector<Expr> inputs{a, b};
      ProgramBuilder builder(2);
      const std::vector<ProgramBuilder::Value> at{builder.input(0), builder.input(1)};
      const Program program = builder.finish(builder.append(Tape(std::span(&g, 1), inputs), at));
      ASSERT_EQ(why_no_tables(program), nullptr);
      PtxMachine machine(make_ptx_map(program));
      std::vector<double> registers(static_cast<std::size_t>(program.num_registers()));
      std::vector<double> where = x;
      for (const double p : {-2.0 - 1e-16, -7.3, -2.5, -1.7, -0.2, 0.6, 0.99, 1.4, 2.4, 2.6, 9.1, 1e300, -1e300})
        where.push_back(p);
      for (const double p :
           {std::nan(""), std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()})
        where.push_back(p);
      for (const double p : where)
        for (const double q : {-1.3, 0.5, 2.5, 3.0}) {
          const double in[2] = {p, q};
          double want = 0.0, got = 0.0;
          program.evaluate(in, registers.data(), &want);
          machine.launch({std::bit_cast<std::uint64_t>(&in[0]), std::bit_cast<std::uint64_t>(&got), 1}, 1, 1);
          EXPECT_TRUE(got == want || (std::isnan(got) && std::isnan(want)))
              << print(g) << " at " << p << ", " << q << ": " << got << ", not " << want;
          ++num_values;
        }
    }
  }
  EXPECT_GT(num_values, 3000);
  // Which table it is has to be known.
  ProgramBuilder builder(1);
  const auto looked_up = builder.apply(Op::lookup, builder.input(0), builder.input(0), builder.input(0));
  EXPECT_NE(why_no_tables(builder.finish(std::span(&looked_up, 1))), nullptr);
}

}  // namespace
}  // namespace mechanician
