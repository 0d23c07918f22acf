// Options whose value must not be empty: an unset shell variable must not turn off what the option asks for.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace fovea::cli {

/// Checks every option of a command that takes a value; for the end of add_COMMAND().
inline void refuse_empty_values(CLI::App& command) {
  const CLI::Validator not_empty([](const std::string& text) -> std::string { return text.empty() ? "is empty" : ""; },
                                 "");
  for (CLI::Option* option : command.get_options([](const CLI::Option* o) { return o->get_expected_max() > 0; })) {
    option->transform(not_empty);  // runs before the other checks
  }
}

}  // namespace fovea::cli
