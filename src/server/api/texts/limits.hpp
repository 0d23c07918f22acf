// Limits on the parameters of a request.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "server/http/fields.hpp"

namespace fovea::server {

[[nodiscard]] std::size_t characters(std::string_view utf8);

/// Throws LibreTranslate's Refusal when `size` exceeds `limit`; -1: no limit.
void check_limit(std::size_t size, int limit);

/// The parameter `name`, a language code. Throws Refusal 400 when it is missing or is not one.
[[nodiscard]] std::string read_code(const Fields& fields, const char* name);

}  // namespace fovea::server
