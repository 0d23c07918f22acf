// JSON from files and requests.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace fovea {

/// Reads one JSON value. Objects and lists may be nested 64 levels deep: what walks through a value calls itself for
/// every level, and a stranger's file must not use up the stack. Throws FileError that begins with `what`, the file or
/// field that the text came from.
///
///     const nlohmann::json config = parse_json(text, "config.json");
[[nodiscard]] nlohmann::json parse_json(std::string_view text, const std::string& what);

/// The same with the names of an object in the order of the text.
[[nodiscard]] nlohmann::ordered_json parse_ordered_json(std::string_view text, const std::string& what);

}  // namespace fovea
