#pragma once

/// What is varied from motion to motion: a plan from which sample k can be computed by itself.
///
///     SamplePlan plan({parse_variation("m=0.5:2:4"), parse_variation("g=normal(9.81,0.01)")}, {.count = 1000, .seed = 1});
///     plan.count();                       // 4000
///     plan.fill(7, values);               // m and g of motion 7
///
/// Grids and lists multiply, the last one varies fastest; each of their combinations has `count` random samples, which follow
/// each other. Sample k depends on nothing but the plan and k. Memory: the plan; for a table, the table.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mechanician {

struct Variation {
  enum class Kind : std::uint8_t { list, grid, normal, uniform };
  std::string name;  ///< a parameter, x or x'
  Kind kind = Kind::list;
  double a = 0.0, b = 0.0;  ///< grid: from, to; normal: mean, standard deviation; uniform: ends
  std::int64_t points = 0;  ///< of a grid
  std::vector<double> values = {};

  bool is_random() const { return kind == Kind::normal || kind == Kind::uniform; }
  std::int64_t size() const { return kind == Kind::grid ? points : static_cast<std::int64_t>(values.size()); }
};

/// "NAME=FROM:TO:COUNT", "NAME=v1,v2,…", "NAME=normal(MEAN,SD)" or "NAME=uniform(A,B)". Throws std::invalid_argument.
Variation parse_variation(std::string_view text);

enum class Sampling : std::uint8_t {
  random,           ///< independent
  latin_hypercube,  ///< of each quantity one value in each of `count` intervals of equal probability
  sobol,            ///< the points of Sobol's sequence, shifted by the seed: evenly in all dimensions together
};
std::string_view name_of(Sampling sampling);  ///< "random", "lhs", "sobol"

struct SampleOptions {
  std::int64_t count = 0;  ///< random samples of each combination of the others; needed where something is random
  std::uint64_t seed = 0;
  Sampling sampling = Sampling::random;
};

/// Numbers of samples, read from a CSV file.
struct SampleTable {
  std::vector<std::string> names;
  std::vector<double> values;  ///< by rows
  std::int64_t rows() const { return names.empty() ? 0 : static_cast<std::int64_t>(values.size() / names.size()); }
};

/// First line: names, of a start also as results have it, `start(x)`. Blank lines and lines that begin with # are skipped. Throws FileError where the file cannot be read, and
/// std::invalid_argument, with file and line, where it holds anything but finite numbers, or no sample.
SampleTable read_samples(const std::string& file);
SampleTable parse_samples(std::string_view text, const std::string& file);

class SamplePlan {
 public:
  /// Throws std::invalid_argument for names given twice, nothing to vary, a count that is missing, too many samples or
  /// dimensions.
  SamplePlan(std::vector<Variation> variations, SampleOptions options);
  explicit SamplePlan(SampleTable table);

  const std::vector<std::string>& names() const { return names_; }
  std::int64_t count() const { return count_; }
  /// One value for each name.
  void fill(std::int64_t k, std::span<double> values) const;

 private:
  double random_value(const Variation& variation, std::int64_t k, std::int64_t combination, std::int64_t place,
                      std::uint32_t dimension) const;

  std::vector<std::string> names_;
  std::vector<Variation> variations_;
  SampleOptions options_;
  SampleTable table_;
  std::int64_t count_ = 0, draws_ = 1;
};

}  // namespace mechanician
