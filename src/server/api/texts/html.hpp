// Finds the text of HTML.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fovea::server {

struct HtmlPart {
  std::string_view bytes;
  bool text = false;  // false: tags, comments, and text that must not be translated
};

/// Splits `html` into parts. Never throws for invalid markup: bytes that cannot be a tag are text.
[[nodiscard]] std::vector<HtmlPart> html_parts(std::string_view html);

/// Encodes & < > and the no-break space as entities.
[[nodiscard]] std::string html_escape(std::string_view text);
/// Decodes numeric and common named entities; others stay.
[[nodiscard]] std::string html_unescape(std::string_view html);

}  // namespace fovea::server
