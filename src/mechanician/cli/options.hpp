#pragma once

/// The command line as it was given, before it meets a model.

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "mechanician/solve/form.hpp"

namespace mechanician {

/// Exit statuses; other programs rely on them.
enum class Exit : int { done = 0, refused = 1, usage = 2, file = 3, stopped = 4, suspect = 5, interrupted = 130 };

/// name=value pairs in the order given.
using Assignments = std::vector<std::pair<std::string, double>>;

struct CommandOptions {
  std::string model;
  bool json = false;
  bool latex = false, latex_document = false, python = false;
  bool parts = false;
  bool explain = false;
  Form form = Form::automatic;
  Assignments set, position, velocity, scale;
  std::string time;

  // run
  std::string output;
  std::string to, every, tolerance, method;  ///< as given; empty: what the model says
  std::string resume;
  std::string report;
  std::string columns;  ///< patterns; empty: all
  bool verify = false;
  bool project_start = false;
  std::string start_from, start_at;  ///< a result, and the time of a row of it
  bool quiet = false;

  // sweep; what is given for a run too is in its fields above
  std::vector<std::string> vary, keep;
  std::string samples, count, seed, sampling, step, device, threads;
  bool as_given = false;

  // linearise and equilibrium; what is given for others too is in its fields above
  std::vector<std::string> inputs, outputs, states;
  std::string at, period, modes, starts;

  // bench
  bool listing = false;

  // export; what it writes is in `output`
  std::string kind, fmi = "2.0";

  std::string base;  ///< of a robot, as given: fixed or floating

  // plot; what is given for a run too is in its fields above: output, to
  std::string result;
  std::vector<std::string> show, y_labels;
  std::string against, from, log, style = "lines", size, title, x_label;
  bool equal = false;
  bool straight = false;
  bool no_colour = false;
};

/// The command line is wrong; exit status 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// "x=1,y=2" of the option named.
Assignments parse_assignments(const std::vector<std::string>& texts, const std::string& option);
/// A number, or an expression of numbers.
double parse_number(const std::string& text, const std::string& what);

}  // namespace mechanician
