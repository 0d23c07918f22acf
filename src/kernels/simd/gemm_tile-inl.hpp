// Register tiles of a matrix product. g++ keeps an array of accumulators in memory unless every loop over it is
// unrolled, so each accumulator has a name: c<row>_<vector>.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/simd/isa.hpp"

namespace fovea::kernels::FOVEA_ISA {
namespace {

using F = hn::ScalableTag<float>;
using V = hn::Vec<F>;
using M = hn::Mask<F>;
constexpr std::int64_t kLanes = hn::MaxLanes(F());

#if defined(FOVEA_ISA_avx512)
constexpr int kRows = 14;  // 28 accumulators, 2 vectors of B, 1 broadcast of A: 31 of 32 registers
constexpr bool kMasksAreFree = true;
#elif defined(FOVEA_ISA_neon)
constexpr int kRows = 12;  // 24 accumulators, 2 vectors of B, some broadcasts of A: under 32 registers
constexpr bool kMasksAreFree = false;
#else
constexpr int kRows = 6;  // 12 accumulators, 2 vectors of B, 1 broadcast of A: 15 of 16 registers
constexpr bool kMasksAreFree = false;
#endif
constexpr std::int64_t kStrideOfA = kRows <= kLanes ? kLanes : kRows;  // of a packed A: whole vectors
static_assert(kStrideOfA % kLanes == 0);
constexpr std::int64_t kColumns = 2 * kLanes;

// How a tile finds its operands; the fields of GemmBlock, moved to the tile.
struct Tile {
  std::int64_t k;
  const float* a;
  std::int64_t a_row, a_k;
  const float* b;
  std::int64_t b_k, b_panel;
  const float* bias;
  float beta;
  float* c;
  std::int64_t c_row;
  std::int64_t width;   // columns to write
  const float* next_c;  // what the next tile will write: fetched while this one computes
  const float* fetch;   // k / 4 rows `fetch_stride` apart that will be needed later: 128 bytes of each are fetched
  std::int64_t fetch_stride;
};

// Deals m rows evenly to tiles: 15 rows are 8 + 7 and not 14 + 1, since a tile of one row has too few chains.
struct Split {
  explicit Split(std::int64_t m) : smaller(m) {
    if (m <= kRows) return;
    count = (m + kRows - 1) / kRows;
    smaller = m / count;
    larger = m % count;
  }
  std::int64_t rows(std::int64_t tile) const { return tile < larger ? smaller + 1 : smaller; }
  std::int64_t count = 1, smaller, larger = 0;
};

#define FOVEA_EACH_ROW(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13)

// sum += x * y, where x has the same value in every lane. As hn::MulAdd g++ 12 moves these about, picks the forms that
// overwrite x, and so runs out of registers.
HWY_INLINE void multiply_add(V& sum, V x, V y) {
#if defined(FOVEA_ISA_neon)
  asm volatile("fmla %0.4s, %2.4s, %1.s[0]" : "+w"(sum.raw) : "w"(x.raw), "w"(y.raw));
#else
  asm volatile("vfmadd231ps %2, %1, %0" : "+v"(sum.raw) : "v"(x.raw), "v"(y.raw));
#endif
}

// *a for multiply_add(): on ARM, whose multiply-add takes one lane of x, in the first lane only.
HWY_INLINE V value_of(const float* a) {
#if defined(FOVEA_ISA_neon)
  V x;
  asm volatile("ldr %s0, %1" : "=w"(x.raw) : "m"(*a));
  return x;
#else
  return hn::Set(F(), *a);
#endif
}

// The same for a[kRow * a_row + kStep]. In C++ g++ 12 computes each distance by an instruction of its own, which takes
// slots from the multiply-adds.
template <int kRow, int kStep>
HWY_INLINE V broadcast(const float* a, std::int64_t a_row) {
#if defined(FOVEA_ISA_neon)
  return value_of(a + kRow * a_row + kStep);
#else
  V x;
  if constexpr (kRow == 0) {
    asm volatile("vbroadcastss %c2(%1), %0" : "=v"(x.raw) : "r"(a), "i"(4 * kStep));
  } else {
    asm volatile("vbroadcastss %c3(%1,%2,%c4), %0" : "=v"(x.raw) : "r"(a), "r"(a_row), "i"(4 * kStep), "i"(4 * kRow));
  }
  return x;
#endif
}

// kWidth vectors wide. kRowsOfA: A is stored by rows (a_k 1), else its values for one p are adjacent (a_row 1).
// kMasked: the last vector of B must not be read past `width`.
template <int R, int kWidth, bool kRowsOfA, bool kMasked>
void tile(const Tile& t) {
  const F f;
  const M mask = hn::FirstN(f, static_cast<std::size_t>(t.width - (kWidth - 1) * kLanes));
  std::int64_t c_row = t.c_row;
  float* c = t.c;

#define FOVEA_ZERO(i) V c##i##_0 = hn::Zero(f), c##i##_1 = hn::Zero(f);
  FOVEA_EACH_ROW(FOVEA_ZERO)
#undef FOVEA_ZERO

  if (t.bias != nullptr) {
    const V last = load_first(mask, f, t.bias + (kWidth - 1) * kLanes);
    const V first = kWidth == 2 ? hn::LoadU(f, t.bias) : last;
#define FOVEA_BIAS(i) c##i##_0 = first, c##i##_1 = last;
    FOVEA_EACH_ROW(FOVEA_BIAS)
#undef FOVEA_BIAS
  } else if (t.beta != 0.0F) {
    const V beta = hn::Set(f, t.beta);
#define FOVEA_LOAD(i)                                              \
  if constexpr (i < R) {                                           \
    const float* row = c + i * c_row;                              \
    if constexpr (kWidth == 2) {                                   \
      c##i##_0 = hn::Mul(beta, hn::LoadU(f, row));                 \
      c##i##_1 = hn::Mul(beta, load_first(mask, f, row + kLanes)); \
    } else {                                                       \
      c##i##_0 = hn::Mul(beta, load_first(mask, f, row));          \
    }                                                              \
  }
    FOVEA_EACH_ROW(FOVEA_LOAD)
#undef FOVEA_LOAD
  }
  const float* b = t.b;
  const std::int64_t b_k = t.b_k;
  std::int64_t a_row = t.a_row;
  const std::int64_t a_k = t.a_k;
  // Rows of A in groups of three: five pointers and one distance address fourteen rows.
  const float* a0 = t.a;
  const float* a3 = a0 + 3 * a_row;
  const float* a6 = a0 + 6 * a_row;
  const float* a9 = a0 + 9 * a_row;
  const float* a12 = a0 + 12 * a_row;

// Row i is i % 3 distances from the pointer of its group.
#define FOVEA_GROUP_0 a0
#define FOVEA_GROUP_1 a0
#define FOVEA_GROUP_2 a0
#define FOVEA_GROUP_3 a3
#define FOVEA_GROUP_4 a3
#define FOVEA_GROUP_5 a3
#define FOVEA_GROUP_6 a6
#define FOVEA_GROUP_7 a6
#define FOVEA_GROUP_8 a6
#define FOVEA_GROUP_9 a9
#define FOVEA_GROUP_10 a9
#define FOVEA_GROUP_11 a9
#define FOVEA_GROUP_12 a12
#define FOVEA_GROUP_13 a12
#define FOVEA_MULTIPLY(i)                                                                  \
  if constexpr (i < R) {                                                                   \
    const V x = kRowsOfA ? broadcast<i % 3, s>(FOVEA_GROUP_##i, a_row) : value_of(a0 + i); \
    multiply_add(c##i##_0, x, b0);                                                         \
    if constexpr (kWidth == 2) multiply_add(c##i##_1, x, b1);                              \
  }
#define FOVEA_STEP(S)                                                            \
  {                                                                              \
    constexpr int s = S;                                                         \
    (void)s;                                                                     \
    V b0, b1;                                                                    \
    if constexpr (kWidth == 2) {                                                 \
      b0 = hn::LoadU(f, b);                                                      \
      b1 = kMasked ? load_first(mask, f, b + kLanes) : hn::LoadU(f, b + kLanes); \
    } else {                                                                     \
      b0 = kMasked ? load_first(mask, f, b) : hn::LoadU(f, b);                   \
    }                                                                            \
    FOVEA_EACH_ROW(FOVEA_MULTIPLY)                                               \
    b += b_k;                                                                    \
    if constexpr (!kRowsOfA) a0 += a_k;                                          \
  }
// The empty asm keeps the compiler from making fourteen pointers of five.
#define FOVEA_ADVANCE(n)                                \
  if constexpr (kRowsOfA) {                             \
    a0 += n;                                            \
    asm volatile("" : "+r"(a0));                        \
    if constexpr (R > 3) a3 += n;                       \
    if constexpr (R > 3) asm volatile("" : "+r"(a3));   \
    if constexpr (R > 6) a6 += n;                       \
    if constexpr (R > 6) asm volatile("" : "+r"(a6));   \
    if constexpr (R > 9) a9 += n;                       \
    if constexpr (R > 9) asm volatile("" : "+r"(a9));   \
    if constexpr (R > 12) a12 += n;                     \
    if constexpr (R > 12) asm volatile("" : "+r"(a12)); \
  }

  const float* next_c = t.next_c;
  const float* fetch = t.fetch;
  const std::int64_t fetch_stride = t.fetch_stride;
  std::int64_t p = t.k;
  for (; p >= 8; p -= 8) {
    __builtin_prefetch(next_c, 1, 3);
    if constexpr (kColumns > 16) __builtin_prefetch(next_c + 16, 1, 3);
    next_c += c_row;
    __builtin_prefetch(fetch, 0, 2);
    __builtin_prefetch(fetch + 16, 0, 2);
    fetch += fetch_stride;
    __builtin_prefetch(fetch, 0, 2);
    __builtin_prefetch(fetch + 16, 0, 2);
    fetch += fetch_stride;
    FOVEA_STEP(0)
    FOVEA_STEP(1)
    FOVEA_STEP(2)
    FOVEA_STEP(3)
    FOVEA_STEP(4)
    FOVEA_STEP(5)
    FOVEA_STEP(6)
    FOVEA_STEP(7)
    FOVEA_ADVANCE(8)
  }
  for (; p >= 4; p -= 4) {
    FOVEA_STEP(0)
    FOVEA_STEP(1)
    FOVEA_STEP(2)
    FOVEA_STEP(3)
    FOVEA_ADVANCE(4)
  }
  for (; p > 0; --p) {
    FOVEA_STEP(0)
    FOVEA_ADVANCE(1)
  }

  // Computes the rows' places again: kept over the loop they would take its registers.
  asm volatile("" : "+r"(c), "+r"(c_row));
  if (t.width == kWidth * kLanes) {
#define FOVEA_STORE(i)                                                          \
  if constexpr (i < R) {                                                        \
    hn::StoreU(c##i##_0, f, c + i * c_row);                                     \
    if constexpr (kWidth == 2) hn::StoreU(c##i##_1, f, c + i * c_row + kLanes); \
  }
    FOVEA_EACH_ROW(FOVEA_STORE)
#undef FOVEA_STORE
    return;
  }
  // A masked store is cheap with AVX-512 and slow with AVX2 on some CPUs: there the tile's last vector goes through
  // memory of its own.
  alignas(64) float rest[kMasksAreFree ? 1 : kRows * kLanes];
#define FOVEA_STORE(i)                                         \
  if constexpr (i < R) {                                       \
    float* row = c + i * c_row;                                \
    if constexpr (kWidth == 2) hn::StoreU(c##i##_0, f, row);   \
    const V last = kWidth == 2 ? c##i##_1 : c##i##_0;          \
    if constexpr (kMasksAreFree) {                             \
      store_first(last, mask, f, row + (kWidth - 1) * kLanes); \
    } else {                                                   \
      hn::Store(last, f, rest + i * kLanes);                   \
    }                                                          \
  }
  FOVEA_EACH_ROW(FOVEA_STORE)
#undef FOVEA_STORE
  if constexpr (!kMasksAreFree) {
    const std::int64_t columns = t.width - (kWidth - 1) * kLanes;
    for (int i = 0; i < R; ++i) {
      float* row = c + i * c_row + (kWidth - 1) * kLanes;
      for (std::int64_t j = 0; j < columns; ++j) row[j] = rest[i * kLanes + j];
    }
  }
}

#undef FOVEA_STEP
#undef FOVEA_MULTIPLY
#undef FOVEA_ADVANCE

}  // namespace
}  // namespace fovea::kernels::FOVEA_ISA
