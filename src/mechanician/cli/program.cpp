#include "mechanician/cli/program.hpp"

#include <fmt/format.h>

#include <csignal>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "mechanician/base/diagnostic.hpp"
#include "mechanician/base/standard_streams.hpp"
#include "mechanician/cli/command_line.hpp"
#include "mechanician/cli/commands.hpp"
#include "mechanician/cli/completion.hpp"
#include "mechanician/cli/loading.hpp"
#include "mechanician/result/text_sink.hpp"

namespace {

using namespace mechanician;

Exit dispatch(const CommandLine& line) {
  const CommandOptions& options = line.options;
  if (line.command.empty()) return line.exit;
  refuse_overwriting(options);
  if (line.command == "check") return run_check(options);
  if (line.command == "accelerate") return run_accelerate(options);
  if (line.command == "equations") return run_equations(options);
  if (line.command == "expand") return run_expand(options);
  if (line.command == "import") return run_import(options);
  if (line.command == "project") return run_project(options);
  if (line.command == "run") return run_run(options);
  if (line.command == "bench") return run_bench(options);
  if (line.command == "sweep") return run_sweep_command(options);
  if (line.command == "export") return run_export(options);
  if (line.command == "linearise") return run_linearise(options);
  if (line.command == "equilibrium") return run_equilibrium(options);
  if (line.command == "plot") return run_plot(options);
  if (line.command == "completion") return print_completion(line.shell);
  return Exit::usage;
}

int run_program(int argc, char** argv) {
  const CommandLine line = parse_command_line({argv + 1, argv + argc});
  if (!line.note.empty()) say("{}", line.note);
  if (!line.out.empty()) write_out(line.out);
  return static_cast<int>(dispatch(line));
}

int report(std::string_view text, Exit exit) {
  say("{}\n", text);
  return static_cast<int>(exit);
}

}  // namespace

int mechanician::run_command_line(int argc, char** argv) {
  open_standard_streams();
  // A closed pipe and a file that may not grow are write errors like any other: files are closed as they should be.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return run_program(argc, argv);
  } catch (const ModelError& e) {
    return report(e.what(), Exit::refused);
  } catch (const UsageError& e) {
    return report(fmt::format("mechanician: {}", e.what()), Exit::usage);
  } catch (const ReaderGone&) {
    return static_cast<int>(Exit::file);
  } catch (const FileError& e) {
    return report(fmt::format("mechanician: {}", e.what()), Exit::file);
  } catch (const std::bad_alloc&) {
    return report("mechanician: out of memory", Exit::file);
  } catch (const std::exception& e) {
    return report(fmt::format("mechanician: internal error: {}", e.what()), Exit::refused);
  }
}
