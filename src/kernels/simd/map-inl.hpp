// Loops over arrays of float, in whole vectors and a masked tail, for every Highway kernel source.
#pragma once

#include "kernels/simd/isa.hpp"

namespace fovea::kernels::FOVEA_ISA {

/// The full vector of floats.
using F = hn::ScalableTag<float>;
using Floats = hn::Vec<F>;
constexpr std::size_t kLanes = sizeof(Floats) / sizeof(float);

/// y[i] = body(x[i]), body on vectors. Four vectors per turn, so that their latencies overlap.
template <class Body>
HWY_INLINE void MapArray(const float* x, float* y, std::size_t n, const Body& body) {
  const F f;
  std::size_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    const Floats a = body(hn::LoadU(f, x + i));
    const Floats b = body(hn::LoadU(f, x + i + kLanes));
    const Floats c = body(hn::LoadU(f, x + i + 2 * kLanes));
    const Floats e = body(hn::LoadU(f, x + i + 3 * kLanes));
    hn::StoreU(a, f, y + i);
    hn::StoreU(b, f, y + i + kLanes);
    hn::StoreU(c, f, y + i + 2 * kLanes);
    hn::StoreU(e, f, y + i + 3 * kLanes);
  }
  for (; i + kLanes <= n; i += kLanes) hn::StoreU(body(hn::LoadU(f, x + i)), f, y + i);
  if (i < n) {
    const auto mask = hn::FirstN(f, n - i);
    store_first(body(load_first(mask, f, x + i)), mask, f, y + i);
  }
}

/// y[i] = body(a[i], b[i]).
template <class Body>
HWY_INLINE void MapArrays(const float* a, const float* b, float* y, std::size_t n, const Body& body) {
  const F f;
  std::size_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    const Floats u = body(hn::LoadU(f, a + i), hn::LoadU(f, b + i));
    const Floats v = body(hn::LoadU(f, a + i + kLanes), hn::LoadU(f, b + i + kLanes));
    hn::StoreU(u, f, y + i);
    hn::StoreU(v, f, y + i + kLanes);
  }
  for (; i + kLanes <= n; i += kLanes) hn::StoreU(body(hn::LoadU(f, a + i), hn::LoadU(f, b + i)), f, y + i);
  if (i < n) {
    const auto mask = hn::FirstN(f, n - i);
    store_first(body(load_first(mask, f, a + i), load_first(mask, f, b + i)), mask, f, y + i);
  }
}

/// y[i] = body(a[i], b[i], y[i]).
template <class Body>
HWY_INLINE void UpdateArray(const float* a, const float* b, float* y, std::size_t n, const Body& body) {
  const F f;
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    hn::StoreU(body(hn::LoadU(f, a + i), hn::LoadU(f, b + i), hn::LoadU(f, y + i)), f, y + i);
  }
  if (i < n) {
    const auto mask = hn::FirstN(f, n - i);
    const Floats v = body(load_first(mask, f, a + i), load_first(mask, f, b + i), load_first(mask, f, y + i));
    store_first(v, mask, f, y + i);
  }
}

}  // namespace fovea::kernels::FOVEA_ISA
