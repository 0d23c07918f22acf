// With the dot products of ARMv8.2, which add four products of signed bytes to each of four int32.
#include "kernels/int8.hpp"

#include <arm_neon.h>

namespace fovea::kernels::dotprod {
namespace {

constexpr std::int64_t kStep = kInt8Columns * 4;  // bytes of a panel for 4 of k

// R rows by one panel of 16 columns, 4 of k: byte group L of each row. Every loop is over a constant, so that the sums
// stay in registers.
template <int R, int L>
inline void add_products(int32x4_t (&sum)[R][4], const int8x16_t (&x)[R], const std::int8_t* b) {
#pragma GCC unroll 4
  for (int v = 0; v < 4; ++v) {
    const int8x16_t w = vld1q_s8(b + L * kStep + v * 16);
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) sum[r][v] = vdotq_laneq_s32(sum[r][v], w, x[r], L);
  }
}

template <int R>
void tile(const Int8Block& t, std::int64_t i, std::int64_t j) {
  int32x4_t sum[R][4];
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) sum[r][0] = sum[r][1] = sum[r][2] = sum[r][3] = vdupq_n_s32(0);
  const std::int64_t depth = t.depth;
  const std::int8_t* a = t.a + i * depth;
  const std::int8_t* b = t.b + j * depth;
  for (std::int64_t k = 0; k < depth; k += 16) {
    int8x16_t x[R];
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) x[r] = vld1q_s8(a + r * depth + k);
    add_products<R, 0>(sum, x, b);
    add_products<R, 1>(sum, x, b);
    add_products<R, 2>(sum, x, b);
    add_products<R, 3>(sum, x, b);
    b += 4 * kStep;
  }
  const std::int64_t width = t.n - j < kInt8Columns ? t.n - j : kInt8Columns;
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) {
    float* c = t.c + (i + r) * t.c_row + j;
    float start[kInt8Columns] = {};
    float result[kInt8Columns];
    if (t.bias != nullptr || t.beta != 0.0F) {
      for (std::int64_t at = 0; at < width; ++at) start[at] = t.bias != nullptr ? t.bias[j + at] : t.beta * c[at];
    }
    float* to = width == kInt8Columns ? c : result;
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) {
      const float32x4_t both = vmulq_n_f32(vld1q_f32(t.b_scale + j + 4 * v), t.a_scale[i + r]);
      vst1q_f32(to + 4 * v, vfmaq_f32(vld1q_f32(start + 4 * v), vcvtq_f32_s32(sum[r][v]), both));
    }
    if (to == result) {
      for (std::int64_t at = 0; at < width; ++at) c[at] = result[at];
    }
  }
}

using TileFunction = void (*)(const Int8Block&, std::int64_t, std::int64_t);
constexpr std::int64_t kRows = 4;  // 16 sums, 4 vectors of A and one of B in 32 registers
constexpr TileFunction kTiles[kRows + 1] = {nullptr, tile<1>, tile<2>, tile<3>, tile<4>};

void block(const Int8Block& t) {
  const std::int64_t tiles = (t.m + kRows - 1) / kRows;
  for (std::int64_t j = 0; j < t.n; j += kInt8Columns) {
    std::int64_t i = 0;
    for (std::int64_t at = 0; at < tiles; ++at) {
      const std::int64_t rows = (t.m - i + tiles - at - 1) / (tiles - at);
      kTiles[rows](t, i, j);
      i += rows;
    }
  }
}

float quantize(std::int64_t k, const float* x, std::int8_t* q) {
  uint32x4_t most = vdupq_n_u32(0);  // as bits: a number that is not finite has the largest
  std::int64_t p = 0;
  for (; p + 4 <= k; p += 4) most = vmaxq_u32(most, vreinterpretq_u32_f32(vabsq_f32(vld1q_f32(x + p))));
  std::uint32_t bits = vmaxvq_u32(most);
  for (; p < k; ++p) {
    std::uint32_t lane;
    __builtin_memcpy(&lane, x + p, 4);
    lane &= 0x7FFFFFFFU;
    bits = lane > bits ? lane : bits;
  }
  float largest;
  __builtin_memcpy(&largest, &bits, 4);
  const float factor = 127.0F / largest;
  const std::int64_t depth = int8_depth(k);
  const bool finite = bits < 0x7F800000U;
  if (!finite || !(factor <= 3.4028235e38F)) {
    __builtin_memset(q, 0, static_cast<unsigned long>(depth));
    if (!finite) return __builtin_nanf("");
    return 0;
  }
  for (p = 0; p + 8 <= k; p += 8) {
    const int16x4_t low = vmovn_s32(vcvtnq_s32_f32(vmulq_n_f32(vld1q_f32(x + p), factor)));
    const int16x4_t high = vmovn_s32(vcvtnq_s32_f32(vmulq_n_f32(vld1q_f32(x + p + 4), factor)));
    vst1_s8(q + p, vmovn_s16(vcombine_s16(low, high)));
  }
  for (; p < k; ++p) q[p] = static_cast<std::int8_t>(vcvtns_s32_f32(x[p] * factor));
  for (; p < depth; ++p) q[p] = 0;
  return largest / 127.0F;
}

double peak(std::int64_t rounds) {
  int32x4_t sum[16];
  const int8x16_t x = vdupq_n_s8(1);
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) sum[i] = vdupq_n_s32(0);
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      sum[i] = vdotq_s32(sum[i], x, x);
      asm volatile("" : "+w"(sum[i]));
    }
  }
  return 2.0 * 16 * 16 * static_cast<double>(rounds);
}

}  // namespace

extern const Int8Kernels int8;
const Int8Kernels int8 = {.block = block, .quantize = quantize, .peak = peak};

}  // namespace fovea::kernels::dotprod
