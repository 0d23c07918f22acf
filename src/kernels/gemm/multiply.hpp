// The ways to multiply, each on the calling thread alone.
#pragma once

#include "kernels/gemm/product.hpp"

namespace fovea::kernels {

/// All of k at once, with B as it is: for few rows, and when all of B is small or packed already.
void multiply_at_once(const GemmKernels& kernels, const Product& x);

/// When A has few enough rows to stay in the second-level cache: panel by panel of B is packed in the first-level cache
/// and used up at once.
void multiply_by_panels(const GemmKernels& kernels, const Product& x);

/// All else in float32: a block of B is packed in the second-level cache while the rows of A pass by.
void multiply_by_blocks(const GemmKernels& kernels, const Product& x);

/// With a B in half precision: as many of its panels as a wide tile spans are widened in the first-level cache and used
/// up at once.
void multiply_halves(const GemmKernels& kernels, const Product& x);

/// In bf16: a block of B, rounded and packed, stays in the second-level cache while the rows of A are packed and pass
/// by.
void multiply_in_bf16(const Product& x);

/// In int8: some rows of A, rounded, stay in the first-level cache while B passes by.
void multiply_in_int8(const Product& x);

/// Rounds all rows of A to int8, into memory of this thread that its next product takes again.
void round_rows(Product& x);

}  // namespace fovea::kernels
