// The forward pass of any softmax attention over tiles of scores (online softmax: Milakov and Gimelshein 2018; tiles:
// Dao et al. 2022). `Scores` computes a tile; the rest is the same for all families.
#pragma once

#include "kernels/simd/attention_dropout-inl.hpp"
#include "kernels/simd/attention_tile-inl.hpp"

namespace fovea::kernels::FOVEA_ISA {
namespace {

/// What is known of each query of a block so far; each [kQueryTile].
struct Running {
  float* peak;
  float* mass;
  float* shrink;  // 2^(old peak - new peak)
};

// Scores become weights relative to the new peak. Says whether a peak moved, so that earlier sums must shrink.
template <int kColumns>
HWY_INLINE bool online_softmax(float* HWY_RESTRICT s, int stride, int keys, const Running& run) {
  const F f;
  V peak[kColumns];
  V mass[kColumns];
#pragma GCC unroll 4
  for (int c = 0; c < kColumns; ++c) peak[c] = hn::LoadU(f, run.peak + c * kLanes);
  int key = 0;
  if (kColumns == 1) {  // four chains, or latency decides
    V more[3] = {peak[0], peak[0], peak[0]};
    for (; key + 4 <= keys; key += 4) {
      peak[0] = hn::Max(hn::LoadU(f, s + key * stride), peak[0]);
#pragma GCC unroll 3
      for (int r = 0; r < 3; ++r) more[r] = hn::Max(hn::LoadU(f, s + (key + 1 + r) * stride), more[r]);
    }
    peak[0] = hn::Max(hn::Max(peak[0], more[0]), hn::Max(more[1], more[2]));
  }
  for (; key < keys; ++key) {
#pragma GCC unroll 4
    for (int c = 0; c < kColumns; ++c) peak[c] = hn::Max(hn::LoadU(f, s + key * stride + c * kLanes), peak[c]);
  }
  bool moved = false;
#pragma GCC unroll 4
  for (int c = 0; c < kColumns; ++c) {
    const V old = hn::LoadU(f, run.peak + c * kLanes);
    hn::StoreU(peak[c], f, run.peak + c * kLanes);
    moved |= !hn::AllTrue(f, hn::Eq(old, peak[c]));
    peak[c] = hn::IfThenZeroElse(hn::Eq(peak[c], hn::Set(f, kMinusInf)), peak[c]);
    hn::StoreU(Exp2Neg(f, hn::Sub(old, peak[c])), f, run.shrink + c * kLanes);
    mass[c] = hn::Zero(f);
  }
  for (int a = 0; a < keys; ++a) {
#pragma GCC unroll 4
    for (int c = 0; c < kColumns; ++c) {
      float* at = s + a * stride + c * kLanes;
      const V p = Exp2Neg(f, hn::Sub(hn::LoadU(f, at), peak[c]));
      hn::StoreU(p, f, at);
      mass[c] = hn::Add(mass[c], p);
    }
  }
#pragma GCC unroll 4
  for (int c = 0; c < kColumns; ++c) {
    const V shrink = hn::LoadU(f, run.shrink + c * kLanes);
    float* at = run.mass + c * kLanes;
    hn::StoreU(hn::MulAdd(hn::LoadU(f, at), shrink, mass[c]), f, at);
  }
  return moved;
}

#if FOVEA_REGISTERS == 32
constexpr int kSoftmaxColumns = 4;
#else
constexpr int kSoftmaxColumns = 2;
#endif

HWY_INLINE bool online_softmax(float* s, int stride, int columns, int keys, const Running& run) {
  bool moved = false;
  int c = 0;
  const auto from = [&](int at) { return Running{run.peak + at, run.mass + at, run.shrink + at}; };
  for (; c + kSoftmaxColumns * kLanes <= columns; c += kSoftmaxColumns * kLanes) {
    moved |= online_softmax<kSoftmaxColumns>(s + c, stride, keys, from(c));
  }
  for (; c + 2 * kLanes <= columns; c += 2 * kLanes) moved |= online_softmax<2>(s + c, stride, keys, from(c));
  for (; c < columns; c += kLanes) moved |= online_softmax<1>(s + c, stride, keys, from(c));
  return moved;
}

// to = factor * from, which may be the same row.
HWY_INLINE void scaled_row(const float* from, float* to, std::int64_t width, float factor) {
  const F f;
  const V by = hn::Set(f, factor);
  over_row(
      width, [&](std::int64_t d) { hn::StoreU(hn::Mul(by, hn::LoadU(f, from + d)), f, to + d); },
      [&](std::int64_t d, auto mask) { store_first(hn::Mul(by, load_first(mask, f, from + d)), mask, f, to + d); });
}

// The weighted sum pair by pair, for a tile that hides some pairs and whose values are not all finite: 0 * NaN.
// The weight of pair (key a, query b) is at s + a * key_step + b * query_step.
template <class Head>
HWY_INLINE void add_seen_values(const Head& head, const Tile& t, const float* s, int key_step, int query_step,
                                float* sum, std::int64_t sum_stride) {
  const F f;
  for (int b = 0; b < t.queries; ++b) {
    float* to = sum + b * sum_stride;
    for (int a = 0; a < t.keys; ++a) {
      if (!is_visible(head.visibility, t, a, b)) continue;
      const V p = hn::Set(f, s[a * key_step + b * query_step]);
      const float* v = head.v + (t.key0 + a) * head.v_stride;
      over_row(
          head.value_dim,
          [&](std::int64_t e) { hn::StoreU(hn::MulAdd(p, hn::LoadU(f, v + e), hn::LoadU(f, to + e)), f, to + e); },
          [&](std::int64_t e, auto mask) {
            const V old = load_first(mask, f, to + e);
            store_first(hn::MulAdd(p, load_first(mask, f, v + e), old), mask, f, to + e);
          });
    }
  }
}

// 1 / mass, and what dropout wants kept weights multiplied with; 0 for a query without visible keys.
HWY_INLINE void invert_mass(const Running& run, int columns, float dropout_rate, float* inverse) {
  const F f;
  const V one = hn::Set(f, 1 / (1 - dropout_rate));
  for (int c = 0; c < columns; c += kLanes) {
    const V mass = hn::LoadU(f, run.mass + c);
    hn::StoreU(hn::IfThenZeroElse(hn::Eq(mass, hn::Zero(f)), hn::Div(one, mass)), f, inverse + c);
  }
}

// What a softmax begins with: a sink is a key that has been seen already.
HWY_INLINE float first_peak(const float* sink) {
  return sink == nullptr ? kMinusInf : *sink * kLog2eFloat;
}
HWY_INLINE float first_mass(const float* sink) {
  return sink == nullptr ? 0.0F : 1.0F;
}

template <class Head, class Scores>
HWY_INLINE void forward_block(const Head& head, Scores& scores, std::int64_t row0, int rows, Carve carve) {
  const F f;
  const int columns = whole_vectors(rows);
  float* s = carve.floats(kQueryTile * kKeyTile);
  float* memory = carve.floats(kAdjustFloats);
  const Running run = {carve.floats(kQueryTile), carve.floats(kQueryTile), carve.floats(kQueryTile)};
  float* inverse = carve.floats(kQueryTile);
  for (int c = 0; c < columns; c += kLanes) {
    hn::StoreU(hn::Set(f, first_peak(head.sink)), f, run.peak + c);
    hn::StoreU(hn::Set(f, first_mass(head.sink)), f, run.mass + c);
  }
  // The sum is kept in `out` where whole vectors fit there.
  const bool direct = head.value_dim % kLanes == 0;
  const int padded = whole_vectors(head.value_dim);
  float* sum = direct ? head.out + row0 * head.out_stride : carve.floats(kQueryTile * padded);
  const std::int64_t sum_stride = direct ? head.out_stride : padded;
  float* value_memory = direct ? nullptr : carve.floats(kKeyTile * padded);

  scores.take_rows(row0, rows);
  TileWalk walk(head.visibility, row0, rows, {0, head.keys});
  bool first = true;
  bool divided = false;  // by the mass
  Tile t;
  while (walk.next(t)) {
    const int keys = t.keys;
    scores.tile(t, s, columns);
    if (head.change) change_scores(head.change, t, s, columns, nullptr);
    const bool hidden = t.adjusted && adjust(head.visibility, t, s, columns, memory);
    const bool moved = online_softmax(s, columns, columns, keys, run) && !first;
    if (head.dropout.rate > 0) drop(head.dropout, head.keys, t, s, columns);
    const float* v = head.v + t.key0 * head.v_stride;
    if (hidden && !all_finite(v, head.v_stride, keys, head.value_dim)) {
      for (int b = 0; b < rows; ++b) {
        float* row = sum + b * sum_stride;
        if (first) __builtin_memset(row, 0, sizeof(float) * head.value_dim);
        if (moved) scaled_row(row, row, head.value_dim, run.shrink[b]);
      }
      add_seen_values(head, t, s, columns, 1, sum, sum_stride);
    } else {
      const Rows values = padded_rows(v, head.v_stride, keys, head.value_dim, value_memory);
      divided = !walk.more();
      if (divided) invert_mass(run, columns, head.dropout.rate, inverse);
      multiply_transposed({.m = rows,
                           .n = padded,
                           .k = keys,
                           .a = s,
                           .a_stride = columns,
                           .b = values.data,
                           .b_stride = values.stride,
                           .c = sum,
                           .c_stride = sum_stride,
                           .add = !first,
                           .before = moved ? run.shrink : nullptr,
                           .after = divided ? inverse : nullptr,
                           .from = -t.to,
                           .to = -t.from});
    }
    first = false;
  }
  __builtin_memcpy(head.peak + row0, run.peak, sizeof(float) * static_cast<std::size_t>(rows));
  __builtin_memcpy(head.mass + row0, run.mass, sizeof(float) * static_cast<std::size_t>(rows));
  if (divided && direct) return;
  if (!divided) invert_mass(run, columns, head.dropout.rate, inverse);
  for (int b = 0; b < rows; ++b) {
    float* out = head.out + (row0 + b) * head.out_stride;
    if (first) {
      __builtin_memset(out, 0, sizeof(float) * head.value_dim);
    } else {
      scaled_row(sum + b * sum_stride, out, head.value_dim, divided ? 1 : inverse[b]);
    }
  }
}

template <class Head, class Scores>
HWY_INLINE void forward_rows(const Head& head, Scores& scores, Range rows, Carve carve) {
  for (std::int64_t row0 = rows.begin; row0 < rows.end; row0 += kQueryTile) {
    forward_block(head, scores, row0, static_cast<int>(least<std::int64_t>(kQueryTile, rows.end - row0)), carve);
  }
}

}  // namespace
}  // namespace fovea::kernels::FOVEA_ISA
