// ASCII letters, independent of the locale.
#pragma once

#include <string>
#include <string_view>

namespace fovea::server {

/// A to Z become a to z.
[[nodiscard]] inline std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

}  // namespace fovea::server
