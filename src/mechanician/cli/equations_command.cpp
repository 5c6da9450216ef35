#include <fmt/format.h>

#include "mechanician/cli/commands.hpp"
#include "mechanician/cli/loading.hpp"
#include "mechanician/instant/generic_rows.hpp"
#include "mechanician/model/read_model.hpp"
#include "mechanician/output/equations_output.hpp"

namespace mechanician {

Exit run_equations(const CommandOptions& options) {
  if (options.json && options.latex) throw UsageError("equations: --json and --latex exclude each other");
  const Model model = read_model(options.model);
  const Equations eqs = derive(model);
  EquationsReport report{model, eqs, std::nullopt, {}};

  if (!eqs.contacts.empty()) {
    report.no_closed_form = "which one-sided constraints act, and which way friction acts, depends on the motion";
    write_out(options.json ? equations_json(report) : options.latex ? equations_latex(report) : equations_text(report));
    return Exit::done;
  }

  // Independent rows are looked for near the start; with unknown functions there is no start.
  std::vector<int> rows;
  if (eqs.unknowns.empty()) {
    const Loaded loaded = load(options);
    rows = generic_rows(loaded.system, loaded.start);
  } else {
    rows = generic_rows_of_unknowns(eqs);
  }
  const ClosedFormOptions caps;
  if (static_cast<int>(rows.size()) > caps.max_rows)
    report.no_closed_form =
        fmt::format("there are {} independent constraints, more than {}", rows.size(), caps.max_rows);
  else if (!(report.closed = closed_form(eqs, rows, caps)))
    report.no_closed_form = "it would be too long to read, or the equations do not determine the acceleration";
  write_out(options.json ? equations_json(report) : options.latex ? equations_latex(report) : equations_text(report));
  return Exit::done;
}

}  // namespace mechanician
