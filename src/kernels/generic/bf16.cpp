#include "kernels/bf16.hpp"

#include <algorithm>
#include <bit>

namespace fovea::kernels::generic {
namespace {

Bf16 rounded(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return static_cast<Bf16>(bits >> 16U | 0x40U);  // stays a NaN
  if ((bits & 0x7f800000U) == 0) return static_cast<Bf16>(bits >> 16U & 0x8000U);  // as the CPU does: denormals are 0
  return static_cast<Bf16>((bits + 0x7fffU + (bits >> 16U & 1U)) >> 16U);
}

float value_of(Bf16 bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

constexpr std::int64_t kTile = kBf16Rows * kBf16Depth;

std::int64_t tiles_of(std::int64_t k) {
  return (k + kBf16Depth - 1) / kBf16Depth;
}

void pack_rows(std::int64_t m, std::int64_t k, const float* a, std::int64_t row, std::int64_t column, Bf16* tiles) {
  for (std::int64_t i0 = 0; i0 < m; i0 += kBf16Rows) {
    for (std::int64_t p0 = 0; p0 < k; p0 += kBf16Depth) {
      for (std::int64_t i = i0; i < i0 + kBf16Rows; ++i) {
        for (std::int64_t p = p0; p < p0 + kBf16Depth; ++p) {
          *tiles++ = i < m && p < k ? rounded(a[i * row + p * column]) : Bf16{0};
        }
      }
    }
  }
}

void pack_columns(std::int64_t k, std::int64_t n, const float* b, std::int64_t row, std::int64_t column, Bf16* tiles,
                  std::int64_t strip) {
  for (std::int64_t j0 = 0; j0 < n; j0 += kBf16Rows, tiles += strip) {
    Bf16* to = tiles;
    for (std::int64_t p0 = 0; p0 < tiles_of(k) * kBf16Depth; p0 += 2) {
      for (std::int64_t j = j0; j < j0 + kBf16Rows; ++j) {
        for (std::int64_t p = p0; p < p0 + 2; ++p) {
          *to++ = j < n && p < k ? rounded(b[p * row + j * column]) : Bf16{0};
        }
      }
    }
  }
}

void pack_a(std::int64_t m, std::int64_t k, const float* a, std::int64_t lda, Bf16* tiles) {
  pack_rows(m, k, a, lda, 1, tiles);
}

void pack_a_transposed(std::int64_t m, std::int64_t k, const float* a, std::int64_t lda, Bf16* tiles) {
  pack_rows(m, k, a, 1, lda, tiles);
}

void pack_b(std::int64_t k, std::int64_t n, const float* b, std::int64_t ldb, Bf16* tiles, std::int64_t strip) {
  pack_columns(k, n, b, ldb, 1, tiles, strip);
}

void pack_b_transposed(std::int64_t k, std::int64_t n, const float* b, std::int64_t ldb, Bf16* tiles,
                       std::int64_t strip) {
  pack_columns(k, n, b, 1, ldb, tiles, strip);
}

void block(const Bf16Block& t) {
  for (std::int64_t i = 0; i < t.m; ++i) {
    const Bf16* a = t.a + i / kBf16Rows * t.depth * kTile + i % kBf16Rows * kBf16Depth;
    for (std::int64_t j = 0; j < t.n; ++j) {
      const Bf16* b = t.b + j / kBf16Rows * t.b_strip + j % kBf16Rows * 2;
      float& c = t.c[i * t.c_row + j];
      float sum = t.bias != nullptr ? t.bias[j] : t.beta != 0 ? t.beta * c : 0.0F;
      for (std::int64_t p = 0; p < t.depth * kBf16Depth; ++p) {
        const std::int64_t tile = p / kBf16Depth * kTile;
        const std::int64_t at = p % kBf16Depth;
        sum += value_of(a[tile + at]) * value_of(b[tile + at / 2 * 2 * kBf16Rows + at % 2]);
      }
      c = sum;
    }
  }
}

double peak(std::int64_t rounds) {
  float sum = 0;
  for (std::int64_t i = 0; i < rounds; ++i) sum += value_of(static_cast<Bf16>(i)) * 0.5F;
  volatile float keep = sum;
  (void)keep;
  return 2.0 * static_cast<double>(rounds);
}

}  // namespace

extern const Bf16Kernels bf16;
const Bf16Kernels bf16{block, pack_a, pack_a_transposed, pack_b, pack_b_transposed, peak};

}  // namespace fovea::kernels::generic
