#pragma once

/// A plot as lines of text: in braille characters, of which each holds 2×4 dots, or in ASCII.

#include <string>

#include "mechanician/plot/layout.hpp"

namespace mechanician {

struct TerminalOptions {
  int columns = 80;
  int lines = 0;  ///< of the whole; 0: 20 for one panel, 12 each for several
  bool unicode = true;
  bool colour = false;
};

/// Ends with a newline. Title, labels, ranges and style are those of `options`; its width and height do not count.
std::string terminal_text(const PlotData& data, const PlotOptions& options, const TerminalOptions& terminal);

}  // namespace mechanician
