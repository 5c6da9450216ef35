#include "mechanician/plot/column_groups.hpp"

#include <algorithm>
#include <unordered_set>

namespace mechanician {

namespace {

/// Names that begin with `word(`.
struct Wrapped {
  const char *group, *beginning;
};
constexpr Wrapped wrapped[] = {{"forces", "Qc("},          {"ideal", "Qi("},           {"nonideal", "Qni("},
                               {"control", "Qcontrol("},   {"multipliers", "lambda("}, {"normals", "normal("},
                               {"frictions", "friction("}, {"powers", "power("}};

bool is_work(std::string_view name) {
  return name == "work_given" || name == "work_ideal" || name == "work_nonideal" || name == "work_control";
}

class Classifier {
 public:
  explicit Classifier(std::span<const std::string> columns) : names_(columns.begin(), columns.end()) {}

  std::string_view group_of(const std::string& name) const {
    if (name == "t") return "time";
    if (name.ends_with("''") && names_.contains(name.substr(0, name.size() - 1))) return "accelerations";
    if (name.ends_with("'") && names_.contains(name.substr(0, name.size() - 1))) return "velocities";
    if (names_.contains(name + "'")) return "positions";
    for (const Wrapped& w : wrapped)
      if (name.starts_with(w.beginning)) return w.group;
    if (name == "residual") return "residuals";
    if (is_work(name) || name.starts_with("work(")) return "works";
    return "outputs";
  }

 private:
  std::unordered_set<std::string> names_;
};

}  // namespace

std::span<const std::string> column_group_names() {
  static const std::vector<std::string> names{"positions", "velocities", "accelerations", "forces",  "ideal",
                                              "nonideal",  "control",    "multipliers",   "normals", "frictions",
                                              "outputs",   "residuals",  "powers",        "works",   "energies"};
  return names;
}

std::vector<std::size_t> columns_of_group(std::string_view group, std::span<const std::string> columns) {
  const Classifier classifier(columns);
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string_view own = classifier.group_of(columns[i]);
    // Energies are outputs that say so, and the works that they are exchanged with.
    const bool energy = (own == "outputs" && columns[i].find("energy") != std::string::npos) || is_work(columns[i]);
    if (own == group || (group == "energies" && energy)) result.push_back(i);
  }
  return group == "time" ? std::vector<std::size_t>{} : result;
}

}  // namespace mechanician
