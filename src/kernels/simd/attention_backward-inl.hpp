// What the backward passes of both families share: a tile of weights recomputed from peak and mass, and of dS.
#pragma once

#include "kernels/simd/attention_dropout-inl.hpp"
#include "kernels/simd/attention_tile-inl.hpp"

namespace fovea::kernels::FOVEA_ISA {
namespace {

/// Of each query of a block, from the forward pass; each [kQueryTile].
struct Kept {
  float* peak;     // 0 for a query without visible keys
  float* inverse;  // 1 / mass; 0 for a query without visible keys
  float* drain;    // dout out' less the gradient of the log-sum-exp, times `factor`
};

// Lane by lane products of two rows, summed to one vector.
HWY_INLINE V dot_lanes(const float* x, const float* y, std::int64_t width) {
  const F f;
  V sum = hn::Zero(f);
  over_row(
      width, [&](std::int64_t d) { sum = hn::MulAdd(hn::LoadU(f, x + d), hn::LoadU(f, y + d), sum); },
      [&](std::int64_t d, auto mask) {
        sum = hn::MulAdd(load_first(mask, f, x + d), load_first(mask, f, y + d), sum);
      });
  return sum;
}

template <class Head>
HWY_INLINE void take_kept(const Head& head, const AttentionGrads& grads, std::int64_t row0, int rows, float factor,
                          const Kept& kept) {
  const F f;
  alignas(64) float sums[kLanes * kLanes];
  for (int c = 0; c < rows; c += kLanes) {
    const int here = least(kLanes, rows - c);
    for (int b = 0; b < kLanes; ++b) {
      const std::int64_t i = row0 + c + b;
      const V sum = b < here
                        ? dot_lanes(grads.dout + i * grads.dout_stride, head.out + i * head.out_stride, head.value_dim)
                        : hn::Zero(f);
      hn::StoreU(sum, f, sums + b * kLanes);
    }
    const auto lanes = hn::FirstN(f, static_cast<std::size_t>(here));
    const V mass = load_first(lanes, f, head.mass + row0 + c);
    const auto blind = hn::Eq(mass, hn::Zero(f));
    const V inverse = hn::Div(hn::Set(f, 1.0F), mass);
    hn::StoreU(hn::IfThenZeroElse(blind, load_first(lanes, f, head.peak + row0 + c)), f, kept.peak + c);
    hn::StoreU(hn::IfThenZeroElse(blind, inverse), f, kept.inverse + c);
    V drain = sum_each(sums);
    if (grads.dlog_sum != nullptr) drain = hn::Sub(drain, load_first(lanes, f, grads.dlog_sum + row0 + c));
    hn::StoreU(hn::IfThenZeroElse(blind, hn::Mul(hn::Set(f, factor), drain)), f, kept.drain + c);
  }
}

/// s: scores become weights, as the values met them (after dropout); ds: dout v' becomes P (dP - drain).
HWY_INLINE void weights_and_ds(const Tile& t, bool hidden, const float* keeps, float* HWY_RESTRICT s,
                               float* HWY_RESTRICT ds, int stride, const Kept& kept) {
  const F f;
  const V minus_inf = hn::Set(f, kMinusInf);
  for (int column = 0; column < t.queries; column += kLanes) {
    const V peak = hn::LoadU(f, kept.peak + column);
    const V inverse = hn::LoadU(f, kept.inverse + column);
    const V drain = hn::LoadU(f, kept.drain + column);
    if (keeps != nullptr) {
      for (int a = 0; a < t.keys; ++a) {
        const int at = a * stride + column;
        const V x = hn::LoadU(f, s + at);
        const auto visible = hn::Ne(x, minus_inf);
        const V keep = hn::LoadU(f, keeps + at);
        const V p = hn::Mul(inverse, Exp2Neg(f, hn::Sub(x, peak)));
        const V d = hn::Mul(p, hn::MulSub(keep, hn::LoadU(f, ds + at), drain));
        hn::StoreU(hn::Mul(keep, p), f, s + at);
        hn::StoreU(hn::IfThenElseZero(visible, d), f, ds + at);
      }
    } else if (hidden) {
      for (int a = 0; a < t.keys; ++a) {
        const int at = a * stride + column;
        const V x = hn::LoadU(f, s + at);
        const V p = hn::Mul(inverse, Exp2Neg(f, hn::Sub(x, peak)));
        const V d = hn::Mul(p, hn::Sub(hn::LoadU(f, ds + at), drain));
        hn::StoreU(p, f, s + at);
        hn::StoreU(hn::IfThenElseZero(hn::Ne(x, minus_inf), d), f, ds + at);
      }
    } else {
      for (int a = 0; a < t.keys; ++a) {
        const int at = a * stride + column;
        const V p = hn::Mul(inverse, Exp2Neg(f, hn::Sub(hn::LoadU(f, s + at), peak)));
        hn::StoreU(p, f, s + at);
        hn::StoreU(hn::Mul(p, hn::Sub(hn::LoadU(f, ds + at), drain)), f, ds + at);
      }
    }
  }
}

/// What modifiers are given is not a number where nothing was computed: such pairs are hidden, 0 takes their place.
HWY_INLINE void clear_hidden(const float* s, float* kept, std::int64_t n) {
  const F f;
  const V minus_inf = hn::Set(f, kMinusInf);
  for (std::int64_t at = 0; at < n; at += kLanes) {
    const auto hidden = hn::Eq(hn::LoadU(f, s + at), minus_inf);
    hn::StoreU(hn::IfThenZeroElse(hidden, hn::LoadU(f, kept + at)), f, kept + at);
  }
}

/// The gradient of changed scores becomes that of the scores. `kept`: as change_scores() left it.
HWY_INLINE void change_backward(const ScoreChange& change, const Tile& t, const float* kept, float* ds, int stride) {
  if (change.modify_backward != nullptr) {
    change.modify_backward(change.modifiers, {change.batch, change.head, t.row0, t.key0, t.queries, t.keys, 1, stride},
                           kept, ds);
  }
  if (!(change.softcap > 0)) return;
  // d(cap tanh(x / cap)) / dx = 1 - (y / cap)^2
  const F f;
  const V one = hn::Set(f, 1.0F);
  const V inverse = hn::Set(f, 1 / change.softcap);
  for (std::int64_t at = 0; at < static_cast<std::int64_t>(t.keys) * stride; at += kLanes) {
    const V y = hn::Mul(hn::LoadU(f, kept + at), inverse);
    hn::StoreU(hn::Mul(hn::LoadU(f, ds + at), hn::NegMulAdd(y, y, one)), f, ds + at);
  }
}

HWY_INLINE void add_dbias(const AttentionGrads& grads, const Tile& t, const float* ds, int stride) {
  for (int b = 0; b < t.queries; ++b) {
    float* to = grads.dbias + (t.row0 + b) * grads.dbias_row + t.key0 * grads.dbias_column;
    for (int a = 0; a < t.keys; ++a) to[a * grads.dbias_column] += ds[a * stride + b];
  }
}

HWY_INLINE void scale_tile(float* x, int keys, int columns, float factor) {
  const F f;
  const V by = hn::Set(f, factor);
  for (int at = 0; at < keys * columns; at += kLanes) hn::StoreU(hn::Mul(by, hn::LoadU(f, x + at)), f, x + at);
}

/// to += factor * from.
HWY_INLINE void add_scaled(float* to, const float* from, float factor, std::int64_t width) {
  const F f;
  const V by = hn::Set(f, factor);
  over_row(
      width,
      [&](std::int64_t d) { hn::StoreU(hn::MulAdd(by, hn::LoadU(f, from + d), hn::LoadU(f, to + d)), f, to + d); },
      [&](std::int64_t d, auto mask) {
        const V old = load_first(mask, f, to + d);
        store_first(hn::MulAdd(by, load_first(mask, f, from + d), old), mask, f, to + d);
      });
}

HWY_INLINE void clear_rows(const GradRows& rows, Range range, std::int64_t width) {
  for (std::int64_t r = range.begin; r < range.end; ++r) {
    __builtin_memset(rows.data + r * rows.stride, 0, sizeof(float) * static_cast<std::size_t>(width));
  }
}

/// Rows of a gradient as whole vectors: in place, or a copy in `memory` that give_back() writes back. `fresh`: what is
/// there is not wanted.
struct GradTile {
  float* data;
  std::int64_t stride;
};
HWY_INLINE GradTile borrow(const GradRows& rows, std::int64_t row0, int count, std::int64_t width, bool fresh,
                           float* memory) {
  float* from = rows.data + row0 * rows.stride;
  if (width % kLanes == 0) return {from, rows.stride};
  if (!fresh) (void)padded_rows(from, rows.stride, count, width, memory);
  return {memory, whole_vectors(width)};
}
HWY_INLINE void give_back(const GradTile& tile, const GradRows& rows, std::int64_t row0, int count,
                          std::int64_t width) {
  if (width % kLanes == 0) return;
  for (int r = 0; r < count; ++r) {
    __builtin_memcpy(rows.data + (row0 + r) * rows.stride, tile.data + r * tile.stride,
                     sizeof(float) * static_cast<std::size_t>(width));
  }
}

/// Writes or adds rows that were summed in `from`.
HWY_INLINE void put_rows(const GradRows& rows, std::int64_t row0, int count, std::int64_t width, const float* from,
                         int from_stride) {
  for (int r = 0; r < count; ++r) {
    float* to = rows.data + (row0 + r) * rows.stride;
    if (rows.add) {
      add_scaled(to, from + r * from_stride, 1, width);
    } else {
      __builtin_memcpy(to, from + r * from_stride, sizeof(float) * static_cast<std::size_t>(width));
    }
  }
}

}  // namespace
}  // namespace fovea::kernels::FOVEA_ISA
