#include "mechanician/result/sweep_setup.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <functional>
#include <stdexcept>

#include "mechanician/result/hash_internal.hpp"

namespace mechanician {

namespace {

/// Fields as NAME LENGTH\nTEXT\n, in any order; a list repeats its name.
class Encoder {
 public:
  void add(std::string_view name, std::string_view value) {
    text_ += fmt::format("{} {}\n{}\n", name, value.size(), value);
  }
  void add(std::string_view name, double value) { add(name, std::string_view(fmt::format("{:.17g}", value))); }
  void add_whole(std::string_view name, std::uint64_t value) { add(name, std::string_view(fmt::format("{}", value))); }
  void add(std::string_view name, const std::vector<std::string>& values) {
    for (const std::string& value : values) add(name, std::string_view(value));
  }
  void add(std::string_view name, const std::map<std::string, double>& values) {
    for (const auto& [key, value] : values) add(name, std::string_view(fmt::format("{}={:.17g}", key, value)));
  }
  std::string text_;
};

double number(std::string_view text) {
  double value = 0.0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) throw std::invalid_argument("a number is none");
  return value;
}

std::uint64_t whole(std::string_view text) {
  std::uint64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) throw std::invalid_argument("a number is none");
  return value;
}

void put(std::map<std::string, double>& values, std::string_view text) {
  const std::size_t equal = text.rfind('=');
  if (equal == std::string_view::npos) throw std::invalid_argument("a value has no name");
  values[std::string(text.substr(0, equal))] = number(text.substr(equal + 1));
}

template <class Enum>
Enum one_of(std::string_view text, std::initializer_list<Enum> known) {
  for (const Enum value : known)
    if (name_of(value) == text) return value;
  throw std::invalid_argument("a word is unknown");
}

}  // namespace

std::string encode(const SweepSetup& s) {
  Encoder out;
  out.add("version", std::string_view(s.version));
  out.add("file", std::string_view(s.model.file));
  out.add("model", std::string_view(s.model.text));
  out.add("set", s.set), out.add("position", s.position), out.add("velocity", s.velocity), out.add("scale", s.scale);
  if (s.time) out.add("time", *s.time);
  if (s.as_given) out.add("as_given", std::string_view("yes"));
  if (s.parameters_hash != 0) out.add_whole("parameters_hash", s.parameters_hash);
  out.add("vary", s.vary);
  if (!s.samples_file.empty())
    out.add("samples", std::string_view(s.samples_file)), out.add_whole("samples_hash", s.samples_hash);
  out.add_whole("count", static_cast<std::uint64_t>(s.samples.count));
  out.add_whole("seed", s.samples.seed);
  out.add("sampling", name_of(s.samples.sampling));
  if (s.options.method == EnsembleMethod::rk4)
    out.add("method", std::string_view("rk4")), out.add("step", s.options.step);
  else
    out.add("method", name_of(s.options.adaptive)), out.add("tolerance", s.options.tolerance);
  out.add("to", s.options.to);
  out.add("device", name_of(s.device));
  out.add("computed_on", std::string_view(s.computed_on));
  out.add("keep", s.keep);
  if (!s.format.empty()) out.add("format", std::string_view(s.format));
  out.add_whole("motions", static_cast<std::uint64_t>(s.motions));
  out.add("begin", s.begin);
  out.add("sample_name", s.sample_names), out.add("coordinate", s.coordinates), out.add("kept_name", s.kept_names);
  return std::move(out.text_);
}

SweepSetup decode_sweep_setup(std::string_view text) {
  SweepSetup s;
  while (!text.empty()) {
    const std::size_t blank = text.find(' '), line = text.find('\n');
    if (blank == std::string_view::npos || line == std::string_view::npos || blank > line)
      throw std::invalid_argument("a field has no name");
    const std::string_view name = text.substr(0, blank);
    const std::uint64_t size = whole(text.substr(blank + 1, line - blank - 1));
    text.remove_prefix(line + 1);
    if (size >= text.size()) throw std::invalid_argument("a field is cut off");
    const std::string_view value = text.substr(0, static_cast<std::size_t>(size));
    text.remove_prefix(static_cast<std::size_t>(size) + 1);
    if (name == "version")
      s.version = value;
    else if (name == "file")
      s.model.file = value;
    else if (name == "model")
      s.model.text = value;
    else if (name == "set")
      put(s.set, value);
    else if (name == "position")
      put(s.position, value);
    else if (name == "velocity")
      put(s.velocity, value);
    else if (name == "scale")
      put(s.scale, value);
    else if (name == "time")
      s.time = number(value);
    else if (name == "as_given")
      s.as_given = true;
    else if (name == "vary")
      s.vary.emplace_back(value);
    else if (name == "parameters_hash")
      s.parameters_hash = whole(value);
    else if (name == "samples")
      s.samples_file = value;
    else if (name == "samples_hash")
      s.samples_hash = whole(value);
    else if (name == "count")
      s.samples.count = static_cast<std::int64_t>(whole(value));
    else if (name == "seed")
      s.samples.seed = whole(value);
    else if (name == "sampling")
      s.samples.sampling = one_of(value, {Sampling::random, Sampling::latin_hypercube, Sampling::sobol});
    else if (name == "method" && value == "rk4")
      s.options.method = EnsembleMethod::rk4;
    else if (name == "method")
      s.options.adaptive = one_of(value, {Method::automatic, Method::dop853, Method::bdf});
    else if (name == "step")
      s.options.step = number(value);
    else if (name == "tolerance")
      s.options.tolerance = number(value);
    else if (name == "to")
      s.options.to = number(value);
    else if (name == "device")
      s.device = one_of(value, {Device::automatic, Device::cpu, Device::gpu});
    else if (name == "computed_on")
      s.computed_on = value;
    else if (name == "keep")
      s.keep.emplace_back(value);
    else if (name == "format")
      s.format = value;
    else if (name == "motions")
      s.motions = static_cast<std::int64_t>(whole(value));
    else if (name == "begin")
      s.begin = number(value);
    else if (name == "sample_name")
      s.sample_names.emplace_back(value);
    else if (name == "coordinate")
      s.coordinates.emplace_back(value);
    else if (name == "kept_name")
      s.kept_names.emplace_back(value);
    else
      throw std::invalid_argument("a field is unknown");
  }
  return s;
}

std::uint64_t hash_samples(const SampleTable& table) {
  Hash hash;
  for (const std::string& name : table.names) hash.add(name), hash.add("\n");
  hash.add({reinterpret_cast<const char*>(table.values.data()), table.values.size() * sizeof(double)});
  return hash.value();
}

std::uint64_t hash_numbers(const std::vector<double>& numbers) {
  return hash_of({reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double)});
}

}  // namespace mechanician
