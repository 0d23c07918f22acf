// Dropout on the weights of a tile.
#pragma once

#include "kernels/simd/attention_tile-inl.hpp"
#include "kernels/simd/random-inl.hpp"

namespace fovea::kernels::FOVEA_ISA {
namespace {

// Calls body(index in the tile, which lanes are dropped) for all of a tile. Lane b of row a is weight number (row0 + b)
// * all_keys + key0 + a.
template <class Body>
HWY_INLINE void over_dropped(const WeightDropout& dropout, std::int64_t all_keys, const Tile& t, int stride,
                             Body body) {
  const F f;
  const hn::RebindToUnsigned<F> du;
  const DropoutMask mask({dropout.rate, dropout.seed, dropout.counter});
  const auto step = static_cast<std::uint32_t>(all_keys);
  const auto offset = hn::Mul(hn::Iota(du, 0), hn::Set(du, step));
  for (int a = 0; a < t.keys; ++a) {
    for (int column = 0; column < t.queries; column += kLanes) {
      const std::int64_t number = (t.row0 + column) * all_keys + t.key0 + a;
      body(a * stride + column, mask.dropped_at(f, number, offset, step * kLanes));
    }
  }
}

/// Makes 0 of the weights that are dropped; the factor 1 / (1 - rate) is the caller's.
HWY_INLINE void drop(const WeightDropout& dropout, std::int64_t all_keys, const Tile& t, float* s, int stride) {
  const F f;
  over_dropped(dropout, all_keys, t, stride,
               [&](int at, auto dropped) { hn::StoreU(hn::IfThenZeroElse(dropped, hn::LoadU(f, s + at)), f, s + at); });
}

/// 1 / (1 - rate) where a weight is kept, else 0.
HWY_INLINE void keep_factors(const WeightDropout& dropout, std::int64_t all_keys, const Tile& t, float* y, int stride) {
  const F f;
  const V factor = hn::Set(f, 1 / (1 - dropout.rate));
  over_dropped(dropout, all_keys, t, stride,
               [&](int at, auto dropped) { hn::StoreU(hn::IfThenZeroElse(dropped, factor), f, y + at); });
}

}  // namespace
}  // namespace fovea::kernels::FOVEA_ISA
