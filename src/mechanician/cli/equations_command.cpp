#include <fmt/format.h>

#include <stdexcept>

#include "mechanician/cli/commands.hpp"
#include "mechanician/cli/loading.hpp"
#include "mechanician/cli/saying.hpp"
#include "mechanician/exports/python_model.hpp"
#include "mechanician/instant/family_numbers.hpp"
#include "mechanician/instant/generic_rows.hpp"
#include "mechanician/library/latex_document.hpp"
#include "mechanician/output/equations_output.hpp"
#include "mechanician/output/term_equations_output.hpp"

namespace mechanician {

namespace {

/// Of many members what is read is what one of them gives. Nothing where the model is to be written out.
bool show_by_term(const CommandOptions& options, const FamilyModel& model) {
  if (!model.unknowns.empty() || !stays_in_families(load(options).system)) return false;
  if (options.latex)
    throw UsageError(fmt::format(
        "equations --latex: of {} coordinates there are the equations by term, without --latex or with --json; "
        "LaTeX is for smaller families, for example --set N=3",
        model.num_coordinates()));
  options.json ? write_out(term_equations_json(model)) : show(term_equations_text(model));
  return true;
}

}  // namespace

Exit run_equations(const CommandOptions& options) {
  if (options.json + options.latex + options.latex_document + options.python > 1)
    throw UsageError("equations: --json, --latex, --latex-document and --python exclude each other");
  const FamilyModel stated = read_stated_model(options, ParameterOverrides(options.set.begin(), options.set.end()));
  if (!options.python && !options.latex_document && show_by_term(options, stated)) return Exit::done;
  if (options.python) {
    try {
      show(equations_python(expand(stated), ParameterOverrides(options.set.begin(), options.set.end())));
    } catch (const std::invalid_argument& e) {
      say("{}: error: {}\n", options.model, e.what());
      return Exit::refused;
    }
    return Exit::done;
  }
  if (options.latex_document) {
    const Loaded loaded = load(options);
    show(latex_document(loaded.system, loaded.start));
    return Exit::done;
  }
  const Model model = expand(stated);
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
