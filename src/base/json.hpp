// JSON from files and requests.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace fovea {

/// Reads one JSON value in time linear in its length. Objects and lists may be nested 64 levels deep: code that walks
/// through a value recurses once per level, and an untrusted file must not use up the stack. The last of two values
/// with the same name counts. `stop` is called now and then; once it returns true, reading ends with an Error. Throws
/// FileError that begins with `what`, the file or field of the text.
///
///     const nlohmann::json config = parse_json(text, "config.json");
[[nodiscard]] nlohmann::json parse_json(std::string_view text, const std::string& what,
                                        const std::function<bool()>& stop = {});

/// The same with the names of an object in the order of the text.
[[nodiscard]] nlohmann::ordered_json parse_ordered_json(std::string_view text, const std::string& what);

}  // namespace fovea
