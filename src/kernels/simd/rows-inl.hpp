// Rows of floats whose length need not be a multiple of a vector: a body is written once and runs on whole vectors and
// then on the rest, which is neither read nor written past its end.
#pragma once

#include "kernels/simd/isa.hpp"

namespace fovea::kernels::FOVEA_ISA {
namespace {

using Floats = hn::ScalableTag<float>;
using Vec = hn::Vec<Floats>;

/// All lanes.
struct WholeLanes {
  HWY_INLINE Vec load(const float* p) const { return hn::LoadU(Floats(), p); }
  HWY_INLINE void store(Vec v, float* p) const { hn::StoreU(v, Floats(), p); }
};

/// The first lanes only; the others load as 0.
struct FirstLanes {
  hn::Mask<Floats> mask;
  HWY_INLINE Vec load(const float* p) const { return hn::MaskedLoad(mask, Floats(), p); }
  HWY_INLINE void store(Vec v, float* p) const { hn::BlendedStore(v, mask, Floats(), p); }
};

/// body(lanes, i) for i = 0, L, 2L, … below n.
template <class Body>
HWY_INLINE void for_lanes(std::int64_t n, const Body& body) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Floats()));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) body(WholeLanes(), i);
  if (i < n) body(FirstLanes{hn::FirstN(Floats(), static_cast<std::size_t>(n - i))}, i);
}

}  // namespace
}  // namespace fovea::kernels::FOVEA_ISA
