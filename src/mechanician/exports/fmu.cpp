#include "mechanician/exports/fmu.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "mechanician/exports/c_model.hpp"
#include "mechanician/exports/c_printer.hpp"
#include "mechanician/exports/fmu_description.hpp"
#include "mechanician/exports/fmu_runtime.hpp"
#include "mechanician/exports/zip_file.hpp"

namespace mechanician {

namespace {

/// A name for the model that changes with everything it says: FNV-1a over the text.
std::string token_of(const std::string& text) {
  std::uint64_t a = 0xcbf29ce484222325u, b = 0x84222325cbf29ce4u;
  for (const char c : text) {
    a = (a ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    b = (b ^ static_cast<unsigned char>(c)) * 0x100000001b3u + 1;
  }
  return fmt::format("{{{:08x}-{:04x}-{:04x}-{:04x}-{:012x}}}", a >> 32, (a >> 16) & 0xffff, a & 0xffff, b >> 48,
                     b & 0xffffffffffffu);
}

/// Runs a program; its exit status, and what it said.
int run(const std::vector<std::string>& words, const std::filesystem::path& log) {
  std::vector<char*> argv;
  for (const std::string& w : words) argv.push_back(const_cast<char*>(w.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 2, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 2, 1);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return 127;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

std::string read_whole(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// A folder that goes when it is no longer needed.
struct Scratch {
  std::filesystem::path path;
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "mechanician-fmu-XXXXXX").string();
    if (mkdtemp(name.data())) path = name;
  }
  ~Scratch() {
    std::error_code error;
    if (!path.empty()) std::filesystem::remove_all(path, error);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
};

void replace(std::string& text, std::string_view word, const std::string& by) {
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + by.size()))
    text.replace(at, word.size(), by);
}

/// The functions of FMI around the C of a model.
std::string adapter_text(const CFacts& facts, const FmuDescription& description, FmiVersion version) {
  std::string instance(fmu_instance());
  std::string settable, modes;
  for (std::size_t k = 0; k < facts.model.parameters.size(); ++k) {
    const Parameter& p = facts.model.parameters[k];
    settable += facts.is_flag[k]                                   ? "0, "
                : !facts.open_input[k].empty()                     ? "4, "
                : p.is_input                                       ? "2, "
                : p.is_mode                                        ? "3, "
                : !(facts.is_structural[k] || facts.is_derived[k]) ? "1, "
                                                                   : "0, ";
  }
  for (std::size_t k = 0; k < facts.modes.size(); ++k)
    modes += fmt::format("  if (i == AT_P + {}) *value = c->s.m.d.mode[{}];\n", facts.modes[k], k);
  for (std::size_t k = 0; k < facts.changing_rows.size(); ++k)
    modes += fmt::format("  if (i == AT_ENGAGED + {}) *value = c->s.m.d.engaged[{}];\n", k,
                         facts.rows[static_cast<std::size_t>(facts.changing_rows[k])]);
  std::string starts;
  for (std::size_t k = 0, input = 0; k < facts.model.parameters.size(); ++k) {
    const bool open = !facts.open_input[k].empty();
    starts += open ? c_number(start_of_open_input(facts, k)) + ", " : "0, ";
    if (open)
      modes +=
          fmt::format("  if (i == AT_P + {}) {{ if (know(c)) return 0; *value = c->now.inputs[{}]; }}\n", k, input);
    input += facts.model.parameters[k].is_input;
  }
  const bool events = facts.has_events();
  replace(instance, "GET_MODES", modes);
  replace(instance, "HAPPEN", events ? "@_happen(&c->s.m, c->s.p)" : "0");
  const bool samples = facts.has_samples();
  replace(instance, "FIRST_SAMPLE", samples ? "c->s.m.holds = 0;\n  " : "");
  const bool sides = !facts.sides.empty();
  replace(
      instance, "NEXT_LOOK",
      sides ? "{ const double look = @_next_look(&c->s.m, c->s.p); if (!HAS_SAMPLES || look < *t) *t = look; }" : "");
  replace(instance, "HAS_SAMPLES", samples ? "1" : "0");
  replace(instance, "MISSED",
          sides ? "if (@_missed(&c->s.before, &c->s.m, c->s.p)) {\n    say(c, 1, \"a step has passed a switch and come "
                  "back: smaller steps are needed\");\n    return -1;\n  }"
                : "");
  replace(instance, "KEEP_COMPLETED", sides ? "c->s.before = c->s.m;" : "");
  replace(instance, "BEFORE", sides ? "@_motion before;   /* after the last step that was completed */" : "");
  replace(instance, "NEXT_TIME", samples ? "@_next_sample(&c->s.m)" : "0");
  replace(instance, "SAMPLE", samples ? "@_sample(&c->s.m, c->s.p)" : "0");
  replace(instance, "COMPLETED", events ? "@_completed(&c->s.m, c->s.p)" : "0");
  replace(instance, "DIRECTIONAL", std::string(description.has_directional ? fmu_directional() : fmu_no_directional()));
  replace(instance, "enum { NUM =",
          fmt::format("#define @_TOKEN \"{}\"\nenum {{ CHANGING = {} }};\nstatic const double TOLERANCE = {};\n"
                      "/* 1: parameters, 2: inputs, 3: modes, before the motion begins, 4: inputs that are expressions "
                      "until they are set. */\nstatic const char "
                      "is_settable[] = {{{}0}};\nstatic const double first_input[] = {{{}0}};\n"
                      "enum {{ NUM =",
                      description.token, facts.changing_rows.size(), c_number(facts.system.run_settings().tolerance),
                      settable, starts));
  return with_prefix(instance + std::string(version == FmiVersion::two ? fmu_functions_2() : fmu_functions_3()),
                     description.name);
}

}  // namespace

Fmu export_fmu(const System& system, const State& start, const std::string& name, FmiVersion version,
               const std::string& compiler) {
  const CFacts facts(system, start);
  const CSources c = export_c(facts, name, {.tangents = true});
  const bool two = version == FmiVersion::two;
  FmuDescription description(facts, name, token_of(c.source + (two ? "2" : "3")));
  description.has_directional = c.has_tangents;
  const std::string adapter_name = two ? "fmi2.c" : "fmi3.c";
  const std::string adapter = adapter_text(facts, description, version);
  std::vector<std::pair<std::string, std::string>> files{
      {"modelDescription.xml", two ? description.for_fmi_2() : description.for_fmi_3()},
      {"sources/" + adapter_name, adapter},
      {"sources/" + name + ".c", c.source},
      {"sources/" + name + ".h", c.header}};
  if (!two) files.emplace_back("sources/buildDescription.xml", description.of_build());
  Fmu fmu;
  if (const Scratch scratch; !scratch.path.empty()) {
    for (const auto& [path, bytes] : files)
      if (path.starts_with("sources/")) std::ofstream(scratch.path / path.substr(8), std::ios::binary) << bytes;
    const std::filesystem::path library = scratch.path / (name + ".so");
    const int status = run({compiler.empty() ? "cc" : compiler, "-std=c99", "-O2", "-fPIC", "-ffp-contract=off",
                            "-fvisibility=hidden", "-shared", "-o", library.string(),
                            (scratch.path / adapter_name).string(), (scratch.path / (name + ".c")).string(), "-lm"},
                           scratch.path / "log");
    fmu.has_binary = status == 0;
    if (fmu.has_binary)
      files.emplace_back(fmt::format("binaries/{}/{}.so", two ? "linux64" : "x86_64-linux", name), read_whole(library));
    else
      fmu.why_no_binary = status == 127 ? "there is no C compiler `cc`" : read_whole(scratch.path / "log");
  }
  fmu.bytes = make_zip(files);
  return fmu;
}

}  // namespace mechanician
