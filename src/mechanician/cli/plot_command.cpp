#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "mechanician/base/diagnostic.hpp"
#include "mechanician/base/safe_text.hpp"
#include "mechanician/cli/commands.hpp"
#include "mechanician/cli/loading.hpp"
#include "mechanician/plot/cairo_picture.hpp"
#include "mechanician/plot/column_groups.hpp"
#include "mechanician/plot/layout.hpp"
#include "mechanician/plot/svg.hpp"
#include "mechanician/plot/terminal.hpp"
#include "mechanician/result/text_sink.hpp"

namespace mechanician {

namespace {

enum class Picture { terminal, svg, png, pdf };

Picture picture_of(const std::string& file) {
  if (file.empty()) return Picture::terminal;
  if (file.ends_with(".svg")) return Picture::svg;
  if (file.ends_with(".png")) return Picture::png;
  if (file.ends_with(".pdf")) return Picture::pdf;
  throw UsageError(fmt::format("-o {}: the ending says what is drawn: .svg, .png or .pdf", file));
}

struct Size {
  int width = 0, height = 0;
};

/// "640x400"; nothing if none is given.
Size parse_size(const std::string& text) {
  Size size;
  if (text.empty()) return size;
  constexpr int largest = 20000;
  const std::size_t by = text.find('x');
  const auto number = [&](std::string_view digits, int& value) {
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return !digits.empty() && read.ec == std::errc{} && read.ptr == digits.data() + digits.size() && value > 0 &&
           value <= largest;
  };
  if (by == std::string::npos || !number(std::string_view(text).substr(0, by), size.width) ||
      !number(std::string_view(text).substr(by + 1), size.height))
    throw UsageError(fmt::format("--size {}: width and height, each from 1 to {}, for example 640x400", text, largest));
  return size;
}

PlotOptions parse_plot_options(const CommandOptions& o) {
  PlotOptions plot;
  plot.style = o.style == "points" ? PlotOptions::Style::points
               : o.style == "both" ? PlotOptions::Style::both
                                   : PlotOptions::Style::lines;
  plot.log_x = o.log.find('x') != std::string::npos;
  plot.log_y = o.log.find('y') != std::string::npos;
  plot.equal = o.equal;
  if (plot.equal && !o.log.empty()) throw UsageError("--equal and --log: a unit has no length on a logarithmic axis");
  if (!o.from.empty()) plot.from = parse_number(o.from, "--from");
  if (!o.to.empty()) plot.to = parse_number(o.to, "--to");
  if (plot.from && plot.to && !(*plot.from < *plot.to))
    throw UsageError(fmt::format("--from {} --to {}: the abscissa must begin before it ends", o.from, o.to));
  if (plot.log_x && ((plot.from && *plot.from <= 0) || (plot.to && *plot.to <= 0)))
    throw UsageError("--log x: --from and --to must be positive");
  plot.title = safe_text(o.title);
  plot.x_label = safe_text(o.x_label);
  for (const std::string& label : o.y_labels) plot.y_labels.push_back(safe_text(label));
  const auto groups = column_group_names();
  for (const std::string& show : o.show)
    plot.y_groups.push_back(std::find(groups.begin(), groups.end(), show) == groups.end() ? "" : show);
  if (o.show.empty()) plot.y_groups = {"coordinates"};
  return plot;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// What the terminal can show: its width, UTF-8 by the locale, colours where somebody looks at it.
TerminalOptions terminal_options(const CommandOptions& o, Size size) {
  TerminalOptions terminal;
  const bool is_terminal = ::isatty(STDOUT_FILENO) == 1;
  winsize window{};
  int columns = 0;
  const std::string asked = environment("COLUMNS");
  std::from_chars(asked.data(), asked.data() + asked.size(), columns);
  if (columns <= 0 && is_terminal && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0) columns = window.ws_col;
  terminal.columns = size.width > 0 ? size.width : columns > 0 ? std::min(columns, 1000) : 80;
  terminal.lines = size.height;
  std::string locale;
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"})
    if (locale.empty()) locale = environment(name);
  for (char& c : locale) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  terminal.unicode = locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  terminal.colour = is_terminal && !o.no_colour && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  return terminal;
}

/// Numbers for the plot. What the command line asks for and the file does not have is a mistake in the command line.
PlotData load_data(const CommandOptions& o, ResultSource& source) {
  std::string asking = "--against " + o.against;
  try {
    const auto& columns = source.columns();
    const Shown abscissa = o.against.empty() ? default_abscissa(columns) : select_one(o.against, columns);
    std::vector<std::vector<Shown>> panels;
    for (const std::string& show : o.show) {
      asking = "--show " + show;
      panels.push_back(select_shown(show, columns));
    }
    asking = "--show";
    if (panels.empty()) panels.push_back(default_shown(columns, abscissa));
    return make_plot_data(source, abscissa, panels, {.straight = o.straight});
  } catch (const std::invalid_argument& e) {
    throw UsageError(fmt::format("{}: {}", safe_text(asking), e.what()));
  }
}

std::string picture(const PlotData& data, PlotOptions plot, Picture kind, Size size) {
  // The letters of a PNG grow with it: 640 pixels are the smallest that is drawn in full, 1280 what is drawn if nothing
  // is asked for.
  double scale = kind == Picture::png ? 2.0 : 1.0;
  if (size.width > 0) {
    if (kind == Picture::png) scale = std::max(1.0, size.width / 640.0);
    plot.width = size.width / scale;
    plot.height = size.height / scale;
  }
  const Drawing drawing = make_drawing(data, plot);
  return kind == Picture::svg   ? svg_text(drawing)
         : kind == Picture::png ? png_bytes(drawing, scale)
                                : pdf_bytes(drawing);
}

}  // namespace

Exit run_plot(const CommandOptions& o) {
  const Picture kind = picture_of(o.output);
  const PlotOptions plot = parse_plot_options(o);
  const Size size = parse_size(o.size);
  std::unique_ptr<TextSink> sink;  // opened first: a name that cannot be written is said at once
  if (kind != Picture::terminal) sink = make_file_sink(o.output);
  const auto source = open_result(o.result);
  const PlotData data = load_data(o, *source);
  const std::string name = o.result == "-" ? "standard input" : o.result;
  if (data.x.empty()) throw FileError(fmt::format("{}: it has no rows", name));
  std::string text;
  try {
    text = kind == Picture::terminal ? terminal_text(data, plot, terminal_options(o, size))
                                     : picture(data, plot, kind, size);
  } catch (const std::invalid_argument& e) {
    throw UsageError(fmt::format("{}: {}", name, e.what()));
  } catch (const std::runtime_error& e) {
    throw FileError(fmt::format("{}: {}", o.output, e.what()));
  }
  if (sink) {
    sink->append(text);
    sink->finish();
  } else {
    write_out(text);
  }
  if (!data.remark.empty()) say("{}: note: {}\n", name, data.remark);
  return Exit::done;
}

}  // namespace mechanician
