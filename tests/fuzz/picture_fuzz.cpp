// Any bytes as a picture or as a camera's notes (the first byte chooses): pixels of the size that they say, or an
// Error, never anything else.
#include <cstdlib>

#include "fovea/error.hpp"
#include "fovea/picture.hpp"
#include "image/jpeg.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data + 1, size - 1));
  if (data[0] % 2 == 1) {
    const int orientation = fovea::exif_orientation(bytes);
    if (orientation < 1 || orientation > 8) std::abort();
    return 0;
  }
  try {
    const fovea::Picture picture = fovea::decode_picture(bytes, "fuzz", {.pixels = 1 << 16, .side = 1 << 12});
    if (picture.rgb.size() != static_cast<std::size_t>(3 * picture.width * picture.height)) std::abort();
    if (fovea::square(picture, 9).rgb.size() != 9 * 9 * 3) std::abort();
  } catch (const fovea::Error&) {
  }
  return 0;
}
