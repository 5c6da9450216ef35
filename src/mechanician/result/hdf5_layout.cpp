#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "mechanician/output/json_writer.hpp"
#include "mechanician/result/hdf5_layout_internal.hpp"

namespace mechanician {

// Rows are written to the file as they are in memory.
static_assert(std::endian::native == std::endian::little && std::numeric_limits<double>::is_iec559);

namespace {

constexpr std::uint64_t kind_size = 16;  ///< bytes of the kind of an event

std::string about(const std::string& quantity) {
  struct Text {
    const char *quantity, *text;
  };
  static constexpr Text texts[] = {
      {"t", "time"},
      {"q", "coordinates"},
      {"qd", "velocities"},
      {"qdd", "accelerations"},
      {"Qc", "constraint force by coordinate, Qi + Qni"},
      {"Qi", "ideal part of the constraint force"},
      {"Qni", "non-ideal part of the constraint force"},
      {"Qcontrol", "control force by coordinate"},
      {"lambda", "multipliers by constraint, A'lambda = Qi"},
      {"tau", "efforts of actuators"},
      {"e", "errors of the requirements of control"},
      {"cost", "of control"},
      {"outputs", "[outputs] of the model"},
      {"modes", "[modes] of the model"},
      {"engaged", "1 where a constraint or requirement that events change is engaged, else 0"},
      {"residual", "largest constraint violation"},
      {"power", "power of the ideal force by constraint"},
      {"work_given", "work of the given forces since the start"},
      {"work_ideal", "work of the ideal constraint force since the start"},
      {"work_nonideal", "work of the non-ideal constraint force since the start"},
      {"work_control", "work of the control force since the start"},
      {"work", "work of the ideal force since the start, by constraint"},
      {"work_of_actuators", "work of the control force since the start, by actuator"},
  };
  for (const Text& t : texts)
    if (quantity == t.quantity) return t.text;
  return {};
}

std::string padded(std::string text, std::uint64_t size) {
  text.resize(size, '\0');
  return text;
}

std::uint64_t longest(const std::vector<std::string>& names) {
  std::size_t size = 1;
  for (const std::string& name : names) size = std::max(size, name.size());
  return size;
}

template <class T>
void append_raw(std::string& out, T x) {
  static_assert(sizeof x == 8);
  out.append(reinterpret_cast<const char*>(&x), sizeof x);
}

/// Not every event has every vector.
void append_vector(std::string& out, const Eigen::VectorXd& x, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i)
    append_raw(out, x.size() == static_cast<Eigen::Index>(n) ? x(static_cast<Eigen::Index>(i))
                                                             : std::numeric_limits<double>::quiet_NaN());
}

}  // namespace

std::string constraints_text(const MotionEvent& event) { return fmt::format("{}", fmt::join(event.constraints, ", ")); }

std::vector<Hdf5Dataset> plan_datasets(const ResultHeader& header, const Room& room) {
  const std::vector<std::string>& coordinates = header.columns.coordinates();
  const std::uint64_t n = coordinates.size();
  std::vector<Hdf5Dataset> plan;
  for (const ColumnGroup& g : header.columns.groups())
    plan.push_back({g.quantity, Hdf5Type::number, room.rows, g.names.size(), !g.scalar, g.names, about(g.quantity)});
  for (const ColumnGroup& g : header.columns.groups())
    if (g.names.size() > most_attribute_names)
      plan.push_back({"columns/" + g.quantity, Hdf5Type::text, g.names.size(), longest(g.names), false, {}, {}});
  plan.push_back({"rows_valid", Hdf5Type::integer, 1, 1, false, {}, "rows that count; later ones are room"});
  plan.push_back({"events_valid", Hdf5Type::integer, 1, 1, false, {}, "events that count"});
  plan.push_back({"events/time", Hdf5Type::number, room.events, 1, false, {}, {}});
  plan.push_back({"events/kind", Hdf5Type::text, room.events, kind_size, false, {}, {}});
  plan.push_back({"events/name", Hdf5Type::text, room.events, room.name_size, false, {}, {}});
  plan.push_back({"events/constraints", Hdf5Type::text, room.events, room.constraints_size, false, {}, {}});
  for (const char* vector : {"events/position", "events/velocity_before", "events/velocity_after"})
    plan.push_back({vector, Hdf5Type::number, room.events, n, true, coordinates, {}});
  plan.push_back({"events/sigma", Hdf5Type::number, room.events, 1, false, {}, {}});
  for (const char* count : {"events/dimension", "events/turning", "events/noise_limited"})
    plan.push_back({count, Hdf5Type::integer, room.events, 1, false, {}, {}});
  const RunSetup& setup = header.setup;
  plan.push_back({"setup/parameters", Hdf5Type::number, setup.parameters.size(), 1, false, setup.parameter_names, {}});
  // Of a large system there is a start, but no list of names.
  for (const auto& [path, x] :
       {std::pair("setup/start_position", &setup.start.q), std::pair("setup/start_velocity", &setup.start.qd)})
    plan.push_back({path, Hdf5Type::number, static_cast<std::uint64_t>(x->size()), 1, false, coordinates, {}});
  if (!setup.motion.scale.empty())
    plan.push_back({"setup/scale", Hdf5Type::number, setup.motion.scale.size(), 1, false, coordinates, {}});
  if (room.checkpoint_size > 0)
    plan.push_back({"checkpoint", Hdf5Type::bytes, 2, room.checkpoint_size, true, {}, "for --resume"});
  return plan;
}

std::vector<Hdf5Attribute> plan_attributes(const ResultHeader& header, const RunState& state) {
  const RunSetup& setup = header.setup;
  JsonWriter summary;
  write_summary(summary, state.summary, state.events, header.columns);
  std::vector<Hdf5Attribute> plan{
      {"format", std::string(result_format)},
      {"version", setup.version},
      {"checkpoint_format", checkpoint_format},
      {"model", setup.model.text},
      {"model_file", setup.model.file},
      {"options", options_json(setup, header.columns)},
      {"to", setup.motion.to},
      {"tolerance", setup.motion.tolerance},
      {"method", std::string(name_of(setup.motion.method))},
      {"first_step", setup.motion.first_step},
      {"largest_step", setup.motion.largest_step},
      {"start_time", setup.start.t},
      {"verify", std::int64_t{setup.verify}},
      {"status", std::string(name_of(state.summary.status))},
      {"message", state.summary.message},
      {"complete", std::int64_t{state.summary.complete()}},
      {"trusted", std::int64_t{state.summary.complete() && state.summary.certificate.holds}},
      {"summary", summary.text()},
  };
  if (setup.every) plan.push_back({"every", *setup.every});
  if (!setup.columns.empty()) plan.push_back({"columns_chosen", setup.columns});
  if (!setup.tables.empty()) plan.push_back({"tables", setup.tables});
  return plan;
}

std::vector<PackedColumn> long_names(const Columns& columns) {
  std::vector<PackedColumn> result;
  for (const ColumnGroup& g : columns.groups()) {
    if (g.names.size() <= most_attribute_names) continue;
    std::string bytes;
    const std::uint64_t width = longest(g.names);
    for (const std::string& name : g.names) bytes += padded(name, width);
    result.push_back({"columns/" + g.quantity, std::move(bytes)});
  }
  return result;
}

std::vector<PackedColumn> pack_events(std::span<const MotionEvent> events, const Room& room, std::size_t n) {
  std::string time, kind, name, constraints, q, before, after, sigma, dimension, turning, noise;
  for (const MotionEvent& e : events) {
    append_raw(time, e.time);
    kind += padded(std::string(name_of(e.kind)), kind_size);
    name += padded(e.name, room.name_size);
    constraints += padded(constraints_text(e), room.constraints_size);
    append_vector(q, e.q, n);
    append_vector(before, e.qd_before, n);
    append_vector(after, e.qd_after, n);
    append_raw(sigma, e.sigma);
    append_raw(dimension, std::int64_t{e.dimension});
    append_raw(turning, std::int64_t{e.turning});
    append_raw(noise, std::int64_t{e.noise_limited});
  }
  return {{"events/time", std::move(time)},
          {"events/kind", std::move(kind)},
          {"events/name", std::move(name)},
          {"events/constraints", std::move(constraints)},
          {"events/position", std::move(q)},
          {"events/velocity_before", std::move(before)},
          {"events/velocity_after", std::move(after)},
          {"events/sigma", std::move(sigma)},
          {"events/dimension", std::move(dimension)},
          {"events/turning", std::move(turning)},
          {"events/noise_limited", std::move(noise)}};
}

}  // namespace mechanician
