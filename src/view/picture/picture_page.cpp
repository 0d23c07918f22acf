#include <fmt/format.h>

#include "view/page/page.hpp"
#include "view/picture/picture_view.hpp"

namespace fovea::view {

std::string picture_page(const std::vector<std::pair<AttentionRecord, std::string>>& pictures,
                         const std::string& title) {
  std::vector<AttentionRecord> records;
  std::string addresses = "[";
  for (const auto& [record, address] : pictures) {
    addresses += fmt::format("{}\"{}\"", records.empty() ? "" : ",\n", address);
    records.push_back(record);
  }
  return html_page({.kind = "pictures",
                    .title = title,
                    .data = {{"pictures", records_json(records)}, {"addresses", addresses + "]"}}});
}

}  // namespace fovea::view
