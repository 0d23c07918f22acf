// Text that came from elsewhere, made safe to show: in markup, in a script, in columns of a terminal.
#pragma once

#include <string>
#include <string_view>

namespace fovea::view {

/// The text as valid UTF-8 that every viewer takes: broken bytes become U+FFFD, control characters their pictures
/// (a tab is U+2409), and marks that turn the direction of text (U+202A to U+202E, U+2066 to U+2069) go.
[[nodiscard]] std::string clean(std::string_view text);

/// clean(text) for element content and quoted attributes of HTML and SVG: & < > " ' escaped.
[[nodiscard]] std::string escape_markup(std::string_view text);

/// A JSON text for the inside of a <script>: no '<', '>', '&' or line separator is left that could end it.
[[nodiscard]] std::string escape_script_json(std::string_view json);

/// How many terminal columns the text takes: 2 for wide (CJK, emoji) characters, 0 for combining ones.
[[nodiscard]] int columns(std::string_view text);

/// The text in at most `width` columns, an ellipsis in place of what was cut off.
[[nodiscard]] std::string fit(std::string_view text, int width);

/// A token as a label: clean, fitted to `width`, and never blank (spaces become U+2423).
[[nodiscard]] std::string label(std::string_view token, int width);

/// The text filled up with spaces to `width` columns, after it or before it.
[[nodiscard]] std::string pad_right(std::string_view text, int width);
[[nodiscard]] std::string pad_left(std::string_view text, int width);

}  // namespace fovea::view
