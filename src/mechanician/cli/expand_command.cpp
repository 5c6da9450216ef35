#include "mechanician/cli/commands.hpp"
#include "mechanician/cli/loading.hpp"
#include "mechanician/model/family_model.hpp"
#include "mechanician/model/plain_model.hpp"

namespace mechanician {

Exit run_expand(const CommandOptions& options) {
  if (options.json) throw UsageError("expand prints a model file; there is no --json of it");
  const ParameterOverrides overrides(options.set.begin(), options.set.end());
  const auto text = text_with_base(options);
  read_stated_model(options, overrides);  // what is wrong with it is said here
  write_out(text ? plain_model_of(*text, options.model, overrides) : plain_model_text(options.model, overrides));
  return Exit::done;
}

}  // namespace mechanician
