#include "mechanician/compile/code_cache.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "mechanician/base/standard_streams.hpp"
#include "mechanician/base/version.hpp"

namespace mechanician {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t format_number = 5;  // of the files, and of the code that the generator makes
constexpr std::array<char, 8> magic{'m', 'e', 'c', 'h', 'o', 'b', 'j', '\n'};
constexpr std::uint64_t largest_file = std::uint64_t{256} << 20;
constexpr const char* extension = ".object";

/// Two products of 128 bits per word, folded: every bit of the words reaches every bit of the result.
class Hash128 {
 public:
  void add(std::uint64_t word) {
    high_ = fold(high_ ^ word, 0x9e3779b97f4a7c15u) + std::rotl(low_, 29);
    low_ = fold(low_ ^ std::rotl(word, 32) ^ ++count_, 0xc2b2ae3d27d4eb4fu) ^ std::rotl(high_, 17);
  }
  void add(std::string_view bytes) {
    add(bytes.size());
    while (!bytes.empty()) {
      std::uint64_t word = 0;
      const std::size_t count = std::min(bytes.size(), sizeof word);
      std::memcpy(&word, bytes.data(), count);
      add(word);
      bytes.remove_prefix(count);
    }
  }
  CodeKey result() {
    for (std::uint64_t k = 0; k < 4; ++k) add(k);
    return {high_, low_};
  }

 private:
  static std::uint64_t fold(std::uint64_t x, std::uint64_t y) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(x) * y;
    // The factor again: a product that is zero must not forget x.
    return static_cast<std::uint64_t>(product >> 64) ^ static_cast<std::uint64_t>(product) ^ std::rotl(x, 23);
  }
  std::uint64_t high_ = 0x243f6a8885a308d3u, low_ = 0x13198a2e03707344u, count_ = 0;
};

/// What code for this processor may depend on: maker, model and all feature bits.
void add_processor(Hash128& hash) {
#if defined(__x86_64__)
  const auto add = [&](unsigned leaf, unsigned part, std::array<unsigned, 4> mask) {
    std::array<unsigned, 4> r{};
    __get_cpuid_count(leaf, part, &r[0], &r[1], &r[2], &r[3]);
    for (std::size_t k = 0; k < 4; ++k) hash.add(r[k] & mask[k]);
  };
  constexpr unsigned all = ~0u;
  add(0, 0, {all, all, all, all});
  add(1, 0, {all, 0, all & ~(1u << 27), all});  // without the number of the core, and what the system has switched on
  add(7, 0, {all, all, all, all});
  add(7, 1, {all, all, all, all});
  add(0x80000001u, 0, {all, all, all, all});
  // What the system saves of the vector registers, and so lets us use.
  add(0xd, 0, {all, 0, 0, all});
#endif
  hash.add(sizeof(void*));
}

/// What stands before the objects in a file.
struct Header {
  std::array<char, 8> magic;
  std::uint64_t format;
  CodeKey key, checksum;
  std::uint64_t payload_size, num_objects;
};

CodeKey checksum_of(const CodeKey& key, std::string_view payload) {
  Hash128 hash;
  hash.add(key.high);
  hash.add(key.low);
  hash.add(payload);
  return hash.result();
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  explicit operator bool() const { return fd_ >= 0; }
  int get() const { return fd_; }
  /// Whether it could be closed, which is when some file systems notice that the disk is full.
  bool close() {
    const int fd = std::exchange(fd_, -1);
    return ::close(fd) == 0 || errno == EINTR;
  }

 private:
  int fd_;
};

std::optional<std::string> read_all(int fd, std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t done = 0; done < size;) {
    const ssize_t got = ::read(fd, bytes.data() + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    done += static_cast<std::size_t>(got);
  }
  return bytes;
}

std::optional<std::vector<std::string>> parse(const std::string& bytes, const CodeKey& key) {
  Header header;
  if (bytes.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  std::string_view payload = std::string_view(bytes).substr(sizeof header);
  if (header.magic != magic || header.format != format_number || header.key != key ||
      header.payload_size != payload.size() || header.checksum != checksum_of(key, payload))
    return std::nullopt;
  std::vector<std::string> objects;
  for (std::uint64_t i = 0; i < header.num_objects; ++i) {
    std::uint64_t size = 0;
    if (payload.size() < sizeof size) return std::nullopt;
    std::memcpy(&size, payload.data(), sizeof size);
    payload.remove_prefix(sizeof size);
    if (size > payload.size()) return std::nullopt;
    objects.emplace_back(payload.substr(0, static_cast<std::size_t>(size)));
    payload.remove_prefix(static_cast<std::size_t>(size));
  }
  if (!payload.empty() || objects.empty()) return std::nullopt;
  return objects;
}

/// What a file is in a folder that may serve other purposes, too: results of killed runs end in .part as well.
enum class CacheFile { object, part, foreign };

/// By its name: KEY.object, or KEY.PROCESS.NUMBER.part, where the key has 32 hexadecimal digits.
CacheFile kind_of(std::string_view name) {
  const auto take = [&](std::string_view digits, std::size_t least, std::size_t most) {
    const std::size_t count = std::min(name.find_first_not_of(digits), name.size());
    name.remove_prefix(count);
    return count >= least && count <= most;
  };
  const auto take_dot = [&] {
    const bool there = name.starts_with('.');
    if (there) name.remove_prefix(1);
    return there;
  };
  constexpr std::string_view decimal = "0123456789";
  if (!take("0123456789abcdef", 32, 32)) return CacheFile::foreign;
  if (name == extension) return CacheFile::object;
  const bool part = take_dot() && take(decimal, 1, 20) && take_dot() && take(decimal, 1, 20) && name == ".part";
  return part ? CacheFile::part : CacheFile::foreign;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

std::string CodeKey::text() const { return fmt::format("{:016x}{:016x}", high, low); }

CodeKey code_key(const Program& program, const ObjectOptions& options) {
  Hash128 hash;
  hash.add(format_number);
  hash.add(version());
  hash.add(compiler_version());
  add_processor(hash);
  hash.add(static_cast<std::uint64_t>(options.level));
  hash.add(static_cast<std::uint64_t>(options.lanes));
  hash.add(static_cast<std::uint64_t>(options.steps_per_part));
  hash.add(static_cast<std::uint64_t>(options.carried));
  hash.add(static_cast<std::uint64_t>(program.num_inputs));
  hash.add(program.constants.size());
  for (const double x : program.constants) hash.add(std::bit_cast<std::uint64_t>(x));
  hash.add(program.steps.size());
  for (const Step& s : program.steps) {
    hash.add(static_cast<std::uint64_t>(s.action) << 32 | static_cast<std::uint32_t>(s.a));
    hash.add(static_cast<std::uint64_t>(static_cast<std::uint32_t>(s.b)) << 32 | static_cast<std::uint32_t>(s.c));
  }
  hash.add(program.outputs.size());
  for (const std::int32_t r : program.outputs) hash.add(static_cast<std::uint32_t>(r));
  return hash.result();
}

std::string cache_directory() {
  if (std::string own = variable("MECHANICIAN_CACHE"); !own.empty()) return own;
  // The standard of those directories: a path that is not absolute does not count.
  if (const std::string base = variable("XDG_CACHE_HOME"); base.starts_with('/')) return base + "/mechanician";
  if (const std::string home = variable("HOME"); home.starts_with('/')) return home + "/.cache/mechanician";
  return "";
}

std::string CodeCache::path_of(const CodeKey& key) const { return directory_ + "/" + key.text() + extension; }

std::optional<std::vector<std::string>> CodeCache::find(const CodeKey& key) const {
  if (directory_.empty()) return std::nullopt;
  const Descriptor file(::open(path_of(key).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat about {};
  // Code that somebody else could have put there is not run.
  if (!file || ::fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode) || about.st_uid != ::geteuid() ||
      (about.st_mode & (S_IWGRP | S_IWOTH)) || about.st_size < 0 ||
      static_cast<std::uint64_t>(about.st_size) > largest_file)
    return std::nullopt;
  const std::optional<std::string> bytes = read_all(file.get(), static_cast<std::size_t>(about.st_size));
  if (!bytes) return std::nullopt;
  std::optional<std::vector<std::string>> objects = parse(*bytes, key);
  if (objects) ::futimens(file.get(), nullptr);  // used now
  return objects;
}

void CodeCache::keep(const CodeKey& key, std::span<const std::string> objects) const {
  if (directory_.empty()) return;
  std::string payload;
  for (const std::string& object : objects) {
    const std::uint64_t size = object.size();
    payload.append(reinterpret_cast<const char*>(&size), sizeof size);
    payload += object;
  }
  if (payload.size() + sizeof(Header) > std::min(largest_file, largest_size_)) return;
  const Header header{magic, format_number, key, checksum_of(key, payload), payload.size(), objects.size()};

  std::error_code error;
  if (!fs::is_directory(directory_, error)) {
    fs::create_directories(fs::path(directory_).parent_path(), error);
    ::mkdir(directory_.c_str(), 0700);
  }
  static std::atomic<unsigned> number{0};
  const std::string part = fmt::format("{}/{}.{}.{}.part", directory_, key.text(), ::getpid(), number++);
  Descriptor file(::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) return;
  const bool written = write_all(file.get(), std::string_view(reinterpret_cast<const char*>(&header), sizeof header)) &&
                       write_all(file.get(), payload) && file.close();
  if (!written || std::rename(part.c_str(), path_of(key).c_str()) != 0) {
    ::unlink(part.c_str());
    return;
  }
  trim();
}

void CodeCache::trim() const {
  struct File {
    fs::file_time_type used;
    std::uint64_t size;
    fs::path path;
  };
  std::vector<File> files;
  std::uint64_t total = 0;
  std::error_code error;
  const auto now = fs::file_time_type::clock::now();
  for (fs::directory_iterator it(directory_, error), end; !error && it != end; it.increment(error)) {
    std::error_code gone;
    const fs::path& path = it->path();
    const CacheFile kind = kind_of(path.filename().string());
    if (kind == CacheFile::foreign || !it->is_regular_file(gone)) continue;
    const auto used = it->last_write_time(gone);
    if (gone) continue;
    if (kind == CacheFile::part && now - used > std::chrono::hours(1)) {
      fs::remove(path, gone);  // of a process that was killed
    } else if (kind == CacheFile::object) {
      const std::uint64_t size = it->file_size(gone);
      if (gone) continue;
      files.push_back({used, size, path});
      total += size;
    }
  }
  if (total <= largest_size_) return;
  std::sort(files.begin(), files.end(), [](const File& x, const File& y) { return x.used < y.used; });
  // Somewhat more than needed, so that this does not happen at every file.
  for (const File& file : files) {
    if (total <= largest_size_ - largest_size_ / 8) break;
    fs::remove(file.path, error);
    total -= file.size;
  }
}

}  // namespace mechanician
