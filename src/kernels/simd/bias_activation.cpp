#include "kernels/simd/random-inl.hpp"
#include "kernels/simd/reduce-inl.hpp"
#include "kernels/simd/row_functions.hpp"
#include "kernels/simd/vector_math-inl.hpp"

namespace fovea::kernels::FOVEA_ISA {
namespace {

template <Activation kF>
HWY_INLINE Floats activate(Floats x) {
  const F f;
  if constexpr (kF == Activation::relu) return Relu(f, x);
  if constexpr (kF == Activation::leaky_relu) return LeakyRelu(f, x);
  if constexpr (kF == Activation::gelu) return Gelu(f, x);
  if constexpr (kF == Activation::gelu_tanh) return GeluTanh(f, x);
  if constexpr (kF == Activation::swish) return Swish(f, x);
  if constexpr (kF == Activation::tanh) return Tanh(f, x);
  if constexpr (kF == Activation::sigmoid) return Sigmoid(f, x);
  return x;
}

// dy * f': from x where gradient_needs_x(), from y for the others.
template <Activation kF>
HWY_INLINE Floats times_slope(Floats saved, Floats dy) {
  const F f;
  if constexpr (kF == Activation::relu) return ReluGrad(f, saved, dy);
  if constexpr (kF == Activation::leaky_relu) return LeakyReluGrad(f, saved, dy);
  if constexpr (kF == Activation::gelu) return GeluGrad(f, saved, dy);
  if constexpr (kF == Activation::gelu_tanh) return GeluTanhGrad(f, saved, dy);
  if constexpr (kF == Activation::swish) return SwishGrad(f, saved, dy);
  if constexpr (kF == Activation::tanh) return TanhGrad(f, saved, dy);
  if constexpr (kF == Activation::sigmoid) return SigmoidGrad(f, saved, dy);
  return dy;
}

template <Activation kF, bool kDrop>
void forward(const BiasActivation& b) {
  const F f;
  const DropoutMask mask(b.dropout);
  const Floats scale = hn::Set(f, mask.scale());
  for (std::int64_t r = 0; r < b.rows; ++r) {
    const std::int64_t first = r * b.width;
    for_lanes(b.width, [&](const auto& lanes, std::int64_t i) HWY_ATTR {
      Floats v = lanes.load(b.x + first + i);
      if (b.bias != nullptr) v = hn::Add(v, lanes.load(b.bias + i));
      v = activate<kF>(v);
      if constexpr (kDrop) v = hn::IfThenZeroElse(mask.dropped(f, first + i), hn::Mul(v, scale));
      lanes.store(v, b.y + first + i);
    });
  }
}

template <Activation kF, bool kDrop>
void backward(const BiasActivationBackward& b) {
  const F f;
  const DropoutMask mask(b.dropout);
  const Floats scale = hn::Set(f, mask.scale());
  const Floats unscale = hn::Set(f, 1 - b.dropout.rate);
  for (std::int64_t r = 0; r < b.rows; ++r) {
    const std::int64_t first = r * b.width;
    for_lanes(b.width, [&](const auto& lanes, std::int64_t i) HWY_ATTR {
      Floats saved = hn::Zero(f);
      if constexpr (gradient_needs_x(kF)) {
        saved = lanes.load(b.x + first + i);
        if (b.bias != nullptr) saved = hn::Add(saved, lanes.load(b.bias + i));
      } else if constexpr (kF != Activation::none) {
        saved = lanes.load(b.y + first + i);
        // What was dropped was 0 and has no gradient; what was kept goes back to before dropout.
        if constexpr (kDrop && kF != Activation::relu) saved = hn::Mul(saved, unscale);
      }
      Floats d = lanes.load(b.dy + first + i);
      if constexpr (kDrop && kF == Activation::relu) {
        d = hn::Mul(d, scale);  // a dropped value is not > 0: no mask is needed
      } else if constexpr (kDrop) {
        d = hn::IfThenZeroElse(mask.dropped(f, first + i), hn::Mul(d, scale));
      }
      d = times_slope<kF>(saved, d);
      if (b.dbias != nullptr) lanes.store(hn::Add(d, lanes.load(b.dbias + i)), b.dbias + i);
      if (b.add) d = hn::Add(d, lanes.load(b.dx + first + i));
      lanes.store(d, b.dx + first + i);
    });
  }
}

}  // namespace

#define FOVEA_CHOOSE(direction, b)                      \
  switch (b.activation) {                               \
    case Activation::none:                              \
      FOVEA_WITH(direction, Activation::none, b);       \
      break;                                            \
    case Activation::relu:                              \
      FOVEA_WITH(direction, Activation::relu, b);       \
      break;                                            \
    case Activation::leaky_relu:                        \
      FOVEA_WITH(direction, Activation::leaky_relu, b); \
      break;                                            \
    case Activation::gelu:                              \
      FOVEA_WITH(direction, Activation::gelu, b);       \
      break;                                            \
    case Activation::gelu_tanh:                         \
      FOVEA_WITH(direction, Activation::gelu_tanh, b);  \
      break;                                            \
    case Activation::swish:                             \
      FOVEA_WITH(direction, Activation::swish, b);      \
      break;                                            \
    case Activation::tanh:                              \
      FOVEA_WITH(direction, Activation::tanh, b);       \
      break;                                            \
    case Activation::sigmoid:                           \
      FOVEA_WITH(direction, Activation::sigmoid, b);    \
      break;                                            \
  }
#define FOVEA_WITH(direction, f, b) b.dropout.rate > 0 ? direction<f, true>(b) : direction<f, false>(b)

void bias_activation(const BiasActivation& b) {
  FOVEA_CHOOSE(forward, b)
}
void bias_activation_backward(const BiasActivationBackward& b) {
  FOVEA_CHOOSE(backward, b)
}

#undef FOVEA_WITH
#undef FOVEA_CHOOSE

}  // namespace fovea::kernels::FOVEA_ISA
