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
#include "mechanician/exports/fmu_runtime.hpp"
#include "mechanician/exports/zip_file.hpp"

namespace mechanician {

namespace {

std::string xml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (static_cast<unsigned char>(c) >= 32)
      out += c;
  }
  return out;
}

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

struct Variable {
  std::string name, causality, variability, initial, start, description;
  int reference = 0;
  int derivative_of = 0;  ///< reference of what it is the derivative of; 0: of nothing
};

std::vector<Variable> variables_of(const System& system, const State& start) {
  std::vector<Variable> list{{"t", "independent", "continuous", {}, {}, "time", 0}};
  const int n = system.n(), m = system.m();
  int next = 1;
  for (int i = 0; i < n; ++i)
    list.push_back({system.coordinate(i), "output", "continuous", "exact", c_number(start.q(i)), "coordinate", next++});
  for (int i = 0; i < n; ++i)
    list.push_back({system.coordinate(i) + "'", "output", "continuous", "exact", c_number(start.qd(i)), "velocity",
                    next++, 1 + i});
  for (int i = 0; i < n; ++i)
    list.push_back(
        {system.coordinate(i) + "''", "output", "continuous", "calculated", {}, "acceleration", next++, 1 + n + i});
  const std::vector<Parameter>& parameters = system.model().parameters;
  for (std::size_t k = 0; k < parameters.size(); ++k)
    list.push_back(
        {parameters[k].name, "parameter", "tunable", "exact", c_number(system.parameters()[k]), "parameter", next++});
  for (int i = 0; i < n; ++i)
    list.push_back({fmt::format("Qc({})", system.coordinate(i)),
                    "output",
                    "continuous",
                    "calculated",
                    {},
                    "force of the constraints",
                    next++});
  for (int j = 0; j < m; ++j)
    list.push_back({fmt::format("lambda({})", system.row_name(j)),
                    "output",
                    "continuous",
                    "calculated",
                    {},
                    "multiplier",
                    next++});
  for (const char* name : {"kinetic_energy", "potential_energy"})
    list.push_back({name, "output", "continuous", "calculated", {}, "energy", next++});
  for (const Event& event : system.model().events)
    list.push_back({fmt::format("event({})", event.name),
                    "output",
                    "continuous",
                    "calculated",
                    {},
                    "passes zero at the event",
                    next++});
  return list;
}

struct About {
  std::string name, title, token;
  std::vector<Variable> variables;
  int n = 0, events = 0;
  double begin = 0.0;
  std::optional<double> to;
  double tolerance = 1e-9;
};

std::string experiment(const About& about) {
  return fmt::format("  <DefaultExperiment startTime=\"{}\"{} tolerance=\"{}\"/>\n", c_number(about.begin),
                     about.to ? fmt::format(" stopTime=\"{}\"", c_number(*about.to)) : "", c_number(about.tolerance));
}

std::string description_2(const About& about) {
  std::string out = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"{}\" guid=\"{}\" description=\"{}\" "
      "generationTool=\"mechanician {}\" variableNamingConvention=\"flat\" numberOfEventIndicators=\"{}\">\n",
      xml(about.name), xml(about.token), xml(about.title), MECHANICIAN_VERSION, about.events);
  out += fmt::format(
      "  <ModelExchange modelIdentifier=\"{0}\" canGetAndSetFMUstate=\"true\" canSerializeFMUstate=\"true\">\n"
      "    <SourceFiles>\n      <File name=\"fmi2.c\"/>\n      <File name=\"{0}.c\"/>\n    </SourceFiles>\n  "
      "</ModelExchange>\n"
      "  <CoSimulation modelIdentifier=\"{0}\" canHandleVariableCommunicationStepSize=\"true\" "
      "canGetAndSetFMUstate=\"true\" canSerializeFMUstate=\"true\">\n"
      "    <SourceFiles>\n      <File name=\"fmi2.c\"/>\n      <File name=\"{0}.c\"/>\n    </SourceFiles>\n  "
      "</CoSimulation>\n",
      xml(about.name));
  out +=
      "  <LogCategories>\n    <Category name=\"logAll\"/>\n    <Category name=\"logStatusError\"/>\n  "
      "</LogCategories>\n";
  out += experiment(about) + "  <ModelVariables>\n";
  for (const Variable& v : about.variables) {
    out += fmt::format("    <ScalarVariable name=\"{}\" valueReference=\"{}\" causality=\"{}\" variability=\"{}\"",
                       xml(v.name), v.reference, v.causality, v.variability);
    if (!v.initial.empty()) out += fmt::format(" initial=\"{}\"", v.initial);
    out += fmt::format(" description=\"{}\">\n      <Real", xml(v.description));
    if (v.derivative_of > 0) out += fmt::format(" derivative=\"{}\"", v.derivative_of + 1);  // index, from 1
    if (!v.start.empty()) out += fmt::format(" start=\"{}\"", v.start);
    out += "/>\n    </ScalarVariable>\n";
  }
  out += "  </ModelVariables>\n  <ModelStructure>\n    <Outputs>\n";
  for (const Variable& v : about.variables)
    if (v.causality == "output") out += fmt::format("      <Unknown index=\"{}\"/>\n", v.reference + 1);
  out += "    </Outputs>\n    <Derivatives>\n";
  for (int i = 0; i < 2 * about.n; ++i) out += fmt::format("      <Unknown index=\"{}\"/>\n", 1 + about.n + i + 1);
  out += "    </Derivatives>\n    <InitialUnknowns>\n";
  for (const Variable& v : about.variables)
    if (v.initial == "calculated") out += fmt::format("      <Unknown index=\"{}\"/>\n", v.reference + 1);
  return out + "    </InitialUnknowns>\n  </ModelStructure>\n</fmiModelDescription>\n";
}

std::string description_3(const About& about) {
  std::string out = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"{}\" instantiationToken=\"{}\" description=\"{}\" "
      "generationTool=\"mechanician {}\" variableNamingConvention=\"flat\">\n",
      xml(about.name), xml(about.token), xml(about.title), MECHANICIAN_VERSION);
  out += fmt::format(
      "  <ModelExchange modelIdentifier=\"{0}\" canGetAndSetFMUState=\"true\" canSerializeFMUState=\"true\"/>\n"
      "  <CoSimulation modelIdentifier=\"{0}\" canHandleVariableCommunicationStepSize=\"true\" "
      "canGetAndSetFMUState=\"true\" canSerializeFMUState=\"true\"/>\n",
      xml(about.name));
  out +=
      "  <LogCategories>\n    <Category name=\"logAll\"/>\n    <Category name=\"logStatusError\"/>\n  "
      "</LogCategories>\n";
  out += experiment(about) + "  <ModelVariables>\n";
  for (const Variable& v : about.variables) {
    out += fmt::format("    <Float64 name=\"{}\" valueReference=\"{}\" causality=\"{}\" variability=\"{}\"",
                       xml(v.name), v.reference, v.causality, v.variability);
    if (!v.initial.empty()) out += fmt::format(" initial=\"{}\"", v.initial);
    out += fmt::format(" description=\"{}\"", xml(v.description));
    if (v.derivative_of > 0) out += fmt::format(" derivative=\"{}\"", v.derivative_of);
    if (!v.start.empty()) out += fmt::format(" start=\"{}\"", v.start);
    out += "/>\n";
  }
  out += "  </ModelVariables>\n  <ModelStructure>\n";
  for (const Variable& v : about.variables)
    if (v.causality == "output") out += fmt::format("    <Output valueReference=\"{}\"/>\n", v.reference);
  for (int i = 0; i < 2 * about.n; ++i)
    out += fmt::format("    <ContinuousStateDerivative valueReference=\"{}\"/>\n", 1 + about.n + i);
  for (const Variable& v : about.variables)
    if (v.initial == "calculated") out += fmt::format("    <InitialUnknown valueReference=\"{}\"/>\n", v.reference);
  for (int i = 0; i < about.events; ++i)
    out += fmt::format("    <EventIndicator valueReference=\"{}\"/>\n",
                       about.variables.size() - static_cast<std::size_t>(about.events - i));
  return out + "  </ModelStructure>\n</fmiModelDescription>\n";
}

std::string build_description(const About& about) {
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiBuildDescription fmiVersion=\"3.0\">\n"
      "  <BuildConfiguration modelIdentifier=\"{0}\">\n    <SourceFileSet language=\"C99\">\n"
      "      <SourceFile name=\"fmi3.c\"/>\n      <SourceFile name=\"{0}.c\"/>\n    </SourceFileSet>\n"
      "    <Library name=\"m\"/>\n  </BuildConfiguration>\n</fmiBuildDescription>\n",
      xml(about.name));
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

}  // namespace

Fmu export_fmu(const System& system, const State& start, const std::string& name, FmiVersion version,
               const std::string& compiler) {
  const CSources c = export_c(system, start, name);
  About about;
  about.name = name, about.title = system.title(), about.n = system.n();
  about.token = token_of(c.source + (version == FmiVersion::two ? "2" : "3"));
  about.variables = variables_of(system, start);
  about.events = static_cast<int>(system.model().events.size());
  about.begin = start.t, about.to = system.run_settings().to;
  about.tolerance = system.run_settings().tolerance;
  const bool two = version == FmiVersion::two;
  const std::string adapter_name = two ? "fmi2.c" : "fmi3.c";
  const std::string adapter = with_prefix(fmu_instance(), name) +
                              fmt::format("\n#define {}_TOKEN \"{}\"\n", name, about.token) +
                              with_prefix(two ? fmu_functions_2() : fmu_functions_3(), name);

  std::vector<std::pair<std::string, std::string>> files{
      {"modelDescription.xml", two ? description_2(about) : description_3(about)},
      {"sources/" + adapter_name, adapter},
      {"sources/" + name + ".c", c.source},
      {"sources/" + name + ".h", c.header}};
  if (!two) files.emplace_back("sources/buildDescription.xml", build_description(about));
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
