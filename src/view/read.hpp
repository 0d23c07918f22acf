// Attention from a file: JSON lines as `fovea run --attention` writes them.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

#include "view/attention.hpp"

namespace fovea::view {

/// One line:
///
///     {"source": [token…], "target": [token…], "weights": [[number…]…]}
///
/// `weights` has a row per target token and in it a number from 0 to 1 per source token. A line may also have
/// `heads`, a list of {"layer": 0, "head": 1, "weights": [[…]…]}, and then leave out `weights`: the mean over the
/// heads takes its place. `title` is shown above the picture. Other fields are passed over. Throws FileError that
/// begins with `where` and names the field.
[[nodiscard]] AttentionPicture parse_attention(std::string_view line, const std::string& where);

/// Calls `use` with the number (from 1) of every line that is not blank, and its picture; with `only` > 0 for that line
/// alone. Errors say "NAME:LINE: …". Returns how many lines there are, as far as it read.
std::int64_t read_attention(std::istream& in, const std::string& name, std::int64_t only,
                            const std::function<void(std::int64_t line, AttentionPicture picture)>& use);

}  // namespace fovea::view
