#include "cli/options/field_options.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace fovea::cli {
namespace {

// Options that do not have their field's name.
constexpr std::pair<std::string_view, std::string_view> kRenamed[] = {
    {"bidirectional", "unidirectional"},
    {"interventions", "intervene"},
    {"kinds", "kind"},
    {"merge-words", "words"},
    {"scaled-embeddings", "unscaled-embeddings"},
    {"shared-vocabulary", "shared-vocab"},
    {"tokenizer-model", "tokenizer"},
    {"validate-by", "validate"},
    {"vocabulary", "vocab"},
};

// As the user types it, or the field's own name where the command has no such option.
std::string shown(std::string_view field, const CLI::App& command) {
  std::string name(field);
  std::replace(name.begin(), name.end(), '_', '-');
  const auto* renamed = std::find_if(std::begin(kRenamed), std::end(kRenamed),
                                     [&name](const auto& entry) { return entry.first == name; });
  if (renamed != std::end(kRenamed)) name = renamed->second;
  const std::string option = "--" + name;
  return command.get_option_no_throw(option) != nullptr ? option : std::string(field);
}

// How many characters of a field's name the text starts with.
std::size_t name_length(std::string_view text) {
  const auto* end = std::find_if(text.begin(), text.end(), [](char c) {
    return !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-');
  });
  return static_cast<std::size_t>(end - text.begin());
}

}  // namespace

std::string with_options(const std::string& message, const CLI::App& command, FieldsIn where) {
  std::string_view rest = message;
  std::string out;
  if (where == FieldsIn::whole_message) {
    const std::size_t length = name_length(rest);
    if (length > 0 && rest.substr(length).starts_with(": ")) {
      out += shown(rest.substr(0, length), command);
      rest.remove_prefix(length);
    }
  }
  for (std::size_t at = rest.find('`'); at != rest.npos; at = rest.find('`')) {
    out += rest.substr(0, at);
    rest.remove_prefix(at + 1);
    const std::size_t length = name_length(rest);
    if (length > 0 && rest.substr(length).starts_with('`')) {
      out += shown(rest.substr(0, length), command);
      rest.remove_prefix(length + 1);
    } else {
      out += '`';
    }
  }
  return out += rest;
}

std::string in_words(const CLI::ParseError& error, const CLI::App& command) {
  const std::string text = error.what();
  constexpr std::string_view begin = "Could not convert: ";  // as in "Could not convert: --dim = wide"
  const std::size_t equals = text.find(" = ");
  if (!text.starts_with(begin) || equals == text.npos) return text;
  const std::string name = text.substr(begin.size(), equals - begin.size());
  const CLI::Option* option = command.get_option_no_throw(name);
  const bool fraction = option != nullptr && option->get_type_name().starts_with("FLOAT");
  return name + ": \"" + text.substr(equals + 3) + "\" is not a " + (fraction ? "number" : "whole number");
}

}  // namespace fovea::cli
