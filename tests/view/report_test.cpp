#include "view/report.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "support/markup.hpp"

namespace fovea::view {
namespace {

using testing::HasSubstr;
using testing::Not;

// The markup of a chart without its data.
std::string drawing(const Chart& chart) {
  std::string html = html_chart(chart);
  const std::size_t begin = html.find("<script");
  if (begin != html.npos) html.erase(begin, html.find("</script>") + 9 - begin);
  return html;
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

TEST(HtmlChart, DrawsEverySeriesAndIsWellFormed) {
  for (const bool logarithmic : {false, true}) {
    const Chart chart{.title = "Loss <b>",
                      .series = {{"training", {{1, 3}, {2, NAN}, {3, 1}, {4, 0.5}}}, {"valid & co", {{2, 0}, {4, 1}}}},
                      .logarithmic = logarithmic};
    const std::string svg = drawing(chart);
    EXPECT_EQ(test::malformed(svg), "");
    EXPECT_EQ(test::count(svg, "class=\"line"), 2U);
    EXPECT_EQ(test::count(svg, "<li"), 2U);
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_THAT(svg, Not(HasSubstr("inf")));
  }
}

TEST(HtmlChart, SurvivesEveryKindOfNothing) {
  for (const auto& points : std::vector<std::vector<std::pair<double, double>>>{
           {}, {{1, NAN}}, {{1, 1}}, {{1, 0}, {2, 0}}, {{1, INFINITY}, {2, 1e300}, {3, -1e300}}, {{5, 1e-300}}}) {
    for (const bool logarithmic : {false, true}) {
      const std::string svg = drawing({.title = "x", .series = {{"s", points}}, .logarithmic = logarithmic});
      EXPECT_EQ(test::malformed(svg), "");
      EXPECT_THAT(svg, Not(HasSubstr("nan")));
    }
  }
}

TEST(HtmlChart, KeepsTheSpikesOfLongSeries) {
  Series series{"speed", {}};
  for (int i = 0; i < 100000; ++i) series.points.emplace_back(i, i == 54321 ? 977.0 : 1.0);
  const std::string html = html_chart({.title = "x", .series = {series}});
  EXPECT_LT(html.size(), 60000U);
  EXPECT_THAT(html, HasSubstr("\"977\""));
}

TEST(SvgCharts, StandAloneWithLinesBarsAndLegend) {
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
  EXPECT_THAT(svg, HasSubstr("no figures yet"));
  EXPECT_THAT(svg, HasSubstr("prefers-color-scheme:dark"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
}

TEST(Report, ShowsSettingsCurvesAndSamplesAsText) {
  ReportPage report;
  report.title = "demo <model>";
  report.highlights = {{"BLEU", "34.2"}};
  report.charts = {{.title = "Loss", .series = {{"training", {{1, 2}, {2, 1}}}}}};
  report.settings = {{"dropout", "0.3"}, {"source", "<script>alert(1)</script>"}};
  ReportSample sample{"ein Hund", "a dog", "a dog", {}};
  sample.attention.source = {"ein", "</script>"};
  sample.attention.target = {"a"};
  sample.attention.weights = {1, 2, {0.5F, 0.5F}};
  report.samples = {sample, {"<img src=x>", "b", "c", {}}};
  const std::string html = report_html(report);
  for (const char* shown : {"demo &lt;model&gt;", "34.2", "Loss", "ein Hund", "as the reference", "reference:</span> c",
                            "&lt;img src=x&gt;", "\\u003c/script\\u003e", "dropout"}) {
    EXPECT_THAT(html, HasSubstr(shown));
  }
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  EXPECT_THAT(html, Not(HasSubstr("alert(1)</script>")));
  EXPECT_EQ(test::count(html, "data-picture=\""), 1U);  // only one sample has attention
}

}  // namespace
}  // namespace fovea::view
