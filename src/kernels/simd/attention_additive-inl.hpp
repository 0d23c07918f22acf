// Tiles of scores of the additive family, w' tanh(a_i + b_j): lanes are the features, one pair (key, query) at a time.
#pragma once

#include "kernels/simd/attention_tile-inl.hpp"

namespace fovea::kernels::FOVEA_ISA {
namespace {

// ((x0 + x1) + (x2 + x3)) + …: the same tree as sum_each().
HWY_INLINE float sum_one(const float* x) {
  float fours[kLanes / 4];
  for (int g = 0; g < kLanes / 4; ++g) fours[g] = (x[4 * g] + x[4 * g + 1]) + (x[4 * g + 2] + x[4 * g + 3]);
#if defined(FOVEA_ISA_avx512)
  return (fours[0] + fours[1]) + (fours[2] + fours[3]);
#elif defined(FOVEA_ISA_neon)
  return fours[0];
#else
  return fours[0] + fours[1];
#endif
}

/// w' tanh(a_i + b_j), in base 2 unless head.change wants natural units.
struct AdditiveScores {
  const AdditiveHead& head;
  float* w;       // [whole vectors of dim], times score_factor(), then 0
  float* a_rows;  // padded copies, where dim is not whole vectors
  float* b_rows;
  Rows a{};

  static HWY_INLINE std::int64_t floats(std::int64_t dim) {
    return (kQueryTile + kKeyTile + 1) * whole_vectors(dim) + 64;
  }

  HWY_INLINE AdditiveScores(const AdditiveHead& h, Carve& carve)
      : head(h),
        w(carve.floats(whole_vectors(h.dim))),
        a_rows(carve.floats(kQueryTile * whole_vectors(h.dim))),
        b_rows(carve.floats(kKeyTile * whole_vectors(h.dim))) {
    for (int d = 0; d < whole_vectors(h.dim); ++d) w[d] = d < h.dim ? h.w[d] * score_factor(h.change) : 0;
  }

  HWY_INLINE void take_rows(std::int64_t row0, int rows) {
    a = padded_rows(head.a + row0 * head.a_stride, head.a_stride, rows, head.dim, a_rows);
  }

  // The products w t of one pair, summed to one vector; the t are kept `t_stride` apart where asked for.
  template <bool kKeep>
  HWY_INLINE V pair(const float* x, const float* y, float* t, std::int64_t t_stride) const {
    const F f;
    V sum = hn::Zero(f);
    for (int d = 0; d < whole_vectors(head.dim); d += kLanes) {
      const V tanh = Tanh(f, hn::Add(hn::LoadU(f, x + d), hn::LoadU(f, y + d)));
      if (kKeep) hn::StoreU(tanh, f, t + d / kLanes * t_stride);
      sum = hn::MulAdd(hn::LoadU(f, w + d), tanh, sum);
    }
    return sum;
  }

  /// kKeep: the tanh values of pair (a, b) are at t + (a * stride + b) * kLanes, vectors of features t_stride apart.
  template <bool kKeep>
  HWY_INLINE void tile(const Tile& t, float* s, int stride, float* tanhs, std::int64_t t_stride) {
    const F f;
    const Rows b = padded_rows(head.b + t.key0 * head.b_stride, head.b_stride, t.keys, head.dim, b_rows);
    alignas(64) float sums[kLanes * kLanes];
    for (int column = 0; column < t.queries; column += kLanes) {
      const int end = least(t.queries, column + kLanes);
      for (int k = 0; k < t.keys; ++k) {
        float* at = s + k * stride + column;
        const float* key = b.data + k * b.stride;
        // Outside the band the score does not matter: 0 stands for it.
        const int first = most(column, k + t.from);
        const int last = least(end, k + t.to + 1);
        const bool few = last - first < kLanes / 2;
        if (few) hn::StoreU(hn::Zero(f), f, at);
        for (int q = column; q < column + kLanes; ++q) {
          float* sum = sums + (q - column) * kLanes;
          if (q < first || q >= last) {
            if (!few) hn::StoreU(hn::Zero(f), f, sum);
            continue;
          }
          float* keep = tanhs + (k * stride + q) * static_cast<std::int64_t>(kLanes);
          hn::StoreU(pair<kKeep>(a.data + q * a.stride, key, keep, t_stride), f, sum);
          if (few) at[q - column] = sum_one(sum);
        }
        if (!few) hn::StoreU(sum_each(sums), f, at);
      }
    }
  }
  HWY_INLINE void tile(const Tile& t, float* s, int stride) { tile<false>(t, s, stride, nullptr, 0); }
};

}  // namespace
}  // namespace fovea::kernels::FOVEA_ISA
