// Options that the library declares (fovea/fields.hpp) as those of a command.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/option_values.hpp"
#include "cli/options/help_format.hpp"
#include "fovea/error.hpp"

namespace fovea::cli {

/// Adds the options to a command; what is given goes to `values`. Both must outlive the command. With common options
/// among them, --help shows those, and --help-all shows all in groups.
void add_declared(CLI::App& command, const std::vector<OptionInfo>& options, OptionValues& values);

/// Gives the options of a TOML file that `values` does not have yet. Throws UsageError naming the file and the option.
void add_config_file(const std::string& file, const std::vector<OptionInfo>& options, OptionValues& values);

/// The message for a user of the command: a field that is one of its options is named as such, "--max-length: …".
[[nodiscard]] std::string shown(const UsageError& error, const CLI::App& command);

/// What CLI11 says of a command line, with the words of a value that is no number made plain.
[[nodiscard]] std::string shown(const CLI::ParseError& error, const CLI::App& command);

}  // namespace fovea::cli
