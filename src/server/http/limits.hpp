// How much a client may send at once.
#pragma once

#include <cstddef>
#include <string_view>

namespace fovea::server {

[[nodiscard]] std::size_t characters(std::string_view utf8);

/// Throws Refusal as LibreTranslate does when `size` exceeds `limit`; -1: no limit.
void check_limit(std::size_t size, int limit);

}  // namespace fovea::server
