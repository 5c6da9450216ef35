#pragma once

/// What is to be said about an instant, in words: why there is no answer, what to be careful about.

#include <span>
#include <string>
#include <vector>

#include "mechanician/instant/accelerate.hpp"
#include "mechanician/instant/project.hpp"

namespace mechanician {

/// A statement about the model at a state, with the place in the file that it concerns, if there is one.
struct Remark {
  std::string text;
  std::vector<std::string> details;  ///< one line each
  Place place;
};

/// Why there is no acceleration; empty if there is one.
std::vector<Remark> refusals(const System& system, const Instant& instant);

/// Constraints that the state violates, with their residuals; empty if it is a valid start.
std::vector<Remark> start_refusals(const System& system, const Instant& instant);

/// The projected start as an offer, or why there is none.
Remark projection_offer(const System& system, const State& given, const Projection& projection);

/// Dependent constraints, near-rank decisions, rows that do not act here: no reason to refuse.
std::vector<Remark> warnings(const System& system, const Instant& instant);

/// Names of rows and coordinates.
std::vector<std::string> row_names(const System& system, std::span<const Eigen::Index> rows);
std::vector<std::string> coordinate_names(const System& system, std::span<const Eigen::Index> coordinates);

/// "2·first − second", a combination of names.
std::string combination(std::span<const std::string> names, std::span<const double> coefficients);

/// "t = 0, x = 1, y = 2, x' = 0, y' = 3"
std::string state_text(const System& system, const State& state);

/// file:line:col: error: text and details, as it is printed.
std::string render(const Remark& remark, std::string_view severity, const SourceText& source);

}  // namespace mechanician
