// Where tables are found. See table_lookup.hpp.

#include <bit>
#include <cassert>
#include <map>
#include <mutex>

#include "mechanician/expression/table_content_internal.hpp"
#include "mechanician/expression/table_hash.hpp"

namespace mechanician {

namespace {

constexpr int id_bits = 39;
constexpr std::uint64_t id_mask = (std::uint64_t{1} << id_bits) - 1;

std::uint64_t mix(std::uint64_t h, std::uint64_t v) {
  h ^= v + 0x9e3779b97f4a7c15ull + (h << 6) + (h >> 2);
  h *= 0xff51afd7ed558ccdull;
  return h ^ (h >> 32);
}

/// The same in every run.
std::uint64_t hash_of(const TableData& data) {
  std::uint64_t h = 1469598103934665603ull;
  const auto add = [&](std::uint64_t v) { h = mix(h, v); };
  const auto add_text = [&](const std::string& text) {
    add(text.size());
    for (const char c : text) add(static_cast<unsigned char>(c));
  };
  add_text(data.name);
  for (const std::string& name : data.argument_names) add_text(name);
  add(static_cast<std::uint64_t>(data.interpolation)), add(static_cast<std::uint64_t>(data.outside));
  for (const std::vector<double>& points : data.arguments) {
    add(points.size());
    for (const double x : points) add(std::bit_cast<std::uint64_t>(x));
  }
  for (const double x : data.values) add(std::bit_cast<std::uint64_t>(x));
  return h;
}

}  // namespace

std::uint64_t hash_tables(std::span<const Table> tables) {
  std::uint64_t h = 0;
  for (const Table& table : tables) {
    const TableContent& content = table.content();
    TableData data{.name = content.name(),
                   .arguments = {content.axis(0).points()},
                   .values = content.values(),
                   .interpolation = content.interpolation(),
                   .outside = content.outside()};
    if (content.num_arguments() > 1) data.arguments.push_back(content.axis(1).points());
    h = mix(h, hash_of(data));
  }
  return h;
}

/// Open addressing; ids stay when their table is gone, so that nobody who reads is led astray.
struct TableStore::Slots {
  explicit Slots(std::size_t size) : at(size) {}
  mutable std::vector<Slot> at;  ///< a power of two
  Slot& find(std::uint64_t id) const {
    std::size_t k = static_cast<std::size_t>(id) & (at.size() - 1);
    for (;; k = (k + 1) & (at.size() - 1)) {
      const std::uint64_t there = at[k].id.load(std::memory_order_acquire);
      if (there == id || there == 0) return at[k];
    }
  }
};

struct TableStore::Guarded {
  std::mutex mutex;
  std::map<std::uint64_t, std::weak_ptr<const TableContent>> tables;
  std::vector<std::unique_ptr<const Slots>> slots;  ///< older ones too: somebody may be reading them
  std::size_t used = 0;
};

TableStore::Guarded& TableStore::guarded() {
  static Guarded* all = new Guarded;  // outlives every static table
  return *all;
}

TableStore& TableStore::instance() {
  static TableStore* store = new TableStore;
  return *store;
}

const TableContent* TableStore::find(double key) const {
  const auto bits = std::bit_cast<std::uint64_t>(key);
  const Slots* slots = slots_.load(std::memory_order_acquire);
  if (bits >> 52 != 0x3ff || !slots) return nullptr;
  return slots->find(bits >> 13 & id_mask).table.load(std::memory_order_acquire);
}

std::shared_ptr<const TableContent> TableStore::intern(TableData data) {
  Guarded& g = guarded();
  std::uint64_t hash = hash_of(data);
  const std::lock_guard lock(g.mutex);
  std::uint64_t id = 0;
  // Another table of the same id: a number is as good a name as the next one.
  for (;; hash = mix(hash, 1)) {
    id = hash & id_mask;
    if (id == 0) continue;
    const auto found = g.tables.find(id);
    const auto table = found == g.tables.end() ? nullptr : found->second.lock();
    if (!table) break;
    if (table->same_as(data)) return table;
  }
  const auto made = std::make_shared<TableContent>(std::move(data));
  made->id_ = id;
  const Slots* slots = slots_.load(std::memory_order_relaxed);
  if (!slots || 2 * (g.used + 1) > slots->at.size()) {
    auto larger = std::make_unique<Slots>(slots ? 2 * slots->at.size() : 64);
    g.used = 0;
    for (const auto& [known, table] : g.tables)
      if (const auto alive = table.lock()) {
        Slot& slot = larger->find(known);
        slot.table.store(alive.get(), std::memory_order_relaxed), slot.id.store(known, std::memory_order_relaxed);
        ++g.used;
      }
    std::erase_if(g.tables, [](const auto& item) { return item.second.expired(); });
    slots = larger.get();
    slots_.store(slots, std::memory_order_release);
    g.slots.push_back(std::move(larger));
  }
  Slot& slot = slots->find(id);
  if (slot.id.load(std::memory_order_relaxed) == 0) ++g.used;
  slot.table.store(made.get(), std::memory_order_release), slot.id.store(id, std::memory_order_release);
  g.tables[id] = made;
  return made;
}

void TableStore::forget(const TableContent& table) {
  Guarded& g = guarded();
  const std::lock_guard lock(g.mutex);
  const Slots* slots = slots_.load(std::memory_order_relaxed);
  if (!slots) return;
  Slot& slot = slots->find(table.id());
  if (slot.table.load(std::memory_order_relaxed) == &table) slot.table.store(nullptr, std::memory_order_release);
}

}  // namespace mechanician
