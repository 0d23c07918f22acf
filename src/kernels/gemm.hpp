// Matrix products.
#pragma once

#include <cstdint>

namespace fovea::kernels {

/// Whether an operand is used as it stands or transposed.
enum class Trans { no, yes };

/// C[m,n] = op(A) op(B) + beta C, on one thread. op(A) is [m,k]: with Trans::yes, A is stored as [k,m]. lda, ldb and ldc
/// are the distances between rows as stored. beta 0 does not read C. The same row of A and the same B give the same
/// bytes whatever m is and wherever the row stands.
void gemm(Trans ta, Trans tb, std::int64_t m, std::int64_t n, std::int64_t k, const float* a, std::int64_t lda,
          const float* b, std::int64_t ldb, float beta, float* c, std::int64_t ldc);

/// The same with the work split over the pool.
void parallel_gemm(Trans ta, Trans tb, std::int64_t m, std::int64_t n, std::int64_t k, const float* a, std::int64_t lda,
                   const float* b, std::int64_t ldb, float beta, float* c, std::int64_t ldc);

}  // namespace fovea::kernels
