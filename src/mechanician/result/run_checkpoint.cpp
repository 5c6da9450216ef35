#include "mechanician/result/run_checkpoint.hpp"

#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "mechanician/result/hash_internal.hpp"

namespace mechanician {

namespace {

constexpr std::string_view magic = "mechckp1";

template <class Bytes, class T>
void transfer(Bytes& bytes, T& x);

/// Everything as words of eight bytes; a text as its length and its bytes, a list as its length and its entries.
class Packer {
 public:
  template <class T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void operator()(T x) {
    using Word = std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>;
    const auto word = static_cast<Word>(x);
    out_.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
  void operator()(std::string_view x) {
    (*this)(x.size());
    out_ += x;
  }
  void operator()(std::span<const double> x) {
    (*this)(std::string_view(reinterpret_cast<const char*>(x.data()), x.size_bytes()));
  }
  void operator()(const Eigen::VectorXd& x) { (*this)(std::span(x.data(), static_cast<std::size_t>(x.size()))); }
  template <class T>
  requires(!std::is_same_v<T, double>) void operator()(const std::vector<T>& list) {
    (*this)(list.size());
    for (const T& x : list) transfer(*this, x);
  }
  std::string& out() { return out_; }

 private:
  std::string out_;
};

/// Reads back; after the first value that does not fit nothing is good.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : rest_(bytes) {}
  template <class T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void operator()(T& x) {
    std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t> word{};
    if (rest_.size() < sizeof word) {
      good_ = false;
      return;
    }
    std::memcpy(&word, rest_.data(), sizeof word);
    rest_.remove_prefix(sizeof word);
    x = static_cast<T>(word);
  }
  void operator()(std::string& x) {
    std::uint64_t size = 0;
    (*this)(size);
    if (rest_.size() < size) good_ = false, size = 0;
    x = rest_.substr(0, size);
    rest_.remove_prefix(size);
  }
  void operator()(std::vector<double>& x) {
    std::string raw;
    (*this)(raw);
    x.resize(raw.size() / sizeof(double));
    if (!x.empty()) std::memcpy(x.data(), raw.data(), x.size() * sizeof(double));
  }
  void operator()(Eigen::VectorXd& x) {
    std::vector<double> values;
    (*this)(values);
    x = Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
  }
  template <class T>
  void operator()(std::vector<T>& list) {
    std::uint64_t left = 0;
    for ((*this)(left); left > 0 && good_; --left) transfer(*this, list.emplace_back());
  }
  bool good() const { return good_; }

 private:
  std::string_view rest_;
  bool good_ = true;
};

/// What there is, in its order, for packing and for reading back.
template <class Bytes, class T>
void transfer(Bytes& bytes, T& x) {
  if constexpr (std::is_same_v<std::remove_const_t<T>, MotionEvent>) {
    bytes(x.time), bytes(x.kind), bytes(x.name), bytes(x.constraints);
    bytes(x.q), bytes(x.qd_before), bytes(x.qd_after);
    bytes(x.sigma), bytes(x.dimension), bytes(x.turning), bytes(x.noise_limited);
  } else if constexpr (std::is_same_v<std::remove_const_t<T>, RunCheckpoint>) {
    bytes(x.rows), bytes(x.wall_time), bytes(x.global_error);
    bytes(x.motion), bytes(x.second), bytes(x.second_ended);
    bytes(x.notes), bytes(x.row_hashes), bytes(x.events);
  } else {
    bytes(x);
  }
}

}  // namespace

std::string to_bytes(const RunCheckpoint& c, long sequence) {
  Packer body;
  body(sequence);
  transfer(body, c);
  Packer all;
  all.out() += magic;
  all(body.out());
  all(hash_of(body.out()));
  return std::move(all.out());
}

std::optional<StoredCheckpoint> checkpoint_of(std::string_view bytes) {
  if (bytes.substr(0, magic.size()) != magic) return std::nullopt;
  Unpacker all(bytes.substr(magic.size()));
  std::string body_bytes;
  std::uint64_t hash = 0;
  all(body_bytes), all(hash);
  if (!all.good() || hash != hash_of(body_bytes)) return std::nullopt;

  Unpacker body(body_bytes);
  StoredCheckpoint stored;
  body(stored.sequence);
  transfer(body, stored.checkpoint);
  if (!body.good() || stored.checkpoint.rows < 0) return std::nullopt;
  return stored;
}

}  // namespace mechanician
