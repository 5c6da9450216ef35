#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "mechanician/base/diagnostic.hpp"
#include "mechanician/result/hash_internal.hpp"
#include "mechanician/result/hdf5_file.hpp"
#include "mechanician/result/part_file.hpp"

namespace mechanician {

namespace {

constexpr std::string_view seal_magic = "mechseal";

/// Hash of the bytes before `end` that are in none of the extents, which are in order.
std::uint64_t hash_outside(const OpenFile& file, const std::vector<Extent>& extents, std::uint64_t end) {
  Hash hash;
  std::vector<char> bytes;
  const auto add = [&](std::uint64_t from, std::uint64_t to) {
    while (from < to) {
      bytes.resize(std::min<std::uint64_t>(to - from, 1u << 20));
      file.read_at(from, bytes);
      hash.add({bytes.data(), bytes.size()});
      from += bytes.size();
    }
  };
  std::uint64_t at = 0;
  for (const Extent& e : extents) {
    add(at, e.offset);
    at = e.offset + e.size;
  }
  add(at, end);
  return hash.value();
}

/// The file ends with its extents, their number, the hash and a word to know it by.
struct SealEnd {
  std::uint64_t count, hash;
  char magic[8];
};

}  // namespace

void seal_hdf5(OpenFile& file, std::vector<Extent> changing) {
  std::erase_if(changing, [](const Extent& e) { return e.size == 0; });
  std::sort(changing.begin(), changing.end(), [](const Extent& a, const Extent& b) { return a.offset < b.offset; });
  // Chunks often lie one after the other.
  std::vector<Extent> joined;
  for (const Extent& e : changing)
    if (!joined.empty() && joined.back().offset + joined.back().size == e.offset)
      joined.back().size += e.size;
    else
      joined.push_back(e);
  changing = std::move(joined);
  const std::uint64_t size = file.size();
  SealEnd end{changing.size(), hash_outside(file, changing, size), {}};
  seal_magic.copy(end.magic, sizeof end.magic);
  std::string bytes(reinterpret_cast<const char*>(changing.data()), changing.size() * sizeof(Extent));
  bytes.append(reinterpret_cast<const char*>(&end), sizeof end);
  file.write_at(size, bytes);
}

void check_seal(const OpenFile& file) {
  const auto damaged = [&](const char* why) {
    return FileError(fmt::format("{}: the file is damaged: {}", file.path(), why));
  };
  const std::uint64_t size = file.size();
  SealEnd end{};
  if (size < sizeof end) throw damaged("it is too short");
  file.read_at(size - sizeof end, {reinterpret_cast<char*>(&end), sizeof end});
  if (std::string_view(end.magic, sizeof end.magic) != seal_magic)
    throw FileError(
        fmt::format("{}: the file is damaged, or no result of this program: it does not end as one does", file.path()));
  if (end.count > (size - sizeof end) / sizeof(Extent)) throw damaged("its end makes no sense");
  std::vector<Extent> extents(end.count);
  const std::uint64_t body = size - sizeof end - end.count * sizeof(Extent);
  file.read_at(body, {reinterpret_cast<char*>(extents.data()), extents.size() * sizeof(Extent)});
  std::uint64_t at = 0;
  for (const Extent& e : extents) {
    if (e.offset < at || e.offset > body || e.size > body - e.offset) throw damaged("its end makes no sense");
    at = e.offset + e.size;
  }
  if (hash_outside(file, extents, body) != end.hash) throw damaged("it is not as it was written");
}

}  // namespace mechanician
