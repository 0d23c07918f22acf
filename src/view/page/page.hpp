// Self-contained HTML pages: styles, scripts and data inside, nothing fetched.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fovea/attention_record.hpp"

namespace fovea::view {

/// The parts of a page, unescaped.
struct PageParts {
  std::string_view kind{};  // web/pages/KIND.js is the page's script, with the styles that it imports
  std::string title{};
  std::string lead{};  // a line under the title
  std::string language = "en";
  std::vector<std::pair<std::string_view, std::string>> data{};  // JSON by name, for readData(name) of the module
};

[[nodiscard]] std::string html_page(const PageParts& parts);

/// Records as one JSON array, weights to four decimals.
[[nodiscard]] std::string records_json(const std::vector<AttentionRecord>& records);

/// The page of `fovea view --html`: pointing at a token marks the tokens it attended to; the reader chooses sentences,
/// layers and heads, light or dark, with pointer, keyboard or screen reader.
[[nodiscard]] std::string attention_page(const std::vector<AttentionRecord>& pictures, const std::string& title);

}  // namespace fovea::view
