#include "view/page/report_page.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>

#include "support/markup.hpp"
#include "view/chart/chart_drawing.hpp"

namespace fovea::view {
namespace {

using testing::HasSubstr;
using testing::Not;

// The markup of a chart alone.
std::string drawing(const Chart& chart) {
  return "<svg>" + draw_chart(chart, {}) + "</svg>";
}

TEST(Ticks, AreRoundAndCoverTheRange) {
  EXPECT_THAT(ticks(0, 100, 5), testing::ElementsAre(0, 20, 40, 60, 80, 100));
  EXPECT_THAT(ticks(3, 97, 5), testing::ElementsAre(0, 20, 40, 60, 80, 100));
  for (const auto& [low, high] :
       {std::pair{0.011, 0.013}, {-3.0, 1e6}, {5.0, 5.0}, {0.0, 0.0}, {1e-30, 2e-30}, {-7.0, -6.9}}) {
    const auto values = ticks(low, high, 5);
    ASSERT_GE(values.size(), 2U);
    EXPECT_LE(values.size(), 12U);
    EXPECT_LE(values.front(), low + 1e-12);
    EXPECT_GE(values.back(), high - 1e-12);
  }
}

TEST(ShortNumber, FitsAnAxis) {
  EXPECT_EQ(short_number(0), "0");
  EXPECT_EQ(short_number(0.25), "0.25");
  EXPECT_EQ(short_number(1500), "1.5k");
  EXPECT_EQ(short_number(1234), "1234");
  EXPECT_EQ(short_number(20000), "20k");
  EXPECT_EQ(short_number(3e6), "3M");
  EXPECT_EQ(short_number(-5000), "-5k");
}

TEST(DrawChart, DrawsEverySeriesAndIsWellFormed) {
  for (const bool logarithmic : {false, true}) {
    const Chart chart{.title = "Loss <b>",
                      .series = {{"training", {{1, 3}, {2, NAN}, {3, 1}, {4, 0.5}}}, {"valid & co", {{2, 0}, {4, 1}}}},
                      .logarithmic = logarithmic};
    const std::string svg = drawing(chart);
    EXPECT_EQ(test::malformed(svg), "");
    EXPECT_EQ(test::count(svg, "class=\"line"), 2U);
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_THAT(svg, Not(HasSubstr("inf")));
  }
}

TEST(DrawChart, SurvivesMissingAndExtremeValues) {
  for (const auto& points : std::vector<std::vector<std::pair<double, double>>>{
           {}, {{1, NAN}}, {{1, 1}}, {{1, 0}, {2, 0}}, {{1, INFINITY}, {2, 1e300}, {3, -1e300}}, {{5, 1e-300}}}) {
    for (const bool logarithmic : {false, true}) {
      const std::string svg = drawing({.title = "x", .series = {{"s", points}}, .logarithmic = logarithmic});
      EXPECT_EQ(test::malformed(svg), "");
      EXPECT_THAT(svg, Not(HasSubstr("nan")));
    }
  }
}

TEST(DrawChart, KeepsTheSpikesOfLongSeries) {
  Series series{"speed", {}};
  for (int i = 0; i < 100000; ++i) series.points.emplace_back(i, i == 54321 ? 977.0 : 1.0);
  EXPECT_LE(thinned(series.points).size(), 600U);
  EXPECT_THAT(thinned(series.points), testing::Contains(std::pair(54321.0, 977.0)));
  EXPECT_LT(drawing({.title = "x", .series = {series}}).size(), 60000U);
}

// The lowest and the highest label of the y axis.
std::pair<double, double> y_axis(const std::vector<double>& values, bool from_zero = false) {
  Series series{"s", {}};
  for (const double value : values) series.points.emplace_back(static_cast<double>(series.points.size()), value);
  const std::string svg = drawing({.title = "x", .series = {series}, .from_zero = from_zero});
  std::vector<double> labels;
  static const std::regex kLabel("text-anchor=\"end\">([^<]+)<");
  for (std::sregex_iterator t(svg.begin(), svg.end(), kLabel), end; t != end; ++t) labels.push_back(std::stod((*t)[1]));
  return {labels.front(), labels.back()};
}

TEST(DrawChart, DoesNotMagnifyNoise) {
  const auto [low, high] = y_axis({39.8, 40.1, 39.9});
  EXPECT_LE(low, 36);
  EXPECT_GE(high, 44);
  EXPECT_GT(y_axis({30, 40}).first, 20);  // a change of a quarter is no noise
  EXPECT_EQ(y_axis({30, 40}, true).first, 0);
}

TEST(SvgCharts, AreCompleteWithLinesBarsAndLegend) {
  const Chart lines{.title = "a < b",
                    .series = {{"dot & co", {{4, 1e-1}, {16, 1e-2}, {1024, 1e-6}}}, {"scaled", {{4, 1}, {1024, 0}}}},
                    .logarithmic = true,
                    .logarithmic_x = true};
  const Chart bars{.title = "BLEU",
                   .x_label = "score",
                   .series = {{"valid", {{0, 30.5}, {1, -2}, {2, NAN}}}, {"test", {{0, 31}}}},
                   .names = {"dot", "<general>", "none"}};
  const std::string svg = svg_charts({lines, bars, {.title = "nothing", .series = {}}});
  EXPECT_EQ(test::malformed(svg), "");
  EXPECT_EQ(test::count(svg, "class=\"line"), 2U);
  EXPECT_EQ(test::count(svg, "<rect class=\"dot"), 3U + 4U);  // bars, and the legends' swatches
  EXPECT_THAT(svg, HasSubstr("&lt;general&gt;"));
  EXPECT_THAT(svg, HasSubstr("no data"));
  EXPECT_THAT(svg, HasSubstr("prefers-color-scheme:dark"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
}

TEST(Report, HoldsFiguresChartsSamplesAndSettingsAsData) {
  ReportPage report;
  report.title = "demo <model>";
  report.encoder = "transformer";
  report.decoder = "rnn";
  report.figures = {{"bleu", 34.2}};
  report.charts = {{.name = "loss", .series = {{"training", {{1, 2}, {2, NAN}}}}}};
  report.settings = {{"dropout", "0.3"}, {"source", "<script>alert(1)</script>"}};
  ReportSample sample{"ein Hund", "a dog", "a dog", {}};
  sample.attention.source = {"ein", "</script>"};
  sample.attention.target = {"a"};
  sample.attention.weights = {1, 2, {0.5F, 0.5F}};
  report.samples = {sample, {"<img src=x>", "b", "", {}}};
  const std::string html = report_html(report);
  EXPECT_THAT(html, HasSubstr("demo &lt;model&gt;</h1>"));
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  EXPECT_THAT(html, Not(HasSubstr("alert(1)</script>")));
  const auto data_of = [&html](const std::string& id) {
    const std::size_t begin = html.find("id=\"" + id + "\">") + id.size() + 6;
    return nlohmann::json::parse(html.substr(begin, html.find("</script>", begin) - begin));
  };
  const nlohmann::json data = data_of("report");
  EXPECT_EQ(data["decoder"], "rnn");
  EXPECT_FALSE(data.contains("pooling"));
  EXPECT_EQ(data["figures"][0], nlohmann::json({{"name", "bleu"}, {"value", 34.2}}));
  EXPECT_EQ(data["charts"][0]["series"][0]["points"].dump(), "[[1.0,2.0],[2.0,null]]");
  EXPECT_EQ(data["settings"][1][0], "source");
  EXPECT_EQ(data["samples"][0]["picture"], 0);
  EXPECT_FALSE(data["samples"][1].contains("picture"));
  EXPECT_FALSE(data["samples"][1].contains("reference"));
  EXPECT_EQ(data_of("pictures").size(), 1U);
  EXPECT_EQ(data_of("pictures")[0]["title"], "ein Hund");
}

}  // namespace
}  // namespace fovea::view
