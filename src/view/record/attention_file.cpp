#include "view/record/attention_file.hpp"

#include <fmt/format.h>

#include <fstream>
#include <istream>

#include "fovea/error.hpp"
#include "fovea/threads.hpp"

namespace fovea::view {

std::int64_t read_attention(std::istream& in, const std::string& name, std::int64_t only, const AttentionLine& use) {
  std::string text;
  std::int64_t line = 0;
  while (std::getline(in, text)) {
    ++line;
    if (only > 0 && line != only) continue;
    if (text.find_first_not_of(" \t\r") != std::string::npos) {
      use(line, parse_attention(text, fmt::format("{}:{}", name, line)));
    }
    if (only > 0) break;
  }
  if (in.bad()) throw FileError(name + ": cannot be read");
  return line;
}

std::int64_t read_attention(const std::filesystem::path& file, std::int64_t only, const AttentionLine& use) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) throw FileError(file.string() + ": is a directory");
  std::ifstream in(file, std::ios::binary);
  if (!in) throw FileError(file.string() + ": cannot be opened");
  return read_attention(in, file.string(), only, use);
}

// In parallel: formatting the numbers takes as long as computing them.
std::string attention_lines(std::span<const AttentionRecord> records, bool lists_heads) {
  std::vector<std::string> lines(records.size());
  parallel_for(static_cast<std::int64_t>(records.size()), 4, [&](std::int64_t from, std::int64_t to) {
    for (auto i = static_cast<std::size_t>(from); i < static_cast<std::size_t>(to); ++i) {
      lines[i] = to_json(records[i]);
      if (lists_heads && records[i].maps.empty()) lines[i].insert(lines[i].size() - 1, ",\"attention\":[]");
      lines[i] += '\n';
    }
  });
  return fmt::format("{}", fmt::join(lines, ""));
}

}  // namespace fovea::view
