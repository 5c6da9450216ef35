#include "mechanician/library/system_cache.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <filesystem>
#include <list>
#include <memory>
#include <mutex>

#include "mechanician/base/read_file.hpp"

namespace mechanician {

namespace {

constexpr std::size_t most_models = 8;
constexpr std::size_t most_bytes = std::size_t{1} << 20;  // of the files of a model: others are read each time

struct Entry {
  ModelKey key;
  std::vector<FileRead> files;
  System system;
};

/// The one that was asked for last is the first.
struct Models {
  std::mutex one_at_a_time;
  std::list<std::shared_ptr<const Entry>> entries;
};

/// It is never destroyed: what its models are made of might be before.
Models& models() {
  static Models& known = *new Models;
  return known;
}

/// Bit for bit: -0 is another value than 0.
bool same_values(const std::map<std::string, double>& a, const std::map<std::string, double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.first == y.first && std::bit_cast<std::uint64_t>(x.second) == std::bit_cast<std::uint64_t>(y.second);
  });
}

bool same_key(const ModelKey& a, const ModelKey& b) {
  return a.is_file == b.is_file && a.name == b.name && a.folder == b.folder && a.text == b.text &&
         same_values(a.set, b.set);
}

std::shared_ptr<const Entry> find(const ModelKey& key) {
  Models& known = models();
  const std::lock_guard lock(known.one_at_a_time);
  for (auto entry = known.entries.begin(); entry != known.entries.end(); ++entry) {
    if (!same_key((*entry)->key, key)) continue;
    known.entries.splice(known.entries.begin(), known.entries, entry);
    return known.entries.front();
  }
  return nullptr;
}

void keep(std::shared_ptr<const Entry> made) {
  Models& known = models();
  const std::lock_guard lock(known.one_at_a_time);
  std::erase_if(known.entries, [&](const auto& entry) { return same_key(entry->key, made->key); });
  known.entries.push_front(std::move(made));
  if (known.entries.size() > most_models) known.entries.pop_back();
}

}  // namespace

System cached_system(ModelKey key, const std::function<System()>& make) {
  std::error_code unknown;
  key.folder = std::filesystem::current_path(unknown).string();
  if (unknown || (key.is_file && key.name == "-")) return make();
  if (const auto found = find(key))
    if (std::all_of(found->files.begin(), found->files.end(), [](const FileRead& f) { return f.is_unchanged(); }))
      return found->system;
  FilesKept files;
  System system = make();
  std::vector<FileRead> read = files.take();
  std::size_t bytes = key.text.size();
  for (const FileRead& file : read) bytes += file.got.text.size();
  // What kernels compute has memory of its own, which is not shared.
  if (bytes <= most_bytes && !system.kernels())
    keep(std::make_shared<const Entry>(Entry{std::move(key), std::move(read), system}));
  return system;
}

}  // namespace mechanician
