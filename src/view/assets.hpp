// The files of the pages, compiled in.
#pragma once

#include <string_view>

namespace fovea::view {

/// The bytes of a file: PAGE.js and PAGE.css, bundled from web/pages/PAGE.js, and the .html, .svg and .json files of
/// web/. Throws Error when there is no such file.
[[nodiscard]] std::string_view asset(std::string_view name);

}  // namespace fovea::view
