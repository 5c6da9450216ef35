#pragma once

/// A hash that notices damage: FNV-1a over words of eight bytes.

#include <cstdint>
#include <cstring>
#include <string_view>

namespace mechanician {

class Hash {
 public:
  Hash() = default;
  explicit Hash(std::uint64_t value) : value_(value) {}

  /// Bytes that come in pieces give the same as in one, as long as all pieces but the last are whole words.
  void add(std::string_view bytes) {
    while (!bytes.empty()) {
      std::uint64_t word = 0;
      const std::size_t count = bytes.size() < sizeof word ? bytes.size() : sizeof word;
      std::memcpy(&word, bytes.data(), count);
      value_ = (value_ ^ word ^ count) * 0x100000001b3u;
      value_ ^= value_ >> 29;
      bytes.remove_prefix(count);
    }
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

inline std::uint64_t hash_of(std::string_view bytes) {
  Hash hash;
  hash.add(bytes);
  return hash.value();
}

}  // namespace mechanician
