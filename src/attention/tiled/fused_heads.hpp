// One head of a FusedAttention as the kernels take it.
#pragma once

#include <cstdint>

#include "attention/tiled/fused.hpp"

namespace fovea::detail {

/// Memory of this thread for `floats` floats, 64-byte aligned, kept until a larger one is asked for.
[[nodiscard]] float* kept_scratch(std::int64_t floats);

[[nodiscard]] kernels::DotHead dot_head(const FusedAttention& attention, std::int64_t b, std::int64_t h);
[[nodiscard]] kernels::AdditiveHead additive_head(const FusedAttention& attention, std::int64_t b, std::int64_t h);

[[nodiscard]] inline kernels::GradRows grad_rows(const HeadArray<float>& array, std::int64_t b, std::int64_t h) {
  if (array.data == nullptr) return {};
  return {array.data + b * array.batch + h * array.head, array.row, array.add};
}

}  // namespace fovea::detail
