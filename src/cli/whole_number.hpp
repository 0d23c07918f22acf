// Options that count: checked as they are written, since CLI11 turns what is too large into the largest there is.
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

namespace fovea::cli {

/// For add_option(…)->check(…): a number from 0 to `most`, in decimal digits.
inline CLI::Validator whole_number(std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
  const auto error = [most](const std::string& text) -> std::string {
    std::uint64_t value = 0;
    bool fits = !text.empty();
    for (const char c : text) {
      const auto digit = static_cast<std::uint64_t>(c - '0');
      fits = fits && c >= '0' && c <= '9' && value <= (most - std::min(digit, most)) / 10;
      if (!fits) break;
      value = value * 10 + digit;
    }
    return fits ? "" : "\"" + text + "\" is not a whole number from 0 to " + std::to_string(most);
  };
  return CLI::Validator(error, "");
}

}  // namespace fovea::cli
