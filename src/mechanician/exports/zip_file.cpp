#include "mechanician/exports/zip_file.hpp"

#include <array>
#include <cstdint>

namespace mechanician {

namespace {

std::uint32_t checksum(std::string_view bytes) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> t{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t x = i;
      for (int k = 0; k < 8; ++k) x = (x & 1u) != 0 ? 0xedb88320u ^ (x >> 1) : x >> 1;
      t[i] = x;
    }
    return t;
  }();
  std::uint32_t crc = 0xffffffffu;
  for (const char c : bytes) crc = table[(crc ^ static_cast<unsigned char>(c)) & 255u] ^ (crc >> 8);
  return ~crc;
}

void number(std::string& out, std::uint64_t value, int bytes) {
  for (int k = 0; k < bytes; ++k) out += static_cast<char>((value >> (8 * k)) & 255u);
}

/// What local and central headers share, from the version on.
void facts(std::string& out, const std::string& name, const std::string& bytes) {
  number(out, 20, 2);      // version that is needed
  number(out, 0x0800, 2);  // names are UTF-8
  number(out, 0, 2);       // stored
  number(out, 0, 2);       // time
  number(out, 0x21, 2);    // 1 January 1980: the same bytes every day
  number(out, checksum(bytes), 4);
  number(out, bytes.size(), 4), number(out, bytes.size(), 4);
  number(out, name.size(), 2);
  number(out, 0, 2);
}

}  // namespace

std::string make_zip(const std::vector<std::pair<std::string, std::string>>& files) {
  std::string out, central;
  for (const auto& [name, bytes] : files) {
    const std::size_t at = out.size();
    number(out, 0x04034b50, 4);
    facts(out, name, bytes);
    out += name + bytes;
    number(central, 0x02014b50, 4);
    number(central, 0x0314, 2);  // made on Unix
    facts(central, name, bytes);
    number(central, 0, 2), number(central, 0, 2), number(central, 0, 2);
    number(central, 0100644u << 16, 4);
    number(central, at, 4);
    central += name;
  }
  const std::size_t begin = out.size();
  out += central;
  number(out, 0x06054b50, 4);
  number(out, 0, 2), number(out, 0, 2);
  number(out, files.size(), 2), number(out, files.size(), 2);
  number(out, central.size(), 4), number(out, begin, 4);
  number(out, 0, 2);
  return out;
}

}  // namespace mechanician
