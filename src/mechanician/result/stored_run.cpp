/// Reading back what hdf5_writer.cpp wrote.

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <optional>

#include "mechanician/base/diagnostic.hpp"
#include "mechanician/result/file_kind.hpp"
#include "mechanician/result/hdf5_layout_internal.hpp"
#include "mechanician/result/hdf5_writer.hpp"

namespace mechanician {

namespace {

constexpr std::string_view part_ending = ".part";

bool exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

class StoredRunReader {
 public:
  explicit StoredRunReader(const std::string& path) : path_(checked(path)), reader_(path) {
    if (reader_.has_attribute("kind") && reader_.text_attribute("kind") == "sweep")
      throw FileError(fmt::format("{}: this is the result of a sweep, and the sweep is complete", path_));
    if (!reader_.has_attribute("format") || reader_.text_attribute("format") != result_format)
      throw FileError(fmt::format("{}: this is no result that `run` has written", path_));
  }

  RunSetup setup() const {
    RunSetup s;
    s.model = {reader_.text_attribute("model_file"), reader_.text_attribute("model")};
    s.version = reader_.text_attribute("version");
    s.motion.to = reader_.number_attribute("to");
    s.motion.tolerance = reader_.number_attribute("tolerance");
    s.motion.first_step = reader_.number_attribute("first_step");
    s.motion.largest_step = reader_.number_attribute("largest_step");
    const auto method = method_of(reader_.text_attribute("method"));
    if (!method) damaged("its method is unknown");
    s.motion.method = *method;
    if (reader_.has_attribute("every")) s.every = reader_.number_attribute("every");
    if (reader_.has_attribute("columns_chosen")) s.columns = reader_.text_attribute("columns_chosen");
    if (reader_.has_attribute("tables")) s.tables = reader_.text_attribute("tables");
    s.verify = reader_.integer_attribute("verify") != 0;
    s.start.t = reader_.number_attribute("start_time");
    const auto vector = [&](const char* name) {
      const std::vector<double> x = reader_.numbers(name);
      return Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(x.data(), static_cast<Eigen::Index>(x.size())));
    };
    s.start.q = vector("setup/start_position");
    s.start.qd = vector("setup/start_velocity");
    s.parameters = reader_.numbers("setup/parameters");
    if (reader_.has("setup/scale")) s.motion.scale = reader_.numbers("setup/scale");
    if (s.start.q.size() != s.start.qd.size()) damaged("start positions and velocities differ in number");
    return s;
  }

  RunStatus status() const {
    const auto status = status_of(reader_.text_attribute("status"));
    if (!status) damaged("its status is unknown");
    return *status;
  }
  std::string message() const { return reader_.text_attribute("message"); }

  /// Throws where a run was begun in another form than runs have now.
  void refuse_other_formats() const {
    if (reader_.has_attribute("checkpoint_format") &&
        reader_.integer_attribute("checkpoint_format") == checkpoint_format)
      return;
    throw FileError(fmt::format(
        "{}: the run was begun by {}version {}, whose runs cannot be taken up again; its model is in the file: run it "
        "anew",
        path_, reader_.has_attribute("checkpoint_format") ? "" : "an early ", reader_.text_attribute("version")));
  }

  bool has_checkpoint() const { return reader_.has("checkpoint"); }

  /// The later of the whole checkpoints whose rows are there; the beginning where there is none.
  RunCheckpoint checkpoint() const {
    StoredCheckpoint best;
    const long rows = count("rows_valid");
    if (!reader_.has("checkpoint")) damaged("it has no checkpoint");
    const auto slots = reader_.layout("checkpoint", Hdf5Type::bytes);
    for (std::uint64_t i = 0; i < slots.rows; ++i) {
      const auto found = checkpoint_of(reader_.bytes("checkpoint", Hdf5Type::bytes, {i, 1, 0, slots.columns}));
      if (found && found->sequence > best.sequence && found->checkpoint.rows <= rows) best = *found;
    }
    return best.checkpoint;
  }

 private:
  static std::string checked(const std::string& path) {
    if (const auto what = why_no_hdf5(path)) throw FileError(fmt::format("{}: {}", path, *what));
    return path;
  }
  [[noreturn]] void damaged(const std::string& why) const {
    throw FileError(fmt::format("{}: the file is damaged: {}", path_, why));
  }

  long count(const char* name) const {
    if (const auto layout = reader_.layout(name, Hdf5Type::integer); layout.rows != 1 || layout.columns != 1)
      damaged(fmt::format("{} is no number", name));
    std::int64_t value = 0;
    std::memcpy(&value, reader_.bytes(name, Hdf5Type::integer, {0, 1, 0, 1}).data(), sizeof value);
    return static_cast<long>(value);
  }

  std::string path_;
  Hdf5Reader reader_;
};

}  // namespace

namespace {
bool goes_on(RunStatus status) { return status == RunStatus::incomplete || status == RunStatus::interrupted; }
}  // namespace

StoredRun open_stored_run(const std::string& named, bool past_end) {
  StoredRun run;
  run.file = named.ends_with(part_ending) ? named.substr(0, named.size() - part_ending.size()) : named;
  const std::string part = PartFile::part_of(run.file);
  const bool has_part = exists(part);
  if (!has_part && !exists(run.file))
    throw FileError(fmt::format("{}: there is no such result, and no `{}` either", run.file, part));
  if (has_part) run.part = std::make_unique<PartFile>(run.file);
  // A part that was killed before it held anything does not stand in the way of the result beside it.
  std::optional<StoredRunReader> reader;
  const bool empty = has_part && run.part->file().size() == 0;
  if (empty && !exists(run.file))
    throw FileError(fmt::format("{}: it holds nothing: the run was killed before it began; start it again", part));
  if (has_part && !empty) {
    run.source = part;
    try {
      reader.emplace(run.source);
      run.checkpoint = reader->checkpoint();
    } catch (const FileError&) {
      if (!exists(run.file)) throw;
      reader.emplace(run.file);
      if (!goes_on(reader->status())) throw;  // it is of another run
      run.source = run.file;
    }
  } else {
    run.source = run.file;
    reader.emplace(run.source);
  }
  run.setup = reader->setup();
  run.status = reader->status();
  run.message = reader->message();
  const bool extended = past_end && run.status == RunStatus::done && !has_part;
  if (!goes_on(run.status) && !extended) {
    if (empty) run.part.reset();
    return run;
  }
  reader->refuse_other_formats();
  if (extended && !reader->has_checkpoint())
    throw FileError(
        fmt::format("{0}: the result does not hold all that the motion depends on (its method remembers past steps, or "
                    "a second run "
                    "went along): `run MODEL --from {0} --to T` begins a new result where this one ends",
                    run.source));
  run.checkpoint = reader->checkpoint();
  if (!run.part) run.part = std::make_unique<PartFile>(run.file);
  return run;
}

}  // namespace mechanician
