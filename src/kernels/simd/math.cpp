#include "kernels/math.hpp"

#include "kernels/simd/isa.hpp"
#include <hwy/contrib/math/math-inl.h>

namespace fovea::kernels::FOVEA_ISA {
namespace {

using F = hn::ScalableTag<float>;

void exp(const float* x, float* y, std::size_t n) {
  const F f;
  const std::size_t lanes = hn::Lanes(f);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(hn::Exp(f, hn::LoadU(f, x + i)), f, y + i);
  if (i < n) {
    const auto mask = hn::FirstN(f, n - i);
    hn::BlendedStore(hn::Exp(f, hn::MaskedLoad(mask, f, x + i)), mask, f, y + i);
  }
}

}  // namespace

extern const MathKernels math;
const MathKernels math = {.exp = exp};

}  // namespace fovea::kernels::FOVEA_ISA
