#include "view/report.hpp"

#include <fmt/format.h>

#include "view/page.hpp"
#include "view/text.hpp"

namespace fovea::view {
namespace {

std::string tiles(const ReportPage& report) {
  std::string out;
  for (const auto& [name, value] : report.highlights) {
    out += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escape_markup(name), escape_markup(value));
  }
  return out.empty() ? out : "<dl class=\"tiles\">\n" + out + "</dl>\n";
}

std::string settings(const ReportPage& report) {
  std::string out;
  for (const auto& [name, value] : report.settings) {
    out += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", escape_markup(name), escape_markup(value));
  }
  if (out.empty()) return out;
  return "<section class=\"card\"><h2>Settings</h2><table class=\"settings\">\n" + out + "</table></section>\n";
}

// The sentences as text, all of them; the attention of those that have it is drawn below.
std::string samples(const ReportPage& report) {
  if (report.samples.empty()) return {};
  std::string rows;
  std::vector<AttentionRecord> pictures;
  for (const ReportSample& sample : report.samples) {
    const bool right = !sample.reference.empty() && sample.output == sample.reference;
    std::string button;
    if (!sample.attention.source.empty() && !sample.attention.target.empty()) {
      button = fmt::format("<button data-picture=\"{}\">attention</button>", pictures.size());
      pictures.push_back(sample.attention);
      if (pictures.back().title.empty()) pictures.back().title = sample.source;
    }
    rows += fmt::format("<li><div><p dir=\"auto\">{}</p><p dir=\"auto\" class=\"output\">{}</p>",
                        escape_markup(sample.source), escape_markup(sample.output));
    if (right) rows += "<p class=\"note\">as the reference</p>";
    if (!right && !sample.reference.empty()) {
      rows += fmt::format("<p dir=\"auto\" class=\"note\"><span class=\"note\">reference:</span> {}</p>",
                          escape_markup(sample.reference));
    }
    rows += "</div>" + button + "</li>\n";
  }
  std::string out = "<section class=\"card\"><h2>Samples</h2><ol class=\"samples\">\n" + rows + "</ol></section>\n";
  if (!pictures.empty()) {
    out += "<section class=\"card\"><h2>What the model attended to</h2><div id=\"attention\"></div></section>\n" +
           data_element("pictures", records_json(pictures));
  }
  return out;
}

}  // namespace

std::string report_html(const ReportPage& report) {
  PageParts parts;
  parts.title = report.title;
  parts.lead = report.lead;
  parts.body = tiles(report);
  if (!report.charts.empty()) {
    parts.body += "<section class=\"charts\">\n";
    for (const Chart& chart : report.charts) parts.body += "<div class=\"card\">" + html_chart(chart) + "</div>\n";
    parts.body += "</section>\n";
  }
  parts.body += samples(report) + settings(report);
  parts.kind = "report";
  return html_page(parts);
}

}  // namespace fovea::view
