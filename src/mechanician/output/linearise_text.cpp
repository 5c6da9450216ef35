#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "mechanician/base/safe_text.hpp"
#include "mechanician/base/text.hpp"
#include "mechanician/output/linearise_output.hpp"
#include "mechanician/output/table.hpp"

namespace mechanician {

namespace {

constexpr int most_matrix = 12;  ///< states up to which A is printed
constexpr int most_shown = 10;   ///< modes that are listed in words

/// With the digits that there are, ten at most.
std::string number(double x, double uncertainty = 0.0) {
  if (x == 0.0) return "0";
  if (!std::isfinite(x)) return std::isnan(x) ? "-" : x > 0 ? "inf" : "-inf";
  int digits = 10;
  if (uncertainty > 0.0)
    digits = std::clamp(static_cast<int>(std::floor(std::log10(std::abs(x) / uncertainty))), 1, 10);
  return fmt::format("{:.{}g}", x, digits);
}

std::string list(const std::vector<std::string>& names) {
  std::string out;
  const int shown = lines_of(static_cast<long>(names.size()));
  for (int k = 0; k < shown; ++k) out += (k ? ", " : "") + names[static_cast<std::size_t>(k)];
  if (shown < static_cast<int>(names.size())) out += fmt::format(", … {} in all", names.size());
  return out;
}

std::string complex_number(std::complex<double> x, double uncertainty = 0.0) {
  if (x.imag() == 0.0) return number(x.real(), uncertainty);
  return fmt::format("{} {} {}i", number(x.real(), uncertainty), x.imag() < 0 ? "-" : "+",
                     number(std::abs(x.imag()), uncertainty));
}

std::string eigenvalue_table(const std::vector<Eigenvalue>& eigenvalues) {
  TextTable table({"eigenvalue", "re", "im", "frequency", "damping"});
  long lines = 0, total = 0;
  for (std::size_t k = 0; k < eigenvalues.size(); ++k) {
    const Eigenvalue& e = eigenvalues[k];
    if (e.value.imag() < 0.0) continue;  // its pair follows
    std::size_t same = 1;
    while (k + same < eigenvalues.size() && eigenvalues[k + same].value == e.value && e.value == 0.0) ++same;
    ++total;
    if (lines < 40) {
      const bool pair = e.value.imag() > 0.0;
      table.add({same > 1 ? fmt::format("{} … {}", k + 1, k + same)
                 : pair   ? fmt::format("{}, {}", k, k + 1)
                          : fmt::format("{}", k + 1),
                 number(e.value.real(), e.uncertainty), pair ? "±" + number(e.value.imag(), e.uncertainty) : "0",
                 number(e.frequency(), e.uncertainty), number(e.damping())});
      ++lines;
    }
    k += same - 1;
  }
  std::string out = table.text();
  if (lines < total) out += fmt::format("  … and {} others\n", total - lines);
  return out;
}

std::string matrix_table(const Linearisation& l) {
  std::vector<std::string> header{"A"};
  header.insert(header.end(), l.states.begin(), l.states.end());
  TextTable table(header);
  for (Eigen::Index i = 0; i < l.A.rows(); ++i) {
    std::vector<std::string> row{l.states[static_cast<std::size_t>(i)]};
    for (Eigen::Index j = 0; j < l.A.cols(); ++j)
      row.push_back(fmt::format("{:.6g}", std::abs(l.A(i, j)) <= 4.0 * l.A_noise(i, j) ? 0.0 : l.A(i, j)));
    table.add(std::move(row));
  }
  return table.text();
}

std::string mode_table(const System& system, const LineariseReport& report) {
  const std::vector<int> modes = list_modes(report, report.shown_modes > 0 ? report.shown_modes : most_shown);
  if (modes.empty() || system.n() > 100) return {};
  std::vector<std::string> header{"mode"};
  std::vector<Eigen::VectorXcd> shapes;
  for (const int k : modes) {
    header.push_back(fmt::format("{}", k + 1));
    shapes.push_back(mode_shape(report, k));
  }
  TextTable table(header);
  for (int i = 0; i < lines_of(system.n()); ++i) {
    std::vector<std::string> row{system.coordinate(i)};
    for (const auto& shape : shapes) {
      const std::complex<double> x = shape(i);
      const double re = std::abs(x.real()) < 5e-13 ? 0.0 : x.real(), im = std::abs(x.imag()) < 5e-13 ? 0.0 : x.imag();
      row.push_back(im == 0.0 ? fmt::format("{:.4g}", re) : fmt::format("{:.4g}{:+.4g}i", re, im));
    }
    table.add(std::move(row));
  }
  return table.text() + others(system.n());
}

std::string verdict(const LineariseReport& report) {
  const Linearisation& l = report.linear;
  if (l.at == Linearisation::At::moving) {
    std::size_t worst = 0;
    std::string drift;
    for (std::size_t k = 0; k < l.states.size() && worst < 4; ++k)
      if (const double f = l.drift(static_cast<Eigen::Index>(k)); f != 0.0)
        drift += fmt::format("{}{} by {}", drift.empty() ? "" : ", ", l.states[k], short_number(f)), ++worst;
    // Of a body that spins, quaternions change as long as it does: what is steady about it is not seen in them.
    const bool spins = std::any_of(l.states.begin(), l.states.end(), [&](const std::string& name) {
      const std::size_t dot = name.rfind('.');
      return dot != std::string::npos &&
             (name.substr(dot) == ".qx" || name.substr(dot) == ".qy" || name.substr(dot) == ".qz") &&
             l.drift(&name - l.states.data()) != 0.0;
    });
    return fmt::format(
        "no equilibrium and no steady motion: the states change ({}{}). A is the derivative of their rates here; its "
        "eigenvalues do not tell whether deviations grow{}\n",
        drift, worst == 4 ? ", …" : "",
        spins
            ? ". Quaternions of a body that spins change with its turning, so that a steady spin is not recognised by "
              "them: by the angles of universal and revolute joints it is, and --period decides where a turn is a "
              "period"
            : "");
  }
  const char* where = l.at == Linearisation::At::rest ? "rest" : "a steady motion";
  if (l.depends_on_time)
    return fmt::format(
        "{} at this time, and the equations depend on time: eigenvalues at an instant do not tell whether "
        "deviations grow; --period does, where time is periodic\n",
        where);
  int unstable = 0;
  for (const Eigenvalue& e : report.spectrum.eigenvalues) unstable += e.value.real() > 0.0;
  if (unstable > 0)
    return fmt::format("{}, unstable: {} with a positive real part\n", where,
                       count_noun(static_cast<std::size_t>(unstable), "eigenvalue"));
  const bool decays = std::all_of(report.spectrum.eigenvalues.begin(), report.spectrum.eigenvalues.end(),
                                  [](const Eigenvalue& e) { return e.value.real() < 0.0; });
  return fmt::format("{}, {}\n", where,
                     decays ? "stable: all deviations die away"
                            : "stable in linear approximation: no eigenvalue has a positive real part, some have none");
}

std::string floquet_text(const Floquet& f) {
  std::string out = fmt::format("\nmultipliers of the period {}\n", number(f.period));
  TextTable table({"multiplier", "re", "im", "size"});
  for (std::size_t k = 0; k < std::min<std::size_t>(f.multipliers.eigenvalues.size(), 40); ++k) {
    const Eigenvalue& e = f.multipliers.eigenvalues[k];
    table.add({fmt::format("{}", k + 1), number(e.value.real(), e.uncertainty), number(e.value.imag(), e.uncertainty),
               number(std::abs(e.value), e.uncertainty)});
  }
  out += table.text();
  switch (f.verdict()) {
    case Floquet::Verdict::stable:
      return out + "stable: none is larger than 1\n";
    case Floquet::Verdict::unstable:
      return out + "unstable: deviations grow with each period\n";
    case Floquet::Verdict::undecided:
      break;
  }
  double uncertainty = 0.0;
  for (std::size_t k = 0; k < f.meets.size(); ++k)
    if (f.meets[k]) uncertainty = std::max(uncertainty, f.multipliers.eigenvalues[k].uncertainty);
  return out + fmt::format(
                   "not decided: multipliers of the size 1 meet, as far as digits tell (by {}), as they do along every "
                   "motion that keeps its energy; deviations may stay, or grow in proportion to time\n",
                   short_number(uncertainty));
}

}  // namespace

std::vector<int> list_modes(const LineariseReport& report, int most) {
  std::vector<int> modes;
  if (report.spectrum.vectors.size() == 0) return modes;
  for (std::size_t k = 0; k < report.spectrum.eigenvalues.size(); ++k) {
    if (most > 0 && static_cast<int>(modes.size()) >= most) break;
    if (report.spectrum.eigenvalues[k].value.imag() >= 0.0) modes.push_back(static_cast<int>(k));
  }
  return modes;
}

Eigen::VectorXcd mode_shape(const LineariseReport& report, int eigenvalue) {
  return report.spectrum.shapes.col(eigenvalue);
}

std::string linearise_text(const System& system, const LineariseReport& report) {
  const Linearisation& l = report.linear;
  std::string out;
  if (!system.title().empty()) out += safe_text(system.title()) + "\n";
  out += fmt::format("t = {}: {}", number(l.state.t), verdict(report));
  out += fmt::format("states: {}\n", l.states.empty() ? "none: nothing can move" : list(l.states));
  if (l.states.empty()) return out;
  if (l.A.rows() <= most_matrix) out += "\n" + matrix_table(l);
  out += "\n" + eigenvalue_table(report.spectrum.eigenvalues);
  if (const std::string modes = mode_table(system, report); !modes.empty()) out += "\n" + modes;
  for (const TransferFunction& g : report.transfers) {
    out += fmt::format("\nfrom {} to {}: ", report.inputs[static_cast<std::size_t>(g.input)],
                       report.outputs[static_cast<std::size_t>(g.output)]);
    if (g.gain == 0.0) {
      out += "nothing\n";
      continue;
    }
    out += fmt::format("gain {}, at rest {}\n", number(g.gain), number(g.at_zero));
    const auto roots = [&](const char* what, const std::vector<Eigenvalue>& values) {
      std::string text;
      for (const Eigenvalue& e : values) text += (text.empty() ? "" : ", ") + complex_number(e.value, e.uncertainty);
      out += fmt::format("  {:<6}{}\n", what, text.empty() ? "none" : text);
    };
    roots("zeros", g.zeros), roots("poles", g.poles);
  }
  for (const auto& [linear, spectrum] : report.along) {
    out += fmt::format("\nt = {} ({})\n", number(linear.state.t), name_of(linear.at));
    out += eigenvalue_table(spectrum.eigenvalues);
  }
  if (report.floquet) out += floquet_text(*report.floquet);
  return out;
}

}  // namespace mechanician
