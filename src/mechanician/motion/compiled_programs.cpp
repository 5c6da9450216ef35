#include "mechanician/motion/compiled_programs.hpp"

#include <algorithm>

#include "mechanician/compile/projection_program.hpp"
#include "mechanician/compile/rank_program.hpp"

namespace mechanician {

namespace {
/// Of a program: a ladder of 600 loops. Quick code is linear in them.
constexpr long most_steps = 80'000;

bool has(const std::vector<int>& sorted, int j) { return std::binary_search(sorted.begin(), sorted.end(), j); }
}  // namespace

CompiledPrograms::Acceleration::Acceleration(AccelerationProgram made)
    : function(std::move(made.program)),
      at_powers(made.at_powers),
      at_velocities(made.at_velocities),
      at_vouch(made.at_vouch),
      at_control(made.at_control),
      num_columns(made.num_columns),
      outputs(function.program().outputs.size()) {}

void CompiledPrograms::Acceleration::add_efforts(std::span<const double> tau, int num_works, int n) {
  const double* column = outputs.data() + at_control;
  double* const powers = outputs.data() + at_powers;
  for (const double effort : tau) {
    for (int i = 0; i < n; ++i) outputs[static_cast<std::size_t>(i)] += effort * *column++;
    for (int i = 0; i < num_works; ++i) powers[i] += effort * *column++;
  }
}

void CompiledPrograms::set_inputs(double t, const double* y, int n, const std::vector<double>& sides) {
  inputs[0] = t;
  std::copy(y, y + 2 * n, inputs.begin() + 1);
  // Those of control come last, and are no inputs.
  std::copy_n(sides.begin(), std::ssize(inputs) - at_sides, inputs.begin() + at_sides);
}

std::unique_ptr<CompiledPrograms> make_programs(const WrittenEquations& equations, const ProgramRows& rows,
                                                const std::vector<double>& reference, const KeptCode* kept,
                                                std::string& path) {
  const RowSet &all = *rows.all, &positions = *rows.positions, &velocities = *rows.velocities;
  const std::vector<char>& inert = *rows.inert;
  const Equations& frozen = equations.frozen();
  AccelerationOptions options;
  options.most_steps = most_steps;
  options.parameters = kept ? kept->values : equations.system().parameters();
  if (kept) options.varied = kept->varied;
  for (const Switch& s : equations.switches()) options.sides.push_back(s.side);
  for (const int j : all.candidates) {
    if (inert[j])
      options.inert.push_back(j);
    else if (!has(all.kept, j))
      options.dropped.push_back(j);
  }
  const std::vector<RowFacts>& facts = equations.facts().rows;
  for (int j = 0; j < std::ssize(facts); ++j)
    if (facts[j].bare) options.inert.push_back(j);
  options.singular_mass = rows.singular_mass;
  // Rows that depend on others on the constraints only do so almost where stages are.
  options.dropped_tolerance = 1e-6;
  options.powers = options.open_control = true;
  options.given_power = equations.given_power();
  options.reference = reference;
  AccelerationProgramResult result = make_acceleration_program(frozen, options);
  if (!result.made) {
    path = "qr: " + result.reason;
    return nullptr;
  }
  auto programs = std::make_unique<CompiledPrograms>();
  CompiledPrograms& p = *programs;
  p.at_sides = 1 + 2 * frozen.n() + static_cast<int>(options.varied.size());
  p.inputs = options.reference;
  path = result.made->path;
  p.sine_rows = all.kept;
  // With a singular mass matrix M + AᵀWA itself degenerates where rows do: there the rows are looked at as they are.
  if (RankProgramResult rank;
      !rows.singular_mass && (rank = make_rank_program(frozen, options)).made && !rank.made->rows.empty()) {
    p.sine_rows = rank.made->rows;
    p.pivots.resize(rank.made->program.outputs.size());
    p.rank_of_four = CompiledFunction(rank.made->program, {.lanes = 4});
    p.inputs_of_four.resize(4 * p.inputs.size()), p.pivots_of_four.resize(4 * p.pivots.size());
    p.sines_of_four.resize(4 * p.sine_rows.size());
    p.rank = CompiledFunction(std::move(rank.made->program));
  }
  p.acceleration = CompiledPrograms::Acceleration(std::move(*result.made));
  // Where singular states may come, stages are held on the constraints.
  options.hold_velocities = true;
  if (p.rank && velocities.kept == all.kept)
    if (AccelerationProgramResult held = make_acceleration_program(frozen, options); held.made)
      p.held = CompiledPrograms::Acceleration(std::move(*held.made));
  for (const ProjectionOf what : {ProjectionOf::positions, ProjectionOf::velocities}) {
    const bool of_positions = what == ProjectionOf::positions;
    CompiledPrograms::Projection& projection = of_positions ? p.positions : p.velocities;
    const RowSet& set = of_positions ? positions : velocities;
    if (set.candidates.empty()) continue;
    ProgramOptions own = options;
    own.dropped.clear(), own.inert.clear();
    for (const int j : set.candidates)
      if (!has(set.kept, j)) (inert[j] ? own.inert : own.dropped).push_back(j);
    for (int j = 0; j < std::ssize(facts); ++j)
      if (facts[j].bare) own.inert.push_back(j);
    ProjectionProgramResult made = make_projection_program(frozen, what, own);
    projection.missing = !made.made;
    if (!made.made) continue;
    projection.at_residuals = made.made->at_residuals, projection.at_vouch = made.made->at_vouch;
    projection.outputs.resize(made.made->program.outputs.size());
    projection.step = CompiledFunction(std::move(made.made->program));
  }
  // A step takes a dozen evaluations and more: no motion is so short that the interpreter would do.
  for (CompiledFunction* f :
       {&p.acceleration.function, &p.held.function, &p.rank, &p.rank_of_four, &p.positions.step, &p.velocities.step})
    f->make_quick_code();
  return programs;
}

}  // namespace mechanician
