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

// Row by row of what is stored, which may come from memory.
void pack_a_transposed(std::int64_t m, std::int64_t k, const float* a, std::int64_t lda, float* tiles) {
  constexpr int kVectors = kStrideOfA / kLanes;
  const F f;
  const Split split(m);
  M larger[kVectors];
  M smaller[kVectors];
  for (int v = 0; v < kVectors; ++v) {
    const std::int64_t rows = split.smaller - v * kLanes;
    larger[v] = hn::FirstN(f, static_cast<std::size_t>(rows < 0 ? 0 : rows + 1));
    smaller[v] = hn::FirstN(f, static_cast<std::size_t>(rows < 0 ? 0 : rows));
  }
  for (std::int64_t p = 0; p < k; ++p, a += lda, tiles += kStrideOfA) {
    const float* from = a;
    float* to = tiles;
    for (std::int64_t at = 0; at < split.count; ++at, to += k * kStrideOfA) {
      const M* masks = at < split.larger ? larger : smaller;
      for (int v = 0; v < kVectors; ++v) hn::Store(load_first(masks[v], f, from + v * kLanes), f, to + v * kLanes);
      from += split.rows(at);
    }
  }
}

// Four panels in one pass: long enough runs for the memory, few enough streams for the first-level cache.
void pack_b(std::int64_t k, std::int64_t n, const float* b, std::int64_t ldb, float* panels) {
  const F f;
  const std::int64_t panel = k * kColumns;
  std::int64_t j = 0;
  for (; j + 4 * kColumns <= n; j += 4 * kColumns, panels += 4 * panel) {
    const float* row = b + j;
    float* to = panels;
    for (std::int64_t p = 0; p < k; ++p, row += ldb, to += kColumns) {
      const V r0 = hn::LoadU(f, row), r1 = hn::LoadU(f, row + kLanes);
      const V r2 = hn::LoadU(f, row + 2 * kLanes), r3 = hn::LoadU(f, row + 3 * kLanes);
      const V r4 = hn::LoadU(f, row + 4 * kLanes), r5 = hn::LoadU(f, row + 5 * kLanes);
      const V r6 = hn::LoadU(f, row + 6 * kLanes), r7 = hn::LoadU(f, row + 7 * kLanes);
      hn::Store(r0, f, to);
      hn::Store(r1, f, to + kLanes);
      hn::Store(r2, f, to + panel);
      hn::Store(r3, f, to + panel + kLanes);
      hn::Store(r4, f, to + 2 * panel);
      hn::Store(r5, f, to + 2 * panel + kLanes);
      hn::Store(r6, f, to + 3 * panel);
      hn::Store(r7, f, to + 3 * panel + kLanes);
    }
  }
  for (; j < n; j += kColumns) {
    const std::int64_t rest = n - j;
    const M first = hn::FirstN(f, static_cast<std::size_t>(rest < kLanes ? rest : kLanes));
    const M second = hn::FirstN(f, static_cast<std::size_t>(rest < kLanes ? 0 : rest - kLanes));
    const float* row = b + j;
    for (std::int64_t p = 0; p < k; ++p, row += ldb, panels += kColumns) {
      hn::Store(load_first(first, f, row), f, panels);
      hn::Store(load_first(second, f, row + kLanes), f, panels + kLanes);
    }
  }
}

// Four values of each of kLanes rows x, x + ldx, … become four vectors, one per column, kColumns apart at y. If there
// are fewer rows, the last one stands for those that miss.
template <bool kAll>
HWY_INLINE void transpose_four_columns(const float* x, std::int64_t ldx, std::int64_t rows, float* y) {
  const F f;
  const hn::Full128<float> quad;
  const auto row = [&](std::int64_t i)
                       HWY_ATTR { return hn::LoadU(quad, x + (kAll || i < rows ? i : rows - 1) * ldx); };
  // Vector i holds, block by block, the rows i, i + 4, i + 8, …
  const auto gather = [&](std::int64_t i) HWY_ATTR {
#if defined(FOVEA_ISA_avx512)
    const hn::Full256<float> half;
    return hn::Combine(f, hn::Combine(half, row(i + 12), row(i + 8)), hn::Combine(half, row(i + 4), row(i)));
#elif defined(FOVEA_ISA_neon)
    return row(i);
#else
    return hn::Combine(f, row(i + 4), row(i));
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
      for (; p + 4 <= k; p += 4) transpose_four_columns<true>(b + p, ldb, rows, panel + p * kColumns);
    } else {
      for (; p + 4 <= k; p += 4) transpose_four_columns<false>(b + p, ldb, rows, panel + p * kColumns);
    }
    for (; p < k; ++p) {
      for (std::int64_t i = 0; i < kLanes; ++i) panel[p * kColumns + i] = b[(i < rows ? i : rows - 1) * ldb + p];
    }
  }
}

}  // namespace
}  // namespace fovea::kernels::FOVEA_ISA
