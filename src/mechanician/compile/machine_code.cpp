#include "mechanician/compile/machine_code.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cassert>
#include <cmath>
#include <cstring>

#include "mechanician/compile/trigonometry.hpp"
#include "mechanician/expression/evaluate_operator.hpp"

namespace mechanician {

namespace {

template <Op op>
double unary(double a) {
  return evaluate_operator<double>(op, a, a, a);
}
template <Op op>
double binary(double a, double b) {
  return evaluate_operator<double>(op, a, b, a);
}
template <Op op>
double ternary(double a, double b, double c) {
  return evaluate_operator<double>(op, a, b, c);
}
double fused(double a, double b, double c) { return std::fma(a, b, c); }

double sine(double x) { return sine_cosine(x).sine; }
double cosine(double x) { return sine_cosine(x).cosine; }

using Table = std::array<const void*, num_called_functions>;

template <Op... ops>
void put_unary(Table& table) {
  ((table[static_cast<std::size_t>(ops)] = reinterpret_cast<const void*>(&unary<ops>)), ...);
}
template <Op... ops>
void put_binary(Table& table) {
  ((table[static_cast<std::size_t>(ops)] = reinterpret_cast<const void*>(&binary<ops>)), ...);
}

Table make_table() {
  Table table{};
  put_unary<Op::tan, Op::asin, Op::acos, Op::atan, Op::sinh, Op::cosh, Op::tanh, Op::asinh, Op::acosh, Op::atanh,
            Op::exp, Op::log>(table);
  put_binary<Op::pow, Op::atan2, Op::hypot, Op::mod>(table);
  table[static_cast<std::size_t>(Op::lookup)] = reinterpret_cast<const void*>(&ternary<Op::lookup>);
  table[function_fma] = reinterpret_cast<const void*>(&fused);
  table[static_cast<std::size_t>(Op::sin)] = reinterpret_cast<const void*>(&sine);
  table[static_cast<std::size_t>(Op::cos)] = reinterpret_cast<const void*>(&cosine);
  table[function_sincos] = reinterpret_cast<const void*>(&sine_cosine);
  table[function_sines] = reinterpret_cast<const void*>(&sines_and_cosines);
  return table;
}

}  // namespace

const void* const* function_table() {
  static const Table table = make_table();
  return table.data();
}

bool is_call(const Step& step) {
  return is_op(step.action) && function_table()[static_cast<int>(step.action)] != nullptr;
}

std::size_t scratch_bound(const Program& program, int lanes) {
  // A batch of k angles has three areas of k, each rounded up to a multiple of eight.
  std::size_t sines = 0;
  for (const Step& s : program.steps) sines += s.action == action_of(Op::sin) || s.action == action_of(Op::cos) ? 1 : 0;
  return static_cast<std::size_t>(lanes) * (static_cast<std::size_t>(program.num_registers()) + 3 * sines) + 24 * sines;
}

std::shared_ptr<const MachineCode> MachineCode::make(std::span<const std::byte> image,
                                                     std::span<const std::size_t> entries) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t size = (image.size() + page - 1) / page * page;
  if (size == 0 || entries.empty()) return nullptr;
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  std::memcpy(memory, image.data(), image.size());
  if (::mprotect(memory, size, PROT_READ | PROT_EXEC) != 0) {
    ::munmap(memory, size);
    return nullptr;
  }
  __builtin___clear_cache(static_cast<char*>(memory), static_cast<char*>(memory) + image.size());
  const std::shared_ptr<MachineCode> code(new MachineCode);
  code->memory_ = memory;
  code->size_ = size;
  for (const std::size_t entry : entries) {
    assert(entry < image.size());
    code->functions_.push_back(reinterpret_cast<Function>(static_cast<char*>(memory) + entry));
  }
  return code;
}

MachineCode::~MachineCode() {
  if (memory_) ::munmap(memory_, size_);
}

}  // namespace mechanician
