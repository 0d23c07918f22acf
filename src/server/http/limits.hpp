// How much a client may send at once.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "server/http/fields.hpp"

namespace fovea::server {

[[nodiscard]] std::size_t characters(std::string_view utf8);

/// Throws Refusal as LibreTranslate does when `size` exceeds `limit`; -1: no limit.
void check_limit(std::size_t size, int limit);

/// The parameter `name`, a language's code. Throws Refusal 400 when it is missing, or has what no code has.
[[nodiscard]] std::string read_code(const Fields& fields, const char* name);

}  // namespace fovea::server
