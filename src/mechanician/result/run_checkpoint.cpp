#include "mechanician/result/run_checkpoint.hpp"

#include <cstdint>
#include <cstring>
#include <span>

#include "mechanician/result/hash_internal.hpp"

namespace mechanician {

namespace {

constexpr std::string_view magic = "mechckp1";

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
  void numbers(std::span<const double> x) {
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

void pack(Packer& out, const MotionEvent& e) {
  out.number(e.time);
  out.number(static_cast<std::int64_t>(e.kind));
  out.text(e.name);
  out.number(static_cast<std::uint64_t>(e.constraints.size()));
  for (const std::string& name : e.constraints) out.text(name);
  for (const Eigen::VectorXd* x : {&e.q, &e.qd_before, &e.qd_after})
    out.numbers(std::span(x->data(), static_cast<std::size_t>(x->size())));
  out.number(e.sigma);
  for (const int x : {e.dimension, int{e.turning}, int{e.noise_limited}}) out.number(std::int64_t{x});
}

MotionEvent unpack_event(Unpacker& in) {
  MotionEvent e;
  e.time = in.number<double>();
  e.kind = static_cast<EventKind>(in.number<std::int64_t>());
  e.name = in.text();
  for (auto left = in.number<std::uint64_t>(); left > 0 && in.good(); --left) e.constraints.push_back(in.text());
  for (Eigen::VectorXd* x : {&e.q, &e.qd_before, &e.qd_after}) {
    const std::vector<double> values = in.numbers();
    *x = Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
  }
  e.sigma = in.number<double>();
  e.dimension = static_cast<int>(in.number<std::int64_t>());
  e.turning = in.number<std::int64_t>() != 0;
  e.noise_limited = in.number<std::int64_t>() != 0;
  return e;
}

}  // namespace

std::string to_bytes(const RunCheckpoint& c, long sequence) {
  Packer body;
  body.number(static_cast<std::int64_t>(sequence));
  body.number(static_cast<std::int64_t>(c.rows));
  body.number(static_cast<std::int64_t>(c.grid_rows));
  body.number(c.wall_time);
  body.number(c.global_error);
  body.numbers(c.motion);
  body.numbers(c.second);
  body.text(c.second_ended);
  body.number(static_cast<std::uint64_t>(c.notes.size()));
  for (const std::string& note : c.notes) body.text(note);
  body.number(static_cast<std::uint64_t>(c.row_hashes.size()));
  for (const std::uint64_t hash : c.row_hashes) body.number(hash);
  body.number(static_cast<std::uint64_t>(c.events.size()));
  for (const MotionEvent& event : c.events) pack(body, event);

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
  c.grid_rows = static_cast<long>(body.number<std::int64_t>());
  c.wall_time = body.number<double>();
  c.global_error = body.number<double>();
  c.motion = body.numbers();
  c.second = body.numbers();
  c.second_ended = body.text();
  for (auto left = body.number<std::uint64_t>(); left > 0 && body.good(); --left) c.notes.push_back(body.text());
  for (auto left = body.number<std::uint64_t>(); left > 0 && body.good(); --left)
    c.row_hashes.push_back(body.number<std::uint64_t>());
  for (auto left = body.number<std::uint64_t>(); left > 0 && body.good(); --left)
    c.events.push_back(unpack_event(body));
  if (!body.good() || c.rows < 0) return std::nullopt;
  return stored;
}

}  // namespace mechanician
