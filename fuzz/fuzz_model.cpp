/// Any text is either refused with problems whose places lie in it, or is a model that can be checked again, printed,
/// simplified and derived.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mechanician/equations/equations.hpp"
#include "mechanician/expression/print.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/model/parameters.hpp"
#include "mechanician/model/read_model.hpp"
#include "mechanician/model/validate.hpp"
#include "require.hpp"

namespace {

using namespace mechanician;

void check_problems(const std::vector<Problem>& problems, std::string_view text) {
  require(!problems.empty(), "an error has a problem");
  const auto lines = static_cast<int>(std::count(text.begin(), text.end(), '\n')) + 1;
  for (const Problem& p : problems) {
    require(!p.message.empty(), "a problem has a message");
    require(p.place.line >= 0 && p.place.line <= lines, "the line of a problem is in the file");
    require(p.place.line == 0 || (p.place.column >= 1 && p.place.length >= 1), "a place has a column and a length");
    require(p.place.column <= static_cast<int>(text.size()) + 1, "the column of a problem is in the file");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Model model;
  try {
    model = read_model_text(text, "model.toml");
  } catch (const ModelError& e) {
    check_problems(e.problems(), text);
    return 0;
  }
  require(validate(model).empty(), "what was read passes the checks");
  const ParameterValues parameters = evaluate_parameters(model);
  const StartState start = start_state(model, parameters);
  require(start.q.size() == model.coordinates.size(), "every coordinate has a start value");

  std::vector<Expr> all;
  if (model.kinetic) all.push_back(*model.kinetic);
  if (model.potential) all.push_back(*model.potential);
  for (const Constraint& c : model.constraints) {
    all.push_back(c.residual);
    if (c.restitution) all.push_back(*c.restitution);
    if (c.friction) all.insert(all.end(), c.friction->slip.begin(), c.friction->slip.end());
  }
  for (const Control& c : model.controls) all.push_back(c.residual);
  for (const Named& o : model.outputs) all.push_back(o.value);
  for (const Expr& f : all)
    require(!to_text(f).empty() && !to_latex(f).empty() && !to_c(f).empty(), "an expression has a text");
  for (const Expr& f : simplify(all)) require(same(simplify(f), f), "simplifying twice changes nothing");

  const Equations equations = derive(model);
  require(equations.coordinates.size() == model.coordinates.size(), "the equations have the coordinates of the model");
  return 0;
}
