// Matrix products.
#pragma once

#include <cstdint>

#include "kernels/activation.hpp"
#include "kernels/packed_matrix.hpp"
#include "kernels/random.hpp"

namespace fovea::kernels {

/// What is done to a product while it is in the cache: C = dropout(activation(op(A) op(B) + beta C + bias)).
struct Epilogue {
  const float* bias = nullptr;  // [n], added to each row
  Activation activation = Activation::none;
  Dropout dropout = {};  // value i of the n in a row counts from row * n + i
};

/// C[m,n] = op(A) op(B) + beta C, on one thread and in fp32. op(A) is [m,k]: with Trans::yes, A is stored as [k,m].
/// lda, ldb and ldc are the distances between rows as stored. beta 0 does not read C. The same row of A and the same B
/// give the same bytes whatever m and the row's position are.
void gemm(Trans ta, Trans tb, std::int64_t m, std::int64_t n, std::int64_t k, const float* a, std::int64_t lda,
          const float* b, std::int64_t ldb, float beta, float* c, std::int64_t ldc, const Epilogue& epilogue = {});

/// The same with the work split over the pool, and in the precision() that is set; in fp32, the same bytes.
void parallel_gemm(Trans ta, Trans tb, std::int64_t m, std::int64_t n, std::int64_t k, const float* a, std::int64_t lda,
                   const float* b, std::int64_t ldb, float beta, float* c, std::int64_t ldc,
                   const Epilogue& epilogue = {});

/// C[m,n] = A[m,k] B[k,n] + beta C with a B that was packed before, in the precision it was packed for; the same bytes
/// as gemm gives with the kernels that packed it, or in bf16 parallel_gemm.
void gemm_packed(std::int64_t m, const float* a, std::int64_t lda, const PackedMatrix& b, float beta, float* c,
                 std::int64_t ldc, const Epilogue& epilogue = {});
void parallel_gemm_packed(std::int64_t m, const float* a, std::int64_t lda, const PackedMatrix& b, float beta, float* c,
                          std::int64_t ldc, const Epilogue& epilogue = {});

/// What a thread gets of a product whose columns are visited comes in so many parts, so that one that is late gets
/// less.
constexpr int kPartsPerThread = 4;

/// Gets A B + bias, some columns at a time while they are in the cache: `values` [m, n], rows `stride` apart, are the
/// columns `first` to first + n. Calls come from all threads; those of one `part` (0 to kPartsPerThread * threads() -
/// 1) come in order from one, and lower parts have lower columns.
struct ColumnsVisitor {
  void* context = nullptr;
  void (*visit)(void* context, int part, std::int64_t first, std::int64_t n, const float* values,
                std::int64_t stride) = nullptr;
};

/// The columns of A[m,k] B[k,n] + bias with a B that was packed before, `width` at a time (a multiple of 64), none of
/// which is stored: the same bytes as parallel_gemm_packed gives.
void visit_gemm_packed(std::int64_t m, const float* a, std::int64_t lda, const PackedMatrix& b, const float* bias,
                       std::int64_t width, const ColumnsVisitor& visitor);

}  // namespace fovea::kernels
