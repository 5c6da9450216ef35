// Whole reports: rows, channels, limits, and a page that no model can break.

#include "mechanician/report/report.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "mechanician/model/parameters.hpp"
#include "mechanician/model/read_model.hpp"
#include "mechanician/result/record.hpp"

namespace mechanician {
namespace {

constexpr std::string_view page = "<html><script type=\"application/json\">@REPORT@</script></html>";

class NoWriter final : public ResultWriter {
 public:
  void row(std::span<const double> row) override { times.push_back(row[0]); }
  void flush(const RunState&) override {}
  void finish(const RunState&) override {}
  std::vector<double> times;
};

struct ReportedRun {
  std::unique_ptr<System> system;  // does not move: the rows refer to it
  State start;
  std::optional<ReportRecorder> rows;
  std::string html;
  std::vector<double> result_times;
};

ReportedRun run(const std::string& text, std::optional<double> every, const ReportLimits& limits = {},
                double to = 2.0) {
  Model model = read_model_text(text, "model.toml");
  const ParameterValues parameters = evaluate_parameters(model);
  const State start = state_of(start_state(model, parameters));
  ReportedRun result{std::make_unique<System>(std::move(model), parameters.values), start, std::nullopt, {}, {}};
  const RunSetup setup = make_setup(*result.system, start, {.to = to}, every, false);
  Recorder recorder(*result.system, setup);
  result.rows.emplace(*result.system, setup, view_for(*result.system, start), limits);
  recorder.watch([&](Integrator& integrator) { result.rows->look(integrator); });
  NoWriter writer;
  const Summary summary = recorder.run(writer);
  result.rows->finish(recorder.integrator());
  result.result_times = writer.times;
  result.html = report_html(page, {*result.system, start, *result.rows, summary, recorder.integrator().events()});
  return result;
}

const std::string pendulum =
    "title = \"A pendulum\"\ncoordinates = [\"x\", \"y\"]\n[dynamics]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = "
    "\"9.81*y\"\n"
    "[constraints]\nrod = \"x^2 + y^2 = 1\"\n[start]\nposition = { x = 1 }\n";

std::vector<double> values_of(const ReportRecorder& rows, std::string_view name) {
  std::vector<double> values;
  for (const ReportColumn& c : rows.columns())
    if (c.name == name)
      for (const auto& row : rows.rows()) values.push_back(row[static_cast<std::size_t>(c.index)]);
  return values;
}

TEST(Report, RowsAreThoseOfTheResultWhereItSaysHowOften) {
  const ReportedRun r = run(pendulum, 0.01);
  EXPECT_EQ(values_of(*r.rows, "t"), r.result_times);
}

TEST(Report, WithoutAnIntervalTheRowsAreDenseEnoughToLookSmooth) {
  const ReportedRun r = run(pendulum, std::nullopt);
  const std::vector<double> t = values_of(*r.rows, "t");
  EXPECT_EQ(t.front(), 0.0);
  EXPECT_EQ(t.back(), 2.0);
  EXPECT_GT(t.size(), 5 * r.result_times.size());
  for (std::size_t i = 1; i < t.size(); ++i) {
    EXPECT_GT(t[i], t[i - 1]);
    EXPECT_LT(t[i] - t[i - 1], 0.02);
  }
}

TEST(Report, LongRunsAreThinnedEvenly) {
  const ReportedRun r = run(pendulum, 0.001, {.bytes = 3'000'000, .most_rows = 300, .least_rows = 10});
  const std::vector<double> t = values_of(*r.rows, "t");
  EXPECT_LE(t.size(), 300u);
  EXPECT_GT(t.size(), 140u);
  EXPECT_EQ(t.back(), 2.0);
  for (std::size_t i = 2; i + 1 < t.size(); ++i) EXPECT_NEAR(t[i] - t[i - 1], t[1] - t[0], 1e-12);
  EXPECT_NE(r.rows->spacing().find("one in 8 of the result"), std::string::npos) << r.rows->spacing();
}

TEST(Report, EventsHaveRowsOfTheirOwn) {
  const ReportedRun r =
      run("coordinates = [\"x\", \"y\"]\n[dynamics]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"9.81*y\"\n"
          "[constraints.floor]\nequation = \"y >= 0\"\nrestitution = 0.8\n[start]\nposition = { y = 1 }\nvelocity = { "
          "x = 1 }\n",
          0.1);
  const std::vector<double> t = values_of(*r.rows, "t"), gap = values_of(*r.rows, "gap(floor)");
  ASSERT_EQ(t.size(), gap.size());
  // It falls for √(2/g), then is in the air for 1.6 times that.
  const double first = std::sqrt(2 / 9.81);
  for (const double impact : {first, 2.6 * first}) {
    std::size_t near = 0;
    for (std::size_t i = 0; i < t.size(); ++i)
      if (std::abs(t[i] - impact) < std::abs(t[near] - impact)) near = i;
    EXPECT_NEAR(t[near], impact, 1e-8);
    EXPECT_NEAR(gap[near], 0.0, 1e-8);
  }
  for (std::size_t i = 1; i < t.size(); ++i) EXPECT_GT(t[i], t[i - 1]);
  EXPECT_NE(r.html.find("\"ground\""), std::string::npos) << "the floor is drawn";
}

TEST(Report, EnergiesAndResidualsAreColumnsOfTheirOwn) {
  const ReportedRun r = run(pendulum, 0.01);
  const std::vector<double> total = values_of(*r.rows, "total"), residual = values_of(*r.rows, "residual(rod)");
  ASSERT_FALSE(total.empty());
  for (std::size_t i = 0; i < total.size(); ++i) {
    EXPECT_NEAR(total[i], 0.0, 1e-8) << "a pendulum keeps its energy";
    EXPECT_NEAR(residual[i], 0.0, 1e-12);
  }
}

TEST(Report, WideModelsLoseForcesBeforePositions) {
  const ReportedRun r = run(pendulum, 0.01, {.bytes = 14 * 300 * 11, .most_rows = 4000, .least_rows = 300});
  EXPECT_GT(r.rows->num_left_out(), 0);
  EXPECT_FALSE(values_of(*r.rows, "x").empty());
  EXPECT_FALSE(values_of(*r.rows, "t").empty());
  EXPECT_TRUE(values_of(*r.rows, "Qc(x)").empty());
  // What the picture needs of them comes along all the same.
  EXPECT_NE(r.html.find("\"f32\""), std::string::npos);
}

TEST(Report, TurnsGivenByAxesAreTheQuaternionsOfTheSameTurn) {
  const ReportedRun r =
      run(pendulum +
              "[view.boxes]\nb = { at = [\"x\", \"y\"], size = [1, 1], axes = [[\"cos(t)\", \"sin(t)\", "
              "\"0\"], [\"-sin(t)\", \"cos(t)\", \"0\"]] }\n",
          0.1);
  const ViewProgram& view = *r.rows->view();
  const auto first = static_cast<std::size_t>(r.rows->view_begin() + view.num_values() - 4);
  for (const auto& row : r.rows->rows()) {
    EXPECT_NEAR(std::abs(row[first]), std::abs(std::cos(row[0] / 2)), 1e-12);
    EXPECT_NEAR(std::abs(row[first + 3]), std::abs(std::sin(row[0] / 2)), 1e-12);
    EXPECT_NEAR(row[first + 1], 0.0, 1e-12);
  }
}

TEST(Report, ForcesAreDrawnWhereThePictureHasTheirCoordinates) {
  const auto arrows = [](const std::string& view) {
    const std::string html = run(pendulum + view, 0.1).html;
    int n = 0;
    for (std::size_t at = html.find("\"arrow\""); at != std::string::npos; at = html.find("\"arrow\"", at + 1)) ++n;
    return n;
  };
  EXPECT_EQ(arrows(""), 1);
  EXPECT_EQ(arrows("[view.points]\nP = [\"x\", \"y\"]\nQ = [\"x\", \"y\"]\n"), 1);
  EXPECT_EQ(arrows("[view.points]\nP = [\"2*x\", \"y\"]\n"), 0);
  EXPECT_EQ(arrows("[view]\nforces = false\n[view.points]\nP = [\"x\", \"y\"]\n"), 0);
}

TEST(Report, AForceByItsComponentsIsDrawnToTheScaleOfForces) {
  // The rod pulls along itself; the arrow of all constraints at the bob, which would say the same, stays out.
  const std::string html = run(pendulum +
                                   "[view.points]\nP = [\"x\", \"y\"]\n[view.arrows]\npull = { at = \"P\", vector = "
                                   "[\"2*multiplier(rod)*x\", \"2*multiplier(rod)*y\"], force = \"ideal\" }\n",
                               0.1)
                               .html;
  const std::size_t arrow = html.find("\"arrow\"");
  ASSERT_NE(arrow, std::string::npos);
  EXPECT_EQ(html.find("\"arrow\"", arrow + 1), std::string::npos);
  EXPECT_EQ(html.find("\"role\":\"ideal\"", arrow) != std::string::npos ||
                html.find("\"role\": \"ideal\"", arrow) != std::string::npos,
            true);
}

TEST(Report, NoModelEndsTheDataEarly) {
  const std::string attack = "</script><script>alert(1)</script><!-- \\u202e";
  const ReportedRun r =
      run("# " + std::string("</script><script>alert(1)</script>") + "\ntitle = \"" + attack + "\"\n" +
              pendulum.substr(pendulum.find('\n') + 1) + "[view.points]\n\"</script>\" = [\"x\", \"y\"]\n",
          0.1);
  const std::size_t begin = page.find("@REPORT@"), end = r.html.find("</script>", begin);
  EXPECT_EQ(r.html.substr(end), page.substr(begin + 8)) << "the first end of a script is that of the page";
  EXPECT_EQ(r.html.substr(begin, end - begin).find('<'), std::string::npos);
  EXPECT_EQ(r.html.find("\u202e"), std::string::npos);
}

TEST(Report, LongTextsDoNotMakeItLarge) {
  std::string name(20000, 'n');
  const ReportedRun r = run(std::string(300'000, '#') + "\n" + pendulum + "[outputs]\n" + name +
                                " = \"x\"\n[events]\n" + name + "e = { when = \"x\" }\n",
                            0.01);
  EXPECT_LT(r.html.size(), 1'000'000u);
}

TEST(Report, APageWithoutAPlaceForDataIsRefused) {
  const ReportedRun r = run(pendulum, 0.1);
  EXPECT_THROW(report_html("<html></html>", {*r.system, r.start, *r.rows, Summary{}, {}}), std::invalid_argument);
}

}  // namespace
}  // namespace mechanician
