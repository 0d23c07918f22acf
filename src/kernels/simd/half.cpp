#include "kernels/half.hpp"

#include "kernels/simd/rows-inl.hpp"

namespace fovea::kernels::FOVEA_ISA {
namespace {

using H = hn::Rebind<hwy::float16_t, F>;
using Bits = hn::RebindToUnsigned<H>;

void widen_halves(std::int64_t n, const Half* x, float* y) {
  const F f;
  const H h;
  const Bits bits;
  constexpr std::int64_t kLanes = hn::MaxLanes(F());
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    hn::StoreU(hn::PromoteTo(f, hn::BitCast(h, hn::LoadU(bits, x + i))), f, y + i);
  }
  if (i == n) return;
  alignas(64) Half in[kLanes] = {};
  alignas(64) float out[kLanes];
  for (std::int64_t j = i; j < n; ++j) in[j - i] = x[j];
  hn::Store(hn::PromoteTo(f, hn::BitCast(h, hn::Load(bits, in))), f, out);
  for (std::int64_t j = i; j < n; ++j) y[j] = out[j - i];
}

void narrow_floats(std::int64_t n, const float* x, Half* y) {
  const F f;
  const H h;
  const Bits bits;
  constexpr std::int64_t kLanes = hn::MaxLanes(F());
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    hn::StoreU(hn::BitCast(bits, hn::DemoteTo(h, hn::LoadU(f, x + i))), bits, y + i);
  }
  if (i == n) return;
  alignas(64) float in[kLanes] = {};
  alignas(64) Half out[kLanes];
  for (std::int64_t j = i; j < n; ++j) in[j - i] = x[j];
  hn::Store(hn::BitCast(bits, hn::DemoteTo(h, hn::Load(f, in))), bits, out);
  for (std::int64_t j = i; j < n; ++j) y[j] = out[j - i];
}

constexpr std::int64_t kPanel = 2 * static_cast<std::int64_t>(kLanes);  // columns of a panel of B

HWY_INLINE Floats widened(const Half* x) {
  return hn::PromoteTo(F(), hn::BitCast(H(), hn::LoadU(Bits(), x)));
}

// Where the sums of row r start, for columns j to j + width; zeros beyond the last column.
HWY_NOINLINE void start_of(const HalfRows& t, std::int64_t r, std::int64_t j, std::int64_t width, float* to) {
  const std::int64_t count = t.n - j < width ? t.n - j : width;
  std::int64_t i = 0;
  if (t.bias != nullptr) {
    __builtin_memcpy(to, t.bias + j, static_cast<std::size_t>(count) * sizeof(float));
    i = count;
  } else if (t.beta != 0.0F) {
    const float* c = t.c + r * t.c_row + j;
    for (; i < count; ++i) to[i] = t.beta * c[i];
  }
  __builtin_memset(to + i, 0, static_cast<std::size_t>(width - i) * sizeof(float));
}

// R rows by P panels from column j on. Every loop is over a constant, so that the sums stay in registers; there are
// eight of them at least, for the multiply-adds of a chain wait for each other.
template <int R, int P>
void rows_by_panels(const HalfRows& t, std::int64_t j) {
  constexpr auto L = static_cast<std::int64_t>(kLanes);
  const F f;
  alignas(64) float tile[R][P * kPanel];
  for (int r = 0; r < R; ++r) start_of(t, r, j, P * kPanel, tile[r]);
  Floats sum[R][2 * P];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < 2 * P; ++v) sum[r][v] = hn::Load(f, tile[r] + v * L);
  }
  const float* a = t.a;
  const Half* b = t.b + j * t.k;
  const std::int64_t panel = t.k * kPanel;
  for (std::int64_t p = 0; p < t.k; ++p) {
    Floats x[R];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) x[r] = hn::Set(f, a[r * t.a_row + p]);
#pragma GCC unroll 8
    for (int v = 0; v < 2 * P; ++v) {
      const Floats y = widened(b + v / 2 * panel + v % 2 * L);
#pragma GCC unroll 8
      for (int r = 0; r < R; ++r) sum[r][v] = hn::MulAdd(x[r], y, sum[r][v]);
    }
    b += kPanel;
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < 2 * P; ++v) hn::Store(sum[r][v], f, tile[r] + v * L);
  }
  const std::int64_t left = t.n - j < P * kPanel ? t.n - j : P * kPanel;
  for (int r = 0; r < R; ++r) {
    __builtin_memcpy(t.c + r * t.c_row + j, tile[r], static_cast<std::size_t>(left) * sizeof(float));
  }
}

template <int R, int P>
void all_columns(const HalfRows& t) {
  std::int64_t j = 0;
  for (; j + (P - 1) * kPanel < t.n; j += P * kPanel) rows_by_panels<R, P>(t, j);
  for (; j < t.n; j += kPanel) rows_by_panels<R, 1>(t, j);
}

void rows_of_halves(const HalfRows& t) {
  constexpr void (*kTiles[kMostHalfRows + 1])(const HalfRows&) = {
      nullptr,           all_columns<1, 4>, all_columns<2, 2>, all_columns<3, 2>,
      all_columns<4, 1>, all_columns<5, 1>, all_columns<6, 1>};
  kTiles[t.m](t);
}

}  // namespace

extern const HalfKernels half;
const HalfKernels half = {.widen = widen_halves, .narrow = narrow_floats, .rows = rows_of_halves};

}  // namespace fovea::kernels::FOVEA_ISA
