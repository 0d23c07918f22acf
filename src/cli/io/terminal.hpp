// Capabilities of standard output, for commands that draw.
#pragma once

#include <CLI/CLI.hpp>
#include <iosfwd>
#include <string>

#include "view/terminal/terminal.hpp"

namespace fovea::cli {

/// Adds --color auto|always|never, kept in `choice`.
void add_color_option(CLI::App& command, std::string& choice);

/// The style for `out`. With auto: colour if it is this process's terminal and NO_COLOR is unset; the colours of
/// COLORTERM and TERM; the width of COLUMNS, or of the terminal, or 80.
[[nodiscard]] view::TerminalStyle terminal_style(const std::ostream& out, const std::string& choice);

}  // namespace fovea::cli
