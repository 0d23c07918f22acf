#include "view/page.hpp"

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

std::string data_element(std::string_view id, std::string_view json) {
  return fmt::format("<script type=\"application/json\" id=\"{}\">{}</script>\n", id, escape_script_json(json));
}

std::string html_page(const PageParts& parts) {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"{}\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'; img-src data: blob:\">\n<title>{}</title>\n<style>\n",
      parts.language, escape_markup(parts.title));
  out += asset("base.css");
  for (const std::string_view name : parts.styles) out += asset(name);
  const auto chinese = [](const std::string& text) {
    return text.empty() ? "" : fmt::format(" data-zh=\"{}\"", escape_markup(text));
  };
  out += fmt::format("</style>\n</head>\n<body>\n<header class=\"page-head\"><div><h1{}>{}</h1>",
                     chinese(parts.title_chinese), escape_markup(parts.title));
  if (!parts.lead.empty()) {
    out += fmt::format("<p class=\"lead\"{}>{}</p>", chinese(parts.lead_chinese), escape_markup(parts.lead));
  }
  out +=
      "</div><button class=\"theme-button\" aria-label=\"Light or dark\" title=\"Light or dark\">◐</button></header>\n";
  out += "<main>\n" + parts.body + "</main>\n<script>\n";
  out += asset("base.js");
  out += "</script>\n<script>\n";
  out += asset("words.js");
  out += "</script>\n";
  for (const std::string_view name : parts.scripts) {
    out += "<script>\n";
    out += asset(name);
    out += "</script>\n";
  }
  return out + "</body>\n</html>\n";
}

std::vector<std::string_view> attention_scripts() {
  return {"weights.js", "tokens.js", "heatmap.js", "map.js", "heads.js", "save.js", "attention.js"};
}

std::string attention_page(const std::vector<AttentionRecord>& pictures, const std::string& title) {
  PageParts parts;
  parts.title = title;
  parts.lead = pictures.size() == 1 ? "What each word attended to"
                                    : fmt::format("What each word attended to, in {} sentences", pictures.size());
  parts.lead_chinese =
      pictures.size() == 1 ? "每个词关注了什么" : fmt::format("{} 个句子中每个词关注了什么", pictures.size());
  parts.body =
      "<div class=\"card\" id=\"attention\"><noscript>This page draws with JavaScript; fovea view --svg makes a "
      "picture that needs none.</noscript></div>\n" +
      data_element("pictures", records_json(pictures));
  parts.styles = {"attention.css"};
  parts.scripts = attention_scripts();
  parts.scripts.emplace_back("view.js");
  return html_page(parts);
}

}  // namespace fovea::view
