#include "mechanician/plot/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "mechanician/base/safe_text.hpp"
#include "mechanician/base/text.hpp"
#include "mechanician/plot/marks.hpp"

namespace mechanician {

namespace {

// Colours of the usual 16 that are told apart on dark and light ground, in the order of the curves.
constexpr std::array<int, 6> colours{34, 31, 32, 35, 36, 33};
constexpr std::string_view curve_characters = "*+ox#@%";

std::string plain(const RichText& text, bool unicode) {
  std::string out;
  for (const TextRun& run : text) {
    if (!run.raised) {
      out += run.text;
      continue;
    }
    out += "^" + run.text;
  }
  if (unicode) return out;
  for (const auto& [from, to] : {std::pair{"\u2212", "-"}, std::pair{"\u00D7", "x"}})
    for (std::size_t at; (at = out.find(from)) != std::string::npos;)
      out.replace(at, std::string_view(from).size(), to);
  return out;
}

std::string ascii_only(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint c = decode_utf8(text, i);
    out += c.value >= 0x20 && c.value < 0x7F ? static_cast<char>(c.value) : '?';
    i += static_cast<std::size_t>(c.length);
  }
  return out;
}

/// Characters of a panel: dots, and which curve was there last.
class Canvas {
 public:
  Canvas(int columns, int rows, bool unicode)
      : columns_(columns), rows_(rows), unicode_(unicode), dots_(cells(), 0), owner_(cells(), -1) {}

  int width() const { return unicode_ ? columns_ * 2 : columns_; }
  int height() const { return unicode_ ? rows_ * 4 : rows_; }

  void set(int x, int y, int curve) {
    if (x < 0 || y < 0 || x >= width() || y >= height()) return;
    static constexpr unsigned char bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    const int cell = unicode_ ? (y / 4) * columns_ + x / 2 : y * columns_ + x;
    const auto at = static_cast<std::size_t>(cell);
    dots_[at] = static_cast<unsigned char>(dots_[at] | (unicode_ ? bits[y % 4][x % 2] : 1));
    owner_[at] = curve;
  }

  void line(int x0, int y0, int x1, int y1, int curve) {
    const int steps = std::max({std::abs(x1 - x0), std::abs(y1 - y0), 1});
    for (int i = 0; i <= steps; ++i)
      set(x0 + static_cast<int>(std::lround(static_cast<double>(x1 - x0) * i / steps)),
          y0 + static_cast<int>(std::lround(static_cast<double>(y1 - y0) * i / steps)), curve);
  }

  std::string row(int y, bool colour) const {
    std::string out;
    int now = -1;
    for (int x = 0; x < columns_; ++x) {
      const auto at = static_cast<std::size_t>(y * columns_ + x);
      const int owner = dots_[at] ? owner_[at] : -1;
      if (colour && owner != now) out += owner < 0 ? "\x1b[0m" : escape(owner);
      now = owner;
      if (!dots_[at]) {
        out += ' ';
      } else if (unicode_) {
        out += '\xE2';
        out += static_cast<char>(0xA0 + (dots_[at] >> 6));
        out += static_cast<char>(0x80 + (dots_[at] & 0x3F));
      } else {
        out += curve_characters[static_cast<std::size_t>(owner) % curve_characters.size()];
      }
    }
    if (colour && now >= 0) out += "\x1b[0m";
    return out;
  }

  static std::string escape(int curve) {
    return fmt::format("\x1b[{}m", colours[static_cast<std::size_t>(curve) % colours.size()]);
  }

 private:
  std::size_t cells() const { return static_cast<std::size_t>(columns_) * static_cast<std::size_t>(rows_); }
  int columns_, rows_;
  bool unicode_;
  std::vector<unsigned char> dots_;
  std::vector<int> owner_;
};

class TerminalPlot {
 public:
  TerminalPlot(const PlotData& data, const PlotOptions& options, const TerminalOptions& terminal)
      : data_(data), options_(options), terminal_(terminal), ranges_(find_ranges(data, options)) {
    const int n = static_cast<int>(data.panels.size());
    const int extra = 4 + (options.title.empty() ? 0 : 1);  // below and above the panels
    const int lines = terminal.lines > 0 ? terminal.lines : extra + n * (n == 1 ? 18 : 11);
    rows_ = (lines - extra) / n - (n > 1 ? 1 : 0);
    for (const auto& panel : data.panels)
      for (const Curve& curve : panel) names_ = std::max(names_, static_cast<int>(text_columns(shown(curve.label))));
    for (const Range& y : ranges_.y) axes_.push_back(make_axis(y, options.log_y, std::max(2, rows_ / 4)));
    for (const Axis& axis : axes_)
      for (const Tick& tick : axis.ticks)
        labels_ = std::max(labels_, static_cast<int>(text_columns(plain(tick.label, terminal.unicode))));
    columns_ = terminal.columns - labels_ - 2 - names_ - 1;
    if (columns_ < 10 || rows_ < 3)
      throw std::invalid_argument(fmt::format("{} columns and {} lines are too small for {}", terminal.columns, lines,
                                              count_noun(data.panels.size(), "panel")));
    if (options.equal) make_equal();
    x_ = make_axis(ranges_.x, options.log_x, std::max(2, columns_ / 10));
  }

  std::string text() {
    std::string out;
    if (!options_.title.empty()) out += centred(options_.title) + "\n";
    for (std::size_t i = 0; i < data_.panels.size(); ++i) draw_panel(out, i);
    draw_abscissa(out);
    return out;
  }

 private:
  static constexpr std::size_t longest_name = 16;
  std::string shown(const std::string& name) const {
    if (terminal_.unicode) return elided(name, longest_name);
    std::string ascii = ascii_only(name);
    if (ascii.size() > longest_name) ascii.resize(longest_name), ascii.back() = '~';
    return ascii;
  }
  std::string margin() const { return std::string(static_cast<std::size_t>(labels_ + 1), ' '); }
  std::string centred(const std::string& line) const {
    const std::string cut = terminal_.unicode ? line : ascii_only(line);
    const int width = static_cast<int>(text_columns(cut));
    return std::string(static_cast<std::size_t>(std::max(0, labels_ + 2 + (columns_ - width) / 2)), ' ') + cut;
  }

  /// A character is about twice as high as wide: so are 2×4 dots, and one unit is as long both ways in dots.
  void make_equal() {
    double unit = columns_ / ranges_.x.size();
    for (const Range& y : ranges_.y) unit = std::min(unit, 2 * rows_ / y.size());
    const auto fill = [&](Range& r, double dots) {
      const double middle = (r.low + r.high) / 2, half = dots / unit / 2;
      r = {middle - half, middle + half};
    };
    fill(ranges_.x, columns_);
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      fill(ranges_.y[i], 2.0 * rows_);
      axes_[i] = make_axis(ranges_.y[i], false, std::max(2, rows_ / 4));
    }
  }

  void draw_panel(std::string& out, std::size_t panel) {
    const Axis& y_axis = axes_[panel];
    const auto& curves = data_.panels[panel];
    Canvas canvas(columns_, rows_, terminal_.unicode);
    // Dots lie in the middles of their places.
    const Box box{0.0, 0.0, canvas.width() - 1.0, canvas.height() - 1.0};
    std::vector<int> ends(curves.size(), rows_ / 2);
    for (std::size_t i = 0; i < curves.size(); ++i) {
      draw_curve(canvas, curves[i], static_cast<int>(i), y_axis, box);
      for (std::size_t k = data_.x.size(); k-- > 0;) {
        const Point p = place_in(box, x_, y_axis, data_.x[k], curves[i].y[k]);
        if (!std::isfinite(p.x) || !std::isfinite(p.y) || !box.holds(p)) continue;
        ends[i] = static_cast<int>(std::lround(p.y)) / (terminal_.unicode ? 4 : 1);
        break;
      }
    }
    const std::vector<std::string> names = names_beside(curves, ends);
    const std::string above = plain(y_axis.factor, terminal_.unicode);
    if (!above.empty()) out += margin() + above + "\n";
    if (panel == 0) draw_marks(out);
    if (panel > 0) out += rule() + "\n";
    for (int row = 0; row < rows_; ++row) {
      std::string label, tick = terminal_.unicode ? "│" : "|";
      for (const Tick& t : y_axis.ticks) {
        const double place = box.bottom - y_axis.place(t.value) * box.height();
        if (static_cast<int>(std::lround(place)) / (terminal_.unicode ? 4 : 1) != row) continue;
        label = plain(t.label, terminal_.unicode);
        tick = terminal_.unicode ? "┤" : "+";
      }
      out += std::string(static_cast<std::size_t>(labels_) - text_columns(label), ' ') + label + ' ' + tick;
      std::string line = canvas.row(row, terminal_.colour) + names[static_cast<std::size_t>(row)];
      while (line.ends_with(' ')) line.pop_back();
      out += line + "\n";
    }
  }

  void draw_curve(Canvas& canvas, const Curve& curve, int index, const Axis& y_axis, const Box& box) const {
    const Strokes strokes = make_strokes({data_.x, curve.y, data_.jump, data_.added}, x_, y_axis, box);
    const auto dot = [](double x) { return static_cast<int>(std::lround(x)); };
    if (options_.style != PlotOptions::Style::points)
      for (const auto* lines : {&strokes.jumps, &strokes.lines})
        for (const Polyline& line : *lines)
          for (std::size_t i = 1; i < line.size(); ++i)
            canvas.line(dot(line[i - 1].x), dot(line[i - 1].y), dot(line[i].x), dot(line[i].y), index);
    for (const Point p : options_.style == PlotOptions::Style::lines ? strokes.lone : strokes.points)
      canvas.set(dot(p.x), dot(p.y), index);
  }

  /// Names at the right, each as near as can be to where its curve ends.
  std::vector<std::string> names_beside(const std::vector<Curve>& curves, const std::vector<int>& ends) const {
    std::vector<std::string> names(static_cast<std::size_t>(rows_));
    std::vector<int> owner(static_cast<std::size_t>(rows_), -1);
    for (std::size_t i = 0; i < curves.size(); ++i) {
      int best = -1;
      for (int row = 0; row < rows_; ++row)
        if (owner[static_cast<std::size_t>(row)] < 0 &&
            (best < 0 || std::abs(row - ends[i]) < std::abs(best - ends[i])))
          best = row;
      if (best < 0) break;
      const auto at = static_cast<std::size_t>(best);
      owner[at] = static_cast<int>(i);
      const std::string name = shown(curves[i].label);
      names[at] = terminal_.colour ? " " + Canvas::escape(owner[at]) + name + "\x1b[0m" : " " + name;
      if (!terminal_.unicode && curves.size() > 1) {
        names[at] += ' ';
        names[at] += curve_characters[i % curve_characters.size()];
      }
    }
    return names;
  }

  void draw_marks(std::string& out) const {
    std::vector<std::string> cells(static_cast<std::size_t>(columns_), " ");
    bool any = false;
    if (data_.against_time)
      for (const PlotEvent& e : data_.events) {
        const double place = x_.place(e.time);
        if (!(place >= 0.0 && place <= 1.0)) continue;
        cells[static_cast<std::size_t>(std::lround(place * (columns_ - 1)))] =
            event_character(e.kind, terminal_.unicode);
        any = true;
      }
    if (!any) return;
    std::string line = margin() + " ";
    for (const std::string& cell : cells) line += cell;
    while (line.ends_with(' ')) line.pop_back();
    out += line + "\n";
  }

  std::string rule() const { return margin() + (terminal_.unicode ? "│" : "|"); }

  void draw_abscissa(std::string& out) const {
    std::string axis = margin() + (terminal_.unicode ? "└" : "+");
    std::string numbers(static_cast<std::size_t>(terminal_.columns), ' ');
    std::vector<char> is_tick(static_cast<std::size_t>(columns_), 0);
    std::size_t free_from = 0;
    std::string line;
    for (const Tick& tick : x_.ticks) {
      const auto place = static_cast<std::size_t>(std::lround(x_.place(tick.value) * (columns_ - 1)));
      is_tick[std::min(place, is_tick.size() - 1)] = 1;
      const std::string label = plain(tick.label, terminal_.unicode);
      const std::size_t width = text_columns(label), middle = static_cast<std::size_t>(labels_) + 2 + place;
      const std::size_t begin = middle > width / 2 ? middle - width / 2 : 0;
      if (begin < free_from) continue;
      line += std::string(begin - text_columns(line), ' ') + label;
      free_from = begin + width + 1;
    }
    for (const char tick : is_tick) axis += terminal_.unicode ? (tick ? "┴" : "─") : (tick ? "+" : "-");
    std::string name = options_.x_label.empty() ? data_.abscissa : options_.x_label;
    if (!x_.factor.empty()) name += " (" + plain(x_.factor, terminal_.unicode) + ")";
    out += axis + "\n" + line + "\n" + centred(name) + "\n";
    draw_event_legend(out);
  }

  void draw_event_legend(std::string& out) const {
    std::vector<std::pair<std::string, std::string>> kinds;  // label and its character
    std::vector<std::size_t> counts;
    for (const PlotEvent& e : data_.events) {
      if (!data_.against_time) break;
      const auto at = std::find_if(kinds.begin(), kinds.end(), [&](const auto& k) { return k.first == e.label; });
      if (at == kinds.end()) {
        kinds.emplace_back(e.label, event_character(e.kind, terminal_.unicode));
        counts.push_back(1);
      } else {
        ++counts[static_cast<std::size_t>(at - kinds.begin())];
      }
    }
    std::string line = margin();
    for (std::size_t i = 0; i < kinds.size() && i < 8; ++i)
      line += fmt::format(" {} {} ({})", kinds[i].second, shown(kinds[i].first), counts[i]);
    if (!kinds.empty()) out += line + "\n";
  }

  const PlotData& data_;
  const PlotOptions& options_;
  const TerminalOptions& terminal_;
  PlotRanges ranges_;
  std::vector<Axis> axes_;
  Axis x_;
  int rows_ = 0, columns_ = 0, labels_ = 0, names_ = 0;
};

}  // namespace

std::string terminal_text(const PlotData& data, const PlotOptions& options, const TerminalOptions& terminal) {
  return TerminalPlot(data, options, terminal).text();
}

}  // namespace mechanician
