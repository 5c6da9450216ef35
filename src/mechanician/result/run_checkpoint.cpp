#include "mechanician/result/run_checkpoint.hpp"

#include <cstdint>
#include <cstring>
#include <limits>

namespace mechanician {

namespace {

constexpr std::string_view magic = "mechckp1";

/// FNV-1a, eight bytes at a time.
std::uint64_t hash_of(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  while (!bytes.empty()) {
    std::uint64_t word = 0;
    const std::size_t count = std::min(bytes.size(), sizeof word);
    std::memcpy(&word, bytes.data(), count);
    hash = (hash ^ word ^ count) * 0x100000001b3u;
    hash ^= hash >> 29;
    bytes.remove_prefix(count);
  }
  return hash;
}

class Packer {
 public:
  template <class T>
  void number(T x) {
    static_assert(sizeof x == 8);
    out_.append(reinterpret_cast<const char*>(&x), sizeof x);
  }
  void text(std::string_view x) {
    number(static_cast<std::uint64_t>(x.size()));
    out_ += x;
  }
  void numbers(const std::vector<double>& x) {
    text({reinterpret_cast<const char*>(x.data()), x.size() * sizeof(double)});
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
  T number() {
    T x{};
    if (rest_.size() < sizeof x) return good_ = false, x;
    std::memcpy(&x, rest_.data(), sizeof x);
    rest_.remove_prefix(sizeof x);
    return x;
  }
  std::string text() {
    const auto size = number<std::uint64_t>();
    if (rest_.size() < size) return good_ = false, std::string();
    std::string x(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return x;
  }
  std::vector<double> numbers() {
    const std::string raw = text();
    std::vector<double> x(raw.size() / sizeof(double));
    if (!x.empty()) std::memcpy(x.data(), raw.data(), x.size() * sizeof(double));
    return x;
  }
  bool good() const { return good_; }

 private:
  std::string_view rest_;
  bool good_ = true;
};

}  // namespace

std::string to_bytes(const RunCheckpoint& c, long sequence) {
  Packer body;
  body.number(static_cast<std::int64_t>(sequence));
  body.number(static_cast<std::int64_t>(c.rows));
  body.number(static_cast<std::int64_t>(c.events));
  body.number(c.wall_time);
  body.number(c.global_error);
  body.numbers(c.motion);
  body.numbers(c.second);
  body.text(c.second_ended);
  body.number(static_cast<std::uint64_t>(c.notes.size()));
  for (const std::string& note : c.notes) body.text(note);

  Packer all;
  all.out() += magic;
  all.text(body.out());
  all.number(hash_of(body.out()));
  return std::move(all.out());
}

std::optional<StoredCheckpoint> checkpoint_of(std::string_view bytes) {
  if (bytes.substr(0, magic.size()) != magic) return std::nullopt;
  Unpacker all(bytes.substr(magic.size()));
  const std::string body_bytes = all.text();
  const auto hash = all.number<std::uint64_t>();
  if (!all.good() || hash != hash_of(body_bytes)) return std::nullopt;

  Unpacker body(body_bytes);
  StoredCheckpoint stored;
  RunCheckpoint& c = stored.checkpoint;
  stored.sequence = static_cast<long>(body.number<std::int64_t>());
  c.rows = static_cast<long>(body.number<std::int64_t>());
  c.events = static_cast<long>(body.number<std::int64_t>());
  c.wall_time = body.number<double>();
  c.global_error = body.number<double>();
  c.motion = body.numbers();
  c.second = body.numbers();
  c.second_ended = body.text();
  for (auto left = body.number<std::uint64_t>(); left > 0 && body.good(); --left) c.notes.push_back(body.text());
  if (!body.good() || c.rows < 0 || c.events < 0) return std::nullopt;
  return stored;
}

}  // namespace mechanician
