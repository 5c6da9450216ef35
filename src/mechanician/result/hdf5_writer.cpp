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

/// Calls f with blocks that cover the first rows of a dataset, a chunk or about as much at a time, so that a chunk is read once.
template <class F>
void for_each_block(const Hdf5Reader::Layout& layout, std::uint64_t rows, F f) {
  constexpr std::uint64_t cells = std::uint64_t{1} << 15;
  const std::uint64_t columns = layout.chunks ? layout.chunks->columns : std::min(layout.columns, cells);
  const std::uint64_t at_once = layout.chunks ? layout.chunks->rows : std::max<std::uint64_t>(1, cells / columns);
  for (Hdf5Block b; b.row < rows; b.row += b.rows) {
    b.rows = std::min(at_once, rows - b.row);
    for (b.column = 0; b.column < layout.columns; b.column += b.columns) {
      b.columns = std::min(columns, layout.columns - b.column);
      f(b);
    }
  }
}

/// A file with its datasets and where they are; those in chunks are nowhere.
class PlacedFile {
 public:
  PlacedFile() = default;
  PlacedFile(const std::string& path, const std::vector<Hdf5Dataset>& datasets,
             const std::vector<Hdf5Attribute>& attributes) {
    const auto offsets = create_hdf5(path, datasets, attributes);
    for (std::size_t i = 0; i < datasets.size(); ++i)
      if (!datasets[i].chunks)
        places_.emplace(datasets[i].path, Place{offsets[i], datasets[i].row_size(), datasets[i].rows});
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
  /// The first rows of a dataset of numbers from another file.
  void copy(OpenFile& file, const Hdf5Reader& from, const Hdf5Dataset& dataset, std::uint64_t rows) const {
    if (rows == 0) return;
    const Place& p = places_.at(dataset.path);
    const auto layout = from.layout(dataset.path, dataset.type);
    if (layout.columns != dataset.columns || layout.rows < rows)
      throw FileError(fmt::format("{}: the rows of `{}` are not there", from.path(), dataset.path));
    std::string bytes;
    const std::uint64_t cell = size_of(dataset.type);
    for_each_block(layout, rows, [&](const Hdf5Block& b) {
      bytes.resize(static_cast<std::size_t>(b.rows * b.columns * cell));
      from.read(dataset.path, dataset.type, b, bytes);
      const std::uint64_t lines = b.columns == layout.columns ? 1 : b.rows, line = bytes.size() / lines;
      for (std::uint64_t i = 0; i < lines; ++i)
        file.write_at(p.offset + (b.row + i) * p.row_size + b.column * cell,
                      std::string_view(bytes).substr(i * line, line));
    });
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

/// A block of a dataset whose bytes from a row on are at hand; all others are zero.
void copy_block(std::string_view known, std::uint64_t from_row, const Hdf5Dataset& d, const Hdf5Block& block,
                std::span<char> bytes) {
  const std::uint64_t cell = d.matrix ? size_of(d.type) : d.row_size(), line = block.columns * cell;
  std::fill(bytes.begin(), bytes.end(), '\0');
  for (std::uint64_t i = 0; i < block.rows; ++i) {
    if (block.row + i < from_row) continue;
    const std::uint64_t at = (block.row + i - from_row) * d.row_size() + block.column * cell;
    if (at < known.size()) known.substr(at, line).copy(bytes.data() + i * line, line);
  }
}

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

  void begin() { rebuild(nullptr, std::span<const MotionEvent>{}); }

  void resume(const StoredRun& run) {
    rows_ = static_cast<std::uint64_t>(run.checkpoint.rows);
    make_room_for_rows(rows_);
    if (!run.checkpoint.motion.empty()) checkpoint_ = to_bytes(run.checkpoint, ++sequence_);
    make_room_for(run.checkpoint.events);
    const Hdf5Reader reader(run.source);
    rebuild(&reader, run.checkpoint.events, &run.checkpoint);
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
      const Hdf5Reader now(part_->file().path());
      rebuild(&now, state.events);
      return;
    }
    // All of them: late ones may have been refined since they were written.
    write_events(part_->file(), places_, room_, state.events);
    num_events_ = state.events.size();
    if (state.checkpoint) places_.write(part_->file(), "checkpoint", slot(), checkpoint_);
  }

  void finish(const RunState& state) override {
    // How often a run was disturbed is not to be seen in what it leaves.
    if (state.summary.complete()) sequence_ = 0;
    flush(state);
    Room exact{.rows = rows_, .events = state.events.size()};
    for (const MotionEvent& e : state.events) {
      exact.name_size = std::max<std::uint64_t>(exact.name_size, e.name.size());
      exact.constraints_size = std::max<std::uint64_t>(exact.constraints_size, constraints_text(e).size());
    }
    // A run that has reached its end may go on past it.
    if (!state.summary.complete() || state.checkpoint) exact.checkpoint_size = checkpoint_.size();
    try {
      const Hdf5Reader now(part_->file().path());
      build(exact, Purpose::finished, state, &now, state.events);
      part_->finish_by_scratch();
    } catch (const FileError& e) {
      throw FileError(fmt::format("{}; nothing is lost: {} has all rows, and `--resume {}` makes the result of it",
                                  e.what(), part_->file().path(), part_->path()));
    }
  }

 private:
  std::uint64_t slot() const { return static_cast<std::uint64_t>(sequence_ % 2); }

  enum class Purpose { to_grow, finished };

  /// All datasets but the rows and the checkpoint, as they lie in the file; the events from the other file where none are given.
  std::unordered_map<std::string, std::string> contents(const Room& room, const std::vector<Hdf5Dataset>& plan,
                                                        const Hdf5Reader* from,
                                                        std::optional<std::span<const MotionEvent>> events) const {
    std::unordered_map<std::string, std::string> known;
    const auto add = [&](const char* path, std::string_view bytes) { known.emplace(path, bytes); };
    const auto add_count = [&](const char* path, std::uint64_t count) {
      const auto value = static_cast<std::int64_t>(count);
      add(path, {reinterpret_cast<const char*>(&value), sizeof value});
    };
    add_count("rows_valid", rows_);
    add_count("events_valid", events ? events->size() : num_events_);
    for (PackedColumn& c :
         pack_events(events.value_or(std::span<const MotionEvent>{}), room, header_.columns.coordinates().size())) {
      const auto of_it = std::find_if(plan.begin(), plan.end(), [&](const Hdf5Dataset& d) { return d.path == c.path; });
      if (!events && num_events_ > 0) c.bytes = from->bytes(c.path, of_it->type, {0, num_events_, 0, of_it->columns});
      known.emplace(c.path, std::move(c.bytes));
    }
    const RunSetup& setup = header_.setup;
    add("setup/parameters", bytes_of(setup.parameters));
    add("setup/start_position", bytes_of(setup.start.q));
    add("setup/start_velocity", bytes_of(setup.start.qd));
    if (!setup.motion.scale.empty()) add("setup/scale", bytes_of(setup.motion.scale));
    for (PackedColumn& c : long_names(header_.columns)) known.emplace(c.path, std::move(c.bytes));
    return known;
  }

  /// The scratch file with all that there is so far.
  PlacedFile build(const Room& room, Purpose purpose, const RunState& state, const Hdf5Reader* from,
                   std::optional<std::span<const MotionEvent>> events) const {
    try {
      std::vector<Hdf5Dataset> plan = plan_datasets(header_, room);
      if (purpose == Purpose::finished)
        for (Hdf5Dataset& d : plan) d.chunks = choose_chunks(d);
      auto known = contents(room, plan, from, events);
      part_->make_scratch();
      PlacedFile next(part_->scratch(), plan, plan_attributes(header_, state));
      const std::vector<Extent> chunks = write_chunks(
          part_->scratch(), plan, [&](const Hdf5Dataset& d, const Hdf5Block& block, std::span<char> bytes) {
            if (const auto found = known.find(d.path); found != known.end())
              copy_block(found->second, 0, d, block, bytes);
            else if (d.path == "checkpoint")
              copy_block(checkpoint_, slot(), d, block, bytes);
            else
              from->read(d.path, d.type, block, bytes);
          });
      OpenFile file(part_->scratch(), OpenFile::Mode::write);
      for (const Hdf5Dataset& d : plan) {
        if (d.chunks) continue;
        if (const auto found = known.find(d.path); found != known.end())
          next.write(file, d.path, 0, found->second);
        else if (d.path == "checkpoint")
          next.write(file, d.path, slot(), checkpoint_);
        else if (rows_ > 0)
          next.copy(file, *from, d, rows_);
      }
      write_no_time(next, file, rows_, room.rows);
      // Of a finished file everything stays as it is; chunks have checks of their own.
      seal_hdf5(file, purpose == Purpose::finished ? chunks : next.changing());
      file.close();
      return next;
    } catch (...) {
      remove_quietly(part_->scratch());
      throw;
    }
  }

  /// A new FILE.part with the room wanted. Its rows must be those of the checkpoint, if there is one.
  void rebuild(const Hdf5Reader* from, std::optional<std::span<const MotionEvent>> events,
               const RunCheckpoint* checkpoint = nullptr) {
    RunState state;
    state.summary.begin = state.summary.end = header_.setup.start.t;
    state.summary.method = name_of(header_.setup.motion.method);
    state.summary.tolerance = header_.setup.motion.tolerance;
    PlacedFile next = build(room_, Purpose::to_grow, state, from, events);
    if (checkpoint) check_rows(next, *checkpoint, from->path());
    part_->replace_by_scratch();
    part_->keep();
    places_ = std::move(next);
    if (events) num_events_ = events->size();
  }

  void write_rows() {
    if (buffered_ == 0) return;
    if (make_room_for_rows(rows_ + buffered_)) {
      const Hdf5Reader now(part_->file().path());
      rebuild(&now, std::nullopt);
    }
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

  /// The rows of a file that was left behind, now in the scratch file, are those that were written.
  void check_rows(const PlacedFile& places, const RunCheckpoint& checkpoint, const std::string& left_behind) {
    if (rows_ == 0) return;
    const auto damaged = [&](const std::string& what) {
      remove_quietly(part_->scratch());
      return FileError(fmt::format("{}: the file is damaged: {} are not as they were written", left_behind, what));
    };
    if (checkpoint.row_hashes.size() != hashes_.size()) throw damaged("the columns");
    const OpenFile file(part_->scratch(), OpenFile::Mode::read);
    std::vector<char> bytes;
    for (std::size_t i = 0; i < hashes_.size(); ++i) {
      const std::string& quantity = header_.columns.groups()[i].quantity;
      Extent e = places.extent(quantity, rows_);
      while (e.size > 0) {
        bytes.resize(static_cast<std::size_t>(std::min<std::uint64_t>(e.size, 1u << 20)));
        file.read_at(e.offset, bytes);
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
