// With AVX2's maddubs, which multiplies unsigned by signed bytes and adds pairs in 16 bits, saturating: |a| times b
// with the sign of a, both within +-127, stays below: 2 * 127 * 127 = 32258.
#include "kernels/int8.hpp"

#include <immintrin.h>

namespace fovea::kernels::avx2 {
namespace {

constexpr std::int64_t kStep = kInt8Columns * 4;  // bytes of a panel for 4 of k

// R rows by one panel of 16 columns. Every loop is over a constant, so that the sums stay in registers.
template <int R>
void tile(const Int8Block& t, std::int64_t i, std::int64_t j) {
  const __m256i ones = _mm256_set1_epi16(1);
  __m256i sum[R][2];
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) sum[r][0] = sum[r][1] = _mm256_setzero_si256();
  const std::int64_t depth = t.depth;
  const std::int8_t* a = t.a + i * depth;
  const std::int8_t* b = t.b + j * depth;
  for (std::int64_t k = 0; k < depth; k += 4) {
    const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b));
    const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + 32));
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      std::int32_t four;
      __builtin_memcpy(&four, a + r * depth, 4);
      const __m256i x = _mm256_set1_epi32(four);
      const __m256i size = _mm256_abs_epi8(x);
      sum[r][0] =
          _mm256_add_epi32(sum[r][0], _mm256_madd_epi16(_mm256_maddubs_epi16(size, _mm256_sign_epi8(low, x)), ones));
      sum[r][1] =
          _mm256_add_epi32(sum[r][1], _mm256_madd_epi16(_mm256_maddubs_epi16(size, _mm256_sign_epi8(high, x)), ones));
    }
    a += 4;
    b += kStep;
  }
  const std::int64_t width = t.n - j < kInt8Columns ? t.n - j : kInt8Columns;
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) {
    float* c = t.c + (i + r) * t.c_row + j;
    const __m256 scale = _mm256_set1_ps(t.a_scale[i + r]);
    alignas(32) float start[kInt8Columns] = {};
    alignas(32) float result[kInt8Columns];
    if (t.bias != nullptr || t.beta != 0.0F) {
      for (std::int64_t at = 0; at < width; ++at) start[at] = t.bias != nullptr ? t.bias[j + at] : t.beta * c[at];
    }
    float* to = width == kInt8Columns ? c : result;
#pragma GCC unroll 2
    for (int h = 0; h < 2; ++h) {
      const __m256 both = _mm256_mul_ps(scale, _mm256_loadu_ps(t.b_scale + j + 8 * h));
      const __m256 value = _mm256_cvtepi32_ps(sum[r][h]);
      _mm256_storeu_ps(to + 8 * h, _mm256_fmadd_ps(value, both, _mm256_load_ps(start + 8 * h)));
    }
    if (to == result) {
      for (std::int64_t at = 0; at < width; ++at) c[at] = result[at];
    }
  }
}

using TileFunction = void (*)(const Int8Block&, std::int64_t, std::int64_t);
constexpr std::int64_t kRows = 4;
constexpr TileFunction kTiles[kRows + 1] = {nullptr, tile<1>, tile<2>, tile<3>, tile<4>};

void int8_block(const Int8Block& t) {
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
  const __m256i all = _mm256_set1_epi32(0x7FFFFFFF);
  __m256i most = _mm256_setzero_si256();  // as bits: a number that is not finite has the largest
  std::int64_t p = 0;
  for (; p + 8 <= k; p += 8) {
    most = _mm256_max_epi32(most, _mm256_and_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + p)), all));
  }
  alignas(32) std::int32_t lanes[8];
  _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), most);
  std::int32_t bits = 0;
  for (const std::int32_t lane : lanes) bits = lane > bits ? lane : bits;
  for (; p < k; ++p) {
    std::int32_t lane;
    __builtin_memcpy(&lane, x + p, 4);
    lane &= 0x7FFFFFFF;
    bits = lane > bits ? lane : bits;
  }
  float largest;
  __builtin_memcpy(&largest, &bits, 4);
  const float factor = 127.0F / largest;
  const std::int64_t depth = int8_depth(k);
  const bool finite = bits < 0x7F800000;
  if (!finite || !(factor <= 3.4028235e38F)) {
    __builtin_memset(q, 0, static_cast<unsigned long>(depth));
    if (!finite) return __builtin_nanf("");
    return 0;
  }
  const __m256 by = _mm256_set1_ps(factor);
  for (p = 0; p + 8 <= k; p += 8) {
    const __m256i whole = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x + p), by));
    const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(whole), _mm256_extracti128_si256(whole, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(q + p), _mm_packs_epi16(words, words));
  }
  for (; p < k; ++p) q[p] = static_cast<std::int8_t>(_mm_cvtss_si32(_mm_set_ss(x[p] * factor)));
  for (; p < depth; ++p) q[p] = 0;
  return largest / 127.0F;
}

double peak(std::int64_t rounds) {
  __m256i sum[8];
  const __m256i x = _mm256_set1_epi8(1);
  const __m256i ones = _mm256_set1_epi16(1);
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) sum[i] = x;
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      __m256i y = x;
      asm volatile("" : "+x"(y));
      sum[i] = _mm256_add_epi32(sum[i], _mm256_madd_epi16(_mm256_maddubs_epi16(x, y), ones));
      asm volatile("" : "+x"(sum[i]));
    }
  }
  return 2.0 * 8 * 32 * static_cast<double>(rounds);
}

}  // namespace

extern const Int8Kernels int8;
const Int8Kernels int8 = {.block = int8_block, .quantize = quantize, .peak = peak};

}  // namespace fovea::kernels::avx2
