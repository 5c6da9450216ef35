#pragma once

/// How many nodes expressions have together, each counted once: what is shared costs nothing more.

#include <cstddef>
#include <memory>

#include "mechanician/expression/expression.hpp"

namespace mechanician {

class NodeCount {
 public:
  NodeCount();
  ~NodeCount();
  NodeCount(const NodeCount&) = delete;
  NodeCount& operator=(const NodeCount&) = delete;

  /// Costs what is new in it. Expressions stay alive as long as they are counted.
  void add(const Expr& f);
  std::size_t size() const;

 private:
  struct Seen;
  std::unique_ptr<Seen> seen_;
};

}  // namespace mechanician
