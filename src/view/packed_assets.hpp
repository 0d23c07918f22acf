// The pages as they are compiled in: bundled and compressed by cmake/embed.cmake, which writes packed_assets().
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace fovea::view {

struct PackedAsset {
  std::string_view name;
  std::span<const unsigned char> gzip;
  std::size_t size;  // unpacked
};

[[nodiscard]] std::span<const PackedAsset> packed_assets();

}  // namespace fovea::view
