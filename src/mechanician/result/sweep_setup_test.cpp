#include "mechanician/result/sweep_setup.hpp"

#include <gtest/gtest.h>

#include "mechanician/result/sweep_example_for_test.hpp"

namespace mechanician {
namespace {

TEST(SweepSetup, IsReadAsItWasWritten) {
  SweepSetup s = example_sweep(12);
  s.set = {{"a=b", 0.1}, {"g", -9.81e300}};
  s.position = {{"x", 1.0 / 3.0}}, s.velocity = {{"x", -0.0}};
  s.time = 2.5;
  s.as_given = true;
  s.parameters_hash = 0xffffffffffffffffu;
  s.options = {.method = EnsembleMethod::rk4, .step = 1e-3, .to = 3.0};
  s.device = Device::gpu;
  s.begin = 2.5;
  const std::string text = encode(s);
  const SweepSetup again = decode_sweep_setup(text);
  EXPECT_EQ(encode(again), text);
  EXPECT_EQ(again.version, s.version);
  EXPECT_EQ(again.model.file, s.model.file);
  EXPECT_EQ(again.model.text, s.model.text);
  EXPECT_EQ(again.set, s.set);
  EXPECT_EQ(again.position, s.position);
  EXPECT_TRUE(std::signbit(again.velocity.at("x")));
  EXPECT_EQ(again.time, s.time);
  EXPECT_TRUE(again.as_given);
  EXPECT_EQ(again.parameters_hash, s.parameters_hash);
  EXPECT_EQ(again.vary, s.vary);
  EXPECT_EQ(again.samples.count, 12);
  EXPECT_EQ(again.samples.seed, 7u);
  EXPECT_EQ(again.samples.sampling, Sampling::sobol);
  EXPECT_EQ(again.options.method, EnsembleMethod::rk4);
  EXPECT_EQ(again.options.step, 1e-3);
  EXPECT_EQ(again.options.to, 3.0);
  EXPECT_EQ(again.device, Device::gpu);
  EXPECT_EQ(again.computed_on, "cpu");
  EXPECT_EQ(again.keep, s.keep);
  EXPECT_EQ(again.format, "h5");
  EXPECT_EQ(again.motions, 12);
  EXPECT_EQ(again.begin, 2.5);
  EXPECT_EQ(again.sample_names, s.sample_names);
  EXPECT_EQ(again.coordinates, s.coordinates);
  EXPECT_EQ(again.kept_names, s.kept_names);
}

TEST(SweepSetup, OfATableHasItsFileAndHash) {
  SweepSetup s = example_sweep(2);
  s.vary.clear();
  s.samples_file = "/some where/s.csv";
  s.samples_hash = 0x8000000000000001u;
  s.options = {.adaptive = Method::bdf, .to = 1.0, .tolerance = 1e-7};
  const SweepSetup again = decode_sweep_setup(encode(s));
  EXPECT_EQ(again.samples_file, s.samples_file);
  EXPECT_EQ(again.samples_hash, s.samples_hash);
  EXPECT_EQ(again.options.method, EnsembleMethod::adaptive);
  EXPECT_EQ(again.options.adaptive, Method::bdf);
  EXPECT_EQ(again.options.tolerance, 1e-7);
  EXPECT_FALSE(again.time);
}

TEST(SweepSetup, CutOffOrChangedIsNotTaken) {
  const std::string text = encode(example_sweep(3)), last = "kept_name 11\nlambda(rod)\n";
  ASSERT_TRUE(text.ends_with(last));
  for (std::size_t gone = 1; gone < last.size(); ++gone)
    EXPECT_THROW(decode_sweep_setup(text.substr(0, text.size() - gone)), std::invalid_argument) << gone;
  EXPECT_THROW(decode_sweep_setup("nothing 1\nx\n"), std::invalid_argument);
  EXPECT_THROW(decode_sweep_setup("seed 2\n1x\n"), std::invalid_argument);
  EXPECT_THROW(decode_sweep_setup("sampling 3\nabc\n"), std::invalid_argument);
  EXPECT_THROW(decode_sweep_setup("seed 99999999999\n1\n"), std::invalid_argument);
  EXPECT_THROW(decode_sweep_setup("set 3\nabc\n"), std::invalid_argument);
  EXPECT_THROW(decode_sweep_setup("\n"), std::invalid_argument);
}

TEST(SweepSetup, HashesTellTablesApart) {
  const SampleTable one{{"a", "b"}, {1.0, 2.0}};
  EXPECT_EQ(hash_samples(one), hash_samples({{"a", "b"}, {1.0, 2.0}}));
  EXPECT_NE(hash_samples(one), hash_samples({{"a", "b"}, {2.0, 1.0}}));
  EXPECT_NE(hash_samples(one), hash_samples({{"a", "c"}, {1.0, 2.0}}));
  EXPECT_NE(hash_samples(one), hash_samples({{"a", "b"}, {1.0, std::nextafter(2.0, 3.0)}}));
  EXPECT_NE(hash_numbers({0.0}), hash_numbers({-0.0}));
  EXPECT_NE(hash_numbers({0.0}), hash_numbers({0.0, 0.0}));
}

}  // namespace
}  // namespace mechanician
