#include "mechanician/ensemble/samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "mechanician/base/csv.hpp"
#include "mechanician/base/diagnostic.hpp"
#include "mechanician/base/patterns.hpp"
#include "mechanician/base/read_file.hpp"
#include "mechanician/base/text.hpp"
#include "mechanician/ensemble/random.hpp"
#include "mechanician/model/constant_text.hpp"

namespace mechanician {

namespace {

constexpr std::int64_t most_samples = std::int64_t{1} << 48;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r";
  const std::size_t begin = text.find_first_not_of(blank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

template <class T>
std::optional<T> parse(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  T value{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Of the text of a variation, for messages.
double finite(std::string_view text, std::string_view whole) {
  const std::optional<double> value = constant_value(trimmed(text));
  if (!value) throw std::invalid_argument(fmt::format("{}: `{}` is not a finite number", whole, trimmed(text)));
  return *value;
}

/// The two numbers of "normal(1,2)".
std::pair<double, double> pair_of(std::string_view inside, std::string_view whole, std::string_view form) {
  const auto items = split_list(inside);
  if (items.size() != 2) throw std::invalid_argument(fmt::format("{}: it is {}", whole, form));
  return {finite(items[0], whole), finite(items[1], whole)};
}

}  // namespace

Variation parse_variation(std::string_view text) {
  const std::size_t equal = text.find('=');
  if (equal == std::string_view::npos || trimmed(text.substr(0, equal)).empty())
    throw std::invalid_argument(
        fmt::format("{}: it is NAME=FROM:TO:COUNT, NAME=v1,v2,…, NAME=normal(MEAN,SD) or NAME=uniform(A,B)", text));
  Variation made;
  made.name = trimmed(text.substr(0, equal));
  const std::string_view right = trimmed(text.substr(equal + 1));
  const auto inside_of = [&](std::string_view word) -> std::optional<std::string_view> {
    if (!right.starts_with(word) || !right.ends_with(')')) return std::nullopt;
    const std::string_view rest = trimmed(right.substr(word.size()));
    if (!rest.starts_with('(')) return std::nullopt;
    return rest.substr(1, rest.size() - 2);
  };
  if (const auto inside = inside_of("normal")) {
    made.kind = Variation::Kind::normal;
    std::tie(made.a, made.b) = pair_of(*inside, text, "normal(MEAN,SD)");
    if (made.b < 0.0) throw std::invalid_argument(fmt::format("{}: a standard deviation is not negative", text));
  } else if (const auto ends = inside_of("uniform")) {
    made.kind = Variation::Kind::uniform;
    std::tie(made.a, made.b) = pair_of(*ends, text, "uniform(A,B)");
    if (made.b < made.a) throw std::invalid_argument(fmt::format("{}: the second number is below the first", text));
    if (!std::isfinite(made.b - made.a)) throw std::invalid_argument(fmt::format("{}: the interval is too wide", text));
  } else if (const std::size_t colon = right.find(':'); colon != std::string_view::npos) {
    const std::size_t second = right.find(':', colon + 1);
    if (second == std::string_view::npos || right.find(':', second + 1) != std::string_view::npos)
      throw std::invalid_argument(fmt::format("{}: a grid is FROM:TO:COUNT", text));
    made.kind = Variation::Kind::grid;
    made.a = finite(right.substr(0, colon), text);
    made.b = finite(right.substr(colon + 1, second - colon - 1), text);
    if (!std::isfinite(made.b - made.a)) throw std::invalid_argument(fmt::format("{}: the interval is too wide", text));
    const auto points = parse<std::int64_t>(right.substr(second + 1));
    if (points && *points > most_samples)
      throw std::invalid_argument(fmt::format("{}: these are too many points", text));
    if (!points || *points < 1)
      throw std::invalid_argument(fmt::format("{}: the number of points `{}` is not a whole number from 1 on", text,
                                              trimmed(right.substr(second + 1))));
    made.points = *points;
  } else {
    // A word before a parenthesis that was none of the above.
    if (const std::size_t open = right.find('('); open != std::string_view::npos && right.ends_with(')'))
      throw std::invalid_argument(
          fmt::format("{}: there is no distribution `{}`: normal(MEAN,SD) and uniform(A,B) are there", text,
                      trimmed(right.substr(0, open))));
    for (const std::string_view item : split_list(right)) made.values.push_back(finite(item, text));
    if (made.values.empty()) throw std::invalid_argument(fmt::format("{}: there is no value", text));
  }
  return made;
}

std::string_view name_of(Sampling sampling) {
  switch (sampling) {
    case Sampling::random:
      return "random";
    case Sampling::latin_hypercube:
      return "lhs";
    case Sampling::sobol:
      return "sobol";
  }
  return "random";
}

SampleTable read_samples(const std::string& file) {
  const FileText read = read_file(file);
  if (!read.problem.empty()) throw FileError(fmt::format("{}: cannot read the samples: {}", file, read.problem));
  return parse_samples(read.text, file);
}

SampleTable parse_samples(std::string_view text, const std::string& file) {
  SampleTable table;
  const auto fail = [&](long line, const std::string& what) {
    return std::invalid_argument(fmt::format("{}:{}: {}", file, line, what));
  };
  try {
    CsvText csv(text);
    for (std::string_view name : csv.names()) {
      // So that rows of a result can be samples again.
      if (name.starts_with("start(") && name.ends_with(')')) name = name.substr(6, name.size() - 7);
      if (name.empty()) throw fail(csv.line(), "a column has no name");
      if (std::find(table.names.begin(), table.names.end(), name) != table.names.end())
        throw fail(csv.line(), fmt::format("the column `{}` is there twice", name));
      table.names.emplace_back(name);
    }
    while (csv.next())
      for (std::size_t i = 0; i < table.names.size(); ++i) {
        const auto value = csv_number(csv.fields()[i]);
        if (!value)
          throw fail(csv.line(),
                     fmt::format("`{}` in column `{}` is not a finite number", csv.fields()[i], table.names[i]));
        table.values.push_back(*value);
      }
  } catch (const CsvError& e) {
    throw fail(e.line, e.what());
  }
  if (table.names.empty())
    throw std::invalid_argument(fmt::format("{}: the file is empty: its first line names the columns", file));
  if (table.values.empty()) throw std::invalid_argument(fmt::format("{}: no samples below the line of names", file));
  return table;
}

SamplePlan::SamplePlan(std::vector<Variation> variations, SampleOptions options)
    : variations_(std::move(variations)), options_(options) {
  if (variations_.empty()) throw std::invalid_argument("nothing is varied");
  bool any_random = false;
  int num_random = 0;
  std::int64_t combinations = 1;
  const auto multiply = [](std::int64_t x, std::int64_t by) {
    if (by > most_samples / x)
      throw std::invalid_argument("these are too many motions: the numbers of samples multiply");
    return x * by;
  };
  for (const Variation& v : variations_) {
    if (std::find(names_.begin(), names_.end(), v.name) != names_.end())
      throw std::invalid_argument(fmt::format("`{}` is varied twice", v.name));
    names_.push_back(v.name);
    if (v.is_random())
      any_random = true, ++num_random;
    else
      combinations = multiply(combinations, v.size());
  }
  if (any_random && options_.count < 1)
    throw std::invalid_argument(
        "random values need --count N, a whole number from 1 on: how many samples there are to be");
  if (!any_random && options_.count > 0)
    throw std::invalid_argument("--count is for random values, and none are asked for: a grid has its own count");
  if (any_random) draws_ = options_.count;
  if (options_.sampling == Sampling::sobol && num_random > most_sobol_dimensions)
    throw std::invalid_argument(
        fmt::format("Sobol's sequence has at most {} random quantities here", most_sobol_dimensions));
  count_ = multiply(combinations, draws_);
}

SamplePlan::SamplePlan(SampleTable table) : names_(table.names), table_(std::move(table)), count_(table_.rows()) {
  if (count_ < 1) throw std::invalid_argument("there are no samples");
}

double SamplePlan::random_value(const Variation& v, std::int64_t k, std::int64_t combination, std::int64_t place,
                                std::uint32_t dimension) const {
  const std::uint64_t seed = options_.seed;
  double p = 0.0;
  switch (options_.sampling) {
    case Sampling::random:
      p = unit_interval(random_bits(seed, static_cast<std::uint64_t>(k), dimension, RandomUse::value));
      break;
    case Sampling::latin_hypercube: {
      const auto draws = static_cast<std::uint64_t>(draws_);
      const std::uint64_t interval =
          permuted(static_cast<std::uint64_t>(place), draws, seed, dimension, static_cast<std::uint64_t>(combination));
      const double inside =
          unit_interval(random_bits(seed, static_cast<std::uint64_t>(k), dimension, RandomUse::place));
      // Rounding must not make it 1.
      p = std::min((static_cast<double>(interval) + inside) / static_cast<double>(draws), 1.0 - 0x1p-53);
      break;
    }
    case Sampling::sobol: {
      const std::uint64_t shift = random_bits(seed, 0, dimension, RandomUse::shift);
      p = unit_interval((sobol_bits(static_cast<std::uint64_t>(place), static_cast<int>(dimension)) << 12) ^ shift);
      break;
    }
  }
  return v.kind == Variation::Kind::normal ? v.a + v.b * inverse_normal(p) : v.a + (v.b - v.a) * p;
}

void SamplePlan::fill(std::int64_t k, std::span<double> values) const {
  assert(k >= 0 && k < count_ && values.size() == names_.size());
  if (!table_.names.empty()) {
    const auto first = table_.values.begin() + k * static_cast<std::int64_t>(names_.size());
    std::copy(first, first + static_cast<std::int64_t>(names_.size()), values.begin());
    return;
  }
  const std::int64_t place = k % draws_, combination = k / draws_;
  std::int64_t rest = combination;
  for (std::size_t i = variations_.size(); i-- > 0;) {
    const Variation& v = variations_[i];
    if (v.is_random()) continue;
    const std::int64_t at = rest % v.size();
    rest /= v.size();
    if (v.kind == Variation::Kind::list)
      values[i] = v.values[static_cast<std::size_t>(at)];
    else if (at + 1 == v.points && v.points > 1)
      values[i] = v.b;
    else
      values[i] =
          v.a + (v.b - v.a) * (static_cast<double>(at) / static_cast<double>(std::max<std::int64_t>(v.points - 1, 1)));
  }
  std::uint32_t dimension = 0;
  for (std::size_t i = 0; i < variations_.size(); ++i)
    if (variations_[i].is_random()) values[i] = random_value(variations_[i], k, combination, place, dimension++);
}

}  // namespace mechanician
