// JPEG files.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "fovea/picture.hpp"

namespace fovea {

/// As decode_picture(); the caller knows that the bytes begin as a JPEG does.
[[nodiscard]] Picture decode_jpeg(std::span<const std::byte> bytes, const std::string& name,
                                  const PictureLimits& limits);

/// The orientation of a JPEG, 1 to 8 as in EXIF (1: upright), from the payload of an APP1 marker; 1 if the payload has
/// no valid one.
[[nodiscard]] int exif_orientation(std::span<const std::byte> app1);
/// The picture the right way up.
[[nodiscard]] Picture turned(Picture picture, int orientation);

/// Throws FileError naming the picture and its size when that is more than the limits allow, or nothing.
void check_size(const std::string& name, std::int64_t width, std::int64_t height, const PictureLimits& limits);

}  // namespace fovea
