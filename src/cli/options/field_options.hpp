// The library's fields as the options that a user types.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace fovea::cli {

/// Where a message may name fields.
enum class FieldsIn {
  whole_message,  // at its start, as in "max_length: 3 given, …", and in backticks; what UsageErrors do
  backticks,      // only there: the message starts with a file's name, which may be any
};

/// The message with those fields that are options of the command as the user types them: "--max-length: 3 given, …".
/// Other names lose their backticks.
[[nodiscard]] std::string with_options(const std::string& message, const CLI::App& command,
                                       FieldsIn where = FieldsIn::whole_message);

/// What CLI11 says of a command line, with the words of a value that is no number made plain.
[[nodiscard]] std::string in_words(const CLI::ParseError& error, const CLI::App& command);

}  // namespace fovea::cli
