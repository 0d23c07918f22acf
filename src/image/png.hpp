// PNG files.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "fovea/picture.hpp"

namespace fovea {

/// As decode_picture(); the caller knows that the bytes begin as a PNG does.
[[nodiscard]] Picture decode_png(std::span<const std::byte> bytes, const std::string& name,
                                 const PictureLimits& limits);

}  // namespace fovea
