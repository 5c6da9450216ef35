#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "mechanician/base/text.hpp"
#include "mechanician/cli/commands.hpp"
#include "mechanician/cli/loading.hpp"
#include "mechanician/cli/saying.hpp"
#include "mechanician/output/equilibrium_output.hpp"
#include "mechanician/result/text_sink.hpp"

namespace mechanician {

namespace {

/// "p=a..b"
struct Varied {
  std::string name;
  double from = 0.0, to = 0.0;
};

std::optional<Varied> parse_varied(const CommandOptions& o) {
  if (o.vary.empty()) return std::nullopt;
  const std::string& text = o.vary.front();
  const std::size_t equal = text.find('='), dots = text.find("..");
  if (o.vary.size() > 1 || equal == std::string::npos || equal == 0 || dots == std::string::npos || dots < equal)
    throw UsageError(fmt::format("--vary {}: one parameter and its range, as in --vary \"p=0..2\"", o.vary.back()));
  Varied varied{text.substr(0, equal), parse_number(text.substr(equal + 1, dots - equal - 1), "--vary"),
                parse_number(text.substr(dots + 2), "--vary")};
  if (varied.from > varied.to) std::swap(varied.from, varied.to);
  if (!(varied.from < varied.to)) throw UsageError(fmt::format("--vary {}: the range has no length", text));
  return varied;
}

long parse_count(const std::string& text, const char* option, long otherwise, long least) {
  if (text.empty()) return otherwise;
  const double x = parse_number(text, option);
  if (!(x >= static_cast<double>(least)) || x != std::floor(x) || x > 1e15)
    throw UsageError(fmt::format("{} {}: a whole number, {} at least", option, text, least));
  return static_cast<long>(x);
}

}  // namespace

Exit run_equilibrium(const CommandOptions& o) {
  const std::optional<Varied> varied = parse_varied(o);
  const RestOptions rest{
      static_cast<int>(std::min(parse_count(o.starts, "--starts", RestOptions{}.starts, 1), 1'000'000L)),
      static_cast<std::uint64_t>(parse_count(o.seed, "--seed", 0, 0))};
  const bool to_csv = o.output.ends_with(".csv"), to_json = o.output.ends_with(".json");
  if (!o.output.empty() && !to_csv && !to_json)
    throw UsageError(fmt::format("-o {}: the ending says the format: .csv or .json", o.output));
  Loaded loaded = load(o);
  const System& system = loaded.system;
  EquilibriumSearch search{.rest = rest, .overrides = ParameterOverrides(o.set.begin(), o.set.end())};
  if (varied) search.varied = varied->name, search.from = varied->from, search.to = varied->to;
  FoundEquilibria found;
  try {
    found = find_equilibria(system, loaded.start, search);
  } catch (const std::invalid_argument& e) {
    throw UsageError(fmt::format("--vary: {}", e.what()));
  }
  if (!found.refusal.empty()) {
    say(Remark{found.refusal, {}, found.place}, "error", system);
    return Exit::refused;
  }
  const EquilibriumReport& report = found.report;
  const System& searched = *found.searched;
  for (const std::string& note : report.notes) say(Remark{note, {}, {}}, "note", system);
  if (found.nothing() && !found.trouble.empty()) say(Remark{found.trouble, {}, {}}, "error", system);
  const std::string json = o.json || to_json ? equilibrium_json(searched, report) : std::string();
  if (!o.output.empty()) {
    const auto sink = make_file_sink(o.output);
    sink->append(to_json ? json : report.branches ? branches_csv(searched, report) : equilibria_csv(searched, report));
    sink->finish();
  }
  o.json ? write_out(json) : show(equilibrium_text(searched, report));
  return found.nothing() ? Exit::refused : Exit::done;
}

}  // namespace mechanician
