#include "mechanician/expression/node_count.hpp"

#include <vector>

#include "mechanician/expression/node.hpp"

namespace mechanician {

struct NodeCount::Seen {
  NodeIndex nodes;
  std::vector<const ExprNode*> open;
};

NodeCount::NodeCount() : seen_(std::make_unique<Seen>()) {}
NodeCount::~NodeCount() = default;

void NodeCount::add(const Expr& f) {
  const auto visit = [this](const ExprNode* n) {
    if (seen_->nodes.emplace(n, 0)) seen_->open.push_back(n);
  };
  visit(f.node());
  while (!seen_->open.empty()) {
    const ExprNode* n = seen_->open.back();
    seen_->open.pop_back();
    for (const ExprNode* a : n->arguments()) visit(a);
  }
}

std::size_t NodeCount::size() const { return seen_->nodes.size(); }

}  // namespace mechanician
