#include "kernels/packed_layout.hpp"

#include "kernels/gemm_kernels.hpp"
#include "kernels/half.hpp"
#include "kernels/int8.hpp"
#include "kernels/kernels.hpp"
#include "kernels/packed_matrix.hpp"

namespace fovea::kernels {

PackedLayout PackedLayout::of(Storage storage, std::int64_t k, std::int64_t n) {
  if (storage == Storage::int8 && k > kInt8Longest) storage = Storage::f16;
  return {storage, k, n, storage == Storage::int8 ? kInt8Columns : active().gemm->nr};
}

std::size_t PackedLayout::bytes() const {
  const auto count = static_cast<std::size_t>(columns());
  if (storage == Storage::int8) {
    return count * (static_cast<std::size_t>(int8_depth(k)) + sizeof(float) + sizeof(std::int32_t));
  }
  return count * static_cast<std::size_t>(k) * (storage == Storage::f16 ? sizeof(Half) : sizeof(float));
}

const float* PackedLayout::int8_scales(const void* memory) const {
  return reinterpret_cast<const float*>(static_cast<const std::int8_t*>(memory) + columns() * int8_depth(k));
}

const std::int32_t* PackedLayout::int8_sums(const void* memory) const {
  return reinterpret_cast<const std::int32_t*>(int8_scales(memory) + columns());
}

void unpack(const PackedLayout& layout, const void* memory, float* to, std::int64_t row, std::int64_t column) {
  const std::int64_t width = layout.width;
  for (std::int64_t j = 0; j < layout.n; ++j) {
    float* out = to + j * column;
    const std::int64_t panel = j / width * width;
    if (layout.storage == Storage::int8) {
      const std::int8_t* from = static_cast<const std::int8_t*>(memory) + panel * int8_depth(layout.k);
      const float scale = layout.int8_scales(memory)[j];
      for (std::int64_t p = 0; p < layout.k; ++p) {
        out[p * row] = static_cast<float>(from[p / 4 * width * 4 + (j - panel) * 4 + p % 4]) * scale;
      }
      continue;
    }
    for (std::int64_t p = 0; p < layout.k; ++p) {
      const std::int64_t at = panel * layout.k + p * width + (j - panel);
      if (layout.storage == Storage::f32) {
        out[p * row] = static_cast<const float*>(memory)[at];
      } else {
        active().half->widen(1, static_cast<const Half*>(memory) + at, out + p * row);
      }
    }
  }
}

}  // namespace fovea::kernels
