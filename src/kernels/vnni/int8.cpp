// With AVX-512 VNNI, which multiplies unsigned by signed bytes: A is stored as q + 128, and 128 times the sum of a
// column of B is taken off.
#include "kernels/int8.hpp"

#include <immintrin.h>

namespace fovea::kernels::vnni {
namespace {

constexpr std::int64_t kStep = kInt8Columns * 4;  // bytes of a panel for 4 of k

struct Tile {
  std::int64_t depth;
  const std::int8_t* a;
  const float* a_scale;
  const std::int8_t* b;
  const float* b_scale;
  const std::int32_t* b_sum;
  const float* bias;
  float beta;
  float* c;
  std::int64_t c_row;
  __mmask16 last;  // the columns of the last panel that are written
};

// sum += x w. As an instruction: g++ 12 copies the intrinsic's sums to the stack at every step of the loop.
inline void multiply_add(__m512i& sum, __m512i x, __m512i w) {
  asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(x), "v"(w));
}

// From the sum of a row and a panel to what is stored.
inline void finish(const Tile& t, std::int64_t r, std::int64_t p, __mmask16 mask, __m512i sum) {
  float* c = t.c + r * t.c_row + p * kInt8Columns;
  __m512 start = _mm512_setzero_ps();
  if (t.bias != nullptr) {
    start = _mm512_maskz_loadu_ps(mask, t.bias + p * kInt8Columns);
  } else if (t.beta != 0.0F) {
    start = _mm512_mul_ps(_mm512_set1_ps(t.beta), _mm512_maskz_loadu_ps(mask, c));
  }
  const __m512i offset = _mm512_slli_epi32(_mm512_loadu_si512(t.b_sum + p * kInt8Columns), 7);
  const __m512 scale = _mm512_loadu_ps(t.b_scale + p * kInt8Columns);
  const __m512 both = _mm512_mul_ps(_mm512_set1_ps(t.a_scale[r]), scale);
  const __m512 value = _mm512_cvtepi32_ps(_mm512_sub_epi32(sum, offset));
  _mm512_mask_storeu_ps(c, mask, _mm512_fmadd_ps(value, both, start));
}

// R rows by P panels. Every loop is over a constant, so that the sums stay in registers.
template <int R, int P>
void tile(const Tile& t) {
  __m512i sum[R][P];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int p = 0; p < P; ++p) sum[r][p] = _mm512_setzero_si512();
  }
  const std::int64_t panel = t.depth * kInt8Columns;
  const std::int8_t* a = t.a;
  const std::int8_t* b = t.b;
  const std::int64_t depth = t.depth;
  for (std::int64_t k = 0; k < depth; k += 4) {
    __m512i w[P];
#pragma GCC unroll 8
    for (int p = 0; p < P; ++p) w[p] = _mm512_loadu_si512(b + p * panel);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      std::int32_t four;
      __builtin_memcpy(&four, a + r * depth, 4);
      const __m512i x = _mm512_set1_epi32(four);
#pragma GCC unroll 8
      for (int p = 0; p < P; ++p) multiply_add(sum[r][p], x, w[p]);
    }
    a += 4;
    b += kStep;
  }
#pragma GCC unroll 8
  for (int p = 0; p < P; ++p) {
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) finish(t, r, p, p + 1 < P ? static_cast<__mmask16>(0xFFFF) : t.last, sum[r][p]);
  }
}

// Few rows take as long as B takes to be read, which is fastest in the order of memory: one panel after the other. The
// sums of a panel are split over k, since one chain of products would wait for itself; they are exact in any order.
template <int R>
void stripe(const Tile& t, std::int64_t panels) {
  constexpr int kChains = 8 / R;
  for (std::int64_t p = 0; p < panels; ++p) {
    __m512i sum[R][kChains];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
      for (int i = 0; i < kChains; ++i) sum[r][i] = _mm512_setzero_si512();
    }
    const std::int8_t* a = t.a;
    const std::int8_t* b = t.b + p * kInt8Columns * t.depth;
    for (std::int64_t k = 0; k < t.depth; k += 4 * kChains) {
#pragma GCC unroll 8
      for (int i = 0; i < kChains; ++i) {
        const __m512i w = _mm512_loadu_si512(b + i * kStep);
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r) {
          std::int32_t four;
          __builtin_memcpy(&four, a + r * t.depth + 4 * i, 4);
          multiply_add(sum[r][i], _mm512_set1_epi32(four), w);
        }
      }
      a += 4 * kChains;
      b += kChains * kStep;
    }
    const __mmask16 mask = p + 1 < panels ? static_cast<__mmask16>(0xFFFF) : t.last;
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
      for (int i = 1; i < kChains; ++i) sum[r][0] = _mm512_add_epi32(sum[r][0], sum[r][i]);
      finish(t, r, p, mask, sum[r][0]);
    }
  }
}

using TileFunction = void (*)(const Tile&);
constexpr std::int64_t kRows = 6;
constexpr int kWidths = 3;
constexpr std::int64_t kPanels[kWidths] = {4, 2, 1};
constexpr TileFunction kTiles[kRows + 1][kWidths] = {
    {nullptr, nullptr, nullptr},          {nullptr, nullptr, nullptr},  // m = 1 and 2 are stripes
    {nullptr, nullptr, nullptr},          {tile<3, 4>, tile<3, 2>, tile<3, 1>}, {tile<4, 4>, tile<4, 2>, tile<4, 1>},
    {tile<5, 4>, tile<5, 2>, tile<5, 1>}, {tile<6, 4>, tile<6, 2>, tile<6, 1>}};

void block(const Int8Block& t) {
  const std::int64_t panels = (t.n + kInt8Columns - 1) / kInt8Columns;
  const std::int64_t tiles = (t.m + kRows - 1) / kRows;
  const auto last = static_cast<__mmask16>(0xFFFFU >> (panels * kInt8Columns - t.n));
  Tile tile{t.depth, t.a, t.a_scale, t.b, t.b_scale, t.b_sum, t.bias, t.beta, t.c, t.c_row, last};
  if (t.m == 1) return stripe<1>(tile, panels);
  if (t.m == 2) return stripe<2>(tile, panels);
  int width = 0;
  for (std::int64_t j = 0; j < panels; j += kPanels[width]) {
    while (kPanels[width] > panels - j) ++width;
    tile.b = t.b + j * kInt8Columns * t.depth;
    tile.b_scale = t.b_scale + j * kInt8Columns;
    tile.b_sum = t.b_sum + j * kInt8Columns;
    tile.bias = t.bias == nullptr ? nullptr : t.bias + j * kInt8Columns;
    tile.last = j + kPanels[width] == panels ? last : static_cast<__mmask16>(0xFFFF);
    std::int64_t i = 0;
    for (std::int64_t at = 0; at < tiles; ++at) {
      const std::int64_t rows = (t.m - i + tiles - at - 1) / (tiles - at);  // evenly: 7 are 4 + 3 and not 6 + 1
      tile.a = t.a + i * t.depth;
      tile.a_scale = t.a_scale + i;
      tile.c = t.c + i * t.c_row + j * kInt8Columns;
      kTiles[rows][width](tile);
      i += rows;
    }
  }
}

float quantize(std::int64_t k, const float* x, std::int8_t* q) {
  const __m512 all = _mm512_castsi512_ps(_mm512_set1_epi32(0x7FFFFFFF));
  __m512i most = _mm512_setzero_si512();  // as bits: a number that is not finite has the largest
  std::int64_t p = 0;
  for (; p + 16 <= k; p += 16) {
    most = _mm512_max_epi32(most, _mm512_castps_si512(_mm512_and_ps(_mm512_loadu_ps(x + p), all)));
  }
  const auto rest = static_cast<__mmask16>((1U << (k - p)) - 1U);
  if (rest != 0) {
    most = _mm512_max_epi32(most, _mm512_castps_si512(_mm512_and_ps(_mm512_maskz_loadu_ps(rest, x + p), all)));
  }
  const std::int32_t bits = _mm512_reduce_max_epi32(most);
  float largest;
  __builtin_memcpy(&largest, &bits, 4);
  const float factor = 127.0F / largest;
  float scale = largest / 127.0F;
  const __m128i zero = _mm_set1_epi8(static_cast<char>(0x80));
  const std::int64_t depth = int8_depth(k);
  const bool finite = bits < 0x7F800000;
  if (!finite || !(factor <= 3.4028235e38F)) {
    for (p = 0; p < depth; p += 16) _mm_storeu_si128(reinterpret_cast<__m128i*>(q + p), zero);
    scale = 0;
    if (!finite) scale = __builtin_nanf("");
    return scale;
  }
  const __m512 by = _mm512_set1_ps(factor);
  for (p = 0; p + 16 <= k; p += 16) {
    const __m512i whole = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_loadu_ps(x + p), by));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(q + p), _mm_xor_si128(_mm512_cvtepi32_epi8(whole), zero));
  }
  if (rest != 0) {
    const __m512i whole = _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_maskz_loadu_ps(rest, x + p), by));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(q + p), _mm_xor_si128(_mm512_cvtepi32_epi8(whole), zero));
    p += 16;
  }
  for (; p < depth; p += 16) _mm_storeu_si128(reinterpret_cast<__m128i*>(q + p), zero);
  return scale;
}

double peak(std::int64_t rounds) {
  __m512i sum[12];
  const __m512i x = _mm512_set1_epi8(1);
#pragma GCC unroll 12
  for (int i = 0; i < 12; ++i) sum[i] = x;
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < 12; ++i) {
      sum[i] = _mm512_dpbusd_epi32(sum[i], x, x);
      asm volatile("" : "+v"(sum[i]));
    }
  }
  return 2.0 * 12 * 64 * static_cast<double>(rounds);
}

}  // namespace

extern const Int8Kernels int8;
const Int8Kernels int8 = {.block = block, .quantize = quantize, .peak = peak};

}  // namespace fovea::kernels::vnni
