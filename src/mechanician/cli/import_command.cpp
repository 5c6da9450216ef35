#include <fmt/format.h>

#include <fstream>

#include "mechanician/cli/commands.hpp"
#include "mechanician/cli/loading.hpp"
#include "mechanician/cli/standard_error.hpp"
#include "mechanician/model/urdf.hpp"

namespace mechanician {

Exit run_import(const CommandOptions& options) {
  if (!is_robot(options.model))
    throw UsageError(fmt::format("import reads .urdf and .xml (MJCF), not `{}`", options.model));
  const ImportedRobot robot = read_robot(options);
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
