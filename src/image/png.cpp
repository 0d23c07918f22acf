#include "image/png.hpp"

#include <fmt/format.h>
#include <png.h>

#include "fovea/error.hpp"
#include "image/jpeg.hpp"

namespace fovea {

Picture decode_png(std::span<const std::byte> bytes, const std::string& name, const PictureLimits& limits) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  struct Free {
    png_image& png;
    ~Free() { png_image_free(&png); }
  } const free{png};
  const auto fail = [&] { throw FileError(fmt::format("{}: not a whole PNG: {}", name, png.message)); };
  if (png_image_begin_read_from_memory(&png, bytes.data(), bytes.size()) == 0) fail();
  check_size(name, png.width, png.height, limits);
  png.format = PNG_FORMAT_RGBA;
  png.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;  // else 16 bits without a word on gamma would count as linear light
  std::vector<std::uint8_t> rgba(PNG_IMAGE_SIZE(png));
  if (png_image_finish_read(&png, nullptr, rgba.data(), 0, nullptr) == 0) fail();
  if (png.warning_or_error >= 2) fail();
  Picture picture{png.width, png.height, {}};
  picture.rgb.resize(rgba.size() / 4 * 3);
  for (std::size_t i = 0; i < rgba.size() / 4; ++i) {  // over white, as a browser lays it
    const int alpha = rgba[4 * i + 3];
    for (std::size_t c = 0; c < 3; ++c) {
      picture.rgb[3 * i + c] = static_cast<std::uint8_t>((rgba[4 * i + c] * alpha + 255 * (255 - alpha) + 127) / 255);
    }
  }
  return picture;
}

}  // namespace fovea
