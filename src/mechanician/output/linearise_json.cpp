#include "mechanician/output/json_writer.hpp"
#include "mechanician/output/linearise_output.hpp"

namespace mechanician {

namespace {

void write_complex(JsonWriter& json, const std::vector<Eigenvalue>& values) {
  json.begin_array();
  for (const Eigenvalue& e : values) {
    json.begin_object().key("re").value(e.value.real()).key("im").value(e.value.imag());
    json.key("uncertainty").value(e.uncertainty).end_object();
  }
  json.end_array();
}

void write_list(JsonWriter& json, const Eigen::VectorXd& x) {
  json.begin_array();
  for (const double xi : x) json.value(xi);
  json.end_array();
}

}  // namespace

const char* name_of(Linearisation::At at) {
  return at == Linearisation::At::rest ? "rest" : at == Linearisation::At::steady ? "steady" : "moving";
}

void write_eigenvalues(JsonWriter& json, const std::vector<Eigenvalue>& eigenvalues) {
  json.begin_array();
  for (const Eigenvalue& e : eigenvalues) {
    json.begin_object().key("re").value(e.value.real()).key("im").value(e.value.imag());
    json.key("frequency").value(e.frequency()).key("damping").value(e.damping());
    json.key("uncertainty").value(e.uncertainty).end_object();
  }
  json.end_array();
}

void write_matrix(JsonWriter& json, const Eigen::MatrixXd& X) {
  json.begin_array();
  for (Eigen::Index i = 0; i < X.rows(); ++i) {
    json.begin_array();
    for (Eigen::Index j = 0; j < X.cols(); ++j) json.value(X(i, j));
    json.end_array();
  }
  json.end_array();
}

std::string linearise_json(const System& system, const LineariseReport& report) {
  const Linearisation& l = report.linear;
  JsonWriter json;
  json.begin_object();
  json.key("t").value(l.state.t);
  const auto name = [&](int i) { return system.coordinate(i); };
  json.key("position").named(name, l.state.q);
  json.key("velocity").named(name, l.state.qd);
  json.key("at").value(name_of(l.at));
  json.key("depends_on_time").value(l.depends_on_time);
  json.key("stable");
  const auto verdict = report.floquet ? report.floquet->verdict() : Floquet::Verdict::undecided;
  if (report.floquet && verdict != Floquet::Verdict::undecided)
    json.value(verdict == Floquet::Verdict::stable);
  else if (report.floquet || l.at == Linearisation::At::moving || l.depends_on_time)
    json.null();
  else
    json.value(report.spectrum.is_stable());
  json.key("states").list(l.states);
  json.key("inputs").list(report.inputs);
  json.key("outputs").list(report.outputs);
  json.key("drift").named(l.states, l.drift);
  json.key("eigenvalues");
  write_eigenvalues(json, report.spectrum.eigenvalues);
  json.key("A"), write_matrix(json, l.A);
  json.key("B"), write_matrix(json, l.B);
  json.key("C"), write_matrix(json, l.C);
  json.key("D"), write_matrix(json, l.D);
  std::vector<std::string> coordinates;
  for (int i = 0; i < system.n(); ++i) coordinates.push_back(system.coordinate(i));
  json.key("coordinates").list(coordinates);
  json.key("modes").begin_array();
  for (const int k : list_modes(report, report.shown_modes)) {
    const Eigen::VectorXcd shape = mode_shape(report, k);
    json.begin_object().key("eigenvalue").value(k);
    const Eigen::VectorXd re = shape.real(), im = shape.imag();
    json.key("re"), write_list(json, re);
    json.key("im"), write_list(json, im);
    json.end_object();
  }
  json.end_array();
  json.key("transfer").begin_array();
  for (const TransferFunction& g : report.transfers) {
    json.begin_object();
    json.key("input").value(report.inputs[static_cast<std::size_t>(g.input)]);
    json.key("output").value(report.outputs[static_cast<std::size_t>(g.output)]);
    json.key("gain").value(g.gain).key("static").value(g.at_zero);
    json.key("zeros"), write_complex(json, g.zeros);
    json.key("poles"), write_complex(json, g.poles);
    json.end_object();
  }
  json.end_array();
  if (!report.along.empty()) {
    json.key("along").begin_array();
    for (const auto& [linear, spectrum] : report.along) {
      json.begin_object().key("t").value(linear.state.t).key("at").value(name_of(linear.at));
      json.key("states").list(linear.states);
      json.key("position").named(name, linear.state.q);
      json.key("velocity").named(name, linear.state.qd);
      json.key("eigenvalues"), write_eigenvalues(json, spectrum.eigenvalues);
      json.key("A"), write_matrix(json, linear.A);
      json.key("B"), write_matrix(json, linear.B);
      json.key("C"), write_matrix(json, linear.C);
      json.key("D"), write_matrix(json, linear.D);
      json.end_object();
    }
    json.end_array();
  }
  if (report.floquet) {
    const Floquet& f = *report.floquet;
    json.key("period").value(f.period);
    json.key("multipliers").begin_array();
    for (const Eigenvalue& e : f.multipliers.eigenvalues) {
      json.begin_object().key("re").value(e.value.real()).key("im").value(e.value.imag());
      json.key("size").value(std::abs(e.value)).key("uncertainty").value(e.uncertainty).end_object();
    }
    json.end_array();
    json.key("monodromy"), write_matrix(json, f.monodromy);
  }
  json.key("notes").list(l.notes);
  json.end_object();
  return json.text();
}

}  // namespace mechanician
