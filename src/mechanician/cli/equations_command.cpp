#include "mechanician/cli/commands.hpp"
#include "mechanician/cli/loading.hpp"
#include "mechanician/model/read_model.hpp"
#include "mechanician/output/equations_output.hpp"

namespace mechanician {

Exit run_equations(const CommandOptions& options) {
  const Model model = read_model(options.model);
  const Equations eqs = derive(model);
  write_out(equations_text(model, eqs));
  return Exit::done;
}

}  // namespace mechanician
