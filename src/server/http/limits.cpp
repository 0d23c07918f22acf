#include "server/http/limits.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "server/http/fields.hpp"

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

}  // namespace fovea::server
