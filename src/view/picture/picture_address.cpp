#include "view/picture/picture_view.hpp"

namespace fovea::view {
namespace {

constexpr std::int64_t kSide = 320;  // pixels; small pages, coarse regions

std::string base64(const std::string& bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t k) {
      return i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U;
    };
    const unsigned group = byte(0) << 16 | byte(1) << 8 | byte(2);
    for (int d = 0; d < 4; ++d) out += kDigits[group >> (18 - 6 * d) & 63U];
  }
  for (std::size_t k = 0; k < (3 - bytes.size() % 3) % 3; ++k) out[out.size() - 1 - k] = '=';
  return out;
}

}  // namespace

std::string picture_address(const Picture& picture) {
  return "data:image/jpeg;base64," + base64(encode_jpeg(square(picture, kSide), 85));
}

std::string picture_address(const PictureFiles& files, const std::string& place) {
  return picture_address(files.read(place));
}

}  // namespace fovea::view
