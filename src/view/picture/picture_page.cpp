#include <fmt/format.h>

#include "view/page.hpp"
#include "view/picture/picture_view.hpp"

namespace fovea::view {

std::string picture_page(const std::vector<std::pair<AttentionRecord, std::string>>& pictures,
                         const std::string& title) {
  PageParts parts;
  parts.title = title;
  parts.kind = "pictures";
  std::vector<AttentionRecord> records;
  std::string addresses = "[";
  for (const auto& [record, address] : pictures) {
    addresses += fmt::format("{}\"{}\"", records.empty() ? "" : ",\n", address);
    records.push_back(record);
  }
  parts.body = "<div id=\"pictures-here\"><noscript>This page draws with JavaScript.</noscript></div>\n" +
               data_element("pictures", records_json(records)) + data_element("addresses", addresses + "]");
  return html_page(parts);
}

}  // namespace fovea::view
