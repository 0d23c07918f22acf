// Attention in files of JSON lines, as `fovea run --attention` writes them: a record a line.
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

/// Calls `use` with the number (from 1) of every line that is not blank, and its record; with `only` > 0 for that line
/// alone. Errors say "NAME:LINE: …". Returns the number of the last line that it read.
std::int64_t read_attention(std::istream& in, const std::string& name, std::int64_t only, const AttentionLine& use);
/// The same from a file.
std::int64_t read_attention(const std::filesystem::path& file, std::int64_t only, const AttentionLine& use);

/// Records as lines of JSON, formatted by all threads. With `lists_heads` each has the list of heads even when it is
/// empty. Throws ShapeError when a matrix does not fit its tokens.
[[nodiscard]] std::string attention_lines(std::span<const AttentionRecord> records, bool lists_heads = false);

}  // namespace fovea::view
