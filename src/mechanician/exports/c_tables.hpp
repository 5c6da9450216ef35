#pragma once

/// Tables of data as C: their points and polynomials as constant arrays, and a function for each thing that is asked of one.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mechanician {

/// The tables that functions of a model look something up in.
class CTables {
 public:
  /// The function of what `key` names (expression/table_lookup.hpp), to be called with x and y: "@lookup3". Throws std::invalid_argument
  /// where no table is alive that it could be.
  std::string name_of(double key);
  /// All that was asked for. Static; @ is the prefix.
  std::string code() const;

 private:
  std::vector<std::uint64_t> keys_;
};

}  // namespace mechanician
