#include "mechanician/expression/expression.hpp"

#include <bit>
#include <cassert>
#include <cmath>
#include <mutex>
#include <unordered_set>

#include "mechanician/expression/node.hpp"
#include "mechanician/expression/table_content_internal.hpp"

namespace mechanician {

namespace {

std::uint64_t mix(std::uint64_t h, std::uint64_t v) {
  h ^= v + 0x9e3779b97f4a7c15ull + (h << 6) + (h >> 2);
  h *= 0xff51afd7ed558ccdull;
  return h ^ (h >> 32);
}

std::uint64_t hash_text(std::string_view text) {
  std::uint64_t h = 1469598103934665603ull;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return h;
}

bool same_symbol(const Symbol& a, const Symbol& b) {
  if (a.kind != b.kind || a.table != b.table || a.name != b.name || a.orders != b.orders ||
      a.depends.size() != b.depends.size())
    return false;
  for (std::size_t i = 0; i < a.depends.size(); ++i)
    if (!same(a.depends[i], b.depends[i])) return false;
  return true;
}

bool same_content(const ExprNode& a, const ExprNode& b) {
  if (a.hash != b.hash || a.op != b.op || a.num_args != b.num_args) return false;
  if (a.op == Op::constant) return std::bit_cast<std::uint64_t>(a.value) == std::bit_cast<std::uint64_t>(b.value);
  if (a.op == Op::symbol || a.op == Op::table) return same_symbol(*a.symbol, *b.symbol);
  return a.args == b.args;
}

struct NodeHash {
  std::size_t operator()(const ExprNode* n) const { return n->hash; }
};
struct NodeEqual {
  bool operator()(const ExprNode* a, const ExprNode* b) const { return same_content(*a, *b); }
};

bool is_total_node(const ExprNode& n) {
  for (const ExprNode* a : n.arguments())
    if (!a->total) return false;
  switch (row_of(n.op).domain) {
    case Domain::everywhere:
      return true;
    case Domain::somewhere:
      return false;
    case Domain::by_denominator:
      return n.args[1]->op == Op::constant && n.args[1]->value != 0.0;
    case Domain::by_exponent:
      return n.args[1]->op == Op::constant && n.args[1]->value >= 0.0 &&
             n.args[1]->value == std::floor(n.args[1]->value);
    case Domain::by_table:
      return n.args[2]->op == Op::table && n.args[2]->symbol->table->outside() != Outside::error;
  }
  return false;
}

}  // namespace

/// The table of all nodes alive. Counts go from 1 to 0, and nodes are looked up, under its lock only; a node that is
/// found is therefore never one that is about to be freed.
class ExprTable {
 public:
  static ExprTable& instance() {
    static ExprTable* table = new ExprTable;  // outlives every static Expr
    return *table;
  }

  Expr intern(std::unique_ptr<ExprNode> fresh) {
    const std::lock_guard lock(mutex_);
    const auto found = nodes_.find(fresh.get());
    if (found != nodes_.end()) {
      (*found)->refs.fetch_add(1, std::memory_order_relaxed);
      return Expr(*found, Expr::Adopt{});
    }
    for (const ExprNode* a : fresh->arguments()) a->refs.fetch_add(1, std::memory_order_relaxed);
    fresh->refs.store(1, std::memory_order_relaxed);
    const ExprNode* node = fresh.release();
    nodes_.insert(node);
    return Expr(node, Expr::Adopt{});
  }

  void release(const ExprNode* node) {
    std::uint32_t count = node->refs.load(std::memory_order_relaxed);
    while (count > 1)
      if (node->refs.compare_exchange_weak(count, count - 1, std::memory_order_acq_rel)) return;
    free_unused(node);
  }

  std::size_t size() {
    const std::lock_guard lock(mutex_);
    return nodes_.size();
  }

 private:
  void free_unused(const ExprNode* node) {
    // Symbols of unknown functions hold handles of their own: they are destroyed after the lock is given back.
    std::vector<std::unique_ptr<const ExprNode>> dead;
    {
      const std::lock_guard lock(mutex_);
      std::vector<const ExprNode*> pending{node};
      while (!pending.empty()) {
        const ExprNode* n = pending.back();
        pending.pop_back();
        if (n->refs.fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
        nodes_.erase(n);
        for (const ExprNode* a : n->arguments()) pending.push_back(a);
        if (n->symbol && (!n->symbol->depends.empty() || n->symbol->table))
          dead.emplace_back(n);
        else
          delete n;
      }
    }
  }

  std::mutex mutex_;
  std::unordered_set<const ExprNode*, NodeHash, NodeEqual> nodes_;
};

Expr::Expr(double value) : node_(nullptr) {
  auto node = std::make_unique<ExprNode>();
  node->value = value == 0.0 ? 0.0 : value;  // one zero only
  node->hash = mix(1, std::bit_cast<std::uint64_t>(node->value));
  node->total = std::isfinite(value);
  Expr made = ExprTable::instance().intern(std::move(node));
  std::swap(node_, made.node_);
}

Expr::Expr(const Expr& other) noexcept : node_(other.node_) { node_->refs.fetch_add(1, std::memory_order_relaxed); }
Expr::Expr(Expr&& other) noexcept : node_(other.node_) { other.node_ = nullptr; }
Expr& Expr::operator=(const Expr& other) noexcept { return *this = Expr(other); }
Expr& Expr::operator=(Expr&& other) noexcept {
  std::swap(node_, other.node_);
  return *this;
}
Expr::~Expr() {
  if (node_) ExprTable::instance().release(node_);
}

Expr Expr::of(const ExprNode* node) {
  node->refs.fetch_add(1, std::memory_order_relaxed);
  return Expr(node, Adopt{});
}

Op Expr::op() const { return node_->op; }
int Expr::num_args() const { return node_->num_args; }
Expr Expr::arg(int i) const {
  assert(i >= 0 && i < node_->num_args);
  return of(node_->args[static_cast<std::size_t>(i)]);
}
double Expr::value() const {
  assert(is_constant());
  return node_->value;
}
const Symbol& Expr::symbol() const {
  assert(is_symbol());
  return *node_->symbol;
}
KindSet Expr::kinds() const { return node_->kinds; }
bool Expr::is_total() const { return node_->total; }
std::uint64_t Expr::hash() const { return node_->hash; }

Expr make_raw(Op op, std::span<const Expr> args) {
  assert(op != Op::constant && op != Op::symbol && args.size() <= 3);
  auto node = std::make_unique<ExprNode>();
  node->op = op;
  node->num_args = static_cast<std::uint8_t>(args.size());
  std::uint64_t h = mix(3, static_cast<std::uint64_t>(op));
  for (std::size_t i = 0; i < args.size(); ++i) {
    node->args[i] = args[i].node();
    node->kinds |= args[i].kinds();
    h = mix(h, args[i].hash());
  }
  node->hash = h;
  node->total = is_total_node(*node);
  return ExprTable::instance().intern(std::move(node));
}

namespace {

Expr intern_symbol(Symbol symbol) {
  auto node = std::make_unique<ExprNode>();
  node->op = Op::symbol;
  node->kinds = kind_bit(symbol.kind);
  std::uint64_t h = mix(2, hash_text(symbol.name));
  h = mix(h, static_cast<std::uint64_t>(symbol.kind));
  for (std::size_t i = 0; i < symbol.depends.size(); ++i) {
    // An unknown function of x' makes a constraint velocity dependent, as x' itself would.
    node->kinds |= symbol.depends[i].kinds();
    h = mix(mix(h, symbol.depends[i].hash()), static_cast<std::uint64_t>(symbol.orders[i]));
  }
  node->hash = h;
  node->symbol = std::make_unique<const Symbol>(std::move(symbol));
  return ExprTable::instance().intern(std::move(node));
}

}  // namespace

Expr table_leaf(const std::shared_ptr<const TableContent>& table, int order_x, int order_y) {
  auto node = std::make_unique<ExprNode>();
  node->op = Op::table;
  node->value = table->key(order_x, order_y);
  node->hash = mix(4, std::bit_cast<std::uint64_t>(node->value));
  node->symbol =
      std::make_unique<const Symbol>(Symbol{SymbolKind::parameter, table->name(), {}, {order_x, order_y}, table});
  return ExprTable::instance().intern(std::move(node));
}

Expr make_symbol(SymbolKind kind, std::string name) { return intern_symbol({kind, std::move(name), {}, {}}); }

Expr time_symbol() { return make_symbol(SymbolKind::time, "t"); }

Expr unknown_function(std::string name, std::vector<Expr> depends) {
  std::vector<int> orders(depends.size(), 0);
  return intern_symbol({SymbolKind::unknown, std::move(name), std::move(depends), std::move(orders)});
}

Expr unknown_derivative(const Expr& unknown, const Expr& symbol) {
  Symbol s = unknown.symbol();
  assert(s.kind == SymbolKind::unknown);
  for (std::size_t i = 0; i < s.depends.size(); ++i) {
    if (!same(s.depends[i], symbol)) continue;
    ++s.orders[i];
    return intern_symbol(std::move(s));
  }
  return Expr(0.0);
}

Expr derivative_symbol(const Expr& x) {
  const Symbol& s = x.symbol();
  assert(s.kind == SymbolKind::coordinate || s.kind == SymbolKind::velocity);
  return make_symbol(s.kind == SymbolKind::coordinate ? SymbolKind::velocity : SymbolKind::acceleration, s.name);
}

Expr operator+(const Expr& a, const Expr& b) { return make_raw(Op::add, {a, b}); }
Expr operator-(const Expr& a, const Expr& b) { return make_raw(Op::sub, {a, b}); }
Expr operator*(const Expr& a, const Expr& b) { return make_raw(Op::mul, {a, b}); }
Expr operator/(const Expr& a, const Expr& b) { return make_raw(Op::div, {a, b}); }
Expr operator-(const Expr& a) { return make_raw(Op::neg, {a}); }
Expr pow(const Expr& base, const Expr& exponent) { return make_raw(Op::pow, {base, exponent}); }
Expr sin(const Expr& x) { return make_raw(Op::sin, {x}); }
Expr cos(const Expr& x) { return make_raw(Op::cos, {x}); }
Expr tan(const Expr& x) { return make_raw(Op::tan, {x}); }
Expr asin(const Expr& x) { return make_raw(Op::asin, {x}); }
Expr acos(const Expr& x) { return make_raw(Op::acos, {x}); }
Expr atan(const Expr& x) { return make_raw(Op::atan, {x}); }
Expr atan2(const Expr& y, const Expr& x) { return make_raw(Op::atan2, {y, x}); }
Expr sinh(const Expr& x) { return make_raw(Op::sinh, {x}); }
Expr cosh(const Expr& x) { return make_raw(Op::cosh, {x}); }
Expr tanh(const Expr& x) { return make_raw(Op::tanh, {x}); }
Expr asinh(const Expr& x) { return make_raw(Op::asinh, {x}); }
Expr acosh(const Expr& x) { return make_raw(Op::acosh, {x}); }
Expr atanh(const Expr& x) { return make_raw(Op::atanh, {x}); }
Expr exp(const Expr& x) { return make_raw(Op::exp, {x}); }
Expr log(const Expr& x) { return make_raw(Op::log, {x}); }
Expr sqrt(const Expr& x) { return make_raw(Op::sqrt, {x}); }
Expr abs(const Expr& x) { return make_raw(Op::abs, {x}); }
Expr sign(const Expr& x) { return make_raw(Op::sign, {x}); }
Expr min(const Expr& a, const Expr& b) { return make_raw(Op::min, {a, b}); }
Expr max(const Expr& a, const Expr& b) { return make_raw(Op::max, {a, b}); }
Expr mod(const Expr& a, const Expr& b) { return make_raw(Op::mod, {a, b}); }
Expr hypot(const Expr& a, const Expr& b) { return make_raw(Op::hypot, {a, b}); }
Expr select(const Expr& c, const Expr& a, const Expr& b) { return make_raw(Op::select, {c, a, b}); }
Expr operator<(const Expr& a, const Expr& b) { return make_raw(Op::lt, {a, b}); }
Expr operator<=(const Expr& a, const Expr& b) { return make_raw(Op::le, {a, b}); }
Expr operator>(const Expr& a, const Expr& b) { return make_raw(Op::gt, {a, b}); }
Expr operator>=(const Expr& a, const Expr& b) { return make_raw(Op::ge, {a, b}); }
Expr equal_to(const Expr& a, const Expr& b) { return make_raw(Op::eq, {a, b}); }
Expr operator&&(const Expr& a, const Expr& b) { return make_raw(Op::logical_and, {a, b}); }
Expr operator||(const Expr& a, const Expr& b) { return make_raw(Op::logical_or, {a, b}); }
Expr operator!(const Expr& a) { return make_raw(Op::logical_not, {a}); }

std::size_t num_live_nodes() { return ExprTable::instance().size(); }

PostOrder post_order(std::span<const Expr> roots) {
  PostOrder order;
  struct Frame {
    const ExprNode* node;
    int next;
  };
  std::vector<Frame> stack;
  for (const Expr& root : roots) {
    if (order.index.contains(root.node())) continue;
    stack.push_back({root.node(), 0});
    while (!stack.empty()) {
      Frame& top = stack.back();
      if (top.next < top.node->num_args) {
        const ExprNode* child = top.node->args[static_cast<std::size_t>(top.next++)];
        if (!order.index.contains(child)) stack.push_back({child, 0});
        continue;
      }
      const ExprNode* done = top.node;
      stack.pop_back();
      if (order.index.emplace(done, static_cast<int>(order.nodes.size()))) order.nodes.push_back(done);
    }
  }
  return order;
}

}  // namespace mechanician
