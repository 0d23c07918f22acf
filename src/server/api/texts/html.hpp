// As much of HTML as finding its text needs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fovea::server {

struct HtmlPart {
  std::string_view bytes;
  bool text = false;  // false: tags, comments, and what shall not be translated
};

/// The parts together are `html`. Broken markup never throws: what cannot be a tag is text.
[[nodiscard]] std::vector<HtmlPart> html_parts(std::string_view html);

/// & < > as entities; a no-break space too, so that it is seen to be one.
[[nodiscard]] std::string html_escape(std::string_view text);
/// Numeric entities and the common named ones as characters; others stay as they are.
[[nodiscard]] std::string html_unescape(std::string_view html);

}  // namespace fovea::server
