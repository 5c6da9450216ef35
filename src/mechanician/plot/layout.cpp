#include "mechanician/plot/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <utility>

#include "mechanician/base/safe_text.hpp"
#include "mechanician/base/text.hpp"
#include "mechanician/plot/marks.hpp"
#include "mechanician/plot/text_width.hpp"

namespace mechanician {

namespace {

constexpr double pad = 10, tick_length = 4, tick_size = 11, label_size = 12, title_size = 14, legend_row = 17;
constexpr double factor_row = 15, marks_row = 10, panel_gap = 12, sample_length = 26, least_box = 40;
constexpr std::size_t longest_label = 60;
constexpr Colour frame_colour = 0x333333, grid_colour = 0xE6E6E6, text_colour = 0x222222, event_colour = 0xB4B4B4;

/// Colours that colour-blind people tell apart (after Okabe and Ito, without yellow, which is too pale for a line),
/// each with its dashes for print without colours.
struct LineStyle {
  Colour colour;
  std::vector<double> dash;
};
LineStyle line_style(std::size_t i) {
  static constexpr Colour colours[] = {0x0072B2, 0xD55E00, 0x009E73, 0xCC79A7, 0xE69F00, 0x56B4E9, 0x000000};
  static const std::vector<double> dashes[] = {{}, {7, 3}, {1.5, 2.5}, {8, 2.5, 1.5, 2.5}, {3.5, 2}, {12, 3}};
  return {colours[i % std::size(colours)], dashes[i % std::size(dashes)]};
}

/// One entry of a legend: a curve, or a kind of event.
struct Entry {
  std::string label;
  std::size_t curve = 0;
  std::string kind;  ///< of an event; empty for a curve
  double width() const { return (kind.empty() ? sample_length : 10) + 6 + text_width(label, tick_size) + 18; }
};
using LegendRows = std::vector<std::vector<Entry>>;

struct PanelLayout {
  Box box;
  Axis y;
  LegendRows legend;
  double legend_top = 0.0, legend_left = 0.0;  ///< the left one from the box
};

class Layout {
 public:
  Layout(const PlotData& data, const PlotOptions& options) : data_(data), options_(options) {
    const std::size_t n = data.panels.size();
    drawing_.width = options.width > 0 ? options.width : 640;
    drawing_.height = options.height;
    ranges_ = find_ranges(data, options);
    panels_.resize(n);
    for (const PlotEvent& e : data.events)
      if (event_counts_[{e.kind, e.label}]++ == 0) event_kinds_.push_back({e.kind, e.label});
    marked_ = !event_kinds_.empty();
    // Margins follow from labels, labels from ranges, and equal scales from margins: settled after few rounds.
    for (int round = 0; round < 3; ++round) arrange();
  }

  Drawing draw() {
    describe();
    for (const PanelLayout& p : panels_) draw_grid(p);
    if (data_.against_time) draw_events();
    for (std::size_t i = 0; i < panels_.size(); ++i) draw_curves(i);
    if (!data_.against_time) draw_events();
    for (const PanelLayout& p : panels_) draw_frame(p);
    draw_texts();
    return std::move(drawing_);
  }

 private:
  LegendRows legend_of(std::size_t panel, double width) const {
    std::vector<Entry> entries;
    const auto& curves = data_.panels[panel];
    if (curves.size() > 1)
      for (std::size_t i = 0; i < curves.size(); ++i)
        entries.push_back({elided(curves[i].label, longest_label), i, {}});
    if (panel == 0)
      for (const auto& [kind, label] : event_kinds_) entries.push_back({elided(label, longest_label), 0, kind});
    LegendRows rows;
    double used = width + 1;
    for (Entry& entry : entries) {
      if (used + entry.width() - 18 > width) {
        rows.emplace_back();
        used = 0;
      }
      used += entry.width();
      rows.back().push_back(std::move(entry));
    }
    // A legend is not to take more room than the plot.
    const double room = options_.height > 0 ? 0.4 * options_.height / static_cast<double>(data_.panels.size()) : 200;
    const auto most = static_cast<std::size_t>(std::max(1.0, room / legend_row));
    if (rows.size() > most) {
      std::size_t left_out = 0;
      for (std::size_t i = most; i < rows.size(); ++i) left_out += rows[i].size();
      rows.resize(most);
      auto& last = rows.back();
      ++left_out, last.pop_back();
      last.push_back({fmt::format("and {} more", left_out), 0, "none"});
    }
    return rows;
  }

  int most_x_ticks(double width) const {
    int most = std::max(2, static_cast<int>(width / 70));
    while (most > 2) {
      double widest = 0;
      for (const Tick& tick : make_axis(ranges_.x, options_.log_x, most).ticks)
        widest = std::max(widest, text_width(tick.label, tick_size));
      if (widest * 1.3 < width / most) break;
      --most;
    }
    return most;
  }

  /// As many as have room in a low panel, and not many more in a high one.
  static int most_y_ticks(double height) {
    return std::max(2, static_cast<int>(std::min(height / 26, 4 + height / 80)));
  }

  void arrange() {
    double labels = 0;
    for (const PanelLayout& p : panels_)
      for (const Tick& tick : p.y.ticks) labels = std::max(labels, text_width(tick.label, tick_size));
    const double left = pad + label_size + 8 + labels + 5 + tick_length;
    const double last_label = x_.ticks.empty() ? 0 : text_width(x_.ticks.back().label, tick_size);
    const double right = drawing_.width - std::max(pad + 4, last_label / 2 + 4);
    const double first = pad + (options_.title.empty() ? 0 : title_size + 8);
    const double below = tick_length + tick_size + 4 + label_size + 8 + pad / 2;

    // What stands above each box: legend, factor of the labels, marks of events.
    double above = 0;
    std::vector<double> heads;
    for (std::size_t i = 0; i < panels_.size(); ++i) {
      PanelLayout& p = panels_[i];
      p.legend = legend_of(i, right - left);
      // The factor goes beside a legend of one row, if there is room.
      p.legend_left = 0;
      double factor = p.y.factor.empty() ? 0 : factor_row;
      if (factor > 0 && p.legend.size() == 1) {
        double used = text_width(p.y.factor, tick_size) + 24;
        p.legend_left = used;
        for (const Entry& entry : p.legend.front()) used += entry.width();
        if (used - 18 > right - left) p.legend_left = 0;
        if (p.legend_left > 0) factor = 0;
      }
      heads.push_back(legend_row * static_cast<double>(p.legend.size()) + factor +
                      (i == 0 && marked_ && data_.against_time ? marks_row : 0));
      above += heads.back();
    }
    const auto n = static_cast<double>(panels_.size());
    if (!(options_.height > 0))
      drawing_.height = first + above + n * box_height(right - left) + panel_gap * (n - 1) + below;
    const double height = (drawing_.height - below - first - above - panel_gap * (n - 1)) / n;
    if (height < least_box || right - left < least_box)
      throw std::invalid_argument(fmt::format("{:.0f}x{:.0f} is too small for {}", drawing_.width, drawing_.height,
                                              count_noun(panels_.size(), "panel")));
    double top = first;
    for (std::size_t i = 0; i < panels_.size(); ++i) {
      panels_[i].legend_top = top;
      top += heads[i];
      panels_[i].box = {left, top, right, top + height};
      top += height + panel_gap;
    }
    if (options_.equal) make_equal(right - left, height);
    x_ = make_axis(ranges_.x, options_.log_x, most_x_ticks(right - left));
    for (std::size_t i = 0; i < panels_.size(); ++i)
      panels_[i].y = make_axis(ranges_.y[i], options_.log_y, most_y_ticks(height));
  }

  /// Where no height is asked for. Equal scales need the room that the curves take.
  double box_height(double width) const {
    const double usual = panels_.size() == 1 ? 320 : panels_.size() == 2 ? 210 : 165;
    if (!options_.equal) return usual;
    const PlotRanges& ranges = tight_.y.empty() ? ranges_ : tight_;
    double tallest = 0;
    for (const Range& y : ranges.y) tallest = std::max(tallest, y.size() / ranges.x.size());
    return std::clamp(width * tallest, usual / 2, std::max(usual, width));
  }

  /// Widens the ranges around their middles until a unit takes as many pixels on all axes.
  void make_equal(double width, double height) {
    if (tight_.y.empty()) tight_ = ranges_;
    double unit = width / tight_.x.size();
    for (const Range& y : tight_.y) unit = std::min(unit, height / y.size());
    const auto fill = [&](Range r, double pixels) {
      const double middle = (r.low + r.high) / 2, half = pixels / unit / 2;
      return Range{middle - half, middle + half};
    };
    ranges_.x = fill(tight_.x, width);
    for (std::size_t i = 0; i < ranges_.y.size(); ++i) ranges_.y[i] = fill(tight_.y[i], height);
  }

  DrawnPath& path(const char* role, Colour colour, double width) {
    DrawnPath p;
    p.role = role, p.colour = colour, p.width = width;
    drawing_.items.emplace_back(std::move(p));
    return std::get<DrawnPath>(drawing_.items.back());
  }
  DrawnText& text(const char* role, RichText runs, Point at, double size, Anchor anchor) {
    DrawnText t;
    t.role = role, t.text = std::move(runs), t.at = at, t.size = size, t.anchor = anchor, t.colour = text_colour;
    drawing_.items.emplace_back(std::move(t));
    return std::get<DrawnText>(drawing_.items.back());
  }

  double x_of(const PanelLayout& p, double value) const { return p.box.left + x_.place(value) * p.box.width(); }
  static double y_of(const PanelLayout& p, double value) { return p.box.bottom - p.y.place(value) * p.box.height(); }

  void draw_grid(const PanelLayout& p) {
    DrawnPath& grid = path("grid", grid_colour, 0.7);
    for (const Tick& tick : x_.ticks) {
      const double x = x_of(p, tick.value);
      grid.lines.push_back({{x, p.box.top}, {x, p.box.bottom}});
    }
    for (const Tick& tick : p.y.ticks) {
      const double y = y_of(p, tick.value);
      grid.lines.push_back({{p.box.left, y}, {p.box.right, y}});
    }
  }

  void draw_frame(const PanelLayout& p) {
    const Box& b = p.box;
    path("frame", frame_colour, 0.9).lines = {
        {{b.left, b.top}, {b.right, b.top}, {b.right, b.bottom}, {b.left, b.bottom}, {b.left, b.top}}};
    DrawnPath& ticks = path("ticks", frame_colour, 0.9);
    for (const Tick& tick : x_.ticks) {
      const double x = x_of(p, tick.value);
      ticks.lines.push_back({{x, b.bottom}, {x, b.bottom + tick_length}});
    }
    for (const Tick& tick : p.y.ticks) {
      const double y = y_of(p, tick.value);
      ticks.lines.push_back({{b.left - tick_length, y}, {b.left, y}});
    }
    DrawnPath& minor = path("ticks", frame_colour, 0.6);
    for (const double value : x_.minor) {
      const double x = x_of(p, value);
      minor.lines.push_back({{x, b.bottom}, {x, b.bottom + tick_length / 2}});
    }
    for (const double value : p.y.minor) {
      const double y = y_of(p, value);
      minor.lines.push_back({{b.left - tick_length / 2, y}, {b.left, y}});
    }
  }

  void draw_curves(std::size_t panel) {
    const PanelLayout& p = panels_[panel];
    const bool lines = options_.style != PlotOptions::Style::points,
               points = options_.style != PlotOptions::Style::lines;
    for (std::size_t i = 0; i < data_.panels[panel].size(); ++i) {
      const Curve& curve = data_.panels[panel][i];
      const LineStyle style = line_style(i);
      Strokes strokes = make_strokes({data_.x, curve.y, data_.jump, data_.added}, x_, p.y, p.box);
      const auto add = [&](const char* role, std::vector<Polyline> drawn, double width) -> DrawnPath* {
        std::erase_if(drawn, [](const Polyline& l) { return l.empty(); });
        if (drawn.empty()) return nullptr;
        DrawnPath& made = path(role, style.colour, width);
        made.lines = std::move(drawn);
        made.label = curve.label;
        return &made;
      };
      if (lines) {
        add("jump", std::move(strokes.jumps), 0.6);
        if (DrawnPath* made = add("curve", std::move(strokes.lines), 1.5)) made->dash = style.dash;
        if (!points)
          if (DrawnPath* made = add("points", {std::move(strokes.lone)}, 1.5)) made->dots = true;
      }
      if (points)
        if (DrawnPath* made = add("points", {std::move(strokes.points)}, 3.2)) made->dots = true;
    }
  }

  /// Thin lines through all panels and marks above the first one; against anything but time, marks on the curves.
  void draw_events() {
    if (!marked_) return;
    for (const auto& [kind, label] : event_kinds_) {
      DrawnPath lines, marks = event_mark(kind, 3.4);
      lines.role = "event", lines.colour = event_colour, lines.width = 0.6, lines.label = label, lines.dash = {2, 2};
      marks.role = "mark", marks.label = label;
      const std::vector<Polyline> shape = std::exchange(marks.lines, {});
      Point before{-100, -100};
      const auto add_mark = [&](Point at) {
        // Marks that would hide each other are one.
        if (std::hypot(at.x - before.x, at.y - before.y) < (data_.against_time ? 3.5 : 6)) return;
        before = at;
        for (Polyline line : shape) {
          for (Point& q : line) q = {q.x + at.x, q.y + at.y};
          marks.lines.push_back(std::move(line));
        }
      };
      double last_line = -10;
      for (const PlotEvent& e : data_.events) {
        if (e.kind != kind || e.label != label) continue;
        if (!data_.against_time) {
          for (std::size_t i = 0; i < panels_.size(); ++i) mark_curves(i, e, add_mark);
          continue;
        }
        const double x = x_of(panels_[0], e.time);
        if (!(x >= panels_[0].box.left - 1e-6 && x <= panels_[0].box.right + 1e-6)) continue;
        if (x - last_line >= 1.5)
          for (const PanelLayout& p : panels_)
            lines.lines.push_back({{x, p.box.top}, {x, p.box.bottom}}), last_line = x;
        add_mark({x, panels_[0].box.top - 5.5});
      }
      if (!lines.lines.empty()) drawing_.items.emplace_back(std::move(lines));
      if (!marks.lines.empty()) drawing_.items.emplace_back(std::move(marks));
    }
  }

  template <class AddMark>
  void mark_curves(std::size_t panel, const PlotEvent& e, const AddMark& add_mark) const {
    const PanelLayout& p = panels_[panel];
    const auto row = static_cast<std::size_t>(e.row);
    const double part = e.row - std::floor(e.row);
    for (const Curve& curve : data_.panels[panel]) {
      const auto at = [&](std::size_t i) { return place_in(p.box, x_, p.y, data_.x[i], curve.y[i]); };
      Point q = at(row);
      if (part > 0 && row + 1 < data_.x.size()) {
        const Point next = at(row + 1);
        q = {q.x + part * (next.x - q.x), q.y + part * (next.y - q.y)};
      }
      if (std::isfinite(q.x) && std::isfinite(q.y) && p.box.holds(q)) add_mark(q);
    }
  }

  void draw_legend(const PanelLayout& p) {
    double y = p.legend_top + legend_row - 6;
    for (const auto& row : p.legend) {
      double x = p.box.left + p.legend_left;
      for (const Entry& entry : row) {
        const double middle = y - tick_size * 0.34;
        double sample = sample_length;
        if (entry.kind.empty()) {
          const LineStyle style = line_style(entry.curve);
          if (options_.style != PlotOptions::Style::points) {
            DrawnPath& line = path("sample", style.colour, 1.5);
            line.lines = {{{x, middle}, {x + sample, middle}}};
            line.dash = style.dash;
          }
          if (options_.style != PlotOptions::Style::lines) {
            DrawnPath& dot = path("sample", style.colour, 3.2);
            dot.lines = {{{x + sample / 2, middle}}};
            dot.dots = true;
          }
        } else {
          sample = entry.kind == "none" ? 0 : 10;
          DrawnPath mark = event_mark(entry.kind, 3.4);
          mark.role = "sample";
          for (Polyline& line : mark.lines)
            for (Point& q : line) q = {q.x + x + 5, q.y + middle};
          if (entry.kind != "none") drawing_.items.emplace_back(std::move(mark));
        }
        text("legend", {{entry.label, false}}, {x + sample + 6, y}, tick_size, Anchor::start);
        x += entry.width();
      }
      y += legend_row;
    }
  }

  void draw_texts() {
    const Box& lowest = panels_.back().box;
    if (!options_.title.empty()) {
      DrawnText& t = text("title", {{elided(options_.title, 200), false}},
                          {(lowest.left + lowest.right) / 2, pad + title_size - 2}, title_size, Anchor::middle);
      t.bold = true;
    }
    for (std::size_t i = 0; i < panels_.size(); ++i) {
      const PanelLayout& p = panels_[i];
      draw_legend(p);
      const double head = i == 0 && marked_ && data_.against_time ? marks_row : 0;
      const double factor_at = p.legend_left > 0 ? p.legend_top + legend_row - 6 : p.box.top - head - 4;
      if (!p.y.factor.empty()) text("factor y", p.y.factor, {p.box.left, factor_at}, tick_size, Anchor::start);
      for (const Tick& tick : p.y.ticks)
        text("tick y", tick.label, {p.box.left - tick_length - 4, y_of(p, tick.value) + tick_size * 0.35}, tick_size,
             Anchor::end);
      const std::string label = label_for(i);
      if (!label.empty())
        text("label y", {{label, false}}, {pad + label_size - 2, (p.box.top + p.box.bottom) / 2}, label_size,
             Anchor::middle)
            .upwards = true;
    }
    const double ticks_at = lowest.bottom + tick_length + tick_size + 2;
    for (const Tick& tick : x_.ticks)
      text("tick x", tick.label, {x_of(panels_.back(), tick.value), ticks_at}, tick_size, Anchor::middle);
    const double label_at = ticks_at + label_size + 6;
    text("label x",
         {{fitting(options_.x_label.empty() ? data_.abscissa : options_.x_label, label_size, lowest.width()), false}},
         {(lowest.left + lowest.right) / 2, label_at}, label_size, Anchor::middle);
    if (!x_.factor.empty()) text("factor x", x_.factor, {lowest.right, label_at}, tick_size, Anchor::end);
  }

  /// What was asked for; else the names of the curves, or if they are too long, what they have in common.
  std::string label_for(std::size_t panel) const {
    const double room = panels_[panel].box.height() + 10;
    if (panel < options_.y_labels.size()) return fitting(options_.y_labels[panel], label_size, room);
    const auto& curves = data_.panels[panel];
    const std::string all = joined_labels(curves);
    if (curves.size() == 1 || text_width(all, label_size) <= room) return fitting(all, label_size, room);
    if (panel < options_.y_groups.size() && !options_.y_groups[panel].empty()) return options_.y_groups[panel];
    const std::string common = curves.front().label.substr(0, curves.front().label.find('('));
    for (const Curve& curve : curves)
      if (!curve.label.starts_with(common + "(")) return {};
    return common;
  }

  static std::string fitting(const std::string& label, double size, double room) {
    std::size_t most = count_code_points(label);
    std::string cut = label;
    while (most > 1 && text_width(cut, size) > room) cut = elided(label, --most);
    return cut;
  }

  /// Those of the result.
  std::size_t num_rows() const {
    return static_cast<std::size_t>(std::count(data_.added.begin(), data_.added.end(), 0));
  }

  void describe() {
    std::string all;
    for (const auto& panel : data_.panels) all += (all.empty() ? "" : "; ") + joined_labels(panel);
    drawing_.title = options_.title.empty() ? elided(all, 200) + " against " + data_.abscissa : options_.title;
    std::string& text = drawing_.description;
    text = fmt::format("{}, against {} from {:.6g} to {:.6g}.", count_noun(num_rows(), "row"), data_.abscissa,
                       ranges_.x.low, ranges_.x.high);
    std::size_t count = 0;
    for (const auto& panel : data_.panels)
      for (const Curve& curve : panel) {
        RangeFinder range(false);
        for (std::size_t i = 0; i < curve.y.size(); ++i)
          if (!data_.added[i]) range.add(curve.y[i]);
        if (++count <= 20 && !range.empty())
          text += fmt::format(" {}: from {:.6g} to {:.6g}.", curve.label, range.range().low, range.range().high);
      }
    if (count > 20) text += fmt::format(" And {} more.", count - 20);
    for (const auto& kind : event_kinds_) text += fmt::format(" Marked: {} ({}).", kind.second, event_counts_[kind]);
  }

  const PlotData& data_;
  const PlotOptions& options_;
  PlotRanges ranges_, tight_;
  Axis x_;
  std::vector<PanelLayout> panels_;
  using EventClass = std::pair<std::string, std::string>;  ///< kind and label
  std::vector<EventClass> event_kinds_;
  std::map<EventClass, std::size_t> event_counts_;
  bool marked_ = false;
  Drawing drawing_;
};

}  // namespace

Drawing make_drawing(const PlotData& data, const PlotOptions& options) { return Layout(data, options).draw(); }

}  // namespace mechanician
