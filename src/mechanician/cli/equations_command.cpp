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
  // Independent rows are looked for near the start; with unknown functions there is no start.
  std::vector<int> rows;
  if (!eqs.contacts.empty()) {
    // There is no closed form to look for.
  } else if (eqs.unknowns.empty()) {
    const Loaded loaded = load(options);
    rows = find_generic_rows(loaded.system, loaded.start).rows;
  } else {
    rows = generic_rows_of_unknowns(eqs);
  }
  const EquationsReport report = make_equations_report(model, eqs, rows);
  if (options.json)
    write_out(equations_json(report));
  else
    show(options.latex ? equations_latex(report) : equations_text(report));
  return Exit::done;
}

}  // namespace mechanician
