// Register tiles for few rows (decoding): a row needs eight independent chains to keep both multiply-add units busy,
// so with few rows a tile spans several panels of B.
#pragma once

#include "kernels/simd/gemm_tile-inl.hpp"

namespace fovea::kernels::FOVEA_ISA {
namespace {

#define FOVEA_EACH_WIDE_ROW(X) X(0) X(1) X(2) X(3) X(4) X(5)
#define FOVEA_EACH_VECTOR(X, i) X(i, 0) X(i, 1) X(i, 2) X(i, 3) X(i, 4) X(i, 5) X(i, 6) X(i, 7)

// R rows, kWidth vectors (2 per panel, all panels full), A in rows or not: a_row and a_k are any.
template <int R, int kWidth>
void wide_tile(const Tile& t) {
  const F f;
  float* const c = t.c;
#define FOVEA_START(i, v)                                                                   \
  V c##i##_##v = hn::Zero(f);                                                               \
  if constexpr (i < R && v < kWidth) {                                                      \
    if (t.bias != nullptr) {                                                                \
      c##i##_##v = hn::LoadU(f, t.bias + v * kLanes);                                       \
    } else if (t.beta != 0.0F) {                                                            \
      c##i##_##v = hn::Mul(hn::Set(f, t.beta), hn::LoadU(f, c + i * t.c_row + v * kLanes)); \
    }                                                                                       \
  }
#define FOVEA_START_ROW(i) FOVEA_EACH_VECTOR(FOVEA_START, i)
  FOVEA_EACH_WIDE_ROW(FOVEA_START_ROW)
#undef FOVEA_START_ROW
#undef FOVEA_START

  const float* a = t.a;
  const std::int64_t a_row = t.a_row;
  const std::int64_t a_k = t.a_k;
  const float* b0 = t.b;
  const float* b1 = b0 + t.b_panel;
  const float* b2 = b1 + t.b_panel;
  const float* b3 = b2 + t.b_panel;
  const std::int64_t b_k = t.b_k;
  for (std::int64_t p = t.k; p > 0; --p) {
#define FOVEA_BROADCAST(i) \
  V x##i = hn::Zero(f);    \
  if constexpr (i < R) x##i = value_of(a + i * a_row);
    FOVEA_EACH_WIDE_ROW(FOVEA_BROADCAST)
#undef FOVEA_BROADCAST
#define FOVEA_MULTIPLY(i, v) \
  if constexpr (i < R) multiply_add(c##i##_##v, x##i, y);
#define FOVEA_COLUMN(v, pointer)                                                                             \
  if constexpr (v < kWidth) {                                                                                \
    const V y = hn::LoadU(f, pointer + v % 2 * kLanes);                                                      \
    FOVEA_MULTIPLY(0, v)                                                                                     \
    FOVEA_MULTIPLY(1, v) FOVEA_MULTIPLY(2, v) FOVEA_MULTIPLY(3, v) FOVEA_MULTIPLY(4, v) FOVEA_MULTIPLY(5, v) \
  }
    FOVEA_COLUMN(0, b0)
    FOVEA_COLUMN(1, b0)
    FOVEA_COLUMN(2, b1)
    FOVEA_COLUMN(3, b1)
    FOVEA_COLUMN(4, b2)
    FOVEA_COLUMN(5, b2)
    FOVEA_COLUMN(6, b3)
    FOVEA_COLUMN(7, b3)
#undef FOVEA_COLUMN
#undef FOVEA_MULTIPLY
    b0 += b_k;
    b1 += b_k;
    b2 += b_k;
    b3 += b_k;
    a += a_k;
  }

#define FOVEA_STORE(i, v) \
  if constexpr (i < R && v < kWidth) hn::StoreU(c##i##_##v, f, c + i * t.c_row + v * kLanes);
#define FOVEA_STORE_ROW(i) FOVEA_EACH_VECTOR(FOVEA_STORE, i)
  FOVEA_EACH_WIDE_ROW(FOVEA_STORE_ROW)
#undef FOVEA_STORE_ROW
#undef FOVEA_STORE
}

}  // namespace
}  // namespace fovea::kernels::FOVEA_ISA
