// Options that count: checked as they are written, since CLI11 turns what is too large into the largest there is.
#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <system_error>

namespace fovea::cli {

/// For add_option(…)->check(…): a number from 0 to `most`, in decimal digits.
inline CLI::Validator whole_number(std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
  const auto error = [most](const std::string& text) -> std::string {
    std::uint64_t value = 0;
    const auto [end, trouble] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool fits = trouble == std::errc() && end == text.data() + text.size() && value <= most;
    return fits ? "" : "\"" + text + "\" is not a whole number from 0 to " + std::to_string(most);
  };
  return CLI::Validator(error, "");
}

}  // namespace fovea::cli
