// Elementwise functions. An output may be one of the inputs; otherwise the arrays do not overlap.
#pragma once

#include <cstddef>

#include "kernels/activation.hpp"

namespace fovea::kernels {

/// y = f(x).
using Map = void (*)(const float* x, float* y, std::size_t n);
/// dx = g(v) * dy, or dx += with `add`. The comment of each kernel says what v is: the input x or the output y of the
/// forward.
using MapGrad = void (*)(const float* v, const float* dy, float* dx, std::size_t n, bool add);

struct MathKernels {
  Map exp;                      // 1 ulp; subnormal results, inf and NaN as in libm
  Map exp2;                     // 2 ulp
  Map exp_neg;                  // for x <= 0 (softmax): 1 ulp; 0 where e^x is below the smallest normal number
  Map exp2_neg;                 // for x <= 0 (tiled softmax): 2.6 ulp; 0 for x <= -127
  Map tanh;                     // 5 ulp, never beyond 1
  Map sigmoid;                  // 3 ulp, also relative to the small values at negative x
  Map relu;                     // max(x, 0); NaN stays
  Map leaky_relu;               // x for x > 0, else kLeakySlope x
  Map gelu;                     // x Phi(x), exact form, 5 ulp
  Map gelu_tanh;                // the approximation by tanh: 6 ulp for x >= -1, within 5e-7 below
  Map swish;                    // x sigmoid(x), 5 ulp for x >= -87
  Map log;                      // natural logarithm
  MapGrad exp_backward;         // of y = exp(x): dy * y
  MapGrad log_backward;         // of x: dy / x
  MapGrad tanh_backward;        // of y = tanh(x): dy * (1 - y^2)
  MapGrad sigmoid_backward;     // of y = sigmoid(x): dy * y * (1 - y)
  MapGrad relu_backward;        // of y = relu(x), or of x: dy where it is > 0
  MapGrad leaky_relu_backward;  // of y = leaky_relu(x), or of x: dy where it is > 0, else kLeakySlope dy
  MapGrad gelu_backward;        // of x: dy * (Phi(x) + x phi(x))
  MapGrad gelu_tanh_backward;   // of x
  MapGrad swish_backward;       // of x: dy * s (1 + x (1 - s)), s = sigmoid(x)
  void (*add)(const float* a, const float* b, float* y, std::size_t n);      // y = a + b
  void (*sub)(const float* a, const float* b, float* y, std::size_t n);      // y = a - b
  void (*mul)(const float* a, const float* b, float* y, std::size_t n);      // y = a * b
  void (*mul_add)(const float* a, const float* b, float* y, std::size_t n);  // y += a * b
  void (*add_in_place)(const float* x, float* y, std::size_t n);             // y += x
  void (*scale)(float s, const float* x, float* y, std::size_t n);           // y = s * x
  void (*axpy)(float s, const float* x, float* y, std::size_t n);            // y += s * x

  /// The map of an activation; null for none.
  [[nodiscard]] Map of(Activation activation) const {
    switch (activation) {
      case Activation::relu:
        return relu;
      case Activation::leaky_relu:
        return leaky_relu;
      case Activation::gelu:
        return gelu;
      case Activation::gelu_tanh:
        return gelu_tanh;
      case Activation::swish:
        return swish;
      case Activation::tanh:
        return tanh;
      case Activation::sigmoid:
        return sigmoid;
      case Activation::none:
        break;
    }
    return nullptr;
  }
};

}  // namespace fovea::kernels
