#pragma once

/// The node behind an Expr, and traversals over nodes. Internal to the expression folder.

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
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

/// Numbers of nodes. One table with open addresses, at most half full: every traversal makes one, and looks up each argument of each node.
class NodeIndex {
 public:
  struct Entry {
    const ExprNode* first = nullptr;  ///< null: free
    int second = 0;
  };

  void reserve(std::size_t count) {
    if (2 * count > entries_.size()) grow(std::bit_ceil(2 * count));
  }
  /// False: it has a number already, which stays.
  bool emplace(const ExprNode* node, int number) {
    reserve(size_ + 1);
    Entry& e = entries_[place(node)];
    if (e.first) return false;
    e = {node, number};
    ++size_;
    return true;
  }
  /// Null: it has none.
  const Entry* find(const ExprNode* node) const {
    if (entries_.empty()) return nullptr;
    const Entry& e = entries_[place(node)];
    return e.first ? &e : nullptr;
  }
  static const Entry* end() { return nullptr; }
  bool contains(const ExprNode* node) const { return find(node) != nullptr; }
  int at(const ExprNode* node) const {
    const Entry* e = find(node);
    if (!e) throw std::out_of_range("NodeIndex::at");
    return e->second;
  }
  /// Of a node that has one.
  void renumber(const ExprNode* node, int number) { entries_[place(node)].second = number; }
  std::size_t size() const { return size_; }

 private:
  /// Where a node is, or would be.
  std::size_t place(const ExprNode* node) const {
    const std::size_t mask = entries_.size() - 1;
    // Addresses differ in their middle bits; the product carries these into the upper half.
    std::size_t at = (reinterpret_cast<std::uintptr_t>(node) * 0x9E3779B97F4A7C15u >> 32) & mask;
    while (entries_[at].first && entries_[at].first != node) at = (at + 1) & mask;
    return at;
  }
  void grow(std::size_t capacity) {
    std::vector<Entry> old(std::max<std::size_t>(capacity, 16));
    old.swap(entries_);
    for (const Entry& e : old)
      if (e.first) entries_[place(e.first)] = e;
  }

  std::vector<Entry> entries_;
  std::size_t size_ = 0;
};

/// All nodes below the roots, arguments before their users, each once; by an explicit stack.
struct PostOrder {
  std::vector<const ExprNode*> nodes;
  NodeIndex index;
};
PostOrder post_order(std::span<const Expr> roots);

}  // namespace mechanician
