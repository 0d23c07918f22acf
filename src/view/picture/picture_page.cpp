#include <fmt/format.h>

#include "view/page.hpp"
#include "view/picture/picture_view.hpp"

namespace fovea::view {

std::string picture_page(const std::vector<std::pair<AttentionRecord, std::string>>& pictures,
                         const std::string& title) {
  PageParts parts;
  parts.title = title;
  parts.lead = "Point at a word to see what it attended to";
  parts.lead_chinese = "指向一个词，看它关注了图片的哪里";
  std::vector<AttentionRecord> records;
  std::string addresses = "[";
  for (const auto& [record, address] : pictures) {
    addresses += fmt::format("{}\"{}\"", records.empty() ? "" : ",\n", address);
    records.push_back(record);
  }
  parts.body = "<div id=\"pictures-here\"><noscript>This page draws with JavaScript.</noscript></div>\n" +
               data_element("pictures", records_json(records)) + data_element("addresses", addresses + "]");
  parts.styles = {"picture.css"};
  parts.scripts = {"weights.js", "picture.js", "picture_view.js"};
  return html_page(parts);
}

}  // namespace fovea::view
