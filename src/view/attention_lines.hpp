// Attention from a file: a record a line, as `fovea run --attention` writes them.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>

#include "fovea/attention_record.hpp"

namespace fovea::view {

/// Calls `use` with the number (from 1) of every line that is not blank, and its record; with `only` > 0 for that line
/// alone. Errors say "NAME:LINE: …". Returns how many lines there are, as far as it read.
std::int64_t read_attention(std::istream& in, const std::string& name, std::int64_t only,
                            const std::function<void(std::int64_t line, AttentionRecord record)>& use);

}  // namespace fovea::view
