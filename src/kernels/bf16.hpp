// Products of matrices rounded to bf16, with sums in fp32, in tiles of 16 by 16 by 32 as the CPU's tile registers have
// them.
#pragma once

#include <cstdint>

namespace fovea::kernels {

/// The upper half of a float.
using Bf16 = std::uint16_t;

constexpr std::int64_t kBf16Rows = 16;   // of a tile of A; columns of a tile of B
constexpr std::int64_t kBf16Depth = 32;  // of both

/// k as it is packed: in whole tiles.
constexpr std::int64_t bf16_depth(std::int64_t k) {
  return (k + kBf16Depth - 1) / kBf16Depth * kBf16Depth;
}

/// C[m,n] = start + A[m,k] B[k,n], where start is bias (a row of n) if given, else beta C.
///
/// A and B are packed: strips of 16 rows or columns, the last one filled up with zeros, each k / 32, rounded up, tiles.
/// Every value of C is summed over k in one order from `start` on, whatever m and n are and however k is cut into
/// blocks.
struct Bf16Block {
  std::int64_t m = 0, n = 0;
  std::int64_t depth = 0;    // tiles of k
  const Bf16* a = nullptr;   // [m / 16][depth][16 rows][32 of k]
  const Bf16* b = nullptr;   // [n / 16][b_strip / 512][16 pairs of k][16 columns][2]
  std::int64_t b_strip = 0;  // values from one strip to the next
  float beta = 0;
  const float* bias = nullptr;
  float* c = nullptr;
  std::int64_t c_row = 0;
};

struct Bf16Kernels {
  void (*block)(const Bf16Block& block);
  /// Round op(A)[m,k], or op(B)[k,n], to the nearest (ties to even) and pack it. `a` is stored as [m,k], for
  /// pack_a_transposed as [k,m]; `b` as [k,n], for pack_b_transposed as [n,k].
  void (*pack_a)(std::int64_t m, std::int64_t k, const float* a, std::int64_t lda, Bf16* tiles);
  void (*pack_a_transposed)(std::int64_t m, std::int64_t k, const float* a, std::int64_t lda, Bf16* tiles);
  /// The distance from a strip to the next is `strip` values.
  void (*pack_b)(std::int64_t k, std::int64_t n, const float* b, std::int64_t ldb, Bf16* tiles, std::int64_t strip);
  void (*pack_b_transposed)(std::int64_t k, std::int64_t n, const float* b, std::int64_t ldb, Bf16* tiles,
                            std::int64_t strip);
  /// The register-only loop that defines the peak: `rounds` rounds of products; returns how many floating-point
  /// operations it did.
  double (*peak)(std::int64_t rounds);
};

}  // namespace fovea::kernels
