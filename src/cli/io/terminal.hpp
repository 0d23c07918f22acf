// What standard output is, for commands that draw.
#pragma once

#include <CLI/CLI.hpp>
#include <iosfwd>
#include <string>

#include "view/terminal.hpp"

namespace fovea::cli {

/// Adds --color auto|always|never, kept in `choice`.
void add_color_option(CLI::App& command, std::string& choice);

/// How to draw on `out`. With auto: in colour when it is this process's terminal and NO_COLOR is not set; as many
/// colours as COLORTERM and TERM promise; as wide as the terminal, or COLUMNS, or 80.
[[nodiscard]] view::TerminalStyle terminal_style(const std::ostream& out, const std::string& choice);

}  // namespace fovea::cli
