// What all tiled attention kernels share: packing, and what is visible of a tile.
//
// A tile is [keys, queries]: row j holds the scores of key j, lanes are queries. So the maximum and the sum of a
// softmax run down the rows, lane by lane, and keys and values are read as they are stored, one value at a time.
#pragma once

#include "kernels/attention.hpp"
#include "kernels/simd/attention_product.hpp"
#include "kernels/simd/vector_math-inl.hpp"

namespace fovea::kernels::FOVEA_ISA {
namespace {

using F = hn::ScalableTag<float>;
using V = hn::Vec<F>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(F()));
constexpr int kQueryTile = 64;
constexpr float kLog2eFloat = 1.44269504F;
constexpr float kMinusInf = -__builtin_inff();

HWY_INLINE int whole_vectors(std::int64_t n) {
  return static_cast<int>((n + kLanes - 1) / kLanes * kLanes);
}
template <class T>
HWY_INLINE T least(T a, T b) {
  return a < b ? a : b;
}
template <class T>
HWY_INLINE T most(T a, T b) {
  return a > b ? a : b;
}

/// Hands out parts of the scratch memory.
struct Carve {
  float* next;
  HWY_INLINE float* floats(std::int64_t n) {
    float* part = next;
    next += (n + 15) / 16 * 16;
    return part;
  }
};

// --- packing -------------------------------------------------------------------------------------------------------

// Blocks of four floats from rows r, r + 4, r + 8, … The loads spread over all lanes and are blended: a shuffle could
// run on one port only, and turning takes enough of them.
template <class Row>
HWY_INLINE V load_blocks(Row row, int d) {
#if defined(FOVEA_ISA_avx512)
  const F f;
  V v = hn::LoadDup128(f, row(0) + d);
  v = hn::IfThenElse(hn::Not(hn::FirstN(f, 4)), hn::LoadDup128(f, row(1) + d), v);
  v = hn::IfThenElse(hn::Not(hn::FirstN(f, 8)), hn::LoadDup128(f, row(2) + d), v);
  return hn::IfThenElse(hn::Not(hn::FirstN(f, 12)), hn::LoadDup128(f, row(3) + d), v);
#elif defined(FOVEA_ISA_neon)
  return hn::LoadU(F(), row(0) + d);
#else
  const hn::FixedTag<float, 4> f4;
  return hn::Combine(F(), hn::LoadU(f4, row(1) + d), hn::LoadU(f4, row(0) + d));
#endif
}

// Turns the 4 by 4 in every block of four lanes.
HWY_INLINE void turn_blocks(V& v0, V& v1, V& v2, V& v3) {
  const F f;
  const hn::Repartition<double, F> f64;
  const auto low01 = hn::BitCast(f64, hn::InterleaveLower(f, v0, v1));
  const auto low23 = hn::BitCast(f64, hn::InterleaveLower(f, v2, v3));
  const auto high01 = hn::BitCast(f64, hn::InterleaveUpper(f, v0, v1));
  const auto high23 = hn::BitCast(f64, hn::InterleaveUpper(f, v2, v3));
  v0 = hn::BitCast(f, hn::InterleaveLower(f64, low01, low23));
  v1 = hn::BitCast(f, hn::InterleaveUpper(f64, low01, low23));
  v2 = hn::BitCast(f, hn::InterleaveLower(f64, high01, high23));
  v3 = hn::BitCast(f, hn::InterleaveUpper(f64, high01, high23));
}

// Lane r is the sum of the lanes of row r of x, [kLanes, kLanes].
HWY_INLINE V sum_each(const float* x) {
  V fours[kLanes / 4];
#pragma GCC unroll 4
  for (int g = 0; g < kLanes / 4; ++g) {
    const auto rows = [&](int r) {
      return load_blocks([&](int block) { return x + (4 * block + r) * kLanes; }, 4 * g);
    };
    V v0 = rows(0);
    V v1 = rows(1);
    V v2 = rows(2);
    V v3 = rows(3);
    turn_blocks(v0, v1, v2, v3);
    fours[g] = hn::Add(hn::Add(v0, v1), hn::Add(v2, v3));
  }
#if defined(FOVEA_ISA_avx512)
  return hn::Add(hn::Add(fours[0], fours[1]), hn::Add(fours[2], fours[3]));
#elif defined(FOVEA_ISA_neon)
  return fours[0];
#else
  return hn::Add(fours[0], fours[1]);
#endif
}

// A bias as it is added: what is not -inf stays so in base 2.
HWY_INLINE V finite_bias(V x) {
  const F f;
  return hn::IfThenElse(hn::Eq(x, hn::Set(f, kMinusInf)), x, hn::Max(x, hn::Set(f, kLowestBias)));
}

/// y[d, r] = factor * x[r, d] for r < rows, 0 for the lanes up to a whole vector. y's rows are `y_stride` apart. kBias:
/// x is a bias.
template <bool kBias = false>
HWY_INLINE void pack_transposed(const float* x, std::int64_t x_stride, int rows, std::int64_t width, float factor,
                                float* HWY_RESTRICT y, int y_stride) {
  const F f;
  const V by = hn::Set(f, factor);
  alignas(16) static constexpr float zeros[4] = {0, 0, 0, 0};
  for (int r0 = 0; r0 < rows; r0 += kLanes) {
    const float* top = x + r0 * x_stride;
    const int here = least(kLanes, rows - r0);
    std::int64_t d = 0;
    for (; d + 4 <= width; d += 4) {
      V v[4];
      if (here == kLanes) {
#pragma GCC unroll 4
        for (int r = 0; r < 4; ++r) {
          v[r] = load_blocks([&](int block) { return top + (4 * block + r) * x_stride; }, static_cast<int>(d));
        }
      } else {
#pragma GCC unroll 4
        for (int r = 0; r < 4; ++r) {
          v[r] = load_blocks(
              [&](int block) { return 4 * block + r < here ? top + (4 * block + r) * x_stride + d : zeros; }, 0);
        }
      }
      turn_blocks(v[0], v[1], v[2], v[3]);
      float* to = y + d * y_stride + r0;
#pragma GCC unroll 4
      for (int c = 0; c < 4; ++c) {
        if constexpr (kBias) v[c] = finite_bias(v[c]);
        hn::StoreU(hn::Mul(by, v[c]), f, to + c * y_stride);
      }
    }
    for (; d < width; ++d) {
      float* to = y + d * y_stride + r0;
      for (int r = 0; r < here; ++r) {
        const float value = top[r * x_stride + d];
        to[r] = factor * (kBias && value != kMinusInf && value < kLowestBias ? kLowestBias : value);
      }
      for (int r = here; r < kLanes; ++r) to[r] = 0;
    }
  }
}

/// Calls body(d, vector, mask or all) … over a row: whole vectors by `whole`, what is left by `rest` with its mask.
template <class Whole, class Rest>
HWY_INLINE void over_row(std::int64_t width, Whole whole, Rest rest) {
  std::int64_t d = 0;
  for (; d + kLanes <= width; d += kLanes) whole(d);
  if (d < width) rest(d, hn::FirstN(F(), static_cast<std::size_t>(width - d)));
}

/// Rows with zeros after them up to a whole vector: y is x itself where nothing is to be added.
struct Rows {
  const float* data;
  std::int64_t stride;
};
HWY_INLINE Rows padded_rows(const float* x, std::int64_t stride, int rows, std::int64_t width, float* memory) {
  if (width % kLanes == 0) return {x, stride};
  const F f;
  const int to_stride = whole_vectors(width);
  for (int r = 0; r < rows; ++r) {
    const float* from = x + r * stride;
    float* to = memory + r * to_stride;
    over_row(
        width, [&](std::int64_t d) { hn::StoreU(hn::LoadU(f, from + d), f, to + d); },
        [&](std::int64_t d, auto mask) { hn::StoreU(load_first(mask, f, from + d), f, to + d); });
  }
  return {memory, to_stride};
}

/// Whether the rows hold no NaN and no infinity.
HWY_INLINE bool all_finite(const float* x, std::int64_t stride, int rows, std::int64_t width) {
  const F f;
  const V zero = hn::Zero(f);
  V sum = zero;  // of x * 0: NaN for what is not finite
  for (int r = 0; r < rows; ++r) {
    const float* from = x + r * stride;
    over_row(
        width, [&](std::int64_t d) { sum = hn::MulAdd(hn::LoadU(f, from + d), zero, sum); },
        [&](std::int64_t d, auto mask) { sum = hn::MulAdd(load_first(mask, f, from + d), zero, sum); });
  }
  return hn::AllTrue(f, hn::Eq(sum, zero));
}

// --- what is visible -----------------------------------------------------------------------------------------------

/// Positions far outside, so that a window of any size adds up without overflow.
constexpr std::int64_t kFar = std::int64_t{1} << 40;

/// The keys that some query of [row0, row0 + rows) may attend to by length, causal and window.
HWY_INLINE Range visible_keys(const Visibility& visibility, std::int64_t row0, int rows, Range keys) {
  const std::int64_t window = least(visibility.window, kFar);
  const std::int64_t first = row0 + visibility.offset;  // positions of the queries
  const std::int64_t last = first + rows - 1;
  Range visible = {keys.begin, least(keys.end, visibility.length)};
  if (visibility.causal) visible.end = least(visible.end, last + 1);
  if (window >= 0) {
    visible.begin = most(visible.begin, first - window);
    visible.end = least(visible.end, last + window + 1);
  }
  visible.begin = visible.begin / kKeyTile * kKeyTile;  // tiles begin at multiples of their size
  return visible;
}

/// One tile: its position, and what of it is visible. Pair (key a, query b), counted inside the tile, is in the band
/// if from <= b - a <= to.
struct Tile {
  std::int64_t row0, key0;
  int queries, keys;
  int from, to;
  bool banded;                 // some pairs are outside the band
  bool adjusted;               // scores get something added, or pairs are hidden
  bool skipped;                // nothing of it is visible
  const std::uint64_t* words;  // of the map: bit b + bit0 of word a is pair (a, b); null: the map hides none
  int bit0;
};

HWY_INLINE bool mask_hides_all(const Visibility& visibility, const Tile& t, bool& shows_all) {
  std::uint64_t any = 0;
  std::uint64_t zero_bytes = 0;
  const int rows = visibility.mask_stride == 0 ? 1 : t.queries;
  for (int b = 0; b < rows; ++b) {
    const std::uint8_t* row = visibility.mask + (t.row0 + b) * visibility.mask_stride + t.key0;
    int a = 0;
    for (; a + 8 <= t.keys; a += 8) {
      std::uint64_t eight;
      __builtin_memcpy(&eight, row + a, 8);
      any |= eight;
      zero_bytes |= (eight - 0x0101010101010101U) & ~eight & 0x8080808080808080U;
    }
    for (; a < t.keys; ++a) {
      any |= row[a];
      zero_bytes |= row[a] == 0 ? 1 : 0;
    }
  }
  shows_all = zero_bytes == 0;
  return any == 0;
}

HWY_INLINE bool bias_hides_all(const Visibility& visibility, const Tile& t) {
  const float* bias = visibility.bias + t.row0 * visibility.bias_row + t.key0 * visibility.bias_column;
  for (int b = t.queries - 1; b >= 0; --b) {
    for (int a = 0; a < t.keys; ++a) {
      if (bias[b * visibility.bias_row + a * visibility.bias_column] != kMinusInf) return false;
    }
  }
  return true;
}

// `words`: of the map, for key0.
HWY_INLINE Tile tile_at(const Visibility& visibility, std::int64_t row0, int queries, std::int64_t key0, int keys,
                        const std::uint64_t* words) {
  Tile t = {row0, key0, queries, keys, -(1 << 28), 1 << 28, false, false, false, words, 0};
  const std::int64_t far = 1 << 28;
  const std::int64_t diagonal = key0 - row0 - visibility.offset;  // b - a of a query at the position of the key
  const std::int64_t window = least(visibility.window, kFar);
  if (window >= 0) {
    t.from = static_cast<int>(most(-far, least(far, diagonal - window)));
    t.to = static_cast<int>(most(-far, least(far, diagonal + window)));
  }
  if (visibility.causal) t.from = static_cast<int>(most(-far, least(far, diagonal)));
  t.banded = t.from > 1 - keys || t.to < queries - 1;
  bool mask_shows_all = true;
  if (visibility.mask != nullptr) t.skipped = mask_hides_all(visibility, t, mask_shows_all);
  if (visibility.bias != nullptr && !t.skipped) t.skipped = bias_hides_all(visibility, t);
  t.adjusted =
      t.banded || !mask_shows_all || visibility.bias != nullptr || visibility.alibi_slope != 0 || words != nullptr;
  t.bit0 = static_cast<int>(row0 % kMapQueries);
  return t;
}

/// Walks over the tiles of `keys` that a block of queries may see, in ascending order.
class TileWalk {
 public:
  HWY_INLINE TileWalk(const Visibility& visibility, std::int64_t row0, int rows, Range keys,
                      std::int64_t step = kKeyTile)
      : visibility_(visibility),
        row0_(row0),
        rows_(rows),
        step_(step),
        at_(visible_keys(visibility, row0, rows, keys)) {
    const TileMap& map = visibility.map;
    if (map.row_start == nullptr) return;
    listed_ = map.row_start[row0 / kMapQueries];
    end_ = map.row_start[row0 / kMapQueries + 1];
  }
  /// Whether there may be another tile.
  HWY_INLINE bool more() const { return at_.begin < at_.end; }
  /// The next tile that is not hidden as a whole; false: there is none.
  HWY_INLINE bool next(Tile& t) {
    const TileMap& map = visibility_.map;
    while (at_.begin < at_.end) {
      const std::int64_t key0 = at_.begin;
      std::int64_t end = least(at_.end, key0 + step_);
      const std::uint64_t* words = nullptr;
      if (map.row_start != nullptr) {
        const std::int64_t tile = key0 / kKeyTile;
        while (listed_ < end_ && map.key_tile[listed_] < tile) ++listed_;
        if (listed_ == end_) {
          at_.begin = at_.end;
          return false;
        }
        if (map.key_tile[listed_] > tile) {
          at_.begin = map.key_tile[listed_] * kKeyTile;
          continue;
        }
        end = least(end, (tile + 1) * kKeyTile);
        if (map.first_word[listed_] >= 0) words = map.words + map.first_word[listed_] + key0 % kKeyTile;
        if (end == (tile + 1) * kKeyTile && listed_ + 1 == end_) at_.end = end;
      }
      at_.begin = end;
      t = tile_at(visibility_, row0_, rows_, key0, static_cast<int>(end - key0), words);
      if (!t.skipped) return true;
    }
    return false;
  }

 private:
  const Visibility& visibility_;
  std::int64_t row0_;
  int rows_;
  std::int64_t step_;
  Range at_;
  std::int64_t listed_ = 0, end_ = 0;  // of the map's tiles
};

/// Whether one pair is visible: for the rare tiles that are taken pair by pair.
HWY_INLINE bool is_visible(const Visibility& visibility, const Tile& t, int a, int b) {
  if (b - a < t.from || b - a > t.to) return false;
  if (t.words != nullptr && (t.words[a] >> (t.bit0 + b) & 1) == 0) return false;
  const std::int64_t i = t.row0 + b;
  const std::int64_t j = t.key0 + a;
  if (visibility.mask != nullptr && visibility.mask[i * visibility.mask_stride + j] == 0) return false;
  return visibility.bias == nullptr ||
         visibility.bias[i * visibility.bias_row + j * visibility.bias_column] != kMinusInf;
}

constexpr int kAdjustFloats = 2 * kQueryTile * static_cast<int>(kKeyTile);

// The bias and the mask of a tile as numbers to add, [keys, queries]: -inf where the mask hides.
HWY_INLINE void bias_tile(const Visibility& visibility, const Tile& t, float* memory, float* HWY_RESTRICT y,
                          int stride) {
  const float* bias = visibility.bias == nullptr
                          ? nullptr
                          : visibility.bias + t.row0 * visibility.bias_row + t.key0 * visibility.bias_column;
  if (visibility.mask == nullptr && visibility.bias_column == 1) {
    pack_transposed<true>(bias, visibility.bias_row, t.queries, t.keys, kLog2eFloat, y, stride);
    return;
  }
  for (int b = 0; b < t.queries; ++b) {
    float* row = memory + b * kKeyTile;
    for (int a = 0; a < t.keys; ++a) {
      row[a] = bias == nullptr ? 0.0F : bias[b * visibility.bias_row + a * visibility.bias_column];
    }
    if (visibility.mask == nullptr) continue;
    const std::uint8_t* mask = visibility.mask + (t.row0 + b) * visibility.mask_stride + t.key0;
    for (int a = 0; a < t.keys; ++a) row[a] = mask[a] != 0 ? row[a] : kMinusInf;
  }
  pack_transposed<true>(memory, kKeyTile, t.queries, t.keys, kLog2eFloat, y, stride);
}

/// Adds bias and ALiBi to the scores and makes -inf of what is hidden. Returns whether some pair is hidden.
HWY_INLINE bool adjust(const Visibility& visibility, const Tile& t, float* HWY_RESTRICT s, int stride, float* memory) {
  const F f;
  const hn::RebindToSigned<F> di;
  const bool biased = visibility.bias != nullptr || visibility.mask != nullptr;
  float* bias = memory;
  if (biased) bias_tile(visibility, t, memory + kAdjustFloats / 2, bias, stride);
  const V minus_inf = hn::Set(f, kMinusInf);
  const V slope = hn::Set(f, visibility.alibi_slope * -kLog2eFloat);
  const auto from = hn::Set(di, t.from);
  const auto to = hn::Set(di, t.to);
  // b - a of a query at the position of the key: distances of ALiBi count from there.
  const V diagonal = hn::Set(f, static_cast<float>(t.key0 - t.row0 - visibility.offset));
  bool hidden = false;
  for (int column = 0; column < t.queries; column += kLanes) {
    auto hides = hn::MaskFromVec(hn::Zero(f));
    const auto seen_lanes = hn::FirstN(f, static_cast<std::size_t>(least(kLanes, t.queries - column)));
    auto distance = hn::Iota(di, column);  // b - a
    for (int a = 0; a < t.keys; ++a) {
      float* at = s + a * stride + column;
      V x = hn::LoadU(f, at);
      x = hn::MulAdd(slope, hn::Abs(hn::Sub(hn::ConvertTo(f, distance), diagonal)), x);
      auto gone = hn::RebindMask(f, hn::Or(hn::Lt(distance, from), hn::Gt(distance, to)));
      if (t.words != nullptr) {
        const std::uint64_t word = t.words[a] >> (t.bit0 + column);
        gone = hn::Or(gone, hn::Not(hn::LoadMaskBits(f, reinterpret_cast<const std::uint8_t*>(&word))));
      }
      if (biased) {
        const V more = hn::LoadU(f, bias + a * stride + column);
        gone = hn::Or(gone, hn::Eq(more, minus_inf));
        x = hn::Add(x, more);
      }
      hides = hn::Or(hides, gone);
      hn::StoreU(hn::IfThenElse(gone, minus_inf, x), f, at);
      distance = hn::Sub(distance, hn::Set(di, 1));
    }
    hidden |= !hn::AllFalse(f, hn::And(hides, seen_lanes));
  }
  return hidden;
}

// --- changed scores ------------------------------------------------------------------------------------------------

/// The factor that scores are computed with: base 2, unless something is to change them in natural units first.
HWY_INLINE float score_factor(const ScoreChange& change) {
  return change ? 1.0F : kLog2eFloat;
}

/// cap * tanh(x / cap) of each, `kept` (if not null) in natural units, x in base 2 if `last`.
HWY_INLINE void cap_scores(float cap, float* x, std::int64_t n, float* kept, bool last) {
  const F f;
  const V inverse = hn::Set(f, 1 / cap);
  const V by = hn::Set(f, cap);
  const V out = hn::Set(f, last ? cap * kLog2eFloat : cap);
  for (std::int64_t at = 0; at < n; at += kLanes) {
    const V t = Tanh(f, hn::Mul(hn::LoadU(f, x + at), inverse));
    if (kept != nullptr) hn::StoreU(hn::Mul(by, t), f, kept + at);
    hn::StoreU(hn::Mul(out, t), f, x + at);
  }
}

/// Scores of a tile [keys, queries] in natural units are changed and become base 2. `kept`, if not null, gets what the
/// modifiers are given.
HWY_INLINE void change_scores(const ScoreChange& change, const Tile& t, float* s, int stride, float* kept) {
  const F f;
  const std::int64_t n = static_cast<std::int64_t>(t.keys) * stride;
  const bool modified = change.modify != nullptr;
  if (change.softcap > 0) {
    cap_scores(change.softcap, s, n, kept, !modified);
  } else if (kept != nullptr) {
    __builtin_memcpy(kept, s, sizeof(float) * static_cast<std::size_t>(n));
  }
  if (!modified) return;
  change.modify(change.modifiers, {change.batch, change.head, t.row0, t.key0, t.queries, t.keys, 1, stride}, s);
  const V by = hn::Set(f, kLog2eFloat);
  for (std::int64_t at = 0; at < n; at += kLanes) hn::StoreU(hn::Mul(by, hn::LoadU(f, s + at)), f, s + at);
}

}  // namespace
}  // namespace fovea::kernels::FOVEA_ISA
