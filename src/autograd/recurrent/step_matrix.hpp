// A weight matrix that a time loop multiplies with at every step.
#pragma once

#include <cstdint>

#include "fovea/tensor.hpp"
#include "kernels/gemm.hpp"

namespace fovea {

/// op(B) [k, n] for products with few rows at a time, one thread each. Keeps a share of the weights.
class StepMatrix {
 public:
  StepMatrix() = default;
  /// `weights` is [k, n], or [n, k] with Trans::yes; its rows may stand apart.
  StepMatrix(kernels::Trans trans, const Tensor& weights) : trans_(trans), weights_(weights) {}

  explicit operator bool() const { return static_cast<bool>(weights_); }
  [[nodiscard]] std::int64_t k() const { return weights_.dim(trans_ == kernels::Trans::no ? 0 : 1); }
  [[nodiscard]] std::int64_t n() const { return weights_.dim(trans_ == kernels::Trans::no ? 1 : 0); }

  /// C[m,n] = A[m,k] op(B) + beta C.
  void multiply(std::int64_t m, const float* a, std::int64_t lda, float beta, float* c, std::int64_t ldc) const {
    kernels::gemm(kernels::Trans::no, trans_, m, n(), k(), a, lda, weights_.data(), weights_.stride(0), beta, c, ldc);
  }

 private:
  kernels::Trans trans_ = kernels::Trans::no;
  Tensor weights_;
};

}  // namespace fovea
