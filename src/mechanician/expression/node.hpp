#pragma once

/// The node behind an Expr, and traversals over nodes. Internal to the expression folder.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "mechanician/expression/expression.hpp"

namespace mechanician {

struct ExprNode {
  mutable std::atomic<std::uint32_t> refs{0};
  Op op = Op::constant;
  std::uint8_t num_args = 0;
  bool total = true;
  KindSet kinds = 0;
  std::uint64_t hash = 0;
  double value = 0.0;
  std::unique_ptr<const Symbol> symbol;
  std::array<const ExprNode*, 3> args{};

  std::span<const ExprNode* const> arguments() const { return {args.data(), num_args}; }
};

using NodeIndex = std::unordered_map<const ExprNode*, int>;

/// All nodes below the roots, arguments before their users, each once; by an explicit stack.
struct PostOrder {
  std::vector<const ExprNode*> nodes;
  NodeIndex index;
};
PostOrder post_order(std::span<const Expr> roots);

}  // namespace mechanician
