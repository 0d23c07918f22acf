#include "view/attention_lines.hpp"

#include <fmt/format.h>

#include <istream>

#include "fovea/error.hpp"

namespace fovea::view {

std::int64_t read_attention(std::istream& in, const std::string& name, std::int64_t only,
                            const std::function<void(std::int64_t, AttentionRecord)>& use) {
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

}  // namespace fovea::view
