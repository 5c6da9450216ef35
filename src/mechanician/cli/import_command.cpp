#include <fmt/format.h>

#include <fstream>

#include "mechanician/base/read_file.hpp"
#include "mechanician/cli/commands.hpp"
#include "mechanician/cli/loading.hpp"
#include "mechanician/cli/standard_error.hpp"
#include "mechanician/model/read_model.hpp"
#include "mechanician/model/urdf.hpp"

namespace mechanician {

Exit run_import(const CommandOptions& options) {
  if (!is_robot(options.model))
    throw UsageError(fmt::format("import reads .urdf and .xml (MJCF), not `{}`", options.model));
  if (options.model.ends_with(".xml") && options.base == "floating")
    throw UsageError("import: --base is for .urdf; a body of MJCF that moves freely has a free joint");
  const FileText file = read_file(options.model, largest_file);
  if (!file.problem.empty()) throw FileError(fmt::format("cannot read {}: {}", options.model, file.problem));
  const ImportedRobot robot = import_robot(file.text, options.model, options.base == "floating");
  for (const std::string& note : robot.notes) say("note: {}\n", note);
  if (options.output.empty()) {
    write_out(robot.text);
    return Exit::done;
  }
  std::ofstream out(options.output, std::ios::binary);
  out << robot.text;
  out.close();
  if (!out) throw FileError(fmt::format("cannot write {}", options.output));
  return Exit::done;
}

}  // namespace mechanician
