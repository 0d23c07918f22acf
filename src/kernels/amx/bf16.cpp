// Products in bf16 with Intel's tile registers (AMX): eight of 16 rows of 64 bytes; four hold a 32 by 32 block of C,
// two a strip pair of A, two of B, so that each tile that is read is used twice.
//
// Like all sources of an instruction set it uses no std:: templates.
#include "kernels/bf16.hpp"

#include <immintrin.h>

namespace fovea::kernels::amx {
namespace {

constexpr std::int64_t kTile = kBf16Rows * kBf16Depth;
constexpr int kBytes = 64;  // of a row of a tile

// What LDTILECFG reads: all eight tiles whole.
struct alignas(64) TileConfig {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
constexpr TileConfig kConfig;

std::int64_t least(std::int64_t a, std::int64_t b) {
  return a < b ? a : b;
}

__mmask16 mask_of(std::int64_t count) {
  return static_cast<__mmask16>(count >= 16 ? 0xffff : count <= 0 ? 0 : (1U << static_cast<unsigned>(count)) - 1);
}

// ---- packing ----

__m512i as_integers(__m512bh values) {
  return reinterpret_cast<__m512i>(values);
}

__m512i round_32(const float* from) {
  return as_integers(_mm512_cvtne2ps_pbh(_mm512_loadu_ps(from + 16), _mm512_loadu_ps(from)));
}

// The same of a row with only `count` values left.
__m512i round_some(const float* from, std::int64_t count) {
  return as_integers(
      _mm512_cvtne2ps_pbh(count > 16 ? _mm512_maskz_loadu_ps(mask_of(count - 16), from + 16) : _mm512_setzero_ps(),
                          _mm512_maskz_loadu_ps(mask_of(count), from)));
}

// Two rows of 16, rounded, value by value side by side.
__m512i side_by_side(__m512 first, __m512 second) {
  const __m512i order = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6, 21,
                                         5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  return _mm512_permutexvar_epi16(order, as_integers(_mm512_cvtne2ps_pbh(second, first)));
}

__m512 row_or_zeros(bool there, const float* from, __mmask16 mask) {
  return there ? _mm512_maskz_loadu_ps(mask, from) : _mm512_setzero_ps();
}

// Rows of 16 pairs become columns.
void transpose(__m512i (&v)[16]) {
  __m512i t[16];
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_epi32(v[i], v[i + 1]);
    t[i + 1] = _mm512_unpackhi_epi32(v[i], v[i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {
    v[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
    v[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
    v[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
    v[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
  }
  for (int i = 0; i < 4; ++i) {
    t[i] = _mm512_shuffle_i32x4(v[i], v[i + 4], 0x88);
    t[i + 4] = _mm512_shuffle_i32x4(v[i], v[i + 4], 0xdd);
    t[i + 8] = _mm512_shuffle_i32x4(v[i + 8], v[i + 12], 0x88);
    t[i + 12] = _mm512_shuffle_i32x4(v[i + 8], v[i + 12], 0xdd);
  }
  for (int i = 0; i < 4; ++i) {
    v[i] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88);
    v[i + 8] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0xdd);
    v[i + 4] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0x88);
    v[i + 12] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0xdd);
  }
}

void store(const __m512i (&v)[16], Bf16* tile) {
  for (int r = 0; r < 16; ++r) _mm512_store_si512(tile + r * kBf16Depth, v[r]);
}

// A tile of 16 rows as they are stored, 32 values each; only `rows` and `count` are in the array.
void rows_tile(const float* from, std::int64_t stride, std::int64_t rows, std::int64_t count, __m512i (&v)[16]) {
  if (rows >= 16 && count >= kBf16Depth) {
    for (std::int64_t r = 0; r < 16; ++r) v[r] = round_32(from + r * stride);
    return;
  }
  for (std::int64_t r = 0; r < 16; ++r) v[r] = r < rows ? round_some(from + r * stride, count) : _mm512_setzero_si512();
}

// A tile of 16 pairs of rows as they are stored, 16 values each; only `rows` and `count` are in the array.
void pairs_tile(const float* from, std::int64_t stride, std::int64_t rows, std::int64_t count, __m512i (&v)[16]) {
  if (rows >= 2 * 16 && count >= 16) {
    for (std::int64_t r = 0; r < 16; ++r) {
      v[r] = side_by_side(_mm512_loadu_ps(from + 2 * r * stride), _mm512_loadu_ps(from + (2 * r + 1) * stride));
    }
    return;
  }
  const __mmask16 mask = mask_of(count);
  for (std::int64_t r = 0; r < 16; ++r) {
    v[r] = side_by_side(row_or_zeros(2 * r < rows, from + 2 * r * stride, mask),
                        row_or_zeros(2 * r + 1 < rows, from + (2 * r + 1) * stride, mask));
  }
}

void pack_a(std::int64_t m, std::int64_t k, const float* a, std::int64_t lda, Bf16* tiles) {
  __m512i v[16];
  for (std::int64_t i = 0; i < m; i += kBf16Rows) {
    for (std::int64_t p = 0; p < k; p += kBf16Depth, tiles += kTile) {
      rows_tile(a + i * lda + p, lda, least(16, m - i), k - p, v);
      store(v, tiles);
    }
  }
}

void pack_a_transposed(std::int64_t m, std::int64_t k, const float* a, std::int64_t lda, Bf16* tiles) {
  const std::int64_t strip = (k + kBf16Depth - 1) / kBf16Depth * kTile;
  __m512i v[16];
  for (std::int64_t p = 0; p < k; p += kBf16Depth, tiles += kTile) {
    for (std::int64_t i = 0; i < m; i += kBf16Rows) {
      pairs_tile(a + p * lda + i, lda, k - p, m - i, v);
      transpose(v);
      store(v, tiles + i / kBf16Rows * strip);
    }
  }
}

void pack_b(std::int64_t k, std::int64_t n, const float* b, std::int64_t ldb, Bf16* tiles, std::int64_t strip) {
  __m512i v[16];
  for (std::int64_t p = 0; p < k; p += kBf16Depth, tiles += kTile) {
    for (std::int64_t j = 0; j < n; j += kBf16Rows) {
      pairs_tile(b + p * ldb + j, ldb, k - p, n - j, v);
      store(v, tiles + j / kBf16Rows * strip);
    }
  }
}

void pack_b_transposed(std::int64_t k, std::int64_t n, const float* b, std::int64_t ldb, Bf16* tiles,
                       std::int64_t strip) {
  __m512i v[16];
  for (std::int64_t j = 0; j < n; j += kBf16Rows, tiles += strip) {
    for (std::int64_t p = 0; p < k; p += kBf16Depth) {
      rows_tile(b + j * ldb + p, ldb, least(16, n - j), k - p, v);
      transpose(v);
      store(v, tiles + p / kBf16Depth * kTile);
    }
  }
}

// ---- products ----

// Where the sums of one tile start and end: in C itself, or by way of a copy when C has not all of its rows and
// columns, or when it is scaled first.
class Sums {
 public:
  Sums(const Bf16Block& t, std::int64_t i, std::int64_t j)
      : rows_(least(16, t.m - i)),
        columns_(mask_of(t.n - j)),
        c_(t.c + i * t.c_row + j),
        c_row_(t.c_row),
        direct_(t.m - i >= 16 && t.n - j >= 16) {
    const bool whole = direct_;
    if (t.bias != nullptr) {
      start = t.bias + j;
      start_row = 0;
      if (!whole) copy_start(start, 0, 1.0F);
    } else if (t.beta != 0) {
      start = c_;
      start_row = c_row_;
      if (!whole || t.beta != 1.0F) copy_start(c_, c_row_, t.beta);
    }
    end = whole ? c_ : copy_;
    end_row = whole ? c_row_ : 16;
  }
  void finish() const {
    if (direct_) return;
    for (std::int64_t r = 0; r < rows_; ++r) {
      _mm512_mask_storeu_ps(c_ + r * c_row_, columns_, _mm512_load_ps(copy_ + r * 16));
    }
  }

  const float* start = nullptr;  // null: from zero
  std::int64_t start_row = 16;
  float* end = nullptr;
  std::int64_t end_row = 16;

 private:
  void copy_start(const float* from, std::int64_t row, float scale) {
    const __m512 factor = _mm512_set1_ps(scale);
    for (std::int64_t r = 0; r < 16; ++r) {
      const __m512 values = r < rows_ ? _mm512_maskz_loadu_ps(columns_, from + r * row) : _mm512_setzero_ps();
      _mm512_store_ps(copy_ + r * 16, _mm512_mul_ps(values, factor));
    }
    start = copy_;
    start_row = 16;
  }

  std::int64_t rows_;
  __mmask16 columns_;
  float* c_;
  std::int64_t c_row_;
  bool direct_;
  alignas(64) float copy_[256];
};

// g++ 12 does not know that loading a tile reads memory: what was stored for it must be there.
void settle() {
  __asm__ volatile("" ::: "memory");
}

// The intrinsics want numbers of tiles as they are written.
#define FOVEA_START(tile, sums)                                                          \
  if ((sums).start == nullptr) {                                                         \
    _tile_zero(tile);                                                                    \
  } else {                                                                               \
    _tile_loadd(tile, (sums).start, static_cast<int>((sums).start_row * sizeof(float))); \
  }
#define FOVEA_END(tile, sums)                                                       \
  _tile_stored(tile, (sums).end, static_cast<int>((sums).end_row * sizeof(float))); \
  (sums).finish();

// Tiles 0 and 1 above 2 and 3: sums. 4, 5: of A; 6, 7: of B.
void two_by_two(const Bf16Block& t, std::int64_t i, std::int64_t j, const Bf16* a, const Bf16* b) {
  Sums s00(t, i, j), s01(t, i, j + 16), s10(t, i + 16, j), s11(t, i + 16, j + 16);
  settle();
  FOVEA_START(0, s00)
  FOVEA_START(1, s01)
  FOVEA_START(2, s10)
  FOVEA_START(3, s11)
  const Bf16* a2 = a + t.depth * kTile;
  const Bf16* b2 = b + t.b_strip;
  for (std::int64_t p = 0; p < t.depth * kTile; p += kTile) {
    _tile_loadd(4, a + p, kBytes);
    _tile_loadd(6, b + p, kBytes);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(7, b2 + p, kBytes);
    _tile_dpbf16ps(1, 4, 7);
    _tile_loadd(5, a2 + p, kBytes);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  FOVEA_END(0, s00)
  FOVEA_END(1, s01)
  FOVEA_END(2, s10)
  FOVEA_END(3, s11)
}

void one_by_two(const Bf16Block& t, std::int64_t i, std::int64_t j, const Bf16* a, const Bf16* b) {
  Sums s0(t, i, j), s1(t, i, j + 16);
  settle();
  FOVEA_START(0, s0)
  FOVEA_START(1, s1)
  const Bf16* b2 = b + t.b_strip;
  for (std::int64_t p = 0; p < t.depth * kTile; p += kTile) {
    _tile_loadd(4, a + p, kBytes);
    _tile_loadd(6, b + p, kBytes);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(7, b2 + p, kBytes);
    _tile_dpbf16ps(1, 4, 7);
  }
  FOVEA_END(0, s0)
  FOVEA_END(1, s1)
}

void two_by_one(const Bf16Block& t, std::int64_t i, std::int64_t j, const Bf16* a, const Bf16* b) {
  Sums s0(t, i, j), s1(t, i + 16, j);
  settle();
  FOVEA_START(0, s0)
  FOVEA_START(2, s1)
  const Bf16* a2 = a + t.depth * kTile;
  for (std::int64_t p = 0; p < t.depth * kTile; p += kTile) {
    _tile_loadd(4, a + p, kBytes);
    _tile_loadd(6, b + p, kBytes);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(5, a2 + p, kBytes);
    _tile_dpbf16ps(2, 5, 6);
  }
  FOVEA_END(0, s0)
  FOVEA_END(2, s1)
}

void one_by_one(const Bf16Block& t, std::int64_t i, std::int64_t j, const Bf16* a, const Bf16* b) {
  Sums s0(t, i, j);
  settle();
  FOVEA_START(0, s0)
  for (std::int64_t p = 0; p < t.depth * kTile; p += kTile) {
    _tile_loadd(4, a + p, kBytes);
    _tile_loadd(6, b + p, kBytes);
    _tile_dpbf16ps(0, 4, 6);
  }
  FOVEA_END(0, s0)
}

// A pair of strips of A stays in the first-level cache while B passes by.
void block(const Bf16Block& t) {
  _tile_loadconfig(&kConfig);
  for (std::int64_t i = 0; i < t.m; i += 32) {
    const Bf16* a = t.a + i / kBf16Rows * t.depth * kTile;
    const bool two_rows = t.m - i > 16;
    for (std::int64_t j = 0; j < t.n; j += 32) {
      const Bf16* b = t.b + j / kBf16Rows * t.b_strip;
      const bool two_columns = t.n - j > 16;
      const auto product = two_rows ? (two_columns ? two_by_two : two_by_one) : (two_columns ? one_by_two : one_by_one);
      product(t, i, j, a, b);
    }
  }
  _tile_release();
}

double peak(std::int64_t rounds) {
  alignas(64) static constexpr Bf16 kZeros[kTile] = {};
  _tile_loadconfig(&kConfig);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_loadd(4, kZeros, kBytes);
  _tile_loadd(5, kZeros, kBytes);
  _tile_loadd(6, kZeros, kBytes);
  _tile_loadd(7, kZeros, kBytes);
  for (std::int64_t i = 0; i < rounds; ++i) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_release();
  return 4.0 * 2 * 16 * 16 * 32 * static_cast<double>(rounds);
}

}  // namespace

extern const Bf16Kernels bf16;
const Bf16Kernels bf16{block, pack_a, pack_a_transposed, pack_b, pack_b_transposed, peak};

}  // namespace fovea::kernels::amx
