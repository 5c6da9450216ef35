#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "mechanician/base/text.hpp"
#include "mechanician/output/accelerate_output.hpp"
#include "mechanician/output/remarks.hpp"
#include "mechanician/output/table.hpp"

namespace mechanician {

namespace {

using Eigen::VectorXd;

class Explanation {
 public:
  Explanation(const System& system, const Instant& instant) : system_(system), instant_(instant), p_(*instant.parts) {
    const auto largest = [](const VectorXd& x) { return x.size() > 0 ? x.cwiseAbs().maxCoeff() : 0.0; };
    const Solution& s = instant.solution;
    scale_ = std::max({1e-300, largest(s.qdd), largest(s.Qc), largest(instant.values.Q), largest(instant.values.b),
                       s.a ? largest(*s.a) : 0.0});
  }

  std::string text() {
    free_motion();
    if (system_.m() > 0) {
      error_and_gain();
      deviation();
      nonideal();
      two_steps();
      force_parts();
      reactions();
      virtual_work();
    }
    power();
    return std::move(out_);
  }

 private:
  void heading(std::string_view title) { out_ += fmt::format("{}{}\n", out_.empty() ? "" : "\n", title); }
  template <class... T>
  void line(fmt::format_string<T...> format, T&&... args) {
    out_ += "  ";
    out_ += fmt::format(format, std::forward<T>(args)...);
    out_ += '\n';
  }
  /// What is rounding beside the numbers that it was made of is shown as zero.
  template <class NameOf>
  std::string list(NameOf&& name_of, const VectorXd& x) const {
    const double floor = 1e-14 * scale_;
    std::string out;
    for (int i = 0; i < lines_of(x.size()); ++i)
      out += fmt::format("{}{} {}", i ? ", " : "", name_of(i), short_number(std::abs(x(i)) <= floor ? 0.0 : x(i)));
    if (x.size() > lines_of(x.size())) out += fmt::format(" and {} others", x.size() - lines_of(x.size()));
    return out.empty() ? "nothing" : out;
  }
  std::string by_coordinate(const VectorXd& x) const {
    return list([&](int i) { return system_.coordinate(i); }, x);
  }
  std::string by_row(const VectorXd& x) const {
    return list([&](int j) { return system_.row_name(j); }, x);
  }
  bool small(const VectorXd& x) const { return x.size() == 0 || x.cwiseAbs().maxCoeff() <= 1e-12 * scale_; }

  void free_motion() {
    heading("The free motion");
    if (instant_.solution.a) {
      line("Left to the given forces alone the system would accelerate with");
      line("    a = M⁻¹Q: {}", by_coordinate(*instant_.solution.a));
    } else {
      line("The mass matrix is singular here: the system has no acceleration of its own without its constraints.");
    }
  }

  void error_and_gain() {
    if (!p_.error_signal) return;
    heading("Nature as a controller: error signal and gain");
    line("By that free acceleration the constraints would be missed by the error signal");
    line("    e = b − A a: {}", by_row(*p_.error_signal));
    const auto largest = [](const VectorXd& x) { return x.size() > 0 ? x.cwiseAbs().maxCoeff() : 0.0; };
    if (largest(*p_.error_signal) <= 1e-12 * std::max(1.0, largest(instant_.values.b))) {
      line("It vanishes: the free motion meets the constraints by itself, and no ideal force is needed.");
      return;
    }
    line(
        "The constraints answer with the ideal force K e, proportional to the error. The gain K = Aᵀ(A M⁻¹Aᵀ)⁺ says "
        "how");
    line("much force each unit of error calls up:");
    for (int i = 0; i < lines_of(system_.n()) && p_.gain; ++i)
      line("    on {}: {}", system_.coordinate(i), by_row(p_.gain->row(i).transpose()));
    if (!p_.gain) line("    (too many numbers to be shown)");
    line("    K e, ideal force: {}",
         by_coordinate(p_.gain ? Eigen::VectorXd(*p_.gain * *p_.error_signal)
                               : Eigen::VectorXd(*p_.reaction_to_forces + *p_.reaction_to_motion)));
  }

  void deviation() {
    if (!p_.deviation) return;
    heading("How the motion deviates from the free one");
    line("    q̈ − a: {}", by_coordinate(*p_.deviation));
    if (small(*p_.deviation_nonideal)) {
      line(
          "All of it is the ideal part: the smallest change, measured by the masses, that meets the constraints "
          "(Gauss).");
      return;
    }
    line("It has two parts that are orthogonal in the sense of the masses (their product with M is {}):",
         short_number(rounded(p_.deviation_ideal->dot(instant_.values.M * *p_.deviation_nonideal))));
    line("    ideal, towards the constraints:        {}", by_coordinate(*p_.deviation_ideal));
    line("    non-ideal, along the constraints by C: {}", by_coordinate(*p_.deviation_nonideal));
  }

  void nonideal() {
    if (!system_.has_C()) return;
    heading("What C does");
    line("The prescribed C says how much work the constraint forces do in a virtual displacement.");
    line("    C:                    {}", by_coordinate(instant_.values.C));
    line("    of it acts:           {}", by_coordinate(p_.c_acting));
    line("    of it is absorbed:    {}", by_coordinate(p_.c_absorbed));
    line(
        "The absorbed part lies in the span of the constraint gradients and changes nothing: neither the motion nor "
        "the force.");
    if (p_.z) line("    z = M^(−1/2) C:       {}", by_coordinate(*p_.z));
  }

  void two_steps() {
    heading("The acceleration in two least-norm steps");
    line("1. What the constraints alone dictate, the shortest acceleration with A q̈ = b:");
    line("    A⁺b: {}", by_coordinate(p_.acceleration_range));
    line(
        "2. What they leave open is decided by masses and forces, in the auxiliary system M_s q̈ = Δ with the masses "
        "seen");
    line("   through the constraints, M_s = (I − A⁺A) M (I − A⁺A), and the force Δ = Q + C − M A⁺b:");
    line("    Δ: {}", by_coordinate(p_.auxiliary.Delta));
    line("    its shortest solution M_s⁺Δ: {}", by_coordinate(p_.acceleration_null));
    line("The two are perpendicular, and their sum is the acceleration: {}", by_coordinate(instant_.solution.qdd));
  }

  void force_parts() {
    heading("The constraint force, seen from the constraints");
    line("    along the directions that the constraints leave free, (I − A⁺A) C: {}", by_coordinate(p_.force_null));
    line("    perpendicular to them: {}", by_coordinate(p_.force_range));
    const VectorXd& nonideal_force = instant_.solution.Qc_ni;
    if (!small(p_.force_null - nonideal_force))
      line("This is not the split into ideal and non-ideal force: that one is orthogonal in the sense of the masses.");
  }

  void reactions() {
    if (!p_.reaction_to_forces) return;
    heading("What the ideal force reacts to");
    line("    to the given forces: {}", by_coordinate(*p_.reaction_to_forces));
    line("    to the motion that the constraints prescribe (linear in b): {}", by_coordinate(*p_.reaction_to_motion));
  }

  void virtual_work() {
    heading("Virtual work");
    line("In every displacement v that the constraints allow (A v = 0) the ideal force does no work{}.",
         system_.has_C() ? ", and the whole constraint force does the work vᵀC"
                         : ", nor does the whole constraint force");
    const Eigen::Index free = instant_.values.M.rows() - instant_.solution.rank;
    line("There {} at this state.", free == 0   ? "is no such displacement"
                                    : free == 1 ? "is one such direction"
                                                : fmt::format("are {} independent directions of this kind", free));
  }

  void power() {
    if (!p_.power) return;
    heading("Power, in the actual motion");
    line("    ideal force {}, non-ideal force {}, control force {}", short_number(rounded(p_.power->ideal)),
         short_number(rounded(p_.power->nonideal)), short_number(rounded(p_.power->control)));
    bool any = false;
    constexpr int most = 100;
    int lines = 0;
    for (Eigen::Index i = 0; i < p_.power->by_row.size(); ++i) {
      const double w = rounded(p_.power->by_row(i));
      if (w == 0.0 || ++lines > most) continue;
      line("    `{}` {} {}", system_.row_name(static_cast<int>(i)), w > 0 ? "puts in" : "takes out",
           short_number(std::abs(w)));
      any = true;
    }
    if (lines > most) line("    and {} others", lines - most);
    if (any) line("An ideal force does no virtual work, but a constraint that moves or prescribes a speed has power.");
  }

  /// Zero where it is rounding beside the powers of the instant.
  double rounded(double x) const {
    const double size =
        instant_.state.qd.cwiseAbs().dot(instant_.solution.Qc.cwiseAbs() + instant_.values.Q.cwiseAbs()) + 1e-300;
    return std::abs(x) <= 1e-12 * size ? 0.0 : x;
  }

  const System& system_;
  const Instant& instant_;
  const Parts& p_;
  double scale_ = 1.0;
  std::string out_;
};

}  // namespace

std::string explain_text(const System& system, const Instant& instant) { return Explanation(system, instant).text(); }

}  // namespace mechanician
