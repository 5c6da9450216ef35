#pragma once

/// JSON text, written as it comes. Numbers have 17 significant digits, so that they read back as the same number; what
/// is not finite is null.

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mechanician/solve/eigen_kernels.hpp"

namespace mechanician {

class JsonWriter {
 public:
  JsonWriter& begin_object() { return open('{'); }
  JsonWriter& end_object() { return close('}'); }
  JsonWriter& begin_array() { return open('['); }
  JsonWriter& end_array() { return close(']'); }
  JsonWriter& key(std::string_view name);
  JsonWriter& value(double x);
  JsonWriter& value(int x) { return raw(std::to_string(x)); }
  JsonWriter& value(std::int64_t x) { return raw(std::to_string(x)); }
  JsonWriter& value(bool x) { return raw(x ? "true" : "false"); }
  JsonWriter& value(std::string_view x);
  JsonWriter& value(const char* x) { return value(std::string_view(x)); }
  JsonWriter& null() { return raw("null"); }

  /// {"name": x, …}
  JsonWriter& named(std::span<const std::string> names, const Eigen::VectorXd& x);
  /// The same with names that are made one by one: name_of(0), name_of(1), …
  template <class NameOf>
  requires std::invocable<NameOf, int> JsonWriter& named(NameOf&& name_of, const Eigen::VectorXd& x) {
    begin_object();
    for (int i = 0; i < static_cast<int>(x.size()); ++i) key(name_of(i)).value(x(i));
    return end_object();
  }
  /// ["a", "b"]
  JsonWriter& list(std::span<const std::string> items);

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
