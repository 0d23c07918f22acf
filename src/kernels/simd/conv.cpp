#include "kernels/conv.hpp"

#include "kernels/simd/rows-inl.hpp"
#include "kernels/simd/vector_math-inl.hpp"

namespace fovea::kernels::FOVEA_ISA {
namespace {

using Ints = hn::RebindToSigned<F>;

void glu_forward(std::int64_t d, float* sums, const float* bias, float* out) {
  for_lanes(d, [&](auto lanes, std::int64_t i) HWY_ATTR {
    const Floats a = hn::Add(lanes.load(sums + i), lanes.load(bias + i));
    const Floats s = Sigmoid(F(), hn::Add(lanes.load(sums + d + i), lanes.load(bias + d + i)));
    lanes.store(a, sums + i);
    lanes.store(s, sums + d + i);
    lanes.store(hn::Mul(a, s), out + i);
  });
}

void glu_backward(std::int64_t d, float* kept, const float* dout, float* dbias) {
  for_lanes(d, [&](auto lanes, std::int64_t i) HWY_ATTR {
    const Floats a = lanes.load(kept + i);
    const Floats s = lanes.load(kept + d + i);
    const Floats da = hn::Mul(lanes.load(dout + i), s);
    const Floats dg = hn::Mul(hn::Mul(da, a), hn::Sub(hn::Set(F(), 1.0F), s));
    lanes.store(da, kept + i);
    lanes.store(dg, kept + d + i);
    lanes.store(hn::Add(lanes.load(dbias + i), da), dbias + i);
    lanes.store(hn::Add(lanes.load(dbias + d + i), dg), dbias + d + i);
  });
}

// Places are moved as floats of the same bits.
HWY_INLINE float* bits(std::int32_t* p) {
  return reinterpret_cast<float*>(p);
}
HWY_INLINE const float* bits(const std::int32_t* p) {
  return reinterpret_cast<const float*>(p);
}

void max_update(std::int64_t n, const float* x, std::int32_t place, float* best, std::int32_t* where) {
  const Floats here = hn::BitCast(F(), hn::Set(Ints(), place));
  for_lanes(n, [&](auto lanes, std::int64_t i) HWY_ATTR {
    const Floats v = lanes.load(x + i);
    const Floats b = lanes.load(best + i);
    const auto better = hn::Or(hn::Gt(v, b), hn::AndNot(hn::IsNaN(b), hn::IsNaN(v)));
    lanes.store(hn::IfThenElse(better, v, b), best + i);
    lanes.store(hn::IfThenElse(better, here, lanes.load(bits(where) + i)), bits(where) + i);
  });
}

void max_gradient(std::int64_t n, const float* dy, const std::int32_t* where, std::int32_t place, float* dx) {
  const auto here = hn::Set(Ints(), place);
  for_lanes(n, [&](auto lanes, std::int64_t i) HWY_ATTR {
    const auto mine = hn::Eq(hn::BitCast(Ints(), lanes.load(bits(where) + i)), here);
    const Floats g = hn::IfThenElseZero(hn::RebindMask(F(), mine), lanes.load(dy + i));
    lanes.store(hn::Add(lanes.load(dx + i), g), dx + i);
  });
}

}  // namespace

extern const ConvKernels conv;
const ConvKernels conv = {
    .glu_forward = glu_forward,
    .glu_backward = glu_backward,
    .max_update = max_update,
    .max_gradient = max_gradient,
};

}  // namespace fovea::kernels::FOVEA_ISA
