// Weights on demand: tiles of scores become weights by the peak and mass of a forward pass, and are written out,
// reduced or forgotten tile by tile.
#pragma once

#include "kernels/simd/attention_tile-inl.hpp"

namespace fovea::kernels::FOVEA_ISA {
namespace {

// The share of a sink in the sum.
HWY_INLINE float sink_weight(const float* sink, float peak, float inverse) {
  if (sink == nullptr) return 0;
  const F f;
  return inverse * hn::GetLane(Exp2Neg(f, hn::Set(f, *sink * kLog2eFloat - peak)));
}

constexpr int kTile = kQueryTile * static_cast<int>(kKeyTile);

/// One block of queries.
template <class Head>
struct WeightsBlock {
  const Head& head;
  const WeightsWanted& wanted;
  std::int64_t row0;    // of the head
  std::int64_t result;  // index of row0 among the rows wanted
  int rows, columns;
  float* s;          // [keys, queries]
  float* turned;     // [queries, keys]
  float* peak;       // [queries]; 0 for a query without visible keys
  float* inverse;    // 1 / mass; 0 for a query without visible keys
  float* spread;     // sum of p (score - peak)
  float* least_top;  // what a weight must exceed to be among the top
  float* found;      // how many are

  HWY_INLINE void start() {
    for (int b = 0; b < columns; ++b) {
      const bool sees_some = b < rows && head.mass[row0 + b] != 0;
      peak[b] = sees_some ? head.peak[row0 + b] : 0;
      inverse[b] = sees_some ? 1 / head.mass[row0 + b] : 0;
      spread[b] = least_top[b] = found[b] = 0;
    }
    if (wanted.weights == nullptr) return;
    for (int b = 0; b < rows; ++b) {
      __builtin_memset(wanted.weights + (result + b) * wanted.weights_stride, 0,
                       sizeof(float) * static_cast<std::size_t>(head.keys));
    }
  }

  HWY_INLINE void make_weights(const Tile& t) {
    const F f;
    for (int column = 0; column < columns; column += kLanes) {
      const V p0 = hn::LoadU(f, peak + column);
      const V by = hn::LoadU(f, inverse + column);
      V sum = hn::LoadU(f, spread + column);
      for (int a = 0; a < t.keys; ++a) {
        float* at = s + a * columns + column;
        const V x = AtLeast(hn::Set(f, -127.0F), hn::Sub(hn::LoadU(f, at), p0));
        const V p = hn::Mul(by, Exp2Neg(f, x));
        sum = hn::MulAdd(p, x, sum);
        hn::StoreU(p, f, at);
      }
      hn::StoreU(sum, f, spread + column);
    }
  }

  HWY_INLINE void write(const Tile& t) {
    pack_transposed(s, columns, t.keys, rows, 1, turned, static_cast<int>(kKeyTile));
    for (int b = 0; b < rows; ++b) {
      __builtin_memcpy(wanted.weights + (result + b) * wanted.weights_stride + t.key0, turned + b * kKeyTile,
                       sizeof(float) * static_cast<std::size_t>(t.keys));
    }
  }

  HWY_INLINE void sum_columns(const Tile& t) {
    const F f;
    for (int a = 0; a < t.keys; ++a) {
      V sum = hn::Zero(f);
      over_row(
          rows, [&](std::int64_t b) { sum = hn::Add(sum, hn::LoadU(f, s + a * columns + b)); },
          [&](std::int64_t b, auto mask) { sum = hn::Add(sum, load_first(mask, f, s + a * columns + b)); });
      wanted.column_sums[t.key0 + a] += hn::GetLane(hn::SumOfLanes(f, sum));
    }
  }

  // A weight that is larger than the last of the list goes before the first that is smaller; equal ones stay in order.
  HWY_INLINE void insert(int b, std::int64_t key, float weight) {
    float* weights = wanted.top_weight + (result + b) * wanted.top;
    std::int64_t* index = wanted.top_index + (result + b) * wanted.top;
    auto count = static_cast<std::int64_t>(found[b]);
    std::int64_t at = count < wanted.top ? count++ : wanted.top - 1;
    for (; at > 0 && weights[at - 1] < weight; --at) {
      weights[at] = weights[at - 1];
      index[at] = index[at - 1];
    }
    weights[at] = weight;
    index[at] = key;
    found[b] = static_cast<float>(count);
    if (count == wanted.top) least_top[b] = weights[count - 1];
  }

  HWY_INLINE void find_top(const Tile& t) {
    const F f;
    for (int column = 0; column < rows; column += kLanes) {
      V least_now = hn::LoadU(f, least_top + column);
      for (int a = 0; a < t.keys; ++a) {
        const float* at = s + a * columns + column;
        const auto larger = hn::Gt(hn::LoadU(f, at), least_now);
        if (HWY_LIKELY(hn::AllFalse(f, larger))) continue;
        std::uint8_t bytes[8] = {};
        (void)hn::StoreMaskBits(f, larger, bytes);
        unsigned bits = bytes[0] | static_cast<unsigned>(bytes[1]) << 8;
        for (; bits != 0; bits &= bits - 1) {
          const int lane = __builtin_ctz(bits);
          if (column + lane < rows) insert(column + lane, t.key0 + a, at[lane]);
        }
        least_now = hn::LoadU(f, least_top + column);
      }
    }
  }

  HWY_INLINE void finish() {
    if (wanted.entropy != nullptr) {
      // -sum p ln p = ln mass sum p - ln 2 sum p (score - peak); a sink has the rest of the sum of p
      const F f;
      for (int b = 0; b < rows; ++b) {
        const float mass = head.mass[row0 + b];
        const float log = hn::GetLane(Log(f, hn::Set(f, mass)));
        const float sum = 1 - sink_weight(head.sink, peak[b], inverse[b]);
        const float entropy = log * sum - 0.693147182F * spread[b];
        wanted.entropy[result + b] = mass == 0 || entropy < 0 ? 0 : entropy;
      }
    }
    if (wanted.top_index == nullptr) return;
    // Where fewer weights are larger than 0, the first keys that are not in the list follow with 0.
    for (int b = 0; b < rows; ++b) {
      float* weights = wanted.top_weight + (result + b) * wanted.top;
      std::int64_t* index = wanted.top_index + (result + b) * wanted.top;
      const auto count = static_cast<std::int64_t>(found[b]);
      std::int64_t key = 0;
      for (std::int64_t at = count; at < wanted.top; ++key) {
        bool listed = false;
        for (std::int64_t n = 0; n < count; ++n) listed |= index[n] == key;
        if (listed) continue;
        weights[at] = 0;
        index[at++] = key;
      }
    }
  }
};

template <class Head, class Scores>
HWY_INLINE void weights_rows(const Head& head, Scores& scores, const WeightsWanted& wanted, Range rows, Carve carve) {
  float* s = carve.floats(kTile);
  float* turned = carve.floats(kTile);
  float* memory = carve.floats(kAdjustFloats);
  float* lists = carve.floats(5 * kQueryTile);
  for (std::int64_t row0 = rows.begin; row0 < rows.end; row0 += kQueryTile) {
    const int count = static_cast<int>(least<std::int64_t>(kQueryTile, rows.end - row0));
    WeightsBlock<Head> block = {head,
                                wanted,
                                row0,
                                row0 - rows.begin,
                                count,
                                whole_vectors(count),
                                s,
                                turned,
                                lists,
                                lists + kQueryTile,
                                lists + 2 * kQueryTile,
                                lists + 3 * kQueryTile,
                                lists + 4 * kQueryTile};
    block.start();
    scores.take_rows(row0, count);
    TileWalk walk(head.visibility, row0, count, {0, head.keys});
    Tile t;
    while (walk.next(t)) {
      scores.tile(t, s, block.columns);
      if (head.change) change_scores(head.change, t, s, block.columns, nullptr);
      if (t.adjusted) (void)adjust(head.visibility, t, s, block.columns, memory);
      block.make_weights(t);
      if (wanted.weights != nullptr) block.write(t);
      if (wanted.column_sums != nullptr) block.sum_columns(t);
      if (wanted.top_index != nullptr) block.find_top(t);
    }
    block.finish();
  }
}

}  // namespace
}  // namespace fovea::kernels::FOVEA_ISA
