// Packing for matrix products.
#pragma once

#include "kernels/simd/gemm_tile-inl.hpp"

namespace fovea::kernels::FOVEA_ISA {
namespace {

void copy(std::int64_t rows, std::int64_t columns, const float* x, std::int64_t ldx, float* y, std::int64_t ldy) {
  const F f;
  for (std::int64_t i = 0; i < rows; ++i, x += ldx, y += ldy) {
    std::int64_t j = 0;
    for (; j + kLanes <= columns; j += kLanes) hn::StoreU(hn::LoadU(f, x + j), f, y + j);
    for (; j < columns; ++j) y[j] = x[j];
  }
}

// Row by row of what is stored. A tile's row is stored as a whole vector, which reaches into the next row's place
// before that is written; only the last row must not reach into the next tile.
void pack_a_transposed(std::int64_t m, std::int64_t k, const float* a, std::int64_t lda, float* tiles) {
  static_assert(kRows <= kLanes);
  const F f;
  const Split split(m);
  const M mask = hn::FirstN(f, static_cast<std::size_t>(split.rows(0)));
  const M smaller = hn::FirstN(f, static_cast<std::size_t>(split.smaller));
  for (std::int64_t p = 0; p < k; ++p, a += lda) {
    std::int64_t i = 0;
    for (std::int64_t at = 0; at < split.count; ++at) {
      const std::int64_t r = split.rows(at);
      float* to = tiles + i * k + p * r;
      if (p + 1 < k) {
        hn::StoreU(hn::MaskedLoad(r == split.smaller ? smaller : mask, f, a + i), f, to);
      } else {
        for (std::int64_t j = 0; j < r; ++j) to[j] = a[i + j];
      }
      i += r;
    }
  }
}

void pack_b(std::int64_t k, std::int64_t n, const float* b, std::int64_t ldb, float* panels) {
  const F f;
  std::int64_t j = 0;
  for (; j + kColumns <= n; j += kColumns) {
    const float* row = b + j;
    for (std::int64_t p = 0; p < k; ++p, row += ldb, panels += kColumns) {
      hn::Store(hn::LoadU(f, row), f, panels);
      hn::Store(hn::LoadU(f, row + kLanes), f, panels + kLanes);
    }
  }
  if (j == n) return;
  const std::int64_t rest = n - j;
  const M first = hn::FirstN(f, static_cast<std::size_t>(rest < kLanes ? rest : kLanes));
  const M second = hn::FirstN(f, static_cast<std::size_t>(rest < kLanes ? 0 : rest - kLanes));
  const float* row = b + j;
  for (std::int64_t p = 0; p < k; ++p, row += ldb, panels += kColumns) {
    hn::Store(hn::MaskedLoad(first, f, row), f, panels);
    hn::Store(hn::MaskedLoad(second, f, row + kLanes), f, panels + kLanes);
  }
}

// Four values of each of kLanes rows x, x + ldx, … become four vectors, one per column, kColumns apart at y.
HWY_INLINE void transpose_four_columns(const float* x, std::int64_t ldx, float* y) {
  const F f;
  const hn::Full128<float> quad;
  // Vector i holds, block by block, the rows i, i + 4, i + 8, …
  const auto gather = [&](std::int64_t i) HWY_ATTR {
    const float* at = x + i * ldx;
#if defined(FOVEA_ISA_avx512)
    const hn::Full256<float> half;
    return hn::Combine(f, hn::Combine(half, hn::LoadU(quad, at + 12 * ldx), hn::LoadU(quad, at + 8 * ldx)),
                       hn::Combine(half, hn::LoadU(quad, at + 4 * ldx), hn::LoadU(quad, at)));
#else
    return hn::Combine(f, hn::LoadU(quad, at + 4 * ldx), hn::LoadU(quad, at));
#endif
  };
  const V r0 = gather(0), r1 = gather(1), r2 = gather(2), r3 = gather(3);
  const V even_low = hn::InterleaveLower(f, r0, r2), even_high = hn::InterleaveUpper(f, r0, r2);
  const V odd_low = hn::InterleaveLower(f, r1, r3), odd_high = hn::InterleaveUpper(f, r1, r3);
  hn::Store(hn::InterleaveLower(f, even_low, odd_low), f, y);
  hn::Store(hn::InterleaveUpper(f, even_low, odd_low), f, y + kColumns);
  hn::Store(hn::InterleaveLower(f, even_high, odd_high), f, y + 2 * kColumns);
  hn::Store(hn::InterleaveUpper(f, even_high, odd_high), f, y + 3 * kColumns);
}

void pack_b_transposed(std::int64_t k, std::int64_t n, const float* b, std::int64_t ldb, float* panels) {
  for (std::int64_t j = 0; j < n; j += kLanes, b += kLanes * ldb) {
    float* panel = panels + j / kColumns * k * kColumns + j % kColumns;
    const std::int64_t rows = n - j < kLanes ? n - j : kLanes;
    std::int64_t p = 0;
    if (rows == kLanes) {
      for (; p + 4 <= k; p += 4) transpose_four_columns(b + p, ldb, panel + p * kColumns);
    }
    for (; p < k; ++p) {
      std::int64_t i = 0;
      for (; i < rows; ++i) panel[p * kColumns + i] = b[i * ldb + p];
      for (; i < kLanes; ++i) panel[p * kColumns + i] = 0.0F;
    }
  }
  // The second half of the last panel, when n ends in the first.
  if ((n + kLanes - 1) / kLanes % 2 == 1) {
    const F f;
    float* panel = panels + n / kColumns * k * kColumns + kLanes;
    for (std::int64_t p = 0; p < k; ++p) hn::Store(hn::Zero(f), f, panel + p * kColumns);
  }
}

}  // namespace
}  // namespace fovea::kernels::FOVEA_ISA
