#include "kernels/gemm_kernels.hpp"

#include <algorithm>

namespace fovea::kernels::generic {
namespace {

constexpr std::int64_t kRows = 4;
constexpr std::int64_t kColumns = 8;

void block(const GemmBlock& t) {
  for (std::int64_t i = 0; i < t.m; ++i) {
    for (std::int64_t j0 = 0; j0 < t.n; j0 += kColumns) {
      const std::int64_t width = std::min(kColumns, t.n - j0);
      const float* b = t.b + j0 / kColumns * t.b_panel;
      float* c = t.c + i * t.c_row + j0;
      float sum[kColumns] = {};
      for (std::int64_t j = 0; j < width; ++j) {
        if (t.bias != nullptr) {
          sum[j] = t.bias[j0 + j];
        } else if (t.beta != 0.0F) {
          sum[j] = t.beta * c[j];
        }
      }
      for (std::int64_t p = 0; p < t.k; ++p) {
        const float a = t.a_packed ? t.a[(i / kRows * t.k + p) * kRows + i % kRows] : t.a[i * t.a_row + p * t.a_k];
        for (std::int64_t j = 0; j < width; ++j) sum[j] += a * b[p * t.b_k + j];
      }
      for (std::int64_t j = 0; j < width; ++j) c[j] = sum[j];
    }
  }
}

void pack(std::int64_t k, std::int64_t n, const float* b, std::int64_t row, std::int64_t column, float* panels) {
  for (std::int64_t j0 = 0; j0 < n; j0 += kColumns) {
    for (std::int64_t p = 0; p < k; ++p) {
      for (std::int64_t j = 0; j < kColumns; ++j) {
        *panels++ = j0 + j < n ? b[p * row + (j0 + j) * column] : 0.0F;
      }
    }
  }
}

void pack_b(std::int64_t k, std::int64_t n, const float* b, std::int64_t ldb, float* panels) {
  pack(k, n, b, ldb, 1, panels);
}

void pack_b_transposed(std::int64_t k, std::int64_t n, const float* b, std::int64_t ldb, float* panels) {
  pack(k, n, b, 1, ldb, panels);
}

void pack_a_transposed(std::int64_t m, std::int64_t k, const float* a, std::int64_t lda, float* tiles) {
  for (std::int64_t i0 = 0; i0 < m; i0 += kRows) {
    for (std::int64_t p = 0; p < k; ++p) {
      for (std::int64_t i = i0; i < i0 + kRows; ++i) *tiles++ = i < m ? a[p * lda + i] : 0.0F;
    }
  }
}

void copy(std::int64_t rows, std::int64_t columns, const float* x, std::int64_t ldx, float* y, std::int64_t ldy) {
  for (std::int64_t i = 0; i < rows; ++i) std::copy_n(x + i * ldx, columns, y + i * ldy);
}

double peak(std::int64_t rounds) {
  constexpr int kChains = 32;
  volatile float start = 1e-3F;
  float x[kChains];
  for (float& v : x) v = start;
  const float factor = 0.999F;
  const float term = start;
  for (std::int64_t i = 0; i < rounds; ++i) {
    for (float& v : x) v = v * factor + term;
  }
  float total = 0;
  for (const float v : x) total += v;
  start = total;
  return 2.0 * kChains * static_cast<double>(rounds);
}

}  // namespace

extern const GemmKernels gemm;
const GemmKernels gemm = {.mr = kRows,
                          .nr = kColumns,
                          .a_stride = kRows,
                          .block = block,
                          .pack_b = pack_b,
                          .pack_b_transposed = pack_b_transposed,
                          .pack_a_transposed = pack_a_transposed,
                          .copy = copy,
                          .peak = peak};

}  // namespace fovea::kernels::generic
