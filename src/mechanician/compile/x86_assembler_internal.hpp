#pragma once

/// The few instructions of x86-64 that programs need: AVX and FMA on one number or on four side by side, and what a call
/// takes.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <unordered_map>
#include <utility>
#include <vector>

namespace mechanician::x86 {

/// The numbers of general registers.
enum General : int {
  rax = 0,
  rcx = 1,
  rdx = 2,
  rbx = 3,
  rbp = 5,
  rsi = 6,
  rdi = 7,
  r12 = 12,
  r13 = 13,
  r14 = 14,
  r15 = 15
};

/// The last operand of an instruction: a vector register, a place relative to a general register (not rsp or r12, which
/// need another encoding), or a constant.
struct Operand {
  enum Kind : std::uint8_t { vector, memory, pool } kind;
  int number;                 ///< of the vector register, of the base, or of the constant
  std::int32_t displacement;  ///< of memory

  static Operand of(int r) { return {vector, r, 0}; }
  static Operand at(int base, std::int32_t displacement) { return {memory, base, displacement}; }
  static Operand constant(int k) { return {pool, k, 0}; }
};

enum class Prefix : std::uint8_t { none = 0, p66 = 1, pF3 = 2, pF2 = 3 };
enum class Map : std::uint8_t { m0F = 1, m0F38 = 2, m0F3A = 3 };

/// Conditions of vcmpsd: quiet, false (O) or true (U) where an operand is not a number.
enum class Compare : std::uint8_t {
  equal = 0x00,
  unordered = 0x03,
  not_equal = 0x04,  ///< U
  less = 0x11,
  less_equal = 0x12,
  greater_equal = 0x1d,
  greater = 0x1e,
};

class Assembler {
 public:
  /// lanes: 1, or 4 for the same on four numbers in each register and in each place of memory.
  explicit Assembler(int lanes) : packed_(lanes == 4) {}

  /// d = first ∘ second: add 58, mul 59, sub 5c, div 5e, sqrt 51 (of the second), min 5d, max 5f.
  void arithmetic(std::uint8_t opcode, int d, int first, Operand second) {
    vex(of_numbers(), Map::m0F, false, opcode, d, packed_ && opcode == 0x51 ? 0 : first, second);
  }
  /// Bitwise on whole registers: and 54, or 56, xor 57. Constants are to be of whole registers, too.
  void bits(std::uint8_t opcode, int d, int first, Operand second) {
    vex(Prefix::p66, Map::m0F, false, opcode, d, first, second);
  }
  /// The forms of FMA: d·third ± second (132: 0x99), second·d ± third (213: 0xa9), second·third ± d (231: 0xb9).
  void fused(std::uint8_t opcode, int d, int second, Operand third) {
    vex(Prefix::p66, Map::m0F38, true, static_cast<std::uint8_t>(packed_ ? opcode - 1 : opcode), d, second, third);
  }
  void compare(Compare condition, int d, int first, Operand second) {
    vex(of_numbers(), Map::m0F, false, 0xc2, d, first, second, 1);
    byte(static_cast<std::uint8_t>(condition));
  }
  /// d = mask ? yes : no
  void blend(int d, int no, int yes, int mask) {
    vex(Prefix::p66, Map::m0F3A, false, 0x4b, d, no, Operand::of(yes), 1);
    byte(static_cast<std::uint8_t>(mask << 4));
  }
  void load(int d, Operand from) { vex(of_numbers(), Map::m0F, false, 0x10, d, 0, from); }
  void store(int s, Operand to) { vex(of_numbers(), Map::m0F, false, 0x11, s, 0, to); }
  /// One number, whatever the lanes.
  void load_one(int d, Operand from) { vex(Prefix::pF2, Map::m0F, false, 0x10, d, 0, from, 0, false); }
  void store_one(int s, Operand to) { vex(Prefix::pF2, Map::m0F, false, 0x11, s, 0, to, 0, false); }
  /// Before code that knows nothing of wide registers.
  void clear_upper_halves() {
    if (!packed_) return;
    make_room();
    byte(0xc5), byte(0xf8), byte(0x77);
  }
  void move(int d, int s) { vex(Prefix::p66, Map::m0F, false, 0x28, d, 0, Operand::of(s)); }

  void push(int r) {
    make_room();
    if (r >= 8) byte(0x41);
    byte(static_cast<std::uint8_t>(0x50 + (r & 7)));
  }
  void pop(int r) {
    make_room();
    if (r >= 8) byte(0x41);
    byte(static_cast<std::uint8_t>(0x58 + (r & 7)));
  }
  void move_general(int d, int s) {
    make_room();
    byte(static_cast<std::uint8_t>(0x48 | (s >= 8 ? 4 : 0) | (d >= 8 ? 1 : 0)));
    byte(0x89);
    byte(static_cast<std::uint8_t>(0xc0 | (s & 7) << 3 | (d & 7)));
  }
  void call(Operand table) {
    make_room();
    if (table.number >= 8) byte(0x41);
    byte(0xff);
    address(2, table, 0);
  }
  void ret() {
    make_room();
    byte(0xc3);
  }
  /// d = base + displacement
  void address_of(int d, int base, std::int32_t displacement) {
    make_room();
    byte(static_cast<std::uint8_t>(0x48 | (d >= 8 ? 4 : 0) | (base >= 8 ? 1 : 0)));
    byte(0x8d);
    address(d, Operand::at(base, displacement), 0);
  }
  void set_general(int d, std::int32_t value) {
    make_room();
    if (d >= 8) byte(0x41);
    byte(static_cast<std::uint8_t>(0xb8 + (d & 7)));
    append(&value, 4);
  }

  /// A constant of 8 bytes, or (whole, and always with lanes) of a register.
  Operand constant(std::uint64_t word, bool whole = false) {
    const bool wide = whole || packed_;
    const auto [found, fresh] = (wide ? wide_ : narrow_).emplace(word, num_constants_);
    if (fresh) ++num_constants_, constants_.push_back({word, wide});
    return Operand::constant(found->second);
  }

  /// The code with its constants behind it, ready for memory.
  std::vector<std::byte> finish() {
    std::vector<std::size_t> place(constants_.size());
    make_room();
    while (size_ % 16 != 0) byte(0xcc);
    for (const bool wide : {true, false})
      for (std::size_t k = 0; k < constants_.size(); ++k) {
        if (constants_[k].wide != wide) continue;
        make_room();
        place[k] = size_;
        for (int copy = 0; copy < (!wide ? 1 : packed_ ? 4 : 2); ++copy)
          append(&constants_[k].word, sizeof(std::uint64_t));
      }
    for (const Fixup& f : fixups_) {
      const auto distance = static_cast<std::int32_t>(
          static_cast<std::int64_t>(place[static_cast<std::size_t>(f.constant)]) - static_cast<std::int64_t>(f.next));
      std::memcpy(code_.data() + f.at, &distance, sizeof distance);
    }
    code_.resize(size_);
    return std::move(code_);
  }

 private:
  struct Constant {
    std::uint64_t word;
    bool wide;
  };
  struct Fixup {
    std::size_t at, next;  ///< the displacement, and the end of its instruction
    int constant;
  };

  /// Room for one instruction, so that its bytes need not ask one by one.
  void make_room() {
    if (code_.size() - size_ < 64) code_.resize(2 * code_.size() + 4096);
  }
  void byte(std::uint8_t b) { code_[size_++] = static_cast<std::byte>(b); }
  void append(const void* data, std::size_t size) {
    std::memcpy(code_.data() + size_, data, size);
    size_ += size;
  }

  /// The ModRM byte and what follows; `more` bytes come after it.
  void address(int reg, Operand rm, int more) {
    const int field = (reg & 7) << 3;
    if (rm.kind == Operand::vector) {
      byte(static_cast<std::uint8_t>(0xc0 | field | (rm.number & 7)));
    } else if (rm.kind == Operand::pool) {
      byte(static_cast<std::uint8_t>(0x05 | field));
      fixups_.push_back({size_, size_ + 4 + static_cast<std::size_t>(more), rm.number});
      for (int k = 0; k < 4; ++k) byte(0);
    } else if (rm.displacement >= -128 && rm.displacement < 128) {
      byte(static_cast<std::uint8_t>(0x40 | field | (rm.number & 7)));
      byte(static_cast<std::uint8_t>(rm.displacement));
    } else {
      byte(static_cast<std::uint8_t>(0x80 | field | (rm.number & 7)));
      append(&rm.displacement, 4);
    }
  }

  Prefix of_numbers() const { return packed_ ? Prefix::p66 : Prefix::pF2; }

  void vex(Prefix prefix, Map map, bool w, std::uint8_t opcode, int reg, int first, Operand rm, int more = 0) {
    vex(prefix, map, w, opcode, reg, first, rm, more, packed_);
  }
  void vex(Prefix prefix, Map map, bool w, std::uint8_t opcode, int reg, int first, Operand rm, int more, bool four) {
    make_room();
    const bool r = reg >= 8, b = rm.kind != Operand::pool && rm.number >= 8;
    const auto last = static_cast<std::uint8_t>((~first & 15) << 3 | (four ? 4 : 0) | static_cast<int>(prefix));
    if (map == Map::m0F && !w && !b) {
      byte(0xc5);
      byte(static_cast<std::uint8_t>((r ? 0 : 0x80) | last));
    } else {
      byte(0xc4);
      byte(static_cast<std::uint8_t>((r ? 0 : 0x80) | 0x40 | (b ? 0 : 0x20) | static_cast<int>(map)));
      byte(static_cast<std::uint8_t>((w ? 0x80 : 0) | last));
    }
    byte(opcode);
    address(reg, rm, more);
  }

  const bool packed_;
  std::vector<std::byte> code_;
  std::size_t size_ = 0;  ///< of code_, what is written
  std::vector<Constant> constants_;
  std::unordered_map<std::uint64_t, int> narrow_, wide_;
  int num_constants_ = 0;
  std::vector<Fixup> fixups_;
};

}  // namespace mechanician::x86
