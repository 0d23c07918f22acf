// Which keys the queries of an attention see, and what is added to their scores.
#pragma once

#include <cstdint>

#include "kernels/attention.hpp"

namespace fovea::attention {

/// What is added to the score of (b, h, i, j); a stride of 0 broadcasts. A bias by distance alone has i = -1, j = 1.
struct BiasView {
  const float* data = nullptr;
  std::int64_t b = 0, h = 0, i = 0, j = 0;
  std::int64_t first = 0;  // of element (i, j) = (0, 0) within a head's slice
  std::int64_t slice = 0;  // elements of one head's slice
  explicit operator bool() const { return data != nullptr; }
};

/// A byte for (b, h, i, j): 0 hides the key; a stride of 0 broadcasts.
struct MaskView {
  const std::uint8_t* data = nullptr;
  std::int64_t b = 0, h = 0, i = 0, j = 0;
  explicit operator bool() const { return data != nullptr; }
};

/// The map of (b, h); a stride of 0 broadcasts.
struct MapView {
  const kernels::TileMap* data = nullptr;
  std::int64_t b = 0, h = 0;
  explicit operator bool() const { return data != nullptr; }
};

/// For all heads what kernels::Visibility says of one. The tiled kernels take one of the two biases.
struct Visibility {
  const std::int64_t* lengths = nullptr;  // [batch], 0 to keys; null: all keys
  std::int64_t offset = 0;                // of a query's position from its number; usually keys - queries
  bool causal = false;
  std::int64_t window = -1;
  MaskView mask{};  // of the tiled kernels: j is 1
  BiasView bias{}, distance_bias{};
  const float* alibi_slopes = nullptr;  // [heads]
  MapView blocks{};                     // a sparse map of visible tiles

  /// The bias of the tiled kernels.
  [[nodiscard]] const BiasView& one_bias() const { return bias ? bias : distance_bias; }
};

}  // namespace fovea::attention
