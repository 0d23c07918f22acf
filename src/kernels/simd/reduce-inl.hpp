// Sums and maxima over a row, with four accumulators so that the additions' latencies overlap. The order of the
// additions depends on the row's length alone.
#pragma once

#include "kernels/simd/rows-inl.hpp"

namespace fovea::kernels::FOVEA_ISA {
namespace {

/// v, with 0 in the lanes that do not count.
HWY_INLINE Floats zero_rest(const WholeLanes&, Floats v) {
  return v;
}
HWY_INLINE Floats zero_rest(const FirstLanes& lanes, Floats v) {
  return hn::IfThenElseZero(lanes.mask, v);
}
/// v, with `other` in the lanes that do not count.
HWY_INLINE Floats fill_rest(const WholeLanes&, Floats v, Floats) {
  return v;
}
HWY_INLINE Floats fill_rest(const FirstLanes& lanes, Floats v, Floats other) {
  return hn::IfThenElse(lanes.mask, v, other);
}

/// The sum of body(lanes, i) over 0 <= i < n.
template <class Body>
HWY_INLINE float sum_over(std::int64_t n, const Body& body) {
  constexpr auto kStep = static_cast<std::int64_t>(kLanes);
  const WholeLanes whole;
  Floats a = hn::Zero(F());
  Floats b = a;
  Floats c = a;
  Floats e = a;
  std::int64_t i = 0;
  for (; i + 4 * kStep <= n; i += 4 * kStep) {
    a = hn::Add(a, body(whole, i));
    b = hn::Add(b, body(whole, i + kStep));
    c = hn::Add(c, body(whole, i + 2 * kStep));
    e = hn::Add(e, body(whole, i + 3 * kStep));
  }
  for (; i + kStep <= n; i += kStep) a = hn::Add(a, body(whole, i));
  if (i < n) {
    const FirstLanes first{hn::FirstN(F(), static_cast<std::size_t>(n - i))};
    b = hn::Add(b, zero_rest(first, body(first, i)));
  }
  return hn::GetLane(hn::SumOfLanes(F(), hn::Add(hn::Add(a, b), hn::Add(c, e))));
}

/// The largest of x; -inf when n is 0. NaN may or may not be noticed.
HWY_INLINE float max_over(const float* x, std::int64_t n) {
  constexpr auto kStep = static_cast<std::int64_t>(kLanes);
  const F f;
  const Floats lowest = hn::Set(f, -__builtin_inff());
  Floats a = lowest;
  Floats b = lowest;
  std::int64_t i = 0;
  for (; i + 2 * kStep <= n; i += 2 * kStep) {
    a = hn::Max(a, hn::LoadU(f, x + i));
    b = hn::Max(b, hn::LoadU(f, x + i + kStep));
  }
  for (; i + kStep <= n; i += kStep) a = hn::Max(a, hn::LoadU(f, x + i));
  if (i < n) {
    const FirstLanes first{hn::FirstN(f, static_cast<std::size_t>(n - i))};
    b = hn::Max(b, fill_rest(first, first.load(x + i), lowest));
  }
  return hn::GetLane(hn::MaxOfLanes(f, hn::Max(a, b)));
}

/// Stores v, or adds it to what is stored there.
template <bool kAdd, class Lanes>
HWY_INLINE void put(const Lanes& lanes, Floats v, float* to) {
  if constexpr (kAdd) v = hn::Add(v, lanes.load(to));
  lanes.store(v, to);
}

}  // namespace
}  // namespace fovea::kernels::FOVEA_ISA
