// Small matrix products of attention's tiles: everything in L1 or L2, B and C in whole vectors, A one value at a time.
//
// Each value of C is one chain of multiply-adds over k in ascending order, whatever the tile's size: the same bytes
// whichever tile a row falls into.
#pragma once

#include <cstdint>

namespace fovea::kernels::FOVEA_ISA {

/// C[m, n] (+)= sum over k of A[m, k] B[k, n], with n a multiple of the vector's width.
struct Product {
  int m = 0, n = 0, k = 0;
  const float* a = nullptr;
  std::int64_t a_stride = 0;
  const float* b = nullptr;
  std::int64_t b_stride = 0;
  float* c = nullptr;
  std::int64_t c_stride = 0;
  bool add = false;
  const float* before = nullptr;  // [m]: what row m of C is multiplied with before it is added to; null: 1
  const float* after = nullptr;   // [m]: what row m of the result is multiplied with; null: 1
  // Only the band from <= x - m <= to matters, where x is n (banded_columns) or k: outside it C may be left as it is,
  // and A is known to be 0.
  int from = -(1 << 28), to = 1 << 28;
};

/// A stored [m, k]; only n in the band. What is outside may or may not be written. Neither `before` nor `after`.
void multiply_banded_columns(const Product& p);
/// A stored [m, k]; A is 0 for k outside the band.
void multiply(const Product& p);
/// A stored [k, m]; A is 0 for k outside the band.
void multiply_transposed(const Product& p);

}  // namespace fovea::kernels::FOVEA_ISA
