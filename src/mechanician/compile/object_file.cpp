#include "mechanician/compile/object_file.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#if defined(__linux__) && defined(__x86_64__)
#include <elf.h>
#endif

namespace mechanician {

#if defined(__linux__) && defined(__x86_64__)

namespace {

constexpr std::size_t largest_image = std::size_t{1} << 30;

/// The bytes of an object, read with bounds.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  std::optional<std::string_view> slice(std::uint64_t offset, std::uint64_t size) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset) return std::nullopt;
    return bytes_.substr(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
  }
  template <class T>
  std::optional<T> at(std::uint64_t offset) const {
    const auto part = slice(offset, sizeof(T));
    if (!part) return std::nullopt;
    T value;
    std::memcpy(&value, part->data(), sizeof value);
    return value;
  }
  /// Entry i of a table that starts at `offset` and has `size` bytes.
  template <class T>
  std::optional<T> entry(std::uint64_t offset, std::uint64_t size, std::uint64_t i) const {
    if (i >= size / sizeof(T) || !slice(offset, size)) return std::nullopt;
    return at<T>(offset + i * sizeof(T));
  }

 private:
  std::string_view bytes_;
};

class Linker {
 public:
  /// False where the object is refused.
  bool add(std::string_view object);
  std::shared_ptr<const MachineCode> finish() { return MachineCode::make(image_, entries_); }

 private:
  bool read_sections();
  bool place_sections();
  bool relocate(const Elf64_Shdr& table);
  bool find_entry();
  std::optional<Elf64_Sym> symbol(const Elf64_Shdr& table, std::uint64_t i) const {
    return reader_.entry<Elf64_Sym>(table.sh_offset, table.sh_size, i);
  }
  /// Where a symbol is in the image; nothing if it is not in a section that was placed.
  std::optional<std::uint64_t> place_of(const Elf64_Sym& s) const {
    if (s.st_shndx >= place_.size() || !place_[s.st_shndx] || s.st_value > sections_[s.st_shndx].sh_size)
      return std::nullopt;
    return *place_[s.st_shndx] + s.st_value;
  }

  Reader reader_{{}};
  std::vector<Elf64_Shdr> sections_;
  std::vector<std::optional<std::uint64_t>> place_;
  std::vector<std::byte> image_;
  std::vector<std::size_t> entries_;
};

bool Linker::read_sections() {
  const auto header = reader_.at<Elf64_Ehdr>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_type != ET_REL || header->e_machine != EM_X86_64 ||
      header->e_shentsize != sizeof(Elf64_Shdr))
    return false;
  sections_.clear();
  for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
    const auto section = reader_.entry<Elf64_Shdr>(header->e_shoff, header->e_shnum * sizeof(Elf64_Shdr), i);
    if (!section) return false;
    sections_.push_back(*section);
  }
  return true;
}

bool Linker::place_sections() {
  place_.assign(sections_.size(), std::nullopt);
  for (std::size_t i = 0; i < sections_.size(); ++i) {
    const Elf64_Shdr& s = sections_[i];
    if (!(s.sh_flags & SHF_ALLOC)) continue;
    // Code that writes to its own data is none of ours; nor is thread-local data.
    if ((s.sh_flags & (SHF_WRITE | SHF_TLS)) || (s.sh_type != SHT_PROGBITS && s.sh_type != SHT_X86_64_UNWIND))
      return false;
    const auto bytes = reader_.slice(s.sh_offset, s.sh_size);
    const std::uint64_t alignment = std::max<std::uint64_t>(s.sh_addralign, 1);
    if (!bytes || alignment > 4096 || (alignment & (alignment - 1)) != 0) return false;
    const std::uint64_t start = (image_.size() + alignment - 1) & ~(alignment - 1);
    if (start + bytes->size() > largest_image) return false;
    place_[i] = start;
    image_.resize(static_cast<std::size_t>(start) + bytes->size());
    if (!bytes->empty()) std::memcpy(image_.data() + start, bytes->data(), bytes->size());
  }
  return true;
}

bool Linker::relocate(const Elf64_Shdr& table) {
  if (table.sh_info >= sections_.size() || table.sh_link >= sections_.size()) return false;
  if (!place_[table.sh_info]) return true;  // of a section that is not in memory
  const Elf64_Shdr& target = sections_[table.sh_info];
  const Elf64_Shdr& symbols = sections_[table.sh_link];
  for (std::uint64_t i = 0; i < table.sh_size / sizeof(Elf64_Rela); ++i) {
    const auto rela = reader_.entry<Elf64_Rela>(table.sh_offset, table.sh_size, i);
    if (!rela) return false;
    const auto s = symbol(symbols, ELF64_R_SYM(rela->r_info));
    const auto to = s ? place_of(*s) : std::nullopt;
    if (!to || rela->r_offset > target.sh_size || target.sh_size - rela->r_offset < 4) return false;
    const std::uint64_t from = *place_[table.sh_info] + rela->r_offset;
    // Distances only: the code may lie anywhere. All places are below 2³⁰, so the sum overflows only if the addend
    // lies.
    const auto type = ELF64_R_TYPE(rela->r_info);
    if (type != R_X86_64_PC32 && type != R_X86_64_PLT32) return false;
    if (rela->r_addend > std::numeric_limits<std::int32_t>::max() ||
        rela->r_addend < std::numeric_limits<std::int32_t>::min())
      return false;
    const std::int64_t distance = static_cast<std::int64_t>(*to) + rela->r_addend - static_cast<std::int64_t>(from);
    const auto value = static_cast<std::int32_t>(distance);
    if (value != distance) return false;
    std::memcpy(image_.data() + from, &value, sizeof value);
  }
  return true;
}

bool Linker::find_entry() {
  for (const Elf64_Shdr& table : sections_) {
    if (table.sh_type != SHT_SYMTAB || table.sh_link >= sections_.size()) continue;
    const Elf64_Shdr& names = sections_[table.sh_link];
    for (std::uint64_t i = 0; i < table.sh_size / sizeof(Elf64_Sym); ++i) {
      const auto s = symbol(table, i);
      if (!s) return false;
      if (ELF64_ST_TYPE(s->st_info) != STT_FUNC || s->st_name >= names.sh_size) continue;
      const auto name = reader_.slice(names.sh_offset + s->st_name, std::strlen(entry_symbol) + 1);
      if (!name || std::memcmp(name->data(), entry_symbol, name->size()) != 0) continue;
      const auto place = place_of(*s);
      if (!place || !(sections_[s->st_shndx].sh_flags & SHF_EXECINSTR) || *place >= image_.size()) return false;
      entries_.push_back(static_cast<std::size_t>(*place));
      return true;
    }
  }
  return false;
}

bool Linker::add(std::string_view object) {
  reader_ = Reader(object);
  if (!read_sections() || !place_sections()) return false;
  for (const Elf64_Shdr& s : sections_) {
    if (s.sh_type == SHT_REL) return false;
    if (s.sh_type == SHT_RELA && !relocate(s)) return false;
  }
  return find_entry();
}

}  // namespace

std::shared_ptr<const MachineCode> load_objects(std::span<const std::string> objects) {
  Linker linker;
  for (const std::string& object : objects)
    if (!linker.add(object)) return nullptr;
  return linker.finish();
}

#else

std::shared_ptr<const MachineCode> load_objects(std::span<const std::string>) { return nullptr; }

#endif

}  // namespace mechanician
