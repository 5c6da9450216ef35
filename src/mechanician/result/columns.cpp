#include "mechanician/result/columns.hpp"

#include <fmt/format.h>

#include <cassert>

namespace mechanician {

namespace {

std::vector<std::string> wrapped(const char* what, const std::vector<std::string>& names) {
  std::vector<std::string> result;
  result.reserve(names.size());
  for (const std::string& name : names) result.push_back(fmt::format("{}({})", what, name));
  return result;
}

std::vector<std::string> with_suffix(const std::vector<std::string>& names, const char* suffix) {
  std::vector<std::string> result;
  result.reserve(names.size());
  for (const std::string& name : names) result.push_back(name + suffix);
  return result;
}

}  // namespace

Columns::Columns(const System& system) {
  for (int i = 0; i < system.n(); ++i) coordinates_.push_back(system.coordinate(i));
  for (int i = 0; i < system.m(); ++i)
    if (system.row(i).kind == RowKind::constraint) constraints_.push_back(system.row(i).name);
  has_control_ = static_cast<int>(constraints_.size()) < system.m();
  std::vector<std::string> outputs;
  for (const Named& output : system.model().outputs) outputs.push_back(output.name);

  add_scalar("t");
  add("q", coordinates_);
  add("qd", with_suffix(coordinates_, "'"));
  add("qdd", with_suffix(coordinates_, "''"));
  add("Qc", wrapped("Qc", coordinates_));
  add("Qi", wrapped("Qi", coordinates_));
  add("Qni", wrapped("Qni", coordinates_));
  if (has_control_) add("Qcontrol", wrapped("Qcontrol", coordinates_));
  add("lambda", wrapped("lambda", constraints_));
  std::vector<std::string> normals, frictions;
  for (const ContactRow& c : system.equations().contacts) {
    if (!c.has_friction) continue;
    const std::string& name = system.row(c.row).name;
    normals.push_back(fmt::format("normal({})", name));
    for (std::size_t k = 0; k < c.slip.size(); ++k)
      frictions.push_back(c.slip.size() == 1 ? fmt::format("friction({})", name) : fmt::format("friction({},{})", name, k + 1));
  }
  add("normal", normals);
  add("friction", frictions);
  add("outputs", outputs);
  add_scalar("residual");
  add("power", wrapped("power", constraints_));
  for (const char* work : {"work_given", "work_ideal", "work_nonideal", "work_control"}) add_scalar(work);
  add("work", wrapped("work", constraints_));
}

void Columns::add(std::string quantity, std::vector<std::string> names) {
  if (names.empty()) return;
  size_ += static_cast<int>(names.size());
  groups_.push_back({std::move(quantity), std::move(names), false});
}

void Columns::add_scalar(std::string quantity) {
  add(quantity, {quantity});
  groups_.back().scalar = true;
}

std::vector<std::string> Columns::names() const {
  std::vector<std::string> result;
  for (const ColumnGroup& group : groups_) result.insert(result.end(), group.names.begin(), group.names.end());
  return result;
}

void Columns::fill_row(const Sample& s, std::vector<double>& row) const {
  row.clear();
  const auto append = [&](const Eigen::VectorXd& x) { row.insert(row.end(), x.data(), x.data() + x.size()); };
  row.push_back(s.t);
  for (const Eigen::VectorXd* x : {&s.q, &s.qd, &s.qdd, &s.Qc, &s.Qc_i, &s.Qc_ni}) append(*x);
  if (has_control_) append(s.Q_control);
  append(s.lambda);
  append(s.normal);
  append(s.friction);
  append(s.outputs);
  row.push_back(s.residual);
  append(s.power);
  row.insert(row.end(), {s.works.given, s.works.ideal, s.works.nonideal, s.works.control});
  append(s.works.constraints);
  assert(static_cast<int>(row.size()) == size_);
}

}  // namespace mechanician
