#include "server/api/texts/limits.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fovea::server {

std::size_t characters(std::string_view utf8) {
  return static_cast<std::size_t>(
      std::count_if(utf8.begin(), utf8.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; }));
}

void check_limit(std::size_t size, int limit) {
  if (limit >= 0 && size > static_cast<std::size_t>(limit)) {
    throw Refusal(400, fmt::format("Invalid request: request ({}) exceeds text limit ({})", size, limit));
  }
}

std::string read_code(const Fields& fields, const char* name) {
  constexpr std::size_t longest = 64;
  std::string code = fields.text(name);
  if (code.empty()) throw Refusal(400, fmt::format("Invalid request: missing {} parameter", name));
  if (code.size() > longest) {
    throw Refusal(400, fmt::format("Invalid request: {} parameter is longer than any language code", name));
  }
  for (const char c : code) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter || c == '-' || c == '_') continue;
    throw Refusal(400, fmt::format("Invalid request: {} parameter holds {}, which no language code has", name,
                                   c == '\0' ? "a NUL" : "a character"));
  }
  return code;
}

}  // namespace fovea::server
