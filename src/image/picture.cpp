#include "fovea/picture.hpp"

#include <fmt/format.h>

#include <cstring>

#include "fovea/error.hpp"
#include "image/jpeg.hpp"
#include "image/png.hpp"

namespace fovea {

Picture decode_picture(std::span<const std::byte> bytes, const std::string& name, const PictureLimits& limits) {
  if (bytes.empty()) throw FileError(fmt::format("{}: is empty, not a JPEG or PNG", name));
  const auto begins = [&](std::string_view with) {
    return bytes.size() >= with.size() && std::memcmp(bytes.data(), with.data(), with.size()) == 0;
  };
  if (begins("\xFF\xD8")) return decode_jpeg(bytes, name, limits);
  if (begins("\x89PNG\r\n\x1A\n")) return decode_png(bytes, name, limits);
  throw FileError(fmt::format("{}: neither a JPEG nor a PNG", name));
}

}  // namespace fovea
