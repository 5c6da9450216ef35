#include "mechanician/result/sweep_setup.hpp"

#include <fmt/format.h>

#include <charconv>
#include <concepts>
#include <stdexcept>
#include <type_traits>

#include "mechanician/result/hash_internal.hpp"

namespace mechanician {

namespace {

template <class Number>
Number number(std::string_view text) {
  Number value{};
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) throw std::invalid_argument("a number is none");
  return value;
}

template <class Enum>
Enum one_of(std::string_view text, std::initializer_list<Enum> known) {
  for (const Enum value : known)
    if (name_of(value) == text) return value;
  throw std::invalid_argument("a word is unknown");
}

// Values as text, and back. A list has a text for each of its entries.
std::string text_of(double x) { return fmt::format("{:.17g}", x); }
std::string text_of(std::integral auto x) { return std::to_string(x); }
std::string text_of(bool) { return "yes"; }
std::string text_of(const std::string& x) { return x; }
std::string text_of(const std::optional<double>& x) { return text_of(*x); }
std::string text_of(const std::pair<const std::string, double>& x) { return x.first + '=' + text_of(x.second); }
std::string text_of(Sampling x) { return std::string(name_of(x)); }
std::string text_of(Device x) { return std::string(name_of(x)); }
/// The method alone.
std::string text_of(const EnsembleOptions& x) {
  return x.method == EnsembleMethod::rk4 ? "rk4" : std::string(name_of(x.adaptive));
}

void read(std::string_view text, double& x) { x = number<double>(text); }
void read(std::string_view text, std::integral auto& x) {
  x = static_cast<std::remove_reference_t<decltype(x)>>(number<std::uint64_t>(text));
}
void read(std::string_view, bool& x) { x = true; }
void read(std::string_view text, std::string& x) { x = text; }
void read(std::string_view text, std::optional<double>& x) { x = number<double>(text); }
void read(std::string_view text, std::vector<std::string>& x) { x.emplace_back(text); }
void read(std::string_view text, std::map<std::string, double>& x) {
  const std::size_t equal = text.rfind('=');
  if (equal == std::string_view::npos) throw std::invalid_argument("a value has no name");
  x[std::string(text.substr(0, equal))] = number<double>(text.substr(equal + 1));
}
void read(std::string_view text, Sampling& x) {
  x = one_of(text, {Sampling::random, Sampling::latin_hypercube, Sampling::sobol});
}
void read(std::string_view text, Device& x) { x = one_of(text, {Device::automatic, Device::cpu, Device::gpu}); }
void read(std::string_view text, EnsembleOptions& x) {
  if (text == "rk4")
    x.method = EnsembleMethod::rk4;
  else
    x.adaptive = one_of(text, {Method::automatic, Method::dop853, Method::bdf});
}

/// Calls field(name, value, there) for everything that a setup consists of; `there`: it has something to say.
template <class Setup, class Field>
void for_each_field(Setup& s, Field&& field) {
  const bool rk4 = s.options.method == EnsembleMethod::rk4, from_file = !s.samples_file.empty();
  field("version", s.version, true);
  field("file", s.model.file, true);
  field("model", s.model.text, true);
  field("set", s.set, true);
  field("position", s.position, true);
  field("velocity", s.velocity, true);
  field("time", s.time, s.time.has_value());
  field("as_given", s.as_given, s.as_given);
  field("parameters_hash", s.parameters_hash, s.parameters_hash != 0);
  field("vary", s.vary, true);
  field("samples", s.samples_file, from_file);
  field("samples_hash", s.samples_hash, from_file);
  field("count", s.samples.count, true);
  field("seed", s.samples.seed, true);
  field("sampling", s.samples.sampling, true);
  field("method", s.options, true);
  field("step", s.options.step, rk4);
  field("tolerance", s.options.tolerance, !rk4);
  field("to", s.options.to, true);
  field("device", s.device, true);
  field("computed_on", s.computed_on, true);
  field("keep", s.keep, true);
  field("format", s.format, !s.format.empty());
  field("motions", s.motions, true);
  field("begin", s.begin, true);
  field("sample_name", s.sample_names, true);
  field("coordinate", s.coordinates, true);
  field("kept_name", s.kept_names, true);
}

template <class T>
concept List = requires(const T& x) {
  x.begin()->size();
}
|| requires(const T& x) { x.begin()->second; };

}  // namespace

/// Fields as NAME LENGTH\nTEXT\n, in any order; a list repeats its name.
std::string encode(const SweepSetup& setup) {
  std::string out;
  const auto add = [&](std::string_view name, const std::string& text) {
    out += fmt::format("{} {}\n{}\n", name, text.size(), text);
  };
  for_each_field(setup, [&]<class T>(std::string_view name, const T& value, bool there) {
    if (!there) return;
    if constexpr (List<T>)
      for (const auto& entry : value) add(name, text_of(entry));
    else
      add(name, text_of(value));
  });
  return out;
}

SweepSetup decode_sweep_setup(std::string_view text) {
  SweepSetup s;
  while (!text.empty()) {
    const std::size_t blank = text.find(' '), line = text.find('\n');
    if (blank == std::string_view::npos || line == std::string_view::npos || blank > line)
      throw std::invalid_argument("a field has no name");
    const std::string_view name = text.substr(0, blank);
    const auto size = number<std::uint64_t>(text.substr(blank + 1, line - blank - 1));
    text.remove_prefix(line + 1);
    if (size >= text.size()) throw std::invalid_argument("a field is cut off");
    bool known = false;
    for_each_field(s, [&](std::string_view field, auto& value, bool) {
      if (field != name) return;
      read(text.substr(0, size), value);
      known = true;
    });
    if (!known) throw std::invalid_argument("a field is unknown");
    text.remove_prefix(size + 1);
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
