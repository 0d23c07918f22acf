#include "view/page/page.hpp"

#include <fmt/format.h>

#include "view/assets.hpp"
#include "view/text.hpp"

namespace fovea::view {

std::string records_json(const std::vector<AttentionRecord>& records) {
  std::string out = "[";
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (i > 0) out += ",\n";
    out += to_json(records[i], {.decimals = 4});
  }
  return out + "]";
}

std::string html_page(const PageParts& parts) {
  const std::string kind(parts.kind);
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"{}\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'; img-src data: blob:\">\n<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n"
      "<header class=\"page-head\"><div><h1>{}</h1>",
      parts.language, escape_markup(parts.title), asset(kind + ".css"), escape_markup(parts.title));
  if (!parts.lead.empty()) out += fmt::format("<p class=\"lead\">{}</p>", escape_markup(parts.lead));
  out += "</div></header>\n<main>\n<noscript><p class=\"card\">This page needs JavaScript.</p></noscript>\n";
  out += "<div id=\"page\"></div>\n</main>\n";
  for (const auto& [id, json] : parts.data) {
    out += fmt::format("<script type=\"application/json\" id=\"{}\">{}</script>\n", id, escape_script_json(json));
  }
  out += "<script>\n";
  out += asset(kind + ".js");
  return out + "</script>\n</body>\n</html>\n";
}

std::string attention_page(const std::vector<AttentionRecord>& pictures, const std::string& title) {
  return html_page({.kind = "attention", .title = title, .data = {{"pictures", records_json(pictures)}}});
}

}  // namespace fovea::view
