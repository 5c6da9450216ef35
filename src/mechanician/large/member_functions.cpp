#include "mechanician/large/member_functions.hpp"

#include <algorithm>

#include "mechanician/model/model.hpp"

namespace mechanician {

namespace {
std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
}  // namespace

MemberFunctions::MemberFunctions(const FamilyModel&, const Term& term, const TermMembers&,
                                 const std::vector<Expr>& functions, const std::vector<Expr>& sides)
    : num_functions_(functions.size()) {
  std::vector<Expr> inputs{time_symbol()};
  for (int order = 0; order < 3; ++order)
    for (const MemberSymbol& c : term.coordinates)
      inputs.push_back(order == 0 ? c.symbol : order == 1 ? dot(c.symbol) : ddot(c.symbol));
  for (const TermIndex& index : term.indices) inputs.push_back(index.symbol);
  for (const MemberSymbol& c : term.numbers) inputs.push_back(c.symbol);
  inputs.insert(inputs.end(), sides.begin(), sides.end());
  tape_ = Tape(functions, inputs);
  inputs_of_one_.resize(inputs.size()), outputs_of_one_.resize(functions.size()), bounds_.resize(functions.size());
}

void MemberFunctions::compile() {
  ProgramBuilder builder(tape_.num_inputs());
  std::vector<ProgramBuilder::Value> in;
  for (int i = 0; i < tape_.num_inputs(); ++i) in.push_back(builder.input(i));
  function_ = CompiledFunction(builder.finish(builder.append(tape_, in)), {.lanes = static_cast<int>(lanes)});
  function_.make_quick_code();
  inputs_.resize(in.size() * at(lanes)), outputs_.resize(num_functions_ * at(lanes));
}

void MemberFunctions::gather(const FamilyModel& model, const Term& term, const TermMembers& members,
                             const MemberSides& sides, const MemberPoint& point, std::int64_t begin,
                             std::int64_t width) {
  double* to = width == 1 ? inputs_of_one_.data() : inputs_.data();
  const auto place = [&](auto&& value) {
    for (std::int64_t lane = 0; lane < width; ++lane) *to++ = value(at(std::min(begin + lane, members.count - 1)));
  };
  place([&](std::size_t) { return point.t; });
  for (const double* state : {point.q, point.qd, point.qdd})
    for (std::size_t c = 0; c < term.coordinates.size(); ++c)
      place([&](std::size_t j) { return state ? state[members.coordinates[c][j]] : 0.0; });
  for (const auto& index : members.indices) place([&](std::size_t j) { return index[j]; });
  for (std::size_t k = 0; k < members.numbers.size(); ++k) {
    const std::vector<double>& values = model.numbers[at(term.numbers[k].family)].values;
    place([&](std::size_t j) { return values[at(members.numbers[k][j])]; });
  }
  for (std::size_t i = 0; i < sides.symbols.size(); ++i)
    place([&](std::size_t j) { return sides.of(i, j, point.sides); });
}

}  // namespace mechanician
