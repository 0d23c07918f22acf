// Rows of floats whose length need not be a multiple of a vector: a body is written once and runs on whole vectors and
// then on the rest, which is neither read nor written past its end.
#pragma once

#include "kernels/simd/map-inl.hpp"

namespace fovea::kernels::FOVEA_ISA {
namespace {

/// All lanes.
struct WholeLanes {
  HWY_INLINE Floats load(const float* p) const { return hn::LoadU(F(), p); }
  HWY_INLINE void store(Floats v, float* p) const { hn::StoreU(v, F(), p); }
};

/// The first lanes only; the others load as 0.
struct FirstLanes {
  hn::Mask<F> mask;
  HWY_INLINE Floats load(const float* p) const { return load_first(mask, F(), p); }
  HWY_INLINE void store(Floats v, float* p) const { store_first(v, mask, F(), p); }
};

/// body(lanes, i) for i = 0, L, 2L, … below n.
template <class Body>
HWY_INLINE void for_lanes(std::int64_t n, const Body& body) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(F()));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) body(WholeLanes(), i);
  if (i < n) body(FirstLanes{hn::FirstN(F(), static_cast<std::size_t>(n - i))}, i);
}

}  // namespace
}  // namespace fovea::kernels::FOVEA_ISA
