#include "kernels/gemm_kernels.hpp"

#include "kernels/simd/gemm_pack-inl.hpp"
#include "kernels/simd/gemm_tile-inl.hpp"
#include "kernels/simd/gemm_wide-inl.hpp"

namespace fovea::kernels::FOVEA_ISA {
namespace {

using TileFunction = void (*)(const Tile&);

// The tile functions for 1 to kRows rows.
struct Tiles {
  TileFunction of[kRows + 1];
};

template <int kWidth, bool kRowsOfA, bool kMasked>
constexpr Tiles make_tiles() {
  Tiles tiles{};
#define FOVEA_TILE(i) \
  if constexpr (i < kRows) tiles.of[i + 1] = tile<(i < kRows ? i + 1 : 1), kWidth, kRowsOfA, kMasked>;
  FOVEA_EACH_ROW(FOVEA_TILE)
#undef FOVEA_TILE
  return tiles;
}

// A masked load costs a place on the ports of the multiply-adds, so only the last panel of an unpacked B uses it.
template <int kWidth, bool kRowsOfA>
constexpr Tiles kPlain = make_tiles<kWidth, kRowsOfA, false>();
template <int kWidth, bool kRowsOfA>
constexpr Tiles kMaskedB = make_tiles<kWidth, kRowsOfA, true>();

const Tiles& tiles_for(int vectors, bool rows_of_a, bool masked) {
  if (vectors == 2) {
    if (masked) return rows_of_a ? kMaskedB<2, true> : kMaskedB<2, false>;
    return rows_of_a ? kPlain<2, true> : kPlain<2, false>;
  }
  if (masked) return rows_of_a ? kMaskedB<1, true> : kMaskedB<1, false>;
  return rows_of_a ? kPlain<1, true> : kPlain<1, false>;
}

// Wide tiles by their number of rows, and how many panels each spans.
#if FOVEA_REGISTERS == 32
constexpr std::int64_t kWideRows = 6;
constexpr TileFunction kWide[] = {nullptr,         wide_tile<1, 8>, wide_tile<2, 8>, wide_tile<3, 8>,
                                  wide_tile<4, 4>, wide_tile<5, 4>, wide_tile<6, 4>};
constexpr std::int64_t kWidePanels[] = {0, 4, 4, 4, 2, 2, 2};
#else
constexpr std::int64_t kWideRows = 3;
constexpr TileFunction kWide[] = {nullptr, wide_tile<1, 8>, wide_tile<2, 4>, wide_tile<3, 4>};
constexpr std::int64_t kWidePanels[] = {0, 4, 2, 2};
#endif

// Hands out what is to be fetched, k / 4 rows by 32 columns per tile.
class Fetcher {
 public:
  explicit Fetcher(const GemmBlock& block) : region_(block.fetch), end_(block.fetch + 2), rows_(block.k / 8 * 2) {
    skip_empty();
  }
  void give(Tile& tile) {
    if (region_ == end_) {  // a line that is in the cache
      tile.fetch = tile.b;
      tile.fetch_stride = 0;
      return;
    }
    tile.fetch = region_->first + row_ * region_->stride + column_;
    tile.fetch_stride = region_->stride;
    row_ += rows_;
    if (row_ < region_->rows) return;
    row_ = 0;
    column_ += 32;
    if (column_ < region_->width) return;
    column_ = 0;
    ++region_;
    skip_empty();
  }

 private:
  void skip_empty() {
    while (region_ != end_ && region_->rows == 0) ++region_;
  }
  const GemmFetch* region_;
  const GemmFetch* end_;
  std::int64_t rows_;
  std::int64_t row_ = 0, column_ = 0;
};

void block(const GemmBlock& t) {
  Tile tile{};
  tile.k = t.k;
  tile.a = t.a;
  tile.a_row = t.a_packed ? 1 : t.a_row;
  tile.a_k = t.a_packed ? kStrideOfA : t.a_k;
  tile.b_k = t.b_k;
  tile.b_panel = t.b_panel;
  tile.beta = t.beta;
  tile.c_row = t.c_row;
  std::int64_t j = 0;
  if (t.m <= kWideRows) {
    const std::int64_t panels = kWidePanels[t.m];
    for (; j + panels * kColumns <= t.n; j += panels * kColumns) {
      tile.b = t.b + j / kColumns * t.b_panel;
      tile.c = t.c + j;
      if (t.bias != nullptr) tile.bias = t.bias + j;
      kWide[t.m](tile);
    }
  }
  const bool rows_of_a = tile.a_k == 1;
  const Split split(t.m);
  Fetcher fetcher(t);
  for (; j < t.n; j += kColumns) {
    const std::int64_t width = t.n - j < kColumns ? t.n - j : kColumns;
    const int vectors = width > kLanes ? 2 : 1;
    const Tiles& tiles = tiles_for(vectors, rows_of_a, width < vectors * kLanes && !t.b_padded);
    tile.b = t.b + j / kColumns * t.b_panel;
    tile.width = width;
    if (t.bias != nullptr) tile.bias = t.bias + j;
    std::int64_t i = 0;
    for (std::int64_t at = 0; at < split.count; ++at) {
      const std::int64_t rows = split.rows(at);
      tile.a = t.a_packed ? t.a + at * t.k * kStrideOfA : t.a + i * t.a_row;
      tile.c = t.c + i * t.c_row + j;
      i += rows;
      tile.next_c = at + 1 < split.count ? tile.c + rows * t.c_row : t.c + j + kColumns;
      fetcher.give(tile);
      tiles.of[rows](tile);
    }
  }
}

double peak(std::int64_t rounds) {
  const F f;
  const V factor = hn::Set(f, 0.999F);
  const V term = hn::Set(f, 1e-3F);
// The empty asm makes the compiler believe that each value matters.
#define FOVEA_TWELVE(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#if defined(FOVEA_ISA_neon)  // up to four units with a latency of four
#define FOVEA_EACH_CHAIN(X) FOVEA_TWELVE(X) X(12) X(13) X(14) X(15)
#define FOVEA_KEEP(x) asm volatile("" : "+w"(x))
  constexpr int kChains = 16;
#else
#define FOVEA_EACH_CHAIN(X) FOVEA_TWELVE(X)
#define FOVEA_KEEP(x) asm volatile("" : "+v"(x))
  constexpr int kChains = 12;
#endif
#define FOVEA_START(i) V x##i = term;
  FOVEA_EACH_CHAIN(FOVEA_START)
#undef FOVEA_START
  for (std::int64_t round = 0; round < rounds; ++round) {
#define FOVEA_STEP(i)                    \
  x##i = hn::MulAdd(x##i, factor, term); \
  FOVEA_KEEP(x##i.raw);
    FOVEA_EACH_CHAIN(FOVEA_STEP)
#undef FOVEA_STEP
  }
#undef FOVEA_EACH_CHAIN
#undef FOVEA_TWELVE
#undef FOVEA_KEEP
  return 2.0 * kChains * static_cast<double>(kLanes) * static_cast<double>(rounds);
}

}  // namespace

extern const GemmKernels gemm;
const GemmKernels gemm = {.mr = kRows,
                          .nr = kColumns,
                          .a_stride = kStrideOfA,
                          .block = block,
                          .pack_b = pack_b,
                          .pack_b_transposed = pack_b_transposed,
                          .pack_a_transposed = pack_a_transposed,
                          .copy = copy,
                          .peak = peak};

}  // namespace fovea::kernels::FOVEA_ISA
