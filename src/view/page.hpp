// Self-contained HTML pages: styles, scripts and data inside, nothing fetched.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fovea/attention_record.hpp"

namespace fovea::view {

/// The parts of a page. Titles and leads are escaped here; `body` is markup.
struct PageParts {
  std::string title;
  std::string lead;                           // a line under the title
  std::string title_chinese, lead_chinese{};  // where the page can be switched to Chinese
  std::string language = "en";
  std::string body;                       // markup for <main>
  std::vector<std::string_view> styles;   // files of web/, after base.css
  std::vector<std::string_view> scripts;  // files of web/, after base.js and words.js
};

[[nodiscard]] std::string html_page(const PageParts& parts);

/// The files of web/ that draw attention: what `scripts` needs before a script that calls Fovea.attention.
[[nodiscard]] std::vector<std::string_view> attention_scripts();

/// Records as one JSON array, weights to four decimals.
[[nodiscard]] std::string records_json(const std::vector<AttentionRecord>& records);

/// A <script> element that holds JSON for Fovea.data(id); safe whatever the JSON's strings contain.
[[nodiscard]] std::string data_element(std::string_view id, std::string_view json);

/// The page of `fovea view --html`: pointing at a token lights up what it attended to; sentences, layers and heads can
/// be chosen; light and dark; keyboard and screen reader.
[[nodiscard]] std::string attention_page(const std::vector<AttentionRecord>& pictures, const std::string& title);

}  // namespace fovea::view
