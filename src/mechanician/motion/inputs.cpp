#include "mechanician/motion/inputs.hpp"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "mechanician/base/text.hpp"
#include "mechanician/expression/simplify.hpp"

namespace mechanician {

bool has_open_inputs(const System& system) {
  return !system.kernels() && !system.is_staged() && !system.inputs_from_outside().empty();
}

std::size_t find_input(const System& system, std::string_view name) {
  std::vector<std::string> known;
  for (const int i : system.inputs_from_outside()) {
    known.push_back(system.model().parameters[static_cast<std::size_t>(i)].name);
    if (known.back() == name) return static_cast<std::size_t>(i);
  }
  throw std::invalid_argument(fmt::format("the model has no input `{}` that can be set{}", name,
                                          known.empty() ? "" : fmt::format("; there are {}", quote_list(known))));
}

std::vector<double> with_input(const System& system, std::string_view name, double value) {
  const std::size_t i = find_input(system, name);
  if (!std::isfinite(value))
    throw std::invalid_argument(fmt::format("the input `{}` cannot be {}: it is a finite number", name, value));
  const Model& model = system.model();
  for (const Parameter& p : model.parameters)
    for (const Expr& s : symbols_of(std::span(&p.value, 1)))
      if (!p.is_input && same(s, model.parameters[i].symbol()))
        throw std::invalid_argument(
            fmt::format("the parameter `{}` is made of the input `{}`, which cannot be set then: put what is made of "
                        "it in [define]",
                        p.name, name));
  std::vector<double> values = system.parameters();
  values[i] = value;
  return values;
}

}  // namespace mechanician
