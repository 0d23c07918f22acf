// A weight matrix that a time loop multiplies with at every step: packed once per call, or once for all.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "fovea/packed_weight.hpp"
#include "fovea/tensor.hpp"
#include "fovea/threads.hpp"
#include "kernels/gemm.hpp"
#include "tensor/matrix_of.hpp"

namespace fovea {

/// op(B) [k, n] for products with few rows at a time: on the caller's thread inside parallel work, else on all of them.
class StepMatrix {
 public:
  StepMatrix() = default;
  /// `weights` is [k, n], or [n, k] with Trans::yes; its rows need not be adjacent.
  StepMatrix(kernels::Trans trans, const Tensor& weights, Storage storage = Storage::f32)
      : packed_(trans, weights.dim(trans == kernels::Trans::no ? 0 : 1),
                weights.dim(trans == kernels::Trans::no ? 1 : 0), weights.data(), weights.stride(0), storage) {}
  /// One that is packed already.
  explicit StepMatrix(std::shared_ptr<const PackedWeight> shared) : shared_(std::move(shared)) {}

  explicit operator bool() const { return shared_ != nullptr || static_cast<bool>(packed_); }
  [[nodiscard]] std::int64_t k() const { return matrix().rows(); }
  [[nodiscard]] std::int64_t n() const { return matrix().columns(); }

  /// C[m,n] = A[m,k] op(B) + beta C.
  void multiply(std::int64_t m, const float* a, std::int64_t lda, float beta, float* c, std::int64_t ldc) const {
    const auto product = free_threads() == 1 ? kernels::gemm_packed : kernels::parallel_gemm_packed;
    product(m, a, lda, matrix(), beta, c, ldc, {});
  }

 private:
  [[nodiscard]] const kernels::PackedMatrix& matrix() const { return shared_ ? matrix_of(*shared_) : packed_; }

  kernels::PackedMatrix packed_;
  std::shared_ptr<const PackedWeight> shared_;
};

}  // namespace fovea
