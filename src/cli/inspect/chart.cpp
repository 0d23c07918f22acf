// fovea chart FILE --svg FILE [--x NAME] [--y NAME[,NAME…]]… [--title TEXT]… [--from-zero] [--log-x] [--log-y]
//
// Draws a table of numbers: lines, or bars if the x column holds names. FILE is CSV with a header line, or JSON
// lines as in a model's log.jsonl. Each --y is a chart of its own, below the previous one.
#include <fmt/format.h>

#include <memory>

#include "base/whole_file.hpp"
#include "cli/command.hpp"
#include "fovea/error.hpp"
#include "text/lines.hpp"
#include "view/chart/chart.hpp"
#include "view/chart/table.hpp"

namespace fovea::cli {
namespace {

struct ChartOptions {
  std::string file, svg, x, x_label;
  std::vector<std::string> y, titles;
  bool from_zero = false, log_x = false, log_y = false;
};

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    out.push_back(list.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

// Rows without an x or a y are skipped: the rows of a log have different fields.
view::Chart chart_of(const view::Table& table, std::size_t x, const std::vector<std::string>& names) {
  view::Chart chart;
  const bool bars = !table.numeric(x);
  if (bars) {
    for (const auto& row : table.rows) chart.names.push_back(row[x]);
  }
  for (const std::string& name : names) {
    const std::size_t column = table.column(name);
    view::Series series{name, {}};
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      if (table.rows[row][column].empty() || (!bars && table.rows[row][x].empty())) continue;
      series.points.emplace_back(bars ? static_cast<double>(row) : table.number(row, x), table.number(row, column));
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

// A logarithmic axis shows only values above 0.
void check_drawable(const view::Chart& chart, const std::string& file) {
  for (const view::Series& series : chart.series) {
    for (const auto& [x, y] : series.points) {
      if ((!chart.logarithmic || y > 0) && (!chart.logarithmic_x || x > 0)) return;
    }
  }
  if (!chart.logarithmic && !chart.logarithmic_x) return;
  throw UsageError(
      fmt::format("{}: {}: {} has no value above 0", chart.logarithmic ? "--log-y" : "--log-x", file, chart.title));
}

void draw(const ChartOptions& options) {
  const view::Table table = view::read_table(text::read_lines(options.file), options.file);
  const std::size_t x = options.x.empty() ? 0 : table.column(options.x);
  std::vector<std::vector<std::string>> panels;
  for (const std::string& list : options.y) panels.push_back(split(list));
  if (panels.empty()) {
    panels.emplace_back();
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (i != x && table.numeric(i)) panels[0].push_back(table.columns[i]);
    }
    if (panels[0].empty()) throw UsageError(options.file + ": has no column of numbers to draw");
  }
  std::vector<view::Chart> charts;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    view::Chart chart = chart_of(table, x, panels[i]);
    chart.title = i < options.titles.size() ? options.titles[i] : fmt::format("{}", fmt::join(panels[i], ", "));
    chart.x_label = options.x_label.empty() ? table.columns[x] : options.x_label;
    chart.from_zero = options.from_zero;
    chart.logarithmic = options.log_y;
    chart.logarithmic_x = options.log_x;
    check_drawable(chart, options.file);
    charts.push_back(std::move(chart));
  }
  write_whole_file(options.svg, view::svg_charts(charts));
}

}  // namespace

void add_chart(CLI::App& app, const Streams&) {
  auto* command = app.add_subcommand("chart", "draw a table of numbers, such as a training log, as lines or bars");
  const auto options = std::make_shared<ChartOptions>();
  command->add_option("FILE", options->file, "CSV with a header line, or JSON lines as in log.jsonl; plain or .gz")
      ->required();
  command->add_option("--svg", options->svg, "SVG picture to write")->required();
  command->add_option("--x", options->x,
                      "column of the x axis (default: the first); names instead of numbers give bars");
  command->add_option("--y", options->y,
                      "columns of a chart, as in loss,valid_loss; repeat it for another chart below (default: all)");
  command->add_option("--title", options->titles, "title of each chart, in the order of --y");
  command->add_option("--x-label", options->x_label, "label of the x axis instead of the column's name");
  command->add_flag("--from-zero", options->from_zero, "the y axis includes 0");
  command->add_flag("--log-x", options->log_x, "logarithmic x axis");
  command->add_flag("--log-y", options->log_y, "logarithmic y axis");
  command->callback([options] { draw(*options); });
}

}  // namespace fovea::cli
