#include "cli/io/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <iostream>
#include <string_view>

namespace fovea::cli {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

int width_of_terminal(bool terminal) {
  int columns = 0;
  const std::string_view given = environment("COLUMNS");
  std::from_chars(given.data(), given.data() + given.size(), columns);
  winsize size{};
  if (terminal && columns <= 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) columns = size.ws_col;
  return columns >= 20 && columns <= 10000 ? columns : 80;
}

}  // namespace

void add_color_option(CLI::App& command, std::string& choice) {
  command.add_option("--color", choice, "auto (default), always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}));
}

view::TerminalStyle terminal_style(const std::ostream& out, const std::string& choice) {
  const bool terminal = out.rdbuf() == std::cout.rdbuf() && isatty(STDOUT_FILENO) == 1;
  const std::string_view kind = environment("TERM");
  const bool colour =
      choice == "always" || (choice != "never" && terminal && environment("NO_COLOR").empty() && kind != "dumb");
  const std::string_view depth = environment("COLORTERM");
  view::TerminalStyle style;
  if (colour) {
    const bool all = depth == "truecolor" || depth == "24bit" || kind.ends_with("-direct");
    style.colour = all ? view::TerminalColour::truecolour : view::TerminalColour::palette256;
  }
  // "15;0" is white on black; without COLORFGBG most terminals are dark.
  const std::string_view ground = environment("COLORFGBG");
  style.theme = ground.ends_with(";15") || ground.ends_with(";7") ? view::Theme::light : view::Theme::dark;
  style.width = width_of_terminal(terminal);
  return style;
}

}  // namespace fovea::cli
