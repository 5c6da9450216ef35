#include "mechanician/cli/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>

#include "mechanician/base/text.hpp"
#include "mechanician/base/version.hpp"
#include "mechanician/model/parameters.hpp"

namespace mechanician {

namespace {

/// Options as CLI11 collects them, before they are parsed further.
struct RawOptions {
  CommandOptions command;
  std::vector<std::string> set, position, velocity, scale;
  std::string form = "auto", shell;
};

void add_base_option(CLI::App& app, RawOptions& raw) {
  app.add_option("--base", raw.command.base, "Of a robot in URDF: whether the first link is held, fixed or floating")
      ->check(CLI::IsMember({"fixed", "floating"}));
}

/// Returns the model file among them. `rows`: with --at for the row of a result; `linearise` has one of its own.
CLI::Option* add_model_options(CLI::App& app, RawOptions& raw, bool rows = true) {
  CLI::Option* model = app.add_option("MODEL", raw.command.model, "Model file")->required();
  app.add_option("--set", raw.set, "Parameter values, name=value[,name=value...]")->type_name("NAME=VALUE");
  app.add_option("--position", raw.position, "Start coordinates, x=1,y=2")->type_name("X=VALUE");
  app.add_option("--velocity", raw.velocity, "Start velocities, x=1,y=2")->type_name("X=VALUE");
  app.add_option("--time", raw.command.time, "Start time")->type_name("T");
  app.add_option("--from", raw.command.start_from, "A result to go on from: the state of its last row")
      ->type_name("RESULT");
  if (rows) app.add_option("--at", raw.command.start_at, "With --from: the row at this time")->type_name("T");
  app.add_flag("--json", raw.command.json, "Machine-readable output on standard output");
  add_base_option(app, raw);
  return model;
}

void add_scale_option(CLI::App& app, RawOptions& raw) {
  app.add_option("--scale", raw.scale, "Typical sizes of coordinates, x=1e-3,y=2; overrides the file")
      ->type_name("X=VALUE");
}

void add_plot_options(CLI::App& plot, CommandOptions& o) {
  plot.add_option("RESULT", o.result, "What `run` has written, or any CSV with a line of names; - is standard input")
      ->required();
  plot.add_option("-o", o.output, "Picture; without it the plot is drawn in the terminal")
      ->type_name("FILE.svg|.png|.pdf");
  plot.add_option("--show", o.show,
                  "Columns, patterns, groups and formulas, joined by commas; given again: another panel below. Groups: "
                  "positions, velocities, accelerations, forces, multipliers, energies, residuals, ... Default: all "
                  "coordinates")
      ->type_name("x,y,...")
      ->allow_extra_args(false);
  plot.add_option("--against", o.against, "Column or formula of the abscissa; default: t")->type_name("t");
  plot.add_option("--from", o.from, "Where the abscissa begins")->type_name("X");
  plot.add_option("--to", o.to, "Where the abscissa ends")->type_name("X");
  plot.add_flag("--equal", o.equal, "One unit is as long on both axes");
  plot.add_option("--log", o.log, "Logarithmic axes")->type_name("x|y|xy")->check(CLI::IsMember({"x", "y", "xy"}));
  plot.add_option("--style", o.style, "lines, points or both")->check(CLI::IsMember({"lines", "points", "both"}));
  plot.add_flag("--straight", o.straight, "Straight lines between rows, also where derivatives say how they curve");
  plot.add_option("--title", o.title, "Title above the plot")->type_name("TEXT");
  plot.add_option("--x-label", o.x_label, "Text at the abscissa; default: what it is")->type_name("TEXT");
  plot.add_option("--y-label", o.y_labels, "Text at the ordinate, once for each panel")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  plot.add_option("--size", o.size, "Pixels, or characters and lines in the terminal")->type_name("WxH");
  plot.add_flag("--no-color", o.no_colour, "No colours in the terminal");
}

void add_sweep_options(CLI::App& sweep, CommandOptions& o) {
  sweep
      .add_option("--vary", o.vary,
                  "Parameter, start position x or start velocity x' as a grid FROM:TO:COUNT, a list v1,v2,…, "
                  "normal(MEAN,SD) or "
                  "uniform(A,B); given again: grids and lists multiply")
      ->type_name("NAME=VALUES")
      ->allow_extra_args(false);
  sweep.add_option("--samples", o.samples, "Samples instead: a column for each name, a row for each motion")
      ->type_name("FILE.csv");
  sweep.add_option("--count", o.count, "Random samples, for each combination of grids and lists")->type_name("N");
  sweep.add_option("--seed", o.seed, "Of random samples; default: 0")->type_name("S");
  sweep.add_option("--sampling", o.sampling, "random (default), lhs (Latin hypercube) or sobol")->type_name("KIND");
  sweep.add_flag("--as-given", o.as_given, "Do not move varied starts onto the constraints");
  sweep
      .add_option("--keep", o.keep,
                  "Outputs of the model, accelerations x'', forces Qc(x), multipliers lambda(NAME) at the end, what "
                  "[summary] asks for; names with * and ?, joined by commas")
      ->type_name("NAMES")
      ->allow_extra_args(false);
  sweep
      .add_option("-o", o.output,
                  "Result; without it CSV goes to standard output, or nothing but the summary with --json")
      ->type_name("FILE.h5|.csv");
  sweep.add_option("--to", o.to, "End time; overrides the file")->type_name("T");
  sweep.add_option("--method", o.method, "rk4 with --step, or auto, dop853, bdf; overrides the file")
      ->type_name("METHOD");
  sweep.add_option("--step", o.step, "Step of rk4")->type_name("H");
  sweep.add_option("--tolerance", o.tolerance, "Local error of adaptive methods; overrides the file")->type_name("TOL");
  sweep.add_option("--device", o.device, "cpu, gpu or auto (default)")->type_name("DEVICE");
  sweep.add_option("--threads", o.threads, "Default: one for each core")->type_name("N");
  sweep.add_option("--resume", o.resume, "Do the rest of a sweep that was killed or interrupted")
      ->type_name("FILE.h5|.csv");
  sweep.add_flag("--quiet", o.quiet, "No progress bar, no summary; only what is wrong");
}

void add_linearise_options(CLI::App& linearise, CommandOptions& o) {
  linearise.add_option("--at", o.at, "Time: the state that the motion has then; without it the start")->type_name("T");
  linearise.add_option("--inputs", o.inputs, "Parameters that are inputs, joined by commas")
      ->type_name("NAMES")
      ->allow_extra_args(false);
  linearise.add_option("--outputs", o.outputs, "Outputs of the model, x, x' and x'', joined by commas")
      ->type_name("NAMES")
      ->allow_extra_args(false);
  linearise.add_option("--states", o.states, "Coordinates that are to be independent; without it chosen")
      ->type_name("NAMES")
      ->allow_extra_args(false);
  linearise.add_option("--every", o.every, "Also along the motion, at these distances of time")->type_name("DT");
  linearise.add_option("--to", o.to, "How far along the motion; overrides the file")->type_name("T");
  linearise.add_option("--period", o.period, "Multipliers of the motion after this time, in which it is periodic")
      ->type_name("T");
  linearise.add_option("--modes", o.modes, "How many mode shapes; 0: none")->type_name("N");
  linearise.add_option("--tolerance", o.tolerance, "Of the motion; overrides the file")->type_name("TOL");
  linearise.add_option("--method", o.method, "Of the motion: auto, dop853 or bdf; overrides the file")
      ->type_name("METHOD");
  linearise.add_flag("--project-start", o.project_start, "Move a start that is off the constraints onto them");
  linearise.add_option("--report", o.report, "A page on which the modes move")->type_name("FILE.html");
  linearise.add_option("-o", o.output, "Result")->type_name("FILE.json|.h5");
}

void add_equilibrium_options(CLI::App& equilibrium, CommandOptions& o) {
  equilibrium.add_option("--starts", o.starts, "From how many positions, the start among them; default: 50")
      ->type_name("N");
  equilibrium.add_option("--seed", o.seed, "Of random positions; default: 0")->type_name("S");
  equilibrium.add_option("--vary", o.vary, "Branches over a parameter, with their folds, as in p=0..2")
      ->type_name("NAME=A..B")
      ->allow_extra_args(false);
  equilibrium.add_option("-o", o.output, "Result; .csv has a row for each state, which plot draws")
      ->type_name("FILE.csv|.json");
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known, const std::string& otherwise) {
  const std::string near = nearest(word, known);
  return near.empty() ? otherwise : fmt::format("did you mean `{}`?", near);
}

/// What people write who do not know the commands: `help`, `help run`, and a model without a command, which is checked.
std::vector<std::string> with_command(const CLI::App& app, std::vector<std::string> words, std::string& note) {
  if (words.empty() || (words[0].starts_with('-') && words[0] != "-")) return words;
  const auto known = command_names(app);
  const auto is_known = [&](const std::string& word) {
    return std::find(known.begin(), known.end(), word) != known.end();
  };
  if (words[0] == "help") {
    if (words.size() == 1) return {"--help"};
    words = {words[1], "--help"};
  }
  if (is_known(words[0])) return words;
  std::error_code error;
  if (words[0] != "-" && !words[0].ends_with(".toml") && !std::filesystem::is_regular_file(words[0], error))
    throw UsageError(
        fmt::format("unknown command `{}`\n{}", words[0], did_you_mean(words[0], known, "Try `mechanician --help`.")));
  note = fmt::format("mechanician: no command is given: this is `mechanician check {}`\n", words[0]);
  words.insert(words.begin(), "check");
  return words;
}

/// What is left over when a command has taken its options: the first, in the order in which they stand there.
[[noreturn]] void refuse_extra(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* command = app.get_subcommands().empty() ? &app : app.get_subcommands().front();
  const auto left = app.remaining(true);
  const auto is_left = [&](const std::string& word) { return std::find(left.begin(), left.end(), word) != left.end(); };
  const auto first = std::find_if(words.begin(), words.end(), is_left);
  const std::string word = first == words.end() ? (left.empty() ? "" : left.front()) : *first;
  const std::string where = command == &app ? "" : command->get_name() + " ";
  const std::string otherwise = fmt::format("Try `mechanician {}--help`.", where);
  if (!word.starts_with('-'))
    throw UsageError(fmt::format("{}`{}` is one argument too many\n{}",
                                 where.empty() ? "" : where.substr(0, where.size() - 1) + ": ", word, otherwise));
  std::vector<std::string> known;
  for (const CLI::Option* option : command->get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  throw UsageError(
      fmt::format("there is no option `{}`\n{}", word, did_you_mean(word.substr(0, word.find('=')), known, otherwise)));
}

/// What the texts of the options say.
void parse_values(RawOptions& raw) {
  CommandOptions& options = raw.command;
  options.set = parse_assignments(raw.set, "--set");
  options.position = parse_assignments(raw.position, "--position");
  options.scale = parse_assignments(raw.scale, "--scale");
  for (const auto& [name, value] : options.scale)
    if (const std::string wrong = wrong_scale(value); !wrong.empty())
      throw UsageError(fmt::format("--scale {}={}: {}", name, short_number(value), wrong));
  options.velocity = parse_assignments(raw.velocity, "--velocity");
  const std::map<std::string, Form> forms{{"auto", Form::automatic}, {"F1", Form::f1}, {"F2", Form::f2},
                                          {"F3", Form::f3},          {"F4", Form::f4}, {"F5", Form::f5}};
  options.form = forms.at(raw.form);
}

}  // namespace

CommandLine parse_command_line(const std::vector<std::string>& given) {
  CLI::App app{
      "State a mechanical system and its constraints; get its exact equations, accelerations and constraint forces.",
      "mechanician"};
  app.set_version_flag("--version", "mechanician " + std::string(version()));
  app.require_subcommand(1);
  app.failure_message([](const CLI::App* failed, const CLI::Error& e) {
    const auto commands = failed->get_subcommands();
    return fmt::format("mechanician: {}\nTry `mechanician {}--help`.\n", e.what(),
                       commands.empty() ? "" : commands.front()->get_name() + " ");
  });
  RawOptions raw;

  auto* check = app.add_subcommand(
      "check", "Read and derive everything, evaluate the start state, and say whether the statement makes sense");
  add_model_options(*check, raw);

  auto* accelerate = app.add_subcommand("accelerate", "Acceleration, constraint forces and multipliers at one instant");
  add_model_options(*accelerate, raw);
  accelerate->add_option("--form", raw.form, "Form of the equation of motion")
      ->check(CLI::IsMember({"auto", "F1", "F2", "F3", "F4", "F5"}))
      ->capture_default_str();
  accelerate->add_flag("--parts", raw.command.parts, "Add the parts in which constrained motion is explained");
  accelerate->add_flag("--explain", raw.command.explain, "Explain the motion in words, with this model's numbers");

  auto* equations = app.add_subcommand(
      "equations",
      "Print M, Q, A, b, C and, where it can be read, the closed form of the acceleration and the constraint force");
  add_model_options(*equations, raw);
  equations->add_flag("--latex", raw.command.latex, "LaTeX");
  equations->add_flag("--latex-document", raw.command.latex_document, "LaTeX, as a document of its own");
  equations->add_flag("--python", raw.command.python, "M, Q, A and b as functions of Python");

  auto* expand = app.add_subcommand("expand", "Print the plain model that bodies, joints, springs and the like mean");
  add_model_options(*expand, raw);

  auto* import = app.add_subcommand("import", "Print a robot in URDF or MJCF as a model file");
  import->add_option("ROBOT", raw.command.model, "URDF or MJCF file")->required()->type_name("FILE.urdf|.xml");
  import->add_option("-o", raw.command.output, "Model file; without it to standard output")->type_name("FILE.toml");
  add_base_option(*import, raw);

  auto* project =
      app.add_subcommand("project", "Move the start state onto the constraints, least in the mass norm, and print it");
  add_model_options(*project, raw);

  auto* run = app.add_subcommand("run", "The motion: rows to a file or to standard output, a summary at the end");
  add_model_options(*run, raw)->required(false)->description("Model file; not needed with --resume");
  run->add_option("-o", raw.command.output, "Result; without it CSV goes to standard output")
      ->type_name("FILE.csv|.json|.h5");
  run->add_option("--columns", raw.command.columns,
                  "Columns to write, names with * and ?, joined by commas; without it all")
      ->type_name("NAMES");
  run->add_option("--to", raw.command.to, "End time; overrides the file")->type_name("T");
  run->add_option("--every", raw.command.every, "Time between rows; without it a row per step; overrides the file")
      ->type_name("DT");
  run->add_option("--tolerance", raw.command.tolerance,
                  "Local error, relative to typical sizes, from 1e-15 to 0.1; overrides the file")
      ->type_name("TOL");
  run->add_option("--method", raw.command.method, "auto, dop853 or bdf; overrides the file")->type_name("METHOD");
  add_scale_option(*run, raw);
  run->add_option("--report", raw.command.report, "A page that shows the motion, the forces and the certificate")
      ->type_name("FILE.html");
  run->add_flag("--project-start", raw.command.project_start, "Move a start that is off the constraints onto them");
  run->add_flag("--verify", raw.command.verify, "Estimate the global error by a second run at a tighter tolerance");
  run->add_option("--resume", raw.command.resume,
                  "Go on with a run that was killed or interrupted; with --to past its end")
      ->type_name("FILE.h5");
  run->add_flag("--quiet", raw.command.quiet, "No progress bar, no summary; only what is wrong");

  auto* sweep = app.add_subcommand("sweep", "Many motions at once: parameters and starts varied, a row per motion");
  add_model_options(*sweep, raw)->required(false)->description("Model file; not needed with --resume");
  add_sweep_options(*sweep, raw.command);
  add_scale_option(*sweep, raw);

  auto* linearise = app.add_subcommand(
      "linearise", "The motion near a state, linear: state-space matrices, eigenvalues, modes, transfer functions");
  add_model_options(*linearise, raw, false);
  add_linearise_options(*linearise, raw.command);

  auto* equilibrium =
      app.add_subcommand("equilibrium", "States of rest under all forces and constraints, and their stability");
  add_model_options(*equilibrium, raw);
  add_equilibrium_options(*equilibrium, raw.command);

  auto* bench = app.add_subcommand("bench", "Measure deriving, compiling and evaluating the acceleration of a model");
  add_model_options(*bench, raw);
  bench->add_flag("--listing", raw.command.listing, "Print what is compiled, step by step, and measure nothing");

  auto* exported = app.add_subcommand("export",
                                      "The model in a form that does without mechanician: C99 and libm, a Functional "
                                      "Mock-up Unit, an article in LaTeX");
  exported->add_option("KIND", raw.command.kind, "c, fmu or latex")
      ->required()
      ->check(CLI::IsMember({"c", "fmu", "latex"}));
  add_model_options(*exported, raw);
  exported->add_option("-o", raw.command.output, "c: a folder for NAME.c and NAME.h; fmu, latex: the file")
      ->required()
      ->type_name("FOLDER|FILE.fmu");
  exported->add_option("--fmi", raw.command.fmi, "Version of the interface")
      ->check(CLI::IsMember({"2.0", "3.0"}))
      ->capture_default_str();

  auto* plot = app.add_subcommand("plot", "Plots of a result: SVG, PNG or PDF, or characters in the terminal");
  add_plot_options(*plot, raw.command);

  auto* completion = app.add_subcommand("completion", "Print a completion script for a shell");
  completion->add_option("SHELL", raw.shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));

  CommandLine line;
  const std::vector<std::string> words = with_command(app, given, line.note);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() != 0 && !app.remaining(true).empty()) refuse_extra(app, words);
    std::ostringstream out, err;
    line.exit = app.exit(e, out, err) == 0 ? Exit::done : Exit::usage;
    line.out = out.str(), line.note += err.str();
    return line;
  }
  parse_values(raw);
  line.command = app.get_subcommands().front()->get_name();
  line.options = std::move(raw.command), line.shell = std::move(raw.shell);
  return line;
}

}  // namespace mechanician
