// What each instruction set brings to matrix products: tiles held in registers, and packing. gemm.cpp cuts the work
// into blocks that fit the caches and calls these.
#pragma once

#include <cstdint>

namespace fovea::kernels {

/// Memory that will be needed soon: `rows` rows of `width` floats, `stride` apart.
struct GemmFetch {
  const float* first = nullptr;
  std::int64_t rows = 0, width = 0, stride = 0;
};

/// One block of a product: C[m,n] = start + A[m,k] B[k,n], where start is bias (a row of n) if given, else beta C.
///
/// Every value of C is one chain of fused multiply-adds over k, in order and from `start` on. So neither the tile it
/// falls into nor a cut of k into blocks (the later ones with beta 1) changes a byte of it.
struct GemmBlock {
  std::int64_t m = 0, n = 0, k = 0;
  const float* a = nullptr;  // A(i,p) = a[i * a_row + p * a_k]; one of the two distances is 1
  std::int64_t a_row = 0, a_k = 1;
  bool a_packed = false;     // a comes from pack_a_transposed
  const float* b = nullptr;  // column j of row p = b[j / nr * b_panel + p * b_k + j % nr]
  std::int64_t b_k = 0, b_panel = 0;
  bool b_padded = false;  // the last panel may be read to its full width
  float beta = 0;
  const float* bias = nullptr;
  float* c = nullptr;
  std::int64_t c_row = 0;
  GemmFetch fetch[2];  // brought to the second-level cache meanwhile, the first one first
};

struct GemmKernels {
  std::int64_t mr, nr;    // rows and columns of a register tile
  std::int64_t a_stride;  // of pack_a_transposed, below
  void (*block)(const GemmBlock& block);
  /// Packs op(B)[k,n] into panels of nr columns, [n / nr][k][nr]; the columns of the last
  /// panel from n on are never used. ldb is the distance between stored rows: pack_b reads B as [k,n],
  /// pack_b_transposed as [n,k].
  void (*pack_b)(std::int64_t k, std::int64_t n, const float* b, std::int64_t ldb, float* panels);
  void (*pack_b_transposed)(std::int64_t k, std::int64_t n, const float* b, std::int64_t ldb, float* panels);
  /// Packs A stored as [k,m] for a block of the same m and k: [m / mr, rounded up][k][a_stride].
  void (*pack_a_transposed)(std::int64_t m, std::int64_t k, const float* a, std::int64_t lda, float* tiles);
  /// Copies [rows,columns] to rows at a distance of `ldy`.
  void (*copy)(std::int64_t rows, std::int64_t columns, const float* x, std::int64_t ldx, float* y, std::int64_t ldy);
  /// The register-only loop that defines the peak: `rounds` rounds of multiply-adds; returns how many floating-point
  /// operations it did.
  double (*peak)(std::int64_t rounds);
};

}  // namespace fovea::kernels
