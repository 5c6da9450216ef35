#pragma once

/// JSON text, written as it comes. Numbers have 17 significant digits, so that they read back as the same number; what
/// is not finite is null.

#include <concepts>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "mechanician/solve/eigen_kernels.hpp"

namespace mechanician {

/// A single value; nothing is null.
class JsonScalar {
 public:
  JsonScalar(bool x) : value_(x) {}
  JsonScalar(std::integral auto x) : value_(static_cast<long>(x)) {}
  JsonScalar(double x) : value_(x) {}
  template <std::convertible_to<std::string_view> Text>
  JsonScalar(const Text& x) : value_(std::string_view(x)) {}
  template <class T>
  JsonScalar(const std::optional<T>& x) {
    if (x) *this = JsonScalar(*x);
  }
  const auto& get() const { return value_; }

 private:
  std::variant<std::monostate, bool, long, double, std::string_view> value_;
};

class JsonWriter {
 public:
  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }
  JsonWriter& key(std::string_view name);
  JsonWriter& value(const JsonScalar& x);
  JsonWriter& null() { return raw("null"); }

  /// {"name": x, …}
  JsonWriter& named(std::span<const std::string> names, const Eigen::VectorXd& x);
  /// "name": x, … within an object
  JsonWriter& fields(std::initializer_list<std::pair<std::string_view, JsonScalar>> all);
  /// ["a", "b"]
  template <class Items>
  JsonWriter& list(const Items& items) {
    return array(items, [&](const auto& item) { value(item); });
  }
  /// [ … ], each by write(item)
  template <class Items, class Write>
  JsonWriter& array(const Items& items, Write&& write) {
    begin_array();
    for (const auto& item : items) write(item);
    return end_array();
  }
  /// { … }, what is within by write()
  template <class Write>
  JsonWriter& object(Write&& write) {
    begin_object();
    write();
    return end_object();
  }

  /// The text, with a newline at its end.
  std::string text() const { return out_ + "\n"; }

 private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  JsonWriter& raw(std::string_view text);
  void separate();
  void quote(std::string_view x);

  std::string out_;
  std::vector<bool> first_;  ///< of each open bracket: nothing written in it yet
  bool after_key_ = false;
};

}  // namespace mechanician
