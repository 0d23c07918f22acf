// Lines that several processes work on together.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/processes.hpp"

namespace fovea {

/// Some of the lines: from `begin` up to, but not, `end`.
struct LineRange {
  std::size_t begin = 0, end = 0;

  /// These of all lines.
  [[nodiscard]] std::vector<std::string> of(const std::vector<std::string>& lines) const {
    return {lines.begin() + static_cast<std::ptrdiff_t>(begin), lines.begin() + static_cast<std::ptrdiff_t>(end)};
  }
};

/// Calls `work` with this process's share of `count` lines and returns what all processes made of all of them, an
/// output for each line, in their order. Outputs must not contain line breaks.
[[nodiscard]] std::vector<std::string> shared_lines(Processes& processes, std::size_t count,
                                                    const std::function<std::vector<std::string>(LineRange)>& work);

/// Lines that each end with a line break.
[[nodiscard]] std::vector<std::string> split_lines(std::string_view text);

/// This process's share of `count` lines.
[[nodiscard]] LineRange own_lines(const Processes& processes, std::size_t count);

}  // namespace fovea
