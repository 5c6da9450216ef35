/// Reading back what hdf5_writer.cpp wrote.

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "mechanician/base/diagnostic.hpp"
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
  explicit StoredRunReader(const std::string& path) : path_(path), reader_(path), file_(path, OpenFile::Mode::read) {
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
    s.verify = reader_.integer_attribute("verify") != 0;
    s.start.t = reader_.number_attribute("start_time");
    const auto vector = [&](const char* name) {
      const std::vector<double> x = reader_.numbers(name);
      return Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(x.data(), static_cast<Eigen::Index>(x.size())));
    };
    s.start.q = vector("setup/start_position");
    s.start.qd = vector("setup/start_velocity");
    s.parameters = reader_.numbers("setup/parameters");
    if (s.start.q.size() != s.start.qd.size()) damaged("start positions and velocities differ in number");
    return s;
  }

  RunStatus status() const {
    const auto status = status_of(reader_.text_attribute("status"));
    if (!status) damaged("its status is unknown");
    return *status;
  }
  std::string message() const { return reader_.text_attribute("message"); }

  /// The later of the whole checkpoints whose rows and events are there; the beginning where there is none.
  RunCheckpoint checkpoint() const {
    StoredCheckpoint best;
    const auto rows = count("rows_valid"), events = count("events_valid");
    if (!reader_.has("checkpoint")) damaged("it has no checkpoint");
    const auto slots = reader_.layout("checkpoint", Hdf5Type::bytes);
    for (std::uint64_t i = 0; i < slots.rows; ++i) {
      const auto found = checkpoint_of(raw(slots, i, 1));
      if (found && found->sequence > best.sequence && found->checkpoint.rows <= rows &&
          found->checkpoint.events <= events)
        best = *found;
    }
    return best.checkpoint;
  }

  std::vector<MotionEvent> events(long number) const {
    std::vector<MotionEvent> result(static_cast<std::size_t>(number));
    const auto each = [&](const char* name, Hdf5Type type, auto use) {
      const auto layout = reader_.layout(std::string("events/") + name, type);
      if (layout.rows < result.size()) damaged(fmt::format("events/{} is too short", name));
      const std::string bytes = raw(layout, 0, result.size(), type);
      const std::size_t size = result.empty() ? 0 : bytes.size() / result.size();
      for (std::size_t i = 0; i < result.size(); ++i) use(result[i], std::string_view(bytes).substr(i * size, size));
    };
    const auto number_of = [](std::string_view b) {
      double x = 0.0;
      std::memcpy(&x, b.data(), sizeof x);
      return x;
    };
    const auto integer_of = [](std::string_view b) {
      std::int64_t x = 0;
      std::memcpy(&x, b.data(), sizeof x);
      return x;
    };
    const auto text_of = [](std::string_view b) { return std::string(b.substr(0, b.find('\0'))); };
    const auto vector_of = [](std::string_view b) {
      Eigen::VectorXd x(static_cast<Eigen::Index>(b.size() / sizeof(double)));
      std::memcpy(x.data(), b.data(), b.size());
      return x.size() > 0 && std::isnan(x(0)) ? Eigen::VectorXd() : x;
    };
    each("time", Hdf5Type::number, [&](MotionEvent& e, std::string_view b) { e.time = number_of(b); });
    each("kind", Hdf5Type::text, [&](MotionEvent& e, std::string_view b) { e.kind = kind_of(text_of(b)); });
    each("name", Hdf5Type::text, [&](MotionEvent& e, std::string_view b) { e.name = text_of(b); });
    each("constraints", Hdf5Type::text, [&](MotionEvent& e, std::string_view b) { e.constraints = split(text_of(b)); });
    each("position", Hdf5Type::number, [&](MotionEvent& e, std::string_view b) { e.q = vector_of(b); });
    each("velocity_before", Hdf5Type::number, [&](MotionEvent& e, std::string_view b) { e.qd_before = vector_of(b); });
    each("velocity_after", Hdf5Type::number, [&](MotionEvent& e, std::string_view b) { e.qd_after = vector_of(b); });
    each("sigma", Hdf5Type::number, [&](MotionEvent& e, std::string_view b) { e.sigma = number_of(b); });
    each("dimension", Hdf5Type::integer,
         [&](MotionEvent& e, std::string_view b) { e.dimension = static_cast<int>(integer_of(b)); });
    each("turning", Hdf5Type::integer, [&](MotionEvent& e, std::string_view b) { e.turning = integer_of(b) != 0; });
    each("noise_limited", Hdf5Type::integer,
         [&](MotionEvent& e, std::string_view b) { e.noise_limited = integer_of(b) != 0; });
    return result;
  }

 private:
  [[noreturn]] void damaged(const std::string& why) const {
    throw FileError(fmt::format("{}: the file is damaged: {}", path_, why));
  }

  std::string raw(const Hdf5Reader::Layout& layout, std::uint64_t row, std::uint64_t rows,
                  Hdf5Type type = Hdf5Type::bytes) const {
    const std::uint64_t row_size = layout.columns * (type == Hdf5Type::number || type == Hdf5Type::integer ? 8 : 1);
    const std::uint64_t size = file_.size();
    // Sizes of a damaged file may be anything.
    if (row_size > size || rows > size || rows * row_size > size) damaged("a dataset is larger than the file");
    std::string bytes(static_cast<std::size_t>(rows * row_size), '\0');
    if (!bytes.empty()) file_.read_at(layout.offset + row * row_size, bytes);
    return bytes;
  }

  long count(const char* name) const {
    const auto layout = reader_.layout(name, Hdf5Type::integer);
    if (layout.rows != 1) damaged(fmt::format("{} is no number", name));
    std::int64_t value = 0;
    const std::string bytes = raw(layout, 0, 1, Hdf5Type::integer);
    std::memcpy(&value, bytes.data(), sizeof value);
    return static_cast<long>(value);
  }

  EventKind kind_of(const std::string& name) const {
    for (int k = 0; k <= static_cast<int>(EventKind::user); ++k)
      if (name_of(static_cast<EventKind>(k)) == name) return static_cast<EventKind>(k);
    damaged(fmt::format("there is no event `{}`", name));
  }

  static std::vector<std::string> split(std::string_view text) {
    std::vector<std::string> parts;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find(", "), text.size());
      parts.emplace_back(text.substr(0, end));
      text.remove_prefix(std::min(end + 2, text.size()));
    }
    return parts;
  }

  std::string path_;
  Hdf5Reader reader_;
  OpenFile file_;
};

}  // namespace

StoredRun open_stored_run(const std::string& named) {
  StoredRun run;
  run.file = named.ends_with(part_ending) ? named.substr(0, named.size() - part_ending.size()) : named;
  const std::string part = PartFile::part_of(run.file);
  const bool has_part = exists(part);
  if (!has_part && !exists(run.file))
    throw FileError(fmt::format("{}: there is no such result, and no `{}` either", run.file, part));
  run.source = has_part ? part : run.file;
  if (has_part) run.part = std::make_unique<PartFile>(run.file);

  const StoredRunReader reader(run.source);
  run.setup = reader.setup();
  run.status = reader.status();
  run.message = reader.message();
  if (run.status != RunStatus::incomplete && run.status != RunStatus::interrupted) return run;
  run.checkpoint = reader.checkpoint();
  run.events = reader.events(run.checkpoint.events);
  if (!has_part) run.part = std::make_unique<PartFile>(run.file);
  return run;
}

}  // namespace mechanician
