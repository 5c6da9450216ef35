#pragma once

/// The order in which things that are made of each other can be worked out.

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace mechanician {

struct DependencyOrder {
  std::vector<int> order;                ///< every item behind those that it needs; items of cycles somewhere
  std::vector<std::vector<int>> cycles;  ///< a → b → … (→ a); at most 20 are listed
};

/// needs[i] lists the items that item i needs. Linear in their number, by an explicit stack.
DependencyOrder dependency_order(std::span<const std::vector<int>> needs);

/// The same where it takes some items to know what else is needed: `needs(i)` is asked again when what it said is there, until it
/// says nothing new. `finish(i)` comes in the order of the result.
DependencyOrder dependency_order(int count, const std::function<std::vector<int>(int)>& needs,
                                 const std::function<void(int)>& finish);

/// "a → b → a"; the middle of a long cycle is left out.
std::string cycle_text(std::span<const int> cycle, const std::function<std::string(int)>& name_of);

}  // namespace mechanician
