// The one thing of a camera's notes that changes what is seen: which way up the picture is (tag 0x0112).
#include <cstring>
#include <utility>

#include "image/jpeg.hpp"

namespace fovea {
namespace {

// Numbers of a TIFF header, 0 where there are none.
class Tiff {
 public:
  explicit Tiff(std::span<const std::byte> bytes) : bytes_(bytes) {
    if (bytes.size() >= 2) big_ = bytes[0] == std::byte{'M'} && bytes[1] == std::byte{'M'};
  }
  [[nodiscard]] bool marked() const {
    if (bytes_.size() < 8) return false;
    return (big_ || (bytes_[0] == std::byte{'I'} && bytes_[1] == std::byte{'I'})) && number(2, 2) == 42;
  }
  [[nodiscard]] std::uint32_t number(std::size_t at, std::size_t count) const {
    if (at > bytes_.size() || bytes_.size() - at < count) return 0;
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < count; ++i) {
      value = value << 8 | std::to_integer<std::uint32_t>(bytes_[big_ ? at + i : at + count - 1 - i]);
    }
    return value;
  }

 private:
  std::span<const std::byte> bytes_;
  bool big_ = false;
};

}  // namespace

int exif_orientation(std::span<const std::byte> app1) {
  constexpr char kExif[6] = {'E', 'x', 'i', 'f', 0, 0};
  if (app1.size() < sizeof kExif || std::memcmp(app1.data(), kExif, sizeof kExif) != 0) return 1;
  const Tiff tiff(app1.subspan(sizeof kExif));
  if (!tiff.marked()) return 1;
  const std::size_t directory = tiff.number(4, 4);
  const std::uint32_t entries = tiff.number(directory, 2);
  for (std::uint32_t i = 0; i < entries; ++i) {
    const std::size_t entry = directory + 2 + std::size_t{12} * i;
    if (tiff.number(entry, 2) != 0x0112) continue;
    const std::uint32_t value = tiff.number(entry + 8, 2);  // a short, at the front of the field
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

// Orientation 2 to 4: mirrored, turned by 180 degrees, upside down; 5 to 8: the same with rows and columns exchanged.
Picture turned(Picture picture, int orientation) {
  if (orientation < 2 || orientation > 8) return picture;
  const bool exchanged = orientation >= 5;
  const bool mirror_x = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool mirror_y = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  // (x, y) of the result is (u, v) of the stored picture: exchanged or not, then mirrored.
  Picture out{exchanged ? picture.height : picture.width, exchanged ? picture.width : picture.height, {}};
  out.rgb.resize(picture.rgb.size());
  for (std::int64_t y = 0; y < out.height; ++y) {
    for (std::int64_t x = 0; x < out.width; ++x) {
      std::int64_t u = exchanged ? y : x;
      std::int64_t v = exchanged ? x : y;
      if (mirror_x) u = picture.width - 1 - u;
      if (mirror_y) v = picture.height - 1 - v;
      std::memcpy(out.rgb.data() + 3 * (y * out.width + x), picture.rgb.data() + 3 * (v * picture.width + u), 3);
    }
  }
  return out;
}

}  // namespace fovea
