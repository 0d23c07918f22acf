// Files of JSON lines as `fovea run --attention` writes them: one record per line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <span>
#include <string>

#include "fovea/attention_record.hpp"

namespace fovea::view {

using AttentionLine = std::function<void(std::int64_t line, AttentionRecord record)>;

/// Calls `use` with the number (from 1) and the record of every line that is not blank, or of line `only` alone if it
/// is not 0. Errors begin with "NAME:LINE:". Returns the number of the last line read.
std::int64_t read_attention(std::istream& in, const std::string& name, std::int64_t only, const AttentionLine& use);
/// The same from a file.
std::int64_t read_attention(const std::filesystem::path& file, std::int64_t only, const AttentionLine& use);

/// Records as lines of JSON, formatted by all threads. With `lists_heads` each has a list of heads, even an empty one.
/// Throws ShapeError when a matrix does not fit its tokens.
[[nodiscard]] std::string attention_lines(std::span<const AttentionRecord> records, bool lists_heads = false);

}  // namespace fovea::view
