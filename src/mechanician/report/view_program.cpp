#include "mechanician/report/view_program.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <set>

#include "mechanician/expression/simplify.hpp"
#include "mechanician/model/parameters.hpp"
#include "mechanician/output/json_writer.hpp"
#include "mechanician/report/mesh_file.hpp"
#include "mechanician/report/report_text.hpp"

namespace mechanician {

namespace {

constexpr KindSet of_parameters = kind_bit(SymbolKind::parameter);

const char* quantity_of(ViewForce force) {
  switch (force) {
    case ViewForce::none:
      break;
    case ViewForce::constraint:
      return "Qc";
    case ViewForce::ideal:
      return "Qi";
    case ViewForce::nonideal:
      return "Qni";
    case ViewForce::control:
      return "Qcontrol";
  }
  return "";
}

const char* role_of(ViewForce force) {
  switch (force) {
    case ViewForce::none:
      return "user";
    case ViewForce::constraint:
    case ViewForce::ideal:
      return "ideal";
    case ViewForce::nonideal:
      return "nonideal";
    case ViewForce::control:
      return "control";
  }
  return "user";
}

/// An arrow with the components of a force that belong to coordinates.
bool by_coordinates(const ViewItem& item) {
  return std::any_of(item.force_of.begin(), item.force_of.end(), [](const std::string& name) { return !name.empty(); });
}

/// The turn that takes x and y to where the vectors point; none where they do not say.
Eigen::Quaterniond turn_of_axes(const Eigen::Vector3d& x, const Eigen::Vector3d& y) {
  const Eigen::Vector3d z = x.cross(y);
  if (!(z.norm() > 0.0) || !z.allFinite()) return Eigen::Quaterniond::Identity();
  Eigen::Matrix3d R;
  R.col(0) = x.normalized();
  R.col(2) = z.normalized();
  R.col(1) = R.col(2).cross(R.col(0));
  return Eigen::Quaterniond(R);
}

Eigen::Quaterniond turn_of_normal(const Eigen::Vector3d& n) {
  if (!(n.norm() > 0.0) || !n.allFinite()) return Eigen::Quaterniond::Identity();
  return Eigen::Quaterniond::FromTwoVectors(Eigen::Vector3d::UnitZ(), n);
}

}  // namespace

ViewProgram::ViewProgram(const View& view, const System& system, const Columns& columns)
    : view_(view), system_(&system) {
  int at = 0;
  for (const ColumnGroup& group : columns.groups()) {
    group_begin_.emplace(group.quantity, at);
    at += static_cast<int>(group.names.size());
  }
  const Equations& eqs = system.equations();
  const auto add = [&](const std::vector<Expr>& symbols, const char* quantity) {
    const auto begin = group_begin_.find(quantity);
    if (begin == group_begin_.end()) return;
    for (std::size_t i = 0; i < symbols.size(); ++i)
      columns_.emplace(symbols[i].node(), begin->second + static_cast<int>(i));
  };
  columns_.emplace(eqs.t.node(), 0);
  add(eqs.q, "q"), add(eqs.qd, "qd"), add(eqs.qdd, "qdd"), add(eqs.ideal, "Qi");
  for (const Parameter& p : system.model().parameters)
    if (p.is_mode) modes_.push_back(p.symbol());

  if (view_.forces) add_forces();
  for (const ViewItem& item : view_.items) items_.push_back(make_item(item));
  if (view_.camera.follow) channels(*view_.camera.follow);
  // Now that their number is known: what is made of expressions lies behind them.
  for (const int c : turn_values_)
    channels_[static_cast<std::size_t>(c)].index += static_cast<int>(expressions_.size());
}

int ViewProgram::constant(double x) {
  channels_.push_back({ViewChannel::Source::constant, x, 0});
  return static_cast<int>(channels_.size()) - 1;
}

int ViewProgram::column(int index) {
  channels_.push_back({ViewChannel::Source::column, 0.0, index});
  return static_cast<int>(channels_.size()) - 1;
}

int ViewProgram::expression(const Expr& f) {
  const auto [at, added] = expression_of_.emplace(f.node(), static_cast<int>(expressions_.size()));
  if (added) expressions_.push_back(f);
  return at->second;
}

double ViewProgram::number(const Expr& f) const {
  return evaluate_constant(f, system_->model(), ParameterValues{system_->parameters()});
}

/// By modes.
bool ViewProgram::changes(const Expr& f) const {
  if (modes_.empty()) return false;
  const std::vector<Expr> symbols = symbols_of(std::span(&f, 1));
  return std::any_of(symbols.begin(), symbols.end(), [&](const Expr& s) {
    return std::any_of(modes_.begin(), modes_.end(), [&](const Expr& mode) { return same(s, mode); });
  });
}

int ViewProgram::channel(const Expr& f) {
  if (const auto known = channel_of_.find(f.node()); known != channel_of_.end()) return known->second;
  int c = 0;
  if ((f.kinds() & ~of_parameters) == 0 && !changes(f)) {
    c = constant(number(f));
  } else if (const auto symbol = columns_.find(f.node()); symbol != columns_.end()) {
    c = column(symbol->second);
  } else {
    const int index = expression(f);
    channels_.push_back({ViewChannel::Source::value, 0.0, index});
    c = static_cast<int>(channels_.size()) - 1;
  }
  channel_of_.emplace(f.node(), c);
  return c;
}

std::array<int, 4> ViewProgram::turn(const ViewTurn& t) {
  std::array<int, 4> result{};
  if (t.given == ViewTurn::Given::nothing || t.given == ViewTurn::Given::quaternion) {
    for (std::size_t i = 0; i < 4; ++i)
      result[i] = t.values.empty() ? channel(Expr(i == 0 ? 1.0 : 0.0)) : channel(t.values[i]);
    return result;
  }
  // The expressions of a turn stand together, also where one of them stands elsewhere too.
  const int first = static_cast<int>(expressions_.size());
  expressions_.insert(expressions_.end(), t.values.begin(), t.values.end());
  for (int i = 0; i < 4; ++i) {
    channels_.push_back({ViewChannel::Source::value, 0.0, static_cast<int>(4 * turns_.size()) + i});
    result[static_cast<std::size_t>(i)] = static_cast<int>(channels_.size()) - 1;
    turn_values_.push_back(result[static_cast<std::size_t>(i)]);
  }
  turns_.push_back({t.given, first});
  return result;
}

void ViewProgram::complete(std::vector<double>& values) const {
  for (const Turn& t : turns_) {
    const double* x = values.data() + t.first;
    const Eigen::Vector3d u(x[0], x[1], x[2]);
    const Eigen::Quaterniond q =
        t.given == ViewTurn::Given::axes ? turn_of_axes(u, Eigen::Vector3d(x[3], x[4], x[5])) : turn_of_normal(u);
    values.insert(values.end(), {q.w(), q.x(), q.y(), q.z()});
  }
}

ViewProgram::Triple ViewProgram::force(const ViewItem& item) {
  Triple result{};
  const auto begin = group_begin_.find(quantity_of(item.force));
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const int i = item.force_of[axis].empty() ? -1 : system_->model().find_coordinate(item.force_of[axis]);
    result[axis] = i < 0 || begin == group_begin_.end() ? channel(Expr(0.0)) : column(begin->second + i);
  }
  return result;
}

/// At every place whose components are coordinates the forces by these coordinates are forces at that place.
void ViewProgram::add_forces() {
  const Model& model = system_->model();
  std::vector<ViewForce> kinds;
  // Where joints have arrows of their forces, that of all of them together stays out.
  const bool at_joints = std::any_of(view_.items.begin(), view_.items.end(), [](const ViewItem& item) {
    return item.kind == ViewKind::arrow && item.force == ViewForce::ideal && !by_coordinates(item);
  });
  if (!model.constraints.empty() && !at_joints) kinds.push_back(ViewForce::ideal);
  const auto& contacts = system_->equations().contacts;
  const bool friction = std::any_of(contacts.begin(), contacts.end(), [](const auto& c) { return c.has_friction; });
  if (!model.nonideal.empty() || friction) kinds.push_back(ViewForce::nonideal);
  if (!model.controls.empty()) kinds.push_back(ViewForce::control);
  std::set<std::array<std::string, 3>> done;
  std::vector<ViewItem> arrows;
  for (const ViewItem& item : view_.items) {
    if (item.kind == ViewKind::arrow && by_coordinates(item)) return;  // the model says which it wants
    if (item.kind != ViewKind::point && item.kind != ViewKind::sphere && item.kind != ViewKind::box &&
        item.kind != ViewKind::mesh && item.kind != ViewKind::disc)
      continue;
    std::array<std::string, 3> of;
    bool cartesian = false, other = false;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const Expr& f = item.points[0][axis];
      if ((f.kinds() & ~of_parameters) == 0) continue;
      const bool is_coordinate = f.is_symbol() && f.symbol().kind == SymbolKind::coordinate;
      (is_coordinate ? cartesian : other) = true;
      if (is_coordinate) of[axis] = f.symbol().name;
    }
    if (!cartesian || other || !done.insert(of).second) continue;
    for (const ViewForce kind : kinds) {
      ViewItem arrow;
      arrow.kind = ViewKind::arrow;
      arrow.name = item.name;
      arrow.points = item.points;
      arrow.force = kind;
      arrow.force_of = of;
      arrows.push_back(std::move(arrow));
    }
  }
  view_.items.insert(view_.items.end(), arrows.begin(), arrows.end());
}

ViewProgram::Item ViewProgram::make_item(const ViewItem& what) {
  Item item;
  item.what = what;
  for (const ViewVector& p : what.points) item.points.push_back(channels(p));
  item.vector = by_coordinates(what) ? force(what) : channels(what.vector);
  item.radius = channel(what.radius);
  item.thickness = channel(what.thickness);
  if (what.scale) item.scale = channel(*what.scale);
  item.turn = turn(what.turn);
  if (what.kind == ViewKind::mesh) mesh_of_.emplace(what.file, static_cast<int>(mesh_of_.size()));
  return item;
}

void ViewProgram::write_item(JsonWriter& json, const Item& item) const {
  const ViewItem& what = item.what;
  const auto list = [&](const char* key, std::span<const int> channels) {
    json.key(key).begin_array();
    for (const int c : channels) json.value(c);
    json.end_array();
  };
  json.begin_object();
  json.key("kind").value(name_of(what.kind));
  json.key("name").value(shortened(what.name));
  if (!what.colour.empty()) json.key("colour").value(what.colour);
  switch (what.kind) {
    case ViewKind::point:
      list("at", item.points[0]);
      json.key("radius").value(item.radius);
      break;
    case ViewKind::line:
      json.key("through").begin_array();
      for (const Triple& p : item.points) {
        json.begin_array();
        for (const int c : p) json.value(c);
        json.end_array();
      }
      json.end_array();
      json.key("closed").value(what.closed);
      json.key("dashed").value(what.dashed);
      break;
    case ViewKind::rod:
    case ViewKind::spring:
      list("from", item.points[0]);
      list("to", item.points[1]);
      json.key("radius").value(item.radius);
      if (what.kind == ViewKind::spring) json.key("turns").value(what.turns);
      break;
    case ViewKind::disc:
    case ViewKind::sphere:
      list("at", item.points[0]);
      json.key("radius").value(item.radius);
      if (what.kind == ViewKind::disc) json.key("thickness").value(item.thickness);
      if (what.kind == ViewKind::disc) json.key("hollow").value(what.hollow);
      list("turn", item.turn);
      break;
    case ViewKind::box:
      list("at", item.points[0]);
      list("size", item.vector);
      list("turn", item.turn);
      break;
    case ViewKind::mesh:
      list("at", item.points[0]);
      list("scale", item.vector);
      list("turn", item.turn);
      json.key("mesh").value(mesh_of_.at(what.file));
      break;
    case ViewKind::ground:
      list("at", item.points[0]);
      list("normal", item.vector);
      json.key("size").value(item.radius);
      break;
    case ViewKind::trace:
      list("of", item.points[0]);
      json.key("seconds");
      what.seconds ? json.value(number(*what.seconds)) : json.null();
      break;
    case ViewKind::arrow:
      list("at", item.points[0]);
      list("vector", item.vector);
      json.key("scale");
      item.scale >= 0 ? json.value(item.scale) : json.null();
      json.key("role").value(role_of(what.force));
      break;
  }
  json.end_object();
}

/// Each file once. All together stay so small that a page opens: what has more triangles is drawn more coarsely.
void ViewProgram::write_meshes(JsonWriter& json) const {
  if (mesh_of_.empty()) return;
  constexpr std::size_t most_of_one = 20'000, most_of_all = 200'000;
  const std::size_t most = std::min(most_of_one, most_of_all / mesh_of_.size());
  std::vector<const std::string*> files(mesh_of_.size());
  for (const auto& [file, index] : mesh_of_) files[static_cast<std::size_t>(index)] = &file;
  json.key("meshes").begin_array();
  for (const std::string* file : files) {
    const Mesh mesh = coarsened(read_mesh(*file), most);
    json.begin_object();
    json.key("positions").value(base64_of(std::span<const float>(mesh.positions)));
    json.key("corners").value(base64_of(std::span<const std::uint32_t>(mesh.corners)));
    json.end_object();
  }
  json.end_array();
}

void ViewProgram::write(JsonWriter& json) const {
  json.key("dimension").value(view_.dimension);
  json.key("automatic").value(view_.automatic);
  json.key("camera").begin_object();
  const auto vector = [&](const char* key, const std::optional<ViewVector>& v) {
    if (!v) return;
    json.key(key).begin_array();
    for (const Expr& f : *v) json.value(std::isfinite(number(f)) ? number(f) : 0.0);
    json.end_array();
  };
  vector("from", view_.camera.from);
  vector("at", view_.camera.at);
  vector("up", view_.camera.up);
  if (view_.camera.height) json.key("height").value(number(*view_.camera.height));
  if (view_.camera.follow) {
    json.key("follow").begin_array();
    for (const Expr& f : *view_.camera.follow) json.value(channel_of_.at(f.node()));
    json.end_array();
  }
  json.end_object();
  write_meshes(json);
  json.key("items").begin_array();
  for (const Item& item : items_) write_item(json, item);
  json.end_array();
}

}  // namespace mechanician
