#include "view/page/report_page.hpp"

#include <nlohmann/json.hpp>

#include "view/chart/chart_drawing.hpp"
#include "view/page/page.hpp"

namespace fovea::view {
namespace {

using nlohmann::json;

json chart_json(const ReportChart& chart) {
  json series = json::array();
  for (const Series& one : chart.series) series.push_back({{"name", one.name}, {"points", thinned(one.points)}});
  return {{"name", chart.name}, {"from_zero", chart.from_zero}, {"series", std::move(series)}};
}

// The sample; its attention, if any, joins `pictures`.
json sample_json(const ReportSample& sample, std::vector<AttentionRecord>& pictures) {
  json out{{"source", sample.source}, {"output", sample.output}};
  if (!sample.reference.empty()) out["reference"] = sample.reference;
  if (!sample.attention.has_weights() && sample.attention.labels.empty()) return out;
  out["picture"] = pictures.size();
  pictures.push_back(sample.attention);
  if (pictures.back().title.empty()) pictures.back().title = sample.source;
  return out;
}

}  // namespace

std::string report_html(const ReportPage& report) {
  std::vector<AttentionRecord> pictures;
  json data{{"title", report.title},      {"encoder", report.encoder}, {"weights", report.weights},
            {"figures", json::array()},   {"charts", json::array()},   {"samples", json::array()},
            {"settings", report.settings}};
  if (report.decoder.empty()) {
    data["pooling"] = report.pooling;
    data["labels"] = report.labels;
  } else {
    data["decoder"] = report.decoder;
  }
  for (const auto& [name, value] : report.figures) data["figures"].push_back({{"name", name}, {"value", value}});
  for (const ReportChart& chart : report.charts) data["charts"].push_back(chart_json(chart));
  for (const ReportSample& sample : report.samples) data["samples"].push_back(sample_json(sample, pictures));
  return html_page({.kind = "report",
                    .title = report.title,
                    .data = {{"report", data.dump(-1, ' ', false, json::error_handler_t::replace)},
                             {"pictures", records_json(pictures)}}});
}

}  // namespace fovea::view
