#include "mechanician/result/hdf5_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "mechanician/base/diagnostic.hpp"
#include "mechanician/result/hash_internal.hpp"
#include "mechanician/result/hdf5_layout_internal.hpp"

namespace mechanician {

namespace {

constexpr std::size_t largest_buffer = std::size_t{1} << 20;
constexpr std::uint64_t unknown_rows = 0;

std::string_view bytes_of(const std::vector<double>& x) {
  return {reinterpret_cast<const char*>(x.data()), x.size() * sizeof(double)};
}

std::string_view bytes_of(const Eigen::VectorXd& x) {
  return {reinterpret_cast<const char*>(x.data()), static_cast<std::size_t>(x.size()) * sizeof(double)};
}

/// How many rows the run will have if it reaches its end.
std::uint64_t expected_rows(const RunSetup& setup) {
  if (!setup.every) return unknown_rows;
  const double intervals = std::ceil((setup.motion.to - setup.start.t) / *setup.every);
  return intervals < 1e12 ? static_cast<std::uint64_t>(intervals) + 1 : unknown_rows;
}

/// A file with its datasets and where they are.
class PlacedFile {
 public:
  PlacedFile() = default;
  PlacedFile(const std::string& path, const std::vector<Hdf5Dataset>& datasets,
             const std::vector<Hdf5Attribute>& attributes) {
    const auto offsets = create_hdf5(path, datasets, attributes);
    for (std::size_t i = 0; i < datasets.size(); ++i)
      places_.emplace(datasets[i].path, Place{offsets[i], datasets[i].row_size(), datasets[i].rows});
  }

  /// An existing file, for copying from it.
  explicit PlacedFile(const Hdf5Reader& reader, const std::vector<Hdf5Dataset>& datasets) {
    for (const Hdf5Dataset& d : datasets) {
      if (d.columns == 0 || !reader.has(d.path)) continue;
      const auto layout = reader.layout(d.path, d.type);
      places_.emplace(d.path, Place{layout.offset, layout.columns * (d.row_size() / d.columns), layout.rows});
    }
  }

  void write(OpenFile& file, const std::string& dataset, std::uint64_t row, std::string_view bytes) const {
    if (bytes.empty()) return;
    const Place& p = places_.at(dataset);
    file.write_at(p.offset + row * p.row_size, bytes);
  }
  void write_count(OpenFile& file, const std::string& dataset, std::uint64_t count) const {
    const auto value = static_cast<std::int64_t>(count);
    write(file, dataset, 0, {reinterpret_cast<const char*>(&value), sizeof value});
  }
  /// The first rows of a dataset from another file; false if that has not got them.
  bool copy(OpenFile& file, const OpenFile& from, const PlacedFile& other, const std::string& dataset,
            std::uint64_t rows) const {
    if (rows == 0) return true;
    const auto source = other.places_.find(dataset);
    const Place& p = places_.at(dataset);
    if (source == other.places_.end() || source->second.row_size != p.row_size || source->second.rows < rows)
      return false;
    file.copy_from(from, source->second.offset, p.offset, rows * p.row_size);
    return true;
  }
  Extent extent(const std::string& dataset, std::uint64_t rows) const {
    const auto p = places_.find(dataset);
    if (p == places_.end()) return {};
    return {p->second.offset, std::min(rows, p->second.rows) * p->second.row_size};
  }
  /// Everything that changes while the file grows.
  std::vector<Extent> changing() const {
    std::vector<Extent> result;
    for (const auto& [path, p] : places_)
      if (!path.starts_with("setup/") && !path.starts_with("columns/"))
        result.push_back({p.offset, p.rows * p.row_size});
    return result;
  }

 private:
  struct Place {
    std::uint64_t offset, row_size, rows;
  };
  std::unordered_map<std::string, Place> places_;
};

/// Rows to come: in all of them t is not a number.
void write_no_time(const PlacedFile& places, OpenFile& file, std::uint64_t first, std::uint64_t last) {
  const std::vector<double> none(static_cast<std::size_t>(std::min<std::uint64_t>(last - first, 1u << 16)),
                                 std::numeric_limits<double>::quiet_NaN());
  for (; first < last; first += none.size())
    places.write(file, "t", first, bytes_of(none).substr(0, static_cast<std::size_t>(last - first) * sizeof(double)));
}

class Hdf5Writer final : public ResultWriter {
 public:
  Hdf5Writer(std::unique_ptr<PartFile> part, ResultHeader header)
      : header_(std::move(header)), part_(std::move(part)), buffers_(header_.columns.groups().size()) {
    row_size_ = static_cast<std::uint64_t>(header_.columns.size()) * sizeof(double);
    expected_ = expected_rows(header_.setup);
    room_.rows = std::max<std::uint64_t>(1024, (std::uint64_t{1} << 18) / row_size_);
    if (expected_ != unknown_rows) room_.rows = std::min(room_.rows, expected_);
    // Enough for most, so that the file need not be made twice; what is not used takes no space on the disk.
    room_.events = 16, room_.name_size = 16, room_.constraints_size = 64;
    room_.checkpoint_size = 16384 + 16 * row_size_;
    hashes_.resize(buffers_.size());
  }

  void begin() { rebuild(part_->file(), places_, std::span<const MotionEvent>{}); }

  void resume(const StoredRun& run) {
    rows_ = static_cast<std::uint64_t>(run.checkpoint.rows);
    make_room_for_rows(rows_);
    if (!run.checkpoint.motion.empty()) checkpoint_ = to_bytes(run.checkpoint, ++sequence_);
    make_room_for(run.checkpoint.events);
    const Hdf5Reader reader(run.source);
    const OpenFile source(run.source, OpenFile::Mode::read);
    const PlacedFile places(reader, plan_datasets(header_, room_));
    check_rows(source, places, run.checkpoint);
    rebuild(source, places, run.checkpoint.events);
  }

  bool keeps_checkpoints() const override { return true; }

  void row(std::span<const double> row) override {
    auto next = row.begin();
    auto buffer = buffers_.begin();
    for (const ColumnGroup& g : header_.columns.groups()) {
      const auto end = next + static_cast<std::ptrdiff_t>(g.names.size());
      buffer->insert(buffer->end(), next, end);
      next = end, ++buffer;
    }
    if (++buffered_ * row_size_ > largest_buffer) write_rows();
  }

  void flush(const RunState& state) override {
    write_rows();
    if (state.checkpoint) store(*state.checkpoint);
    if (make_room_for(state.events)) {
      rebuild(part_->file(), places_, state.events);
      return;
    }
    // All of them: late ones may have been refined since they were written.
    write_events(part_->file(), places_, room_, state.events);
    num_events_ = state.events.size();
    if (state.checkpoint) places_.write(part_->file(), "checkpoint", slot(), checkpoint_);
  }

  void finish(const RunState& state) override {
    flush(state);
    Room exact{.rows = rows_, .events = state.events.size()};
    for (const MotionEvent& e : state.events) {
      exact.name_size = std::max<std::uint64_t>(exact.name_size, e.name.size());
      exact.constraints_size = std::max<std::uint64_t>(exact.constraints_size, constraints_text(e).size());
    }
    if (!state.summary.complete()) exact.checkpoint_size = checkpoint_.size();
    build(exact, state, part_->file(), places_, state.events);
    part_->finish_by_scratch();
  }

 private:
  std::uint64_t slot() const { return static_cast<std::uint64_t>(sequence_ % 2); }

  /// The scratch file with all that there is so far; the events from the other file where none are given.
  PlacedFile build(const Room& room, const RunState& state, const OpenFile& from, const PlacedFile& old,
                   std::optional<std::span<const MotionEvent>> events) const {
    try {
      PlacedFile next(part_->scratch(), plan_datasets(header_, room), plan_attributes(header_, state));
      OpenFile file(part_->scratch(), OpenFile::Mode::write);
      for (const ColumnGroup& g : header_.columns.groups())
        if (!next.copy(file, from, old, g.quantity, rows_))
          throw FileError(fmt::format("{}: the rows of `{}` are not there", from.path(), g.quantity));
      write_no_time(next, file, rows_, room.rows);
      next.write_count(file, "rows_valid", rows_);
      if (events) {
        write_events(file, next, room, *events);
      } else {
        for (const PackedColumn& c : pack_events({}, room, 0)) next.copy(file, from, old, c.path, num_events_);
        next.write_count(file, "events_valid", num_events_);
      }
      const RunSetup& setup = header_.setup;
      next.write(file, "setup/parameters", 0, bytes_of(setup.parameters));
      next.write(file, "setup/start_position", 0, bytes_of(setup.start.q));
      next.write(file, "setup/start_velocity", 0, bytes_of(setup.start.qd));
      for (const PackedColumn& c : long_names(header_.columns)) next.write(file, c.path, 0, c.bytes);
      if (room.checkpoint_size > 0) next.write(file, "checkpoint", slot(), checkpoint_);
      seal_hdf5(file, next.changing());
      file.close();
      return next;
    } catch (...) {
      remove_quietly(part_->scratch());
      throw;
    }
  }

  /// A new FILE.part with the room wanted.
  void rebuild(const OpenFile& from, const PlacedFile& old, std::optional<std::span<const MotionEvent>> events) {
    RunState state;
    state.summary.begin = state.summary.end = header_.setup.start.t;
    state.summary.method = name_of(header_.setup.motion.method);
    state.summary.tolerance = header_.setup.motion.tolerance;
    PlacedFile next = build(room_, state, from, old, events);
    part_->replace_by_scratch();
    part_->keep();
    places_ = std::move(next);
    if (events) num_events_ = events->size();
  }

  void write_rows() {
    if (buffered_ == 0) return;
    if (make_room_for_rows(rows_ + buffered_)) rebuild(part_->file(), places_, std::nullopt);
    auto buffer = buffers_.begin();
    auto hash = hashes_.begin();
    for (const ColumnGroup& g : header_.columns.groups()) {
      places_.write(part_->file(), g.quantity, rows_, bytes_of(*buffer));
      hash->add(bytes_of(*buffer));
      buffer->clear(), ++buffer, ++hash;
    }
    rows_ += buffered_;
    buffered_ = 0;
    places_.write_count(part_->file(), "rows_valid", rows_);
  }

  void write_events(OpenFile& file, const PlacedFile& places, const Room& room,
                    std::span<const MotionEvent> events) const {
    const std::size_t n = header_.columns.coordinates().size();
    for (const PackedColumn& c : pack_events(events, room, n)) places.write(file, c.path, 0, c.bytes);
    places.write_count(file, "events_valid", events.size());
  }

  void store(RunCheckpoint checkpoint) {
    assert(static_cast<std::uint64_t>(checkpoint.rows) == rows_);
    checkpoint.row_hashes.clear();
    for (const Hash& hash : hashes_) checkpoint.row_hashes.push_back(hash.value());
    checkpoint_ = to_bytes(checkpoint, ++sequence_);
  }

  /// The rows of a file that was left behind are those that were written.
  void check_rows(const OpenFile& source, const PlacedFile& places, const RunCheckpoint& checkpoint) {
    if (rows_ == 0) return;
    const auto damaged = [&](const std::string& what) {
      return FileError(fmt::format("{}: the file is damaged: {} are not as they were written", source.path(), what));
    };
    if (checkpoint.row_hashes.size() != hashes_.size()) throw damaged("the columns");
    std::vector<char> bytes;
    for (std::size_t i = 0; i < hashes_.size(); ++i) {
      const std::string& quantity = header_.columns.groups()[i].quantity;
      Extent e = places.extent(quantity, rows_);
      while (e.size > 0) {
        bytes.resize(static_cast<std::size_t>(std::min<std::uint64_t>(e.size, 1u << 20)));
        source.read_at(e.offset, bytes);
        hashes_[i].add({bytes.data(), bytes.size()});
        e = {e.offset + bytes.size(), e.size - bytes.size()};
      }
      if (hashes_[i].value() != checkpoint.row_hashes[i]) throw damaged(fmt::format("rows of `{}`", quantity));
    }
  }

  /// True if the file at hand is too small.
  bool make_room_for_rows(std::uint64_t rows) {
    if (rows <= room_.rows) return false;
    while (rows > room_.rows) room_.rows *= 2;
    if (expected_ >= rows) room_.rows = std::min(room_.rows, expected_);
    return true;
  }

  /// The same for events and a checkpoint that are larger than any before.
  bool make_room_for(std::span<const MotionEvent> events) {
    bool grown = false;
    const auto fit = [&](std::uint64_t& size, std::uint64_t needed, std::uint64_t wanted) {
      if (needed <= size) return;
      size = wanted;
      grown = true;
    };
    fit(room_.events, events.size(), std::max<std::uint64_t>(16, 2 * events.size()));
    for (const MotionEvent& e : events) {
      fit(room_.name_size, e.name.size(), e.name.size());
      const std::uint64_t length = constraints_text(e).size();
      fit(room_.constraints_size, length, length);
    }
    fit(room_.checkpoint_size, checkpoint_.size(), checkpoint_.size() * 3 / 2);
    return grown;
  }

  ResultHeader header_;
  std::unique_ptr<PartFile> part_;
  PlacedFile places_;  ///< of FILE.part
  Room room_;
  std::uint64_t row_size_ = 0, expected_ = unknown_rows;
  std::vector<std::vector<double>> buffers_;  ///< by column group
  std::vector<Hash> hashes_;                  ///< of the rows written, by column group
  std::uint64_t rows_ = 0, buffered_ = 0, num_events_ = 0;
  std::string checkpoint_;  ///< the last one
  long sequence_ = 0;
};

}  // namespace

std::unique_ptr<ResultWriter> make_hdf5_writer(const std::string& file, ResultHeader header) {
  auto writer = std::make_unique<Hdf5Writer>(std::make_unique<PartFile>(file), std::move(header));
  writer->begin();
  return writer;
}

std::unique_ptr<ResultWriter> make_resuming_hdf5_writer(StoredRun run, ResultHeader header) {
  auto writer = std::make_unique<Hdf5Writer>(std::move(run.part), std::move(header));
  writer->resume(run);
  return writer;
}

}  // namespace mechanician
