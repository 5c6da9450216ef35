#include "mechanician/expression/node.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <span>
#include <vector>

#include "mechanician/expression/node_count.hpp"

namespace mechanician {
namespace {

TEST(NodeIndex, KeepsTheFirstNumberOfEachNodeAsAMapDoes) {
  std::vector<Expr> made;
  for (int i = 0; i < 3000; ++i) made.push_back(coordinate("x" + std::to_string(i)));
  NodeIndex index;
  std::map<const ExprNode*, int> map;
  EXPECT_EQ(index.find(made[0].node()), index.end());
  std::mt19937 random(7);
  for (int i = 0; i < 5000; ++i) {
    const ExprNode* node = made[random() % made.size()].node();
    EXPECT_EQ(index.emplace(node, i), map.emplace(node, i).second);
  }
  EXPECT_EQ(index.size(), map.size());
  for (const Expr& f : made) {
    const auto found = map.find(f.node());
    ASSERT_EQ(index.contains(f.node()), found != map.end());
    if (found == map.end()) {
      EXPECT_THROW(index.at(f.node()), std::out_of_range);
      continue;
    }
    EXPECT_EQ(index.at(f.node()), found->second);
    index.renumber(f.node(), -found->second);
    EXPECT_EQ(index.find(f.node())->second, -found->second);
  }
}

TEST(NodeCount, CountsWhatIsSharedOnce) {
  const Expr x = coordinate("x"), y = coordinate("y"), f = sin(x * y), g = f * f + x;
  NodeCount count;
  EXPECT_EQ(count.size(), 0u);
  count.add(f);
  EXPECT_EQ(count.size(), post_order(std::span(&f, 1)).nodes.size());
  count.add(g), count.add(g);
  const std::vector<Expr> both{f, g};
  EXPECT_EQ(count.size(), post_order(both).nodes.size());
}

}  // namespace
}  // namespace mechanician
