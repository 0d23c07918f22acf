// Attention in files, as `fovea run --attention` writes them: JSON lines, or the same in binary form.
//
// A name that ends in .safetensors gives one safetensors file for all lines: tensors "LINE.weights" [target, source]
// and "LINE.KIND.LAYER.HEAD" [queries, keys], lines counted from 1, and in its metadata, under "attention", a JSON list
// with the tokens of each line. Any other name gives a JSON record a line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "base/whole_file.hpp"
#include "fovea/attention_record.hpp"
#include "fovea/safetensors.hpp"

namespace fovea::view {

/// Calls `use` with the number (from 1) of every line of JSON that is not blank, and its record; with `only` > 0 for
/// that line alone. Errors say "NAME:LINE: …". Returns how many lines there are, as far as it read.
std::int64_t read_attention(std::istream& in, const std::string& name, std::int64_t only,
                            const std::function<void(std::int64_t line, AttentionRecord record)>& use);
/// The same from a file of either form.
std::int64_t read_attention(const std::filesystem::path& file, std::int64_t only,
                            const std::function<void(std::int64_t line, AttentionRecord record)>& use);

/// Whether the file's name asks for the binary form.
[[nodiscard]] bool is_binary_attention(const std::filesystem::path& file);

/// Records as lines of JSON, which all threads write; `lists_heads`: each has the list of heads even when it is empty.
/// Throws ShapeError when a matrix does not fit its tokens.
[[nodiscard]] std::string attention_lines(std::span<const AttentionRecord> records, bool lists_heads = false);

/// Writes records into a file that appears whole or not at all. The binary form is kept in memory until prepare().
class AttentionWriter {
 public:
  /// Throws FileError when the file cannot be written.
  explicit AttentionWriter(const std::filesystem::path& file);
  /// The next lines; `lists_heads` as for attention_lines(). Throws ShapeError when a matrix does not fit its tokens,
  /// UsageError when the binary form would have two maps of one kind, layer and head.
  void add(std::span<const AttentionRecord> records, bool lists_heads = false);
  void add(const AttentionRecord& record, bool lists_heads = false) { add(std::span(&record, 1), lists_heads); }
  /// What attention_lines() gave, not in the binary form.
  void add_lines(std::string_view json) { file_.write(json); }
  void prepare();  // as WholeFile's
  void commit();

 private:
  void add_binary(const AttentionRecord& record);

  WholeFile file_;
  bool binary_;
  bool prepared_ = false;
  std::int64_t lines_ = 0;
  std::string tokens_ = "[";  // of the lines so far, as JSON
  SafetensorsWriter tensors_;
};

}  // namespace fovea::view
