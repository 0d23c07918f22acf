#include "view/text.hpp"

#include <algorithm>

#include "text/unicode.hpp"

namespace fovea::view {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

bool turns_text(char32_t c) {
  return (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

// The replacement of a character that must not reach a screen.
char32_t shown(char32_t c) {
  if (c < 0x20) return 0x2400 + c;
  if (c == 0x7F) return 0x2421;
  if (c >= 0x80 && c < 0xA0) return kReplacement;
  if (c == 0x2028 || c == 0x2029) return 0x2424;
  if (c == 0xFFFE || c == 0xFFFF) return kReplacement;  // not allowed in XML
  return c;
}

}  // namespace

std::string clean(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = text::next_code_point(text, at);
    if (!turns_text(c)) text::append_utf8(out, shown(c));
  }
  return out;
}

std::string escape_markup(std::string_view text) {
  std::string out;
  for (const char c : clean(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string escape_script_json(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::string_view rest = json.substr(i, 3);
    switch (json[i]) {
      case '<':
        out += "\\u003c";
        break;
      case '>':
        out += "\\u003e";
        break;
      case '&':
        out += "\\u0026";
        break;
      default:
        if (rest == "\u2028" || rest == "\u2029") {
          out += rest == "\u2028" ? "\\u2028" : "\\u2029";
          i += 2;
        } else {
          out += json[i];
        }
    }
  }
  return out;
}

int columns(std::string_view text) {
  int width = 0;
  for (std::size_t at = 0; at < text.size();) width += text::columns(text::next_code_point(text, at));
  return width;
}

std::string fit(std::string_view text, int width) {
  if (columns(text) <= width) return std::string(text);
  std::string out;
  int used = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = text::next_code_point(text, at);
    if (used + text::columns(c) > width - 1) break;
    used += text::columns(c);
    text::append_utf8(out, c);
  }
  return width > 0 ? out + "…" : out;
}

std::string label(std::string_view token, int width) {
  if (token.find_first_not_of(' ') == std::string_view::npos) return "␣";
  return fit(clean(token), width);
}

std::string pad_right(std::string_view text, int width) {
  return std::string(text) + std::string(static_cast<std::size_t>(std::max(0, width - columns(text))), ' ');
}

std::string pad_left(std::string_view text, int width) {
  return std::string(static_cast<std::size_t>(std::max(0, width - columns(text))), ' ') + std::string(text);
}

}  // namespace fovea::view
