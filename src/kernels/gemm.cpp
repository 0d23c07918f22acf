#include "kernels/gemm.hpp"

namespace fovea::kernels {

void gemm(Trans ta, Trans tb, std::int64_t m, std::int64_t n, std::int64_t k, const float* a, std::int64_t lda,
          const float* b, std::int64_t ldb, float beta, float* c, std::int64_t ldc) {
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      float sum = 0;
      for (std::int64_t p = 0; p < k; ++p) {
        sum += (ta == Trans::no ? a[i * lda + p] : a[p * lda + i]) * (tb == Trans::no ? b[p * ldb + j] : b[j * ldb + p]);
      }
      c[i * ldc + j] = sum + (beta == 0.0F ? 0.0F : beta * c[i * ldc + j]);
    }
  }
}

void parallel_gemm(Trans ta, Trans tb, std::int64_t m, std::int64_t n, std::int64_t k, const float* a,
                   std::int64_t lda, const float* b, std::int64_t ldb, float beta, float* c, std::int64_t ldc) {
  gemm(ta, tb, m, n, k, a, lda, b, ldb, beta, c, ldc);
}

}  // namespace fovea::kernels
