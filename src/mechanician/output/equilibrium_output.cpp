#include "mechanician/output/equilibrium_output.hpp"

#include <fmt/format.h>

#include <cmath>

#include "mechanician/base/safe_text.hpp"
#include "mechanician/base/text.hpp"
#include "mechanician/output/json_writer.hpp"
#include "mechanician/output/linearise_output.hpp"
#include "mechanician/output/table.hpp"

namespace mechanician {

namespace {

constexpr int most_columns = 8;  ///< coordinates beyond that are listed below each other

std::string number(double x) { return fmt::format("{:.10g}", x == 0.0 ? 0.0 : x); }
std::string full(double x) { return fmt::format("{:.17g}", x); }

double growth(const RestState& s) {
  return s.spectrum.eigenvalues.empty() ? 0.0 : s.spectrum.eigenvalues.back().value.real();
}

/// Rounding of a position, as zero.
double clean(double x, const Eigen::VectorXd& all) {
  return std::abs(x) <= 1e-15 * all.cwiseAbs().maxCoeff() ? 0.0 : x;
}

std::string csv_name(const std::string& name) {
  return name.find_first_of(",\"") == std::string::npos ? name : "\"" + name + "\"";
}

}  // namespace

std::string equilibrium_text(const System& system, const EquilibriumReport& report) {
  std::string out;
  if (!system.title().empty()) out += safe_text(system.title()) + "\n";
  const std::size_t count = report.equilibria.size();
  out += count == 0 ? "no state of rest was found\n"
                    : fmt::format("{} of rest\n", count == 1 ? "one state" : fmt::format("{} states", count));
  const int n = system.n();
  if (count > 0 && n <= most_columns) {
    std::vector<std::string> header{""};
    for (int i = 0; i < n; ++i) header.push_back(system.coordinate(i));
    header.insert(header.end(), {"growth", ""});
    TextTable table(header, TextTable::LastColumn::words);
    for (std::size_t k = 0; k < count; ++k) {
      const RestState& s = report.equilibria[k];
      std::vector<std::string> row{fmt::format("{}", k + 1)};
      for (int i = 0; i < n; ++i) row.push_back(number(clean(s.linear.state.q(i), s.linear.state.q)));
      row.push_back(number(growth(s)));
      row.push_back(std::string(s.is_stable() ? "stable" : "unstable") + (s.isolated ? "" : ", one of a continuum"));
      table.add(std::move(row));
    }
    out += table.text();
  } else {
    for (std::size_t k = 0; k < count; ++k) {
      const RestState& s = report.equilibria[k];
      out += fmt::format("\n{}: {}{}\n", k + 1, s.is_stable() ? "stable" : "unstable",
                         s.isolated ? "" : ", one of a continuum");
      TextTable table({"coordinate", "position"});
      for (int i = 0; i < lines_of(n); ++i)
        table.add({system.coordinate(i), number(clean(s.linear.state.q(i), s.linear.state.q))});
      out += table.text() + others(n);
    }
  }
  if (!report.branches) return out;
  const Branches& b = *report.branches;
  out +=
      fmt::format("\n{} of rest over {}\n",
                  b.branches.size() == 1 ? "one branch" : fmt::format("{} branches", b.branches.size()), report.varied);
  TextTable table({"branch", "from", "to", "points", ""}, TextTable::LastColumn::words);
  for (std::size_t k = 0; k < b.branches.size(); ++k) {
    const auto& points = b.branches[k];
    std::size_t stable = 0;
    for (const BranchPoint& p : points) stable += p.num_unstable == 0;
    table.add({fmt::format("{}", k + 1), number(points.front().parameter), number(points.back().parameter),
               fmt::format("{}", points.size()),
               stable == points.size() ? "stable"
               : stable == 0           ? "unstable"
                                       : "partly stable"});
  }
  if (!b.branches.empty()) out += table.text();
  if (!b.special.empty()) {
    std::vector<std::string> header{"branch", report.varied};
    for (int i = 0; i < std::min(n, most_columns); ++i) header.push_back(system.coordinate(i));
    header.emplace_back("");
    TextTable special(header, TextTable::LastColumn::words);
    for (const SpecialPoint& s : b.special) {
      std::vector<std::string> row{fmt::format("{}", s.branch + 1), number(s.parameter)};
      for (int i = 0; i < std::min(n, most_columns); ++i)
        row.push_back(number(std::abs(s.q(i)) < 1e-12 ? 0.0 : s.q(i)));
      row.push_back(s.kind == SpecialKind::fold          ? "fold"
                    : s.kind == SpecialKind::crossing    ? "stability changes where branches cross"
                    : s.kind == SpecialKind::oscillation ? "stability changes: an oscillation"
                                                         : fmt::format("`{}` {}", s.constraint, name_of(s.kind)));
      special.add(std::move(row));
    }
    out += "\n" + special.text();
  }
  return out;
}

std::string equilibrium_json(const System& system, const EquilibriumReport& report) {
  JsonWriter json;
  const auto name = [&](int i) { return system.coordinate(i); };
  json.begin_object().key("t").value(report.t);
  json.key("equilibria").begin_array();
  for (const RestState& s : report.equilibria) {
    json.begin_object();
    json.key("position").named(name, s.linear.state.q);
    json.key("stable").value(s.is_stable());
    json.key("isolated").value(s.isolated);
    const Eigen::VectorXd multipliers = s.linear.multipliers.head(system.num_constraints());
    json.key("multipliers").named([&](int j) { return system.row_name(j); }, multipliers);
    json.key("eigenvalues");
    write_eigenvalues(json, s.spectrum.eigenvalues);
    json.end_object();
  }
  json.end_array();
  json.key("folds").begin_array();
  const auto write_special = [&](const SpecialPoint& s, bool with_kind) {
    json.begin_object().key(report.varied).value(s.parameter);
    json.key("position").named(name, s.q);
    if (with_kind) json.key("kind").value(name_of(s.kind));
    if (!s.constraint.empty()) json.key("constraint").value(s.constraint);
    json.key("branch").value(static_cast<std::int64_t>(s.branch)).end_object();
  };
  if (report.branches)
    for (const SpecialPoint& s : report.branches->special)
      if (s.kind == SpecialKind::fold) write_special(s, false);
  json.end_array();
  if (report.branches) {
    json.key("changes").begin_array();
    for (const SpecialPoint& s : report.branches->special)
      if (s.kind != SpecialKind::fold) write_special(s, true);
    json.end_array();
    json.key("branches").begin_array();
    for (const auto& branch : report.branches->branches) {
      json.begin_array();
      for (const BranchPoint& p : branch) {
        json.begin_object().key(report.varied).value(p.parameter);
        json.key("position").named(name, p.q);
        json.key("stable").value(p.num_unstable == 0).key("growth").value(p.growth).end_object();
      }
      json.end_array();
    }
    json.end_array();
  }
  json.key("notes").list(report.notes);
  json.end_object();
  return json.text();
}

std::string branches_csv(const System& system, const EquilibriumReport& report) {
  std::string out = csv_name(report.varied) + ",branch";
  for (int i = 0; i < system.n(); ++i) out += "," + csv_name(system.coordinate(i));
  out += ",stable,growth\n";
  bool first = true;
  std::size_t k = 0;
  for (const auto& branch : report.branches->branches) {
    // A gap between branches, so that no curve joins them.
    if (!first) {
      out += "nan";
      for (int i = 0; i < system.n() + 3; ++i) out += ",nan";
      out += "\n";
    }
    first = false, ++k;
    for (const BranchPoint& p : branch) {
      out += full(p.parameter) + fmt::format(",{}", k);
      for (const double x : p.q) out += "," + full(x);
      out += fmt::format(",{},{}\n", p.num_unstable == 0 ? 1 : 0, full(p.growth));
    }
  }
  return out;
}

std::string equilibria_csv(const System& system, const EquilibriumReport& report) {
  std::string out = "number";
  for (int i = 0; i < system.n(); ++i) out += "," + csv_name(system.coordinate(i));
  out += ",stable,growth\n";
  for (std::size_t k = 0; k < report.equilibria.size(); ++k) {
    const RestState& s = report.equilibria[k];
    out += fmt::format("{}", k + 1);
    for (const double x : s.linear.state.q) out += "," + full(x);
    out += fmt::format(",{},{}\n", s.is_stable() ? 1 : 0, full(growth(s)));
  }
  return out;
}

}  // namespace mechanician
