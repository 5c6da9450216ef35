#include "mechanician/report/report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "mechanician/base/version.hpp"
#include "mechanician/instant/generic_rows.hpp"
#include "mechanician/output/equations_output.hpp"
#include "mechanician/output/json_writer.hpp"
#include "mechanician/report/automatic_view.hpp"
#include "mechanician/report/report_text.hpp"

namespace mechanician {

namespace {

constexpr std::string_view marker = "@REPORT@";
constexpr std::size_t most_events = 1500, most_names = 12;
constexpr std::size_t longest_model = 250'000, longest_formula = 6'000, longest_formulas = 250'000;
constexpr std::size_t most_parameters = 500, most_notes = 100, most_values = 500;

class ReportWriter {
 public:
  explicit ReportWriter(const ReportInput& input) : in_(input), model_(input.system.model()) {}

  std::string json() {
    json_.begin_object();
    json_.key("format").value(1);
    json_.key("program").value("mechanician " + std::string(version()));
    json_.key("title").value(shortened(model_.title, 300));
    json_.key("about").value(shortened(opening_comment(model_.source.text), 2000));
    write_model();
    write_rows();
    write_events();
    write_summary();
    json_.key("trust").value(shortened(in_.trust.empty() ? trust_line(in_.summary) : in_.trust, 1000));
    write_equations();
    write_view();
    json_.end_object();
    return safe_in_script(json_.text());
  }

 private:
  void write_model() {
    json_.key("model").begin_object();
    json_.key("file").value(shortened(model_.source.file, 300));
    const std::string text = shortened(model_.source.text, longest_model);
    json_.key("text").value(text);
    json_.key("cut").value(text.size() < model_.source.text.size());
    json_.end_object();
    json_.key("parameters").begin_array();
    for (std::size_t i = 0; i < std::min(model_.parameters.size(), most_parameters); ++i) {
      json_.begin_object();
      json_.key("name").value(shortened(model_.parameters[i].name));
      json_.key("value").value(in_.system.parameters()[i]);
      json_.end_object();
    }
    json_.end_array();
  }

  std::vector<double> values_of(int index) const {
    std::vector<double> values;
    values.reserve(in_.rows.rows().size());
    for (const auto& row : in_.rows.rows()) values.push_back(row[static_cast<std::size_t>(index)]);
    return values;
  }

  void write_rows() {
    json_.key("rows").value(static_cast<Eigen::Index>(in_.rows.rows().size()));
    json_.key("row_spacing").value(in_.rows.spacing());
    json_.key("columns_left_out").value(in_.rows.num_left_out());
    json_.key("columns").begin_array();
    for (const ReportColumn& column : in_.rows.columns()) {
      json_.begin_object();
      json_.key("name").value(shortened(column.name));
      json_.key("group").value(column.group);
      json_.key("f64").value(base64_of(std::span<const double>(values_of(column.index))));
      json_.end_object();
    }
    json_.end_array();
  }

  void list(const std::vector<std::string>& texts, std::size_t most, std::size_t longest) {
    json_.begin_array();
    for (std::size_t i = 0; i < std::min(texts.size(), most); ++i) json_.value(shortened(texts[i], longest));
    if (texts.size() > most) json_.value(fmt::format("and {} more", texts.size() - most));
    json_.end_array();
  }

  void write_events() {
    const std::size_t count = std::min(in_.events.size(), most_events);
    json_.key("events").begin_array();
    for (const MotionEvent& event : in_.events.first(count)) {
      json_.begin_object();
      json_.key("time").value(event.time);
      json_.key("kind").value(name_of(event.kind));
      json_.key("name").value(shortened(event.name, 60));
      json_.key("constraints");
      list(event.constraints, most_names, 40);
      json_.end_object();
    }
    json_.end_array();
    json_.key("events_left_out").value(static_cast<Eigen::Index>(in_.events.size() - count));
  }

  void write_summary() {
    const Summary& s = in_.summary;
    const Certificate& c = s.certificate;
    json_.key("summary").begin_object();
    json_.key("status").value(in_.status.empty() ? name_of(s.status) : std::string_view(in_.status));
    json_.key("message").value(shortened(s.message, 2000));
    json_.key("begin").value(s.begin);
    json_.key("end").value(s.end);
    json_.key("method").value(s.method);
    json_.key("tolerance").value(s.tolerance);
    json_.key("steps").value(static_cast<Eigen::Index>(s.statistics.steps));
    json_.key("rejected").value(static_cast<Eigen::Index>(s.statistics.rejected));
    json_.key("evaluations").value(static_cast<Eigen::Index>(s.statistics.evaluations));
    json_.key("position_violation").value(c.position_violation);
    json_.key("velocity_violation").value(c.velocity_violation);
    json_.key("kinetic_start").value(c.kinetic_start);
    json_.key("kinetic_end").value(c.kinetic_end);
    json_.key("work_given").value(c.works.given);
    json_.key("work_ideal").value(c.works.ideal);
    json_.key("work_nonideal").value(c.works.nonideal);
    json_.key("work_control").value(c.works.control);
    json_.key("balance").value(c.balance);
    json_.key("balance_largest").value(c.balance_largest);
    json_.key("balance_allowed").value(c.balance_allowed);
    json_.key("global_error");
    c.global_error ? json_.value(*c.global_error) : json_.null();
    if (!s.values.empty()) {
      json_.key("values").begin_object();
      for (const SummaryValue& v : std::span(s.values).first(std::min<std::size_t>(s.values.size(), most_values))) {
        json_.key(v.name);
        std::isnan(v.value) ? json_.null() : json_.value(v.value);
      }
      json_.end_object();
    }
    json_.key("trusted").value(c.holds);
    json_.key("reasons");
    list(c.reasons, most_notes, 1000);
    json_.key("notes");
    list(s.notes, most_notes, 1000);
    json_.key("wall_time").value(s.wall_time);
    json_.end_object();
  }

  void write_equations() {
    const System& system = in_.system;
    const Equations& eqs = system.equations();
    const std::vector<int> rows = eqs.contacts.empty() ? find_generic_rows(system, in_.start).rows : std::vector<int>();
    const EquationsReport equations = make_equations_report(system.model(), eqs, rows);
    std::size_t total = 0;
    json_.key("equations").begin_array();
    for (const LatexBlock& block : equations_latex_blocks(equations)) {
      const bool too_long = block.latex.size() > longest_formula || total + block.latex.size() > longest_formulas;
      if (!too_long) total += block.latex.size();
      json_.begin_object();
      json_.key("name").value(block.name);
      json_.key("latex").value(too_long ? std::string() : shortened(block.latex, longest_formula + 1));
      json_.key("note").value(too_long ? "Too long to read here; `mechanician equations` prints it."
                                       : shortened(block.note, 2000));
      json_.end_object();
    }
    json_.end_array();
  }

  void write_channel(const ViewChannel& channel) {
    if (channel.source == ViewChannel::Source::constant) {
      json_.value(std::isfinite(channel.constant) ? channel.constant : 0.0);
      return;
    }
    json_.begin_object();
    const auto& columns = in_.rows.columns();
    const bool is_column = channel.source == ViewChannel::Source::column;
    const int index = is_column ? channel.index : in_.rows.view_begin() + channel.index;
    std::size_t k = 0;
    while (is_column && k < columns.size() && columns[k].index != index) ++k;
    if (is_column && k < columns.size()) {
      json_.key("column").value(static_cast<Eigen::Index>(k));
    } else {
      const std::vector<double> values = values_of(index);
      const std::vector<float> floats(values.begin(), values.end());
      json_.key("f32").value(base64_of(std::span<const float>(floats)));
    }
    json_.end_object();
  }

  void write_view() {
    json_.key("view");
    const ViewProgram* view = in_.rows.view();
    if (!view) {
      json_.null();
      return;
    }
    json_.begin_object();
    view->write(json_);
    json_.key("channels").begin_array();
    for (const ViewChannel& channel : view->channels()) write_channel(channel);
    json_.end_array();
    json_.end_object();
  }

  const ReportInput& in_;
  const Model& model_;
  JsonWriter json_;
};

}  // namespace

std::optional<View> view_for(const System& system, const State& start) {
  const std::optional<View>& given = system.model().view;
  if (given && !given->items.empty()) return given;
  std::optional<View> view = automatic_view(system, start);
  if (!view || !given) return view;
  // A section that draws nothing may still say from where to look.
  view->forces = given->forces;
  const ViewCamera& camera = given->camera;
  if (camera.from) view->camera.from = camera.from;
  if (camera.at) view->camera.at = camera.at;
  if (camera.up) view->camera.up = camera.up;
  if (camera.height) view->camera.height = camera.height;
  if (camera.follow) view->camera.follow = camera.follow;
  return view;
}

std::string report_json(const ReportInput& input) { return ReportWriter(input).json(); }

std::string report_html(std::string_view page, const ReportInput& input) {
  const std::size_t at = page.find(marker);
  if (at == std::string_view::npos) throw std::invalid_argument("the report page has no place for data");
  std::string html(page.substr(0, at));
  html += report_json(input);
  return html.append(page.substr(at + marker.size()));
}

}  // namespace mechanician
