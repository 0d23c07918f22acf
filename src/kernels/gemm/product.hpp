// A product on its way through the blocks: what is multiplied, the positions of its parts, and how each part ends.
#pragma once

#include <cstdint>

#include "kernels/bf16.hpp"
#include "kernels/gemm.hpp"
#include "kernels/gemm_kernels.hpp"
#include "kernels/half.hpp"
#include "kernels/int8.hpp"
#include "kernels/scratch.hpp"

namespace fovea::kernels {

// Rows of A and panels of B that this thread has copied.
extern thread_local Scratch a_scratch;
extern thread_local Scratch b_scratch;

inline std::int64_t round_up(std::int64_t value, std::int64_t step) {
  return (value + step - 1) / step * step;
}

/// Of the second-level cache, in floats.
std::int64_t l2_size();

struct Product {
  Trans ta, tb;
  std::int64_t m, n, k;
  const float* a;
  std::int64_t lda;
  const float* b;
  std::int64_t ldb;
  float beta;
  float* c;
  std::int64_t ldc;
  Epilogue epilogue;
  std::int64_t width;                 // of the whole product; this may be a part of its columns
  const float* panels = nullptr;      // of a B that is packed already: [n / nr][k][nr]
  const Bf16Kernels* bf16 = nullptr;  // multiplies in bf16
  const Bf16* tiles = nullptr;        // of a B that is packed for it already
  const HalfKernels* half = nullptr;  // widens
  const Half* halves = nullptr;       // a B that is packed in half precision: [n / nr][k][nr]
  const Int8Kernels* int8 = nullptr;  // multiplies in int8
  const std::int8_t* int8_panels = nullptr;
  const float* int8_scales = nullptr;
  const std::int32_t* int8_sums = nullptr;
  const std::int8_t* rounded = nullptr;  // A in int8, if it has been rounded already: [m, int8_depth(k)]
  const float* rounded_scales = nullptr;

  [[nodiscard]] bool packed() const {
    return panels != nullptr || tiles != nullptr || halves != nullptr || int8_panels != nullptr;
  }
};

constexpr std::int64_t kDepth = 256;      // of a block: a panel of B and a tile of A fit the first-level cache
constexpr std::int64_t kSmall = 64 * 64;  // a B of so many values is not worth packing

// What a block of k holds: rows p to p + k of op(B), columns p to p + k of op(A).
struct Depth {
  std::int64_t p, k;
};

/// Rows i to i + m of op(A), without a copy.
GemmFetch stored_a(const Product& x, std::int64_t i, std::int64_t m, Depth d);

/// Columns j to j + n of op(B), without a copy.
GemmFetch stored_b(const Product& x, std::int64_t j, std::int64_t n, Depth d);

/// Whether A must be copied: rows a multiple of 4 KB apart fall into one set of the first-level cache, and columns of
/// long rows touch a page each.
bool must_place(const Product& x);

/// Points `block` at rows i to i + m of op(A).
void place_a(const GemmKernels& kernels, const Product& x, std::int64_t i, Depth d, bool copy, GemmBlock& block);

/// All rows, from column j on.
GemmBlock block_of(const Product& x, std::int64_t j, Depth d);

/// Adds the bias if the chains did not start from it, and applies activation and dropout to rows i to i + m, columns j
/// to j + n.
void finish(const Product& x, std::int64_t i, std::int64_t m, std::int64_t j, std::int64_t n);

/// Rows i to i + m.
Product rows_of(Product x, std::int64_t i, std::int64_t m);

/// Columns j to j + n; j is a multiple of a panel's width.
Product columns_of(Product x, std::int64_t j, std::int64_t n);

}  // namespace fovea::kernels
