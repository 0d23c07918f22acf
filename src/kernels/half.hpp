// Half precision (IEEE binary16) as a form of storage.
#pragma once

#include <cstdint>

namespace fovea::kernels {

/// The bits of a number in half precision.
using Half = std::uint16_t;

struct HalfKernels {
  /// y = x, exactly.
  void (*widen)(std::int64_t n, const Half* x, float* y);
  /// y = x rounded to the nearest, ties to even; what is too large becomes infinite.
  void (*narrow)(std::int64_t n, const float* x, Half* y);
};

}  // namespace fovea::kernels
