#include "kernels/half.hpp"

#include "kernels/simd/isa.hpp"

namespace fovea::kernels::FOVEA_ISA {
namespace {

using F = hn::ScalableTag<float>;
using H = hn::Rebind<hwy::float16_t, F>;
using Bits = hn::RebindToUnsigned<H>;

void widen_halves(std::int64_t n, const Half* x, float* y) {
  const F f;
  const H h;
  const Bits bits;
  constexpr std::int64_t kLanes = hn::MaxLanes(F());
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    hn::StoreU(hn::PromoteTo(f, hn::BitCast(h, hn::LoadU(bits, x + i))), f, y + i);
  }
  if (i == n) return;
  alignas(64) Half in[kLanes] = {};
  alignas(64) float out[kLanes];
  for (std::int64_t j = i; j < n; ++j) in[j - i] = x[j];
  hn::Store(hn::PromoteTo(f, hn::BitCast(h, hn::Load(bits, in))), f, out);
  for (std::int64_t j = i; j < n; ++j) y[j] = out[j - i];
}

void narrow_floats(std::int64_t n, const float* x, Half* y) {
  const F f;
  const H h;
  const Bits bits;
  constexpr std::int64_t kLanes = hn::MaxLanes(F());
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    hn::StoreU(hn::BitCast(bits, hn::DemoteTo(h, hn::LoadU(f, x + i))), bits, y + i);
  }
  if (i == n) return;
  alignas(64) float in[kLanes] = {};
  alignas(64) Half out[kLanes];
  for (std::int64_t j = i; j < n; ++j) in[j - i] = x[j];
  hn::Store(hn::BitCast(bits, hn::DemoteTo(h, hn::Load(f, in))), bits, out);
  for (std::int64_t j = i; j < n; ++j) y[j] = out[j - i];
}

}  // namespace

extern const HalfKernels half;
const HalfKernels half = {.widen = widen_halves, .narrow = narrow_floats};

}  // namespace fovea::kernels::FOVEA_ISA
