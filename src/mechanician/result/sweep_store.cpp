#include "mechanician/result/sweep_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "mechanician/base/csv.hpp"
#include "mechanician/base/diagnostic.hpp"
#include "mechanician/base/read_file.hpp"
#include "mechanician/result/file_kind.hpp"
#include "mechanician/result/hash_internal.hpp"
#include "mechanician/result/hdf5_file.hpp"

namespace mechanician {

namespace {

constexpr std::uint64_t magic_size = sizeof sweep_magic - 1;
constexpr std::uint64_t record_mark = 0x6b636f6c62707773u;

struct RecordHead {
  std::uint64_t mark, text_size, number_size, hash;
  std::int64_t first, count;
};

std::uint64_t hash_record(const RecordHead& head, std::string_view body) {
  Hash hash;
  const std::uint64_t of_head[] = {head.text_size, head.number_size, static_cast<std::uint64_t>(head.first),
                                   static_cast<std::uint64_t>(head.count)};
  hash.add({reinterpret_cast<const char*>(of_head), sizeof of_head});
  hash.add(body);
  return hash.value();
}

template <class T>
std::string_view bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}
template <class T>
std::string_view bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::uint64_t row_size(const std::vector<SweepQuantity>& quantities) {
  std::uint64_t size = 0;
  for (const SweepQuantity& q : quantities) size += 8 * q.columns;
  return size;
}

std::string head_of(const std::string& setup) {
  const std::uint64_t numbers[] = {setup.size(), hash_of(setup)};
  return sweep_magic + std::string(reinterpret_cast<const char*>(numbers), sizeof numbers) + setup;
}

/// The setup that a part file begins with; nothing where it has none that is whole.
std::optional<std::string> setup_in(const OpenFile& file) {
  const std::uint64_t size = file.size();
  std::uint64_t numbers[2];
  char first[magic_size];
  if (size < magic_size + sizeof numbers) return std::nullopt;
  file.read_at(0, first);
  file.read_at(magic_size, std::span(reinterpret_cast<char*>(numbers), sizeof numbers));
  if (std::memcmp(first, sweep_magic, magic_size) != 0 || numbers[0] > size - magic_size - sizeof numbers)
    return std::nullopt;
  std::string setup(static_cast<std::size_t>(numbers[0]), '\0');
  file.read_at(magic_size + sizeof numbers, setup);
  if (hash_of(setup) != numbers[1]) return std::nullopt;
  return setup;
}

}  // namespace

std::vector<SweepQuantity> quantities_of(const SweepSetup& setup) {
  std::vector<std::string> velocities;
  for (const std::string& name : setup.coordinates) velocities.push_back(name + "'");
  std::vector<SweepQuantity> all{
      {"samples", setup.sample_names.size(), false, setup.sample_names, "what was varied"},
      {"t", 1, false, {}, "time at the end of each motion"},
      {"q", setup.coordinates.size(), false, setup.coordinates, "coordinates at the end"},
      {"qd", velocities.size(), false, velocities, "velocities at the end"},
      {"outputs", setup.kept_names.size(), false, setup.kept_names, "what was kept, at the end"},
      {"outcome", 1, true, {}, "0 done, 1 suspect, 2 stopped by an event, 3 failed"},
      {"steps", 1, true, {}, "accepted steps"},
      {"served", 1, true, {}, "of them by the single integrator"},
      {"violation", 1, false, {}, "largest violation of a constraint"},
      {"balance", 1, false, {}, "balance of energy and work over what is allowed; not a number where it is not kept"},
  };
  std::erase_if(all, [](const SweepQuantity& q) { return q.columns == 0; });
  return all;
}

std::vector<std::pair<int, std::string>> other_parts(const std::string& file) {
  std::vector<std::pair<int, std::string>> result;
  const std::filesystem::path part = PartFile::part_of(file) + "-";
  const std::filesystem::path folder = part.has_parent_path() ? part.parent_path() : ".";
  const std::string prefix = part.filename().string();
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix)) continue;
    int rank = 0;
    const auto read = std::from_chars(name.data() + prefix.size(), name.data() + name.size(), rank);
    if (read.ec != std::errc{} || read.ptr != name.data() + name.size() || rank <= 0) continue;
    // A file of somebody else with such a name is left alone.
    const FileText beginning = read_file(entry.path().string(), magic_size - 1);
    if (beginning.problem.empty() && std::string_view(sweep_magic).starts_with(beginning.text))
      result.emplace_back(rank, entry.path().string());
  }
  std::sort(result.begin(), result.end());
  return result;
}

namespace {

/// Why a file beside which there is no part cannot be gone on with.
std::string describe_result(const std::string& file) {
  if (file.ends_with(".h5")) {
    if (const auto what = why_no_hdf5(file)) return *what;
    const Hdf5Reader reader(file);
    if (reader.has_attribute("kind") && reader.text_attribute("kind") == "sweep")
      return "nothing to go on with: the sweep is complete";
    return reader.has_attribute("format") ? "this is the result of `run`, not of a sweep"
                                          : "this is no result of a sweep";
  }
  const FileText read = read_file(file, std::size_t{1} << 20);
  if (!read.problem.empty()) return fmt::format("cannot be read: {}", read.problem);
  if (read.text.empty()) return "it is empty";
  const std::string_view names = std::string_view(read.text).substr(0, read.text.find('\n'));
  const bool ours = names.find(",outcome,") != std::string_view::npos && names.ends_with(",reason");
  return ours ? "nothing to go on with: the sweep is complete" : "this is no result of a sweep";
}

/// Why a part cannot be gone on with. One that holds nothing is removed, so that the sweep can be begun again.
std::string describe_part(const std::string& file, const std::string& part) {
  if (OpenFile(part, OpenFile::Mode::read).size() == 0) {
    PartFile{file};  // goes with it, unless another process writes it
    return "it holds nothing: the sweep was killed before it began; start it again";
  }
  if (!why_no_hdf5(part)) return "this is a run that has not ended: `mechanician run --resume` goes on with it";
  return "this is no unfinished sweep, or it is damaged";
}

}  // namespace

SweepSetup read_sweep_setup(const std::string& file) {
  // Where `file` is a link, perhaps to nothing yet, the part lies beside what it leads to.
  std::error_code error;
  const std::string part = PartFile::part_of(resolve_links(file));
  if (!std::filesystem::exists(part, error)) {
    if (!std::filesystem::exists(file, error))
      throw FileError(fmt::format("{}: there is no {}: no sweep was interrupted there", file, part));
    throw FileError(fmt::format("{}: {}", file, describe_result(file)));
  }
  const auto setup = setup_in(OpenFile(part, OpenFile::Mode::read));
  if (!setup) throw FileError(fmt::format("{}: {}", part, describe_part(file, part)));
  try {
    return decode_sweep_setup(*setup);
  } catch (const std::invalid_argument& e) {
    throw FileError(fmt::format("{}: the file is damaged: {}", part, e.what()));
  }
}

SweepStore::SweepStore(const SweepSetup& setup) : quantities_(quantities_of(setup)) {}

SweepStore::SweepStore(const SweepSetup& setup, const std::string& file, int rank, Begin begin)
    : quantities_(quantities_of(setup)), setup_(encode(setup)), file_(file) {
  Source mine;
  mine.rank = rank;
  if (rank == 0) {
    part_ = std::make_unique<PartFile>(file);
    file_ = part_->path();
    if (begin == Begin::anew)
      for (const auto& [other, path] : other_parts(file_)) remove_quietly(path);
  } else {
    mine.file = OpenFile(fmt::format("{}-{}", PartFile::part_of(file), rank), OpenFile::Mode::create);
    if (!mine.file.try_lock())
      throw FileError(fmt::format("{}: another sweep is writing this result", mine.file.path()));
  }
  sources_.push_back(std::move(mine));
  OpenFile& own = part_ ? part_->file() : sources_[0].file;
  if (begin == Begin::again && setup_in(own) == setup_) {
    scan(sources_[0], 0);
  } else {
    if (begin == Begin::again && rank == 0) throw FileError(fmt::format("{}: it belongs to another sweep", own.path()));
    if (part_) {
      // Whole from the first moment on: a part that is cut within its head would be in the way for ever.
      part_->make_scratch();
      OpenFile(part_->scratch(), OpenFile::Mode::write).write_at(0, head_of(setup_));
      part_->replace_by_scratch();
    } else {
      own.truncate(0);
      own.write_at(0, head_of(setup_));
    }
    sources_[0].end = own.size();
  }
  own.truncate(sources_[0].end);
  if (part_) part_->keep();
  if (rank == 0 && begin == Begin::again) gather();
}

SweepStore::~SweepStore() = default;

void SweepStore::gather() {
  // This process's own records stay; those of the others are read afresh.
  std::erase_if(records_, [](const Record& r) { return r.file > 0; });
  sources_.resize(1);
  for (const auto& [rank, path] : other_parts(file_)) {
    Source other;
    other.rank = rank;
    other.file = OpenFile(path, OpenFile::Mode::read);
    if (setup_in(other.file) != setup_) continue;
    sources_.push_back(std::move(other));
    scan(sources_.back(), static_cast<int>(sources_.size()) - 1);
  }
}

void SweepStore::scan(Source& source, int index) {
  const OpenFile& file = index == 0 && part_ ? part_->file() : source.file;
  const std::uint64_t size = file.size(), row = row_size(quantities_);
  source.end = magic_size + 16 + setup_.size();
  std::string body;
  for (;;) {
    RecordHead head{};
    if (size - source.end < sizeof head) return;
    file.read_at(source.end, std::span(reinterpret_cast<char*>(&head), sizeof head));
    const std::uint64_t rest = size - source.end - sizeof head;
    if (head.mark != record_mark || head.count < 1 || head.first < 0 || head.text_size > rest ||
        head.number_size > rest - head.text_size || head.number_size / row != static_cast<std::uint64_t>(head.count) ||
        head.number_size % row != 0)
      return;
    body.resize(head.text_size + head.number_size);
    file.read_at(source.end + sizeof head, body);
    if (hash_record(head, body) != head.hash) return;
    records_.push_back({.file = index,
                        .at = source.end + sizeof head,
                        .first = head.first,
                        .count = head.count,
                        .text_size = head.text_size});
    source.end += sizeof head + body.size();
  }
}

void SweepStore::append(const SweepBlock& block) {
  const BatchResult& r = block.result;
  std::string body;
  for (std::size_t i = 0; i < r.reason.size(); ++i) {
    if (r.outcome[i] != Outcome::failed && r.outcome[i] != Outcome::suspect) continue;
    body += bytes_of(block.first + static_cast<std::int64_t>(i));
    body += bytes_of(static_cast<std::uint64_t>(r.reason[i].size()));
    body += r.reason[i];
  }
  RecordHead head{.mark = record_mark,
                  .text_size = body.size(),
                  .number_size = 0,
                  .hash = 0,
                  .first = block.first,
                  .count = r.count};
  std::vector<std::int64_t> outcomes;
  for (const Outcome o : r.outcome) outcomes.push_back(static_cast<std::int64_t>(o));
  for (const std::string_view part :
       {bytes_of(block.samples), bytes_of(r.t), bytes_of(r.q), bytes_of(r.qd), bytes_of(block.kept), bytes_of(outcomes),
        bytes_of(r.steps), bytes_of(r.served), bytes_of(r.violation), bytes_of(r.balance)})
    body += part;
  head.number_size = body.size() - head.text_size;
  head.hash = hash_record(head, body);
  Record record{.file = -1, .at = 0, .first = block.first, .count = r.count, .text_size = head.text_size};
  if (sources_.empty()) {
    record.at = memory_.size();
    memory_.push_back(std::move(body));
  } else {
    OpenFile& own = part_ ? part_->file() : sources_[0].file;
    std::uint64_t& end = sources_[0].end;
    own.write_at(end, std::string(bytes_of(head)) + body);
    record.file = 0, record.at = end + sizeof head;
    end = record.at + body.size();
  }
  records_.push_back(record);
}

void SweepStore::sync() {
  if (!sources_.empty()) (part_ ? part_->file() : sources_[0].file).sync();
}

std::vector<MotionRange> SweepStore::done() const {
  std::vector<MotionRange> result;
  for (const Record& r : records_) result.push_back({r.first, r.count});
  return result;
}

void SweepStore::sort() {
  std::sort(records_.begin(), records_.end(), [](const Record& a, const Record& b) { return a.first < b.first; });
}

bool SweepStore::is_mine(const Record& record, int num_ranks) const {
  return record.file <= 0 || sources_[record.file].rank >= num_ranks;
}

void SweepStore::read_bytes(const Record& record, std::uint64_t at, std::span<char> bytes) const {
  if (record.file < 0) {
    std::copy_n(memory_[record.at].begin() + static_cast<std::ptrdiff_t>(at), bytes.size(), bytes.begin());
    return;
  }
  (record.file == 0 && part_ ? part_->file() : sources_[record.file].file).read_at(record.at + at, bytes);
}

void SweepStore::read(const Record& record, std::size_t quantity, std::vector<char>& bytes) const {
  std::uint64_t at = record.text_size;
  for (std::size_t i = 0; i < quantity; ++i)
    at += 8 * quantities_[i].columns * static_cast<std::uint64_t>(record.count);
  bytes.resize(8 * quantities_[quantity].columns * static_cast<std::size_t>(record.count));
  read_bytes(record, at, bytes);
}

std::vector<SweepReason> SweepStore::reasons(const Record& record) const {
  std::vector<SweepReason> result;
  std::vector<char> bytes(record.text_size);
  read_bytes(record, 0, bytes);
  for (std::size_t at = 0; at + 16 <= bytes.size();) {
    SweepReason reason;
    std::uint64_t size = 0;
    std::memcpy(&reason.motion, bytes.data() + at, 8);
    std::memcpy(&size, bytes.data() + at + 8, 8);
    at += 16;
    reason.text.assign(bytes.data() + at, static_cast<std::size_t>(std::min<std::uint64_t>(size, bytes.size() - at)));
    at += reason.text.size();
    result.push_back(std::move(reason));
  }
  return result;
}

void SweepStore::finish() {
  part_->finish_by_scratch();
  part_.reset();
  for (const auto& [rank, path] : other_parts(file_)) remove_quietly(path);
}

}  // namespace mechanician
