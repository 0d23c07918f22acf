// Half precision (IEEE binary16) as a form of storage.
#pragma once

#include <cstdint>

namespace fovea::kernels {

/// The bits of a number in half precision.
using Half = std::uint16_t;

/// C(i,j) += sum over p of A(i,p) B(p,j) for few rows: one chain of fused multiply-adds in the order of p, so that a
/// row has the bytes that GemmKernels::block gives it.
struct HalfRows {
  std::int64_t m = 0, n = 0, k = 0;  // m: at most kMostHalfRows
  const float* a = nullptr;          // [m, k]
  std::int64_t a_row = 0;
  const Half* b = nullptr;  // [n / nr, rounded up][k][nr]
  float beta = 0;
  const float* bias = nullptr;  // [n]; where the sum starts, instead of beta C(i,j)
  float* c = nullptr;
  std::int64_t c_row = 0;
};

constexpr std::int64_t kMostHalfRows = 6;

struct HalfKernels {
  /// y = x, exactly.
  void (*widen)(std::int64_t n, const Half* x, float* y);
  /// y = x rounded to the nearest, ties to even; what is too large becomes infinite.
  void (*narrow)(std::int64_t n, const float* x, Half* y);
  /// Null: widen, and multiply what is wide.
  void (*rows)(const HalfRows& rows);
};

}  // namespace fovea::kernels
