#include "mechanician/motion/equation_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/instant/accelerate.hpp"
#include "mechanician/motion/kernel_equations.hpp"
#include "mechanician/motion/last_made.hpp"
#include "mechanician/motion/written_equations.hpp"

namespace mechanician {

SparseLists list_rows(const SparsePattern& pattern) {
  SparseLists lists;
  lists.begin.assign(static_cast<std::size_t>(pattern.m) + 1, 0);
  for (const SparseEntry& e : pattern.A) ++lists.begin[static_cast<std::size_t>(e.row) + 1];
  for (std::size_t j = 1; j < lists.begin.size(); ++j) lists.begin[j] += lists.begin[j - 1];
  lists.items.resize(pattern.A.size());
  std::vector<int> next(lists.begin.begin(), lists.begin.end() - 1);
  for (std::size_t s = 0; s < pattern.A.size(); ++s)
    lists.items[static_cast<std::size_t>(next[static_cast<std::size_t>(pattern.A[s].row)]++)] = static_cast<int>(s);
  return lists;
}

namespace {

std::vector<Expr> list_forces(const Model& model, std::size_t outputs) {
  std::vector<Expr> all, forces;
  for (std::size_t i = 0; i < outputs; ++i) all.push_back(model.outputs[i].value);
  for (const Event& e : model.events) all.push_back(e.when);
  for (const Expr& s : symbols_of(all))
    if ((kind_bit(s.symbol().kind) & all_forces) != 0) forces.push_back(s);
  return forces;
}

}  // namespace

std::vector<Expr> list_forces(const Model& model) { return list_forces(model, model.outputs.size()); }
std::vector<Expr> list_forces_of_columns(const Model& model) { return list_forces(model, model.num_columns()); }

std::string slip_name(const std::string& constraint, std::size_t slip, std::size_t slips) {
  return slips == 1 ? fmt::format("slip of {}", constraint) : fmt::format("slip {} of {}", slip + 1, constraint);
}

namespace {

struct WrittenOnce {
  System system;
  WrittenEquations values;
  explicit WrittenOnce(System of) : system(std::move(of)), values(system) {}
};

}  // namespace

std::unique_ptr<EquationValues> make_equation_values(const System& system) {
  if (system.kernels()) return std::make_unique<KernelEquations>(system);
  using Last = LastMade<std::monostate, std::shared_ptr<const WrittenOnce>>;
  const auto made = Last::all().of(system, {}, [&] { return std::make_shared<const WrittenOnce>(system); });
  return std::make_unique<WrittenEquations>(made->values, system);
}

namespace {

/// "…, in the directions of `x` and `y`": which coordinates are to blame.
std::string explain(const System& system, const Solution& solution) {
  std::vector<Eigen::Index> coordinates = solution.undetermined;
  const Eigen::VectorXd& negative = solution.mass.negative_direction;
  const bool indefinite = solution.status == SolveStatus::mass_indefinite;
  if (indefinite) {
    coordinates.clear();
    for (Eigen::Index i = 0; i < negative.size(); ++i)
      if (std::abs(negative(i)) > 1e-9 * negative.cwiseAbs().maxCoeff()) coordinates.push_back(i);
  }
  constexpr std::size_t most = 8;
  std::vector<std::string> names;
  for (std::size_t k = 0; k < std::min(coordinates.size(), most + 1); ++k)
    names.push_back(k < most ? system.coordinate(static_cast<int>(coordinates[k])) : std::string());
  if (names.empty()) return describe(solution.status);
  const std::string more =
      coordinates.size() > most ? fmt::format(" and {} others", coordinates.size() - most) : std::string();
  if (!more.empty()) names.pop_back();
  return fmt::format("{}{} {}{}", describe(solution.status), indefinite ? ", in the directions of" : ":",
                     quote_list(names), more);
}

}  // namespace

EquationValues::Verdict EquationValues::judge(const State& state, bool diagnose) const {
  AccelerateOptions options{.diagnose = diagnose, .contacts = false};
  if (!is_whole()) {
    options.rows.emplace();
    for (int j = 0; j < facts_.num_constraints; ++j)
      if (!is_absent(j)) options.rows->push_back(j);
  }
  const Instant instant = accelerate(system(), state, options);
  Verdict verdict;
  if (instant.not_finite) verdict.not_finite = instant.not_finite->message(), verdict.place = instant.not_finite->place;
  verdict.status = instant.solution.status, verdict.consistent = instant.solution.consistent;
  verdict.may_accelerate = instant.has_acceleration();
  if (!verdict.may_accelerate) verdict.why = explain(system(), instant.solution);
  if (verdict.status == SolveStatus::requirements_not_met) verdict.why = describe_unmet(system(), instant);
  for (const RowResidual& r : instant.violations())
    if (!is_absent(r.row)) verdict.off.push_back({r.row, r.value});
  if (instant.diagnosis && !instant.diagnosis->conflicts.empty())
    for (const Eigen::Index j : instant.diagnosis->conflicts.front().rows)
      verdict.conflict.push_back(static_cast<int>(j));
  return verdict;
}

}  // namespace mechanician
