// The little of YAML that Marian's files use.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace fovea::interop {

/// "name: value" at the start of lines; quotes are removed, lists and nested objects skipped. Throws FileError
/// beginning with `where` for a duplicate name.
[[nodiscard]] std::map<std::string, std::string> parse_flat_yaml(std::string_view text, const std::string& where);

/// "token: id" a line, as tokens by id: each from 0 on has to be there once. Throws FileError.
[[nodiscard]] std::vector<std::string> parse_yaml_ids(std::string_view text, const std::string& where);

}  // namespace fovea::interop
