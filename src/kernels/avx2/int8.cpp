// With AVX2's maddubs, which multiplies unsigned by signed bytes and adds pairs in 16 bits, saturating.
#include "kernels/int8.hpp"

#include <immintrin.h>

namespace fovea::kernels::avx2 {
namespace {

constexpr std::int64_t kStep = kInt8Columns * 4;  // bytes of a panel for 4 of k
constexpr std::int64_t kRows = 4;
constexpr std::int64_t kDeepest = 2048;  // of a panel that is split, on the stack
constexpr std::int64_t kFewRows = 8;     // for fewer, splitting takes longer than it saves

// As an instruction: g++ 12 copies the intrinsic's sums to the stack at every step of the loop.
inline void add(__m256i& sum, __m256i more) {
  asm("vpaddd %1, %0, %0" : "+x"(sum) : "x"(more));
}

inline __m256i load(const std::int8_t* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}

// Four numbers of a row of A, over and over.
inline __m256i broadcast(const std::int8_t* p) {
  std::int32_t four;
  __builtin_memcpy(&four, p, 4);
  return _mm256_set1_epi32(four);
}

inline __m256i sums_of_four(__m256i products) {
  return _mm256_madd_epi16(products, _mm256_set1_epi16(1));
}

// From the sums of a row and the last columns, fewer than eight, to what is stored.
[[gnu::noinline]] void finish_last(const Int8Block& t, std::int64_t row, std::int64_t j, __m256i sum) {
  float* c = t.c + row * t.c_row + j;
  alignas(32) float values[8];
  _mm256_store_ps(values, _mm256_cvtepi32_ps(sum));
  for (std::int64_t i = 0; i < t.n - j; ++i) {
    const float start = t.bias != nullptr ? t.bias[j + i] : t.beta != 0.0F ? t.beta * c[i] : 0.0F;
    c[i] = __builtin_fmaf(values[i], t.a_scale[row] * t.b_scale[j + i], start);
  }
}

// From the sums of a row and eight columns to what is stored; j: the first column.
inline void finish(const Int8Block& t, std::int64_t row, std::int64_t j, __m256i sum) {
  if (j + 8 > t.n) return finish_last(t, row, j, sum);
  float* c = t.c + row * t.c_row + j;
  __m256 start = _mm256_setzero_ps();
  if (t.bias != nullptr) {
    start = _mm256_loadu_ps(t.bias + j);
  } else if (t.beta != 0.0F) {
    start = _mm256_mul_ps(_mm256_set1_ps(t.beta), _mm256_loadu_ps(c));
  }
  const __m256 both = _mm256_mul_ps(_mm256_set1_ps(t.a_scale[row]), _mm256_loadu_ps(t.b_scale + j));
  _mm256_storeu_ps(c, _mm256_fmadd_ps(_mm256_cvtepi32_ps(sum), both, start));
}

// R rows by one panel: |a| times b with the sign of a, both within +-127, stays below 2 * 127 * 127 = 32258. Every loop
// is over a constant, so that the sums stay in registers.
template <int R>
void tile(const Int8Block& t, std::int64_t i, std::int64_t j) {
  __m256i sum[R][2];
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) sum[r][0] = sum[r][1] = _mm256_setzero_si256();
  const std::int64_t depth = t.depth;
  const std::int8_t* a = t.a + i * depth;
  const std::int8_t* b = t.b + j * depth;
  for (std::int64_t k = 0; k < depth; k += 4) {
    const __m256i low = load(b);
    const __m256i high = load(b + 32);
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      const __m256i x = broadcast(a + r * depth);
      const __m256i size = _mm256_abs_epi8(x);
      add(sum[r][0], sums_of_four(_mm256_maddubs_epi16(size, _mm256_sign_epi8(low, x))));
      add(sum[r][1], sums_of_four(_mm256_maddubs_epi16(size, _mm256_sign_epi8(high, x))));
    }
    a += 4;
    b += kStep;
  }
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) {
    finish(t, i + r, j, sum[r][0]);
    finish(t, i + r, j + 8, sum[r][1]);
  }
}

// A panel as sizes and signs. With m = -1 where b < 0 and else 0, a ^ m is -a - 1 or a, so that |b| (a ^ m) = a b - |b|
// where b < 0: the same less something that only the column decides. An exclusive or can run where no product can,
// which the sign of bytes cannot; and 2 * 127 * 128 = 32512 does not saturate either.
struct Split {
  alignas(32) std::int8_t panel[2 * kInt8Columns * kDeepest];  // 8 columns' sizes, their signs, the next 8 columns'
  alignas(32) std::int32_t below[kInt8Columns];                // the sum of |b| where b < 0
};

void split(const std::int8_t* b, std::int64_t depth, Split& s) {
  const __m256i zero = _mm256_setzero_si256();
  __m256i below[2] = {zero, zero};
  __m256i* to = reinterpret_cast<__m256i*>(s.panel);
  for (std::int64_t k = 0; k < depth; k += 4) {
#pragma GCC unroll 2
    for (int h = 0; h < 2; ++h) {
      const __m256i w = load(b + 32 * h);
      const __m256i size = _mm256_abs_epi8(w);
      const __m256i sign = _mm256_cmpgt_epi8(zero, w);
      _mm256_store_si256(to++, size);
      _mm256_store_si256(to++, sign);
      below[h] = _mm256_sub_epi32(below[h], sums_of_four(_mm256_maddubs_epi16(size, sign)));
    }
    b += kStep;
  }
  _mm256_store_si256(reinterpret_cast<__m256i*>(s.below), below[0]);
  _mm256_store_si256(reinterpret_cast<__m256i*>(s.below + 8), below[1]);
}

template <int R>
void split_tile(const Int8Block& t, const Split& s, std::int64_t i, std::int64_t j) {
  __m256i sum[R][2];
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) {
    sum[r][0] = _mm256_load_si256(reinterpret_cast<const __m256i*>(s.below));
    sum[r][1] = _mm256_load_si256(reinterpret_cast<const __m256i*>(s.below + 8));
  }
  const std::int64_t depth = t.depth;
  const std::int8_t* a = t.a + i * depth;
  const __m256i* b = reinterpret_cast<const __m256i*>(s.panel);
  for (std::int64_t k = 0; k < depth; k += 4) {
#pragma GCC unroll 2
    for (int h = 0; h < 2; ++h) {
      const __m256i size = _mm256_load_si256(b++);
      const __m256i sign = _mm256_load_si256(b++);
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) {
        const __m256i x = _mm256_xor_si256(broadcast(a + r * depth), sign);
        add(sum[r][h], sums_of_four(_mm256_maddubs_epi16(size, x)));
      }
    }
    a += 4;
  }
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) {
    finish(t, i + r, j, sum[r][0]);
    finish(t, i + r, j + 8, sum[r][1]);
  }
}

using TileFunction = void (*)(const Int8Block&, std::int64_t, std::int64_t);
constexpr TileFunction kTiles[kRows + 1] = {nullptr, tile<1>, tile<2>, tile<3>, tile<4>};
using SplitTileFunction = void (*)(const Int8Block&, const Split&, std::int64_t, std::int64_t);
constexpr SplitTileFunction kSplitTiles[kRows + 1] = {nullptr, split_tile<1>, split_tile<2>, split_tile<3>,
                                                      split_tile<4>};

void int8_block(const Int8Block& t) {
  const std::int64_t tiles = (t.m + kRows - 1) / kRows;
  const bool splits = t.m >= kFewRows && t.depth <= kDeepest;
  Split panel;
  for (std::int64_t j = 0; j < t.n; j += kInt8Columns) {
    if (splits) split(t.b + j * t.depth, t.depth, panel);
    std::int64_t i = 0;
    for (std::int64_t at = 0; at < tiles; ++at) {
      const std::int64_t rows = (t.m - i + tiles - at - 1) / (tiles - at);
      if (splits) {
        kSplitTiles[rows](t, panel, i, j);
      } else {
        kTiles[rows](t, i, j);
      }
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
