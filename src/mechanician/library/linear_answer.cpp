#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>

#include "mechanician/analysis/equilibria.hpp"
#include "mechanician/expression/simplify.hpp"
#include "mechanician/instant/open_inputs.hpp"
#include "mechanician/library/instant_answer.hpp"
#include "mechanician/library/now_and_then.hpp"
#include "mechanician/motion/stage_model.hpp"
#include "mechanician/output/equilibrium_output.hpp"
#include "mechanician/output/linearise_output.hpp"

namespace mechanician {

namespace {

std::vector<std::complex<double>> values_of(const Spectrum& spectrum) {
  std::vector<std::complex<double>> values;
  for (const Eigenvalue& e : spectrum.eigenvalues) values.push_back(e.value);
  return values;
}

/// What was set of the parameters beside what the model says: values that do not follow from it, while those they are made of do.
ParameterOverrides find_overrides(const System& system) {
  ParameterOverrides set;
  const Model& model = system.model();
  const std::vector<double>& now = system.parameters();
  for (bool found = true; found;) {
    found = false;
    const std::vector<double> said = evaluate_parameters(model, set).values;
    std::vector<Expr> changed;
    for (std::size_t i = 0; i < now.size(); ++i)
      if (said[i] != now[i]) changed.push_back(model.parameters[i].symbol());
    for (std::size_t i = 0; i < now.size(); ++i) {
      const Parameter& p = model.parameters[i];
      if (said[i] == now[i] || set.contains(p.name)) continue;
      const std::vector<Expr> made_of = symbols_of(std::span(&p.value, 1));
      if (std::any_of(made_of.begin(), made_of.end(), [&](const Expr& s) {
            return std::any_of(changed.begin(), changed.end(), [&](const Expr& c) { return same(c, s); });
          }))
        continue;
      const double zero = in_si(system.units(), p.name, 0.0), one = in_si(system.units(), p.name, 1.0);
      set[p.name] = (now[i] - zero) / (one - zero);
      found = true;
    }
  }
  return set;
}

/// Ten times a second, however often it is called.
std::function<void()> tenfold(const std::function<void()>& call) {
  if (!call) return {};
  return [call, now_and_then = NowAndThen()]() mutable {
    if (now_and_then.is_time()) call();
  };
}

}  // namespace

LinearAnswer linearise(const System& whole, const LineariseRequest& request) {
  const State state =
      accepted_start(whole, start_of(whole, request.position, request.velocity, request.time), request.project);
  // Inputs that are expressions are numbers here; what is released does not act.
  const System system = system_at_start(with_inputs_held(whole, request.inputs, state));
  Lineariser lineariser(system, {request.inputs, request.outputs, request.states});
  LineariseReport report{.linear = lineariser.at(state), .inputs = request.inputs, .outputs = request.outputs};
  const Linearisation& l = report.linear;
  if (!l.refusal.empty()) throw std::invalid_argument(l.refusal);
  if (const std::string why = refuse_spectrum(l); !why.empty()) throw std::invalid_argument(why);
  report.spectrum = find_spectrum(l);
  report.transfers = find_transfer_functions(l);
  return {.states = l.states,
          .inputs = request.inputs,
          .outputs = request.outputs,
          .A = l.A,
          .B = l.B,
          .C = l.C,
          .D = l.D,
          .drift = l.drift,
          .eigenvalues = values_of(report.spectrum),
          .at = name_of(l.at),
          .stable = report.spectrum.is_stable(),
          .notes = l.notes,
          .json = linearise_json(system, report)};
}

RestAnswer find_rest(const System& system, const RestRequest& request) {
  if (request.starts < 1) throw std::invalid_argument("starts: one at least");
  if (!request.vary.empty() && !(request.from < request.to && std::isfinite(request.from) && std::isfinite(request.to)))
    throw std::invalid_argument(fmt::format("the range of `{}` has no length", request.vary));
  const FoundEquilibria found =
      find_equilibria(system, start_of(system, request.position, {}, request.time),
                      {.rest = {request.starts, request.seed, tenfold(request.progress)},
                       .varied = request.vary,
                       .from = request.from,
                       .to = request.to,
                       .overrides = request.vary.empty() ? ParameterOverrides() : find_overrides(system)});
  if (!found.refusal.empty()) throw std::invalid_argument(found.refusal);
  RestAnswer answer{.states = {}, .notes = found.report.notes, .json = equilibrium_json(*found.searched, found.report)};
  if (found.nothing() && !found.trouble.empty()) answer.notes.push_back(found.trouble);
  for (const RestState& s : found.report.equilibria) {
    Values position;
    for (int i = 0; i < found.searched->n(); ++i) position[found.searched->coordinate(i)] = s.linear.state.q(i);
    answer.states.push_back({position, values_of(s.spectrum), s.is_stable(), s.isolated});
  }
  return answer;
}

}  // namespace mechanician
