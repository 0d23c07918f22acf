// Tiles of scores of the dot family.
#pragma once

#include "kernels/simd/attention_tile-inl.hpp"

namespace fovea::kernels::FOVEA_ISA {
namespace {

/// scale * k q', in base 2 unless head.change needs natural units: keys as they are stored, queries transposed once per
/// block.
struct DotScores {
  const DotHead& head;
  float* q;  // [dim, queries], scaled
  int columns = 0;

  static HWY_INLINE std::int64_t floats(std::int64_t dim) { return dim * kQueryTile; }

  HWY_INLINE void take_rows(std::int64_t row0, int rows) {
    columns = whole_vectors(rows);
    pack_transposed(head.q + row0 * head.q_stride, head.q_stride, rows, head.dim,
                    head.scale * score_factor(head.change), q, columns);
  }
  HWY_INLINE void tile(const Tile& t, float* s, int stride) {
    multiply_banded_columns({.m = t.keys,
                             .n = columns,
                             .k = static_cast<int>(head.dim),
                             .a = head.k + t.key0 * head.k_stride,
                             .a_stride = head.k_stride,
                             .b = q,
                             .b_stride = columns,
                             .c = s,
                             .c_stride = stride,
                             .from = t.from,
                             .to = t.to});
  }
};

}  // namespace
}  // namespace fovea::kernels::FOVEA_ISA
