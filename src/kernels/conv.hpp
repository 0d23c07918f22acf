// Kernels of convolutions other than matrix products: gated linear units and pooling, one row of channels per call.
#pragma once

#include <cstdint>

namespace fovea::kernels {

struct ConvKernels {
  /// A gated linear unit (Dauphin et al. 2017): out = a s(g) with a = sums[0..d) + bias, g = sums[d..2d) + bias.
  /// `sums` [2d] is overwritten by a and s(g), which the backward needs.
  void (*glu_forward)(std::int64_t d, float* sums, const float* bias, float* out);
  /// From `kept` [2d] (a, then s) and dout [d] to the gradients of the sums, in place:
  /// da = dout s, dg = dout a s (1 - s). They are added to dbias [2d] too.
  void (*glu_backward)(std::int64_t d, float* kept, const float* dout, float* dbias);
  /// Where x > best, or x is NaN and best is not: best = x and where = place. So the first of equals stays, and a NaN
  /// is not lost.
  void (*max_update)(std::int64_t n, const float* x, std::int32_t place, float* best, std::int32_t* where);
  /// dx += dy where `where` is `place`.
  void (*max_gradient)(std::int64_t n, const float* dy, const std::int32_t* where, std::int32_t place, float* dx);
};

}  // namespace fovea::kernels
