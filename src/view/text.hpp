// Untrusted text made safe for markup, scripts and terminal columns.
#pragma once

#include <string>
#include <string_view>

namespace fovea::view {

/// Valid UTF-8 for every viewer: invalid bytes become U+FFFD, control characters their pictures (a tab is U+2409), and
/// marks that change the direction of text (U+202A to U+202E, U+2066 to U+2069) are removed.
[[nodiscard]] std::string clean(std::string_view text);

/// clean(text) for element content and quoted attributes of HTML and SVG: & < > " ' escaped.
[[nodiscard]] std::string escape_markup(std::string_view text);

/// A JSON text for the inside of a <script>, with '<', '>', '&' and line separators escaped.
[[nodiscard]] std::string escape_script_json(std::string_view json);

/// The terminal columns of the text: 2 for wide (CJK, emoji) characters, 0 for combining ones.
[[nodiscard]] int columns(std::string_view text);

/// The text in at most `width` columns; an ellipsis replaces the rest.
[[nodiscard]] std::string fit(std::string_view text, int width);

/// A token as a label: clean, fitted to `width`, and never blank (spaces become U+2423).
[[nodiscard]] std::string label(std::string_view token, int width);

/// The text with spaces after it or before it, `width` columns in all.
[[nodiscard]] std::string pad_right(std::string_view text, int width);
[[nodiscard]] std::string pad_left(std::string_view text, int width);

}  // namespace fovea::view
