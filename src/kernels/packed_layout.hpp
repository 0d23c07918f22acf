// Where the numbers of a packed matrix are in memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fovea/precision.hpp"

namespace fovea::kernels {

/// op(B)[k,n] in panels: [n / width, rounded up][k][width] in f32 and f16, or as int8.hpp says with a scale and a sum
/// of each column behind the panels. Panels of int8 are the same for all kernels, the others as wide as a register
/// tile.
struct PackedLayout {
  Storage storage = Storage::f32;
  std::int64_t k = 0, n = 0;
  std::int64_t width = 0;

  [[nodiscard]] bool operator==(const PackedLayout&) const = default;
  /// The columns with those that fill up the last panel.
  [[nodiscard]] std::int64_t columns() const { return (n + width - 1) / width * width; }
  [[nodiscard]] std::size_t bytes() const;
  /// As the active kernels have it in fp32. A B that int8 cannot sum up (more than 65,536 rows) is stored in f16.
  [[nodiscard]] static PackedLayout of(Storage storage, std::int64_t k, std::int64_t n);
  /// Behind the panels of int8: [columns()] each.
  [[nodiscard]] const float* int8_scales(const void* memory) const;
  [[nodiscard]] const std::int32_t* int8_sums(const void* memory) const;
};

/// The numbers: to[p * row + j * column] = op(B)(p,j), whichever kernels packed them.
void unpack(const PackedLayout& layout, const void* memory, float* to, std::int64_t row, std::int64_t column);

}  // namespace fovea::kernels
