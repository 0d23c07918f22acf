#include <algorithm>

#include "kernels/gemm/multiply.hpp"

namespace fovea::kernels {

namespace {

// Rounds rows i to i + m of A; their scales follow them.
void round_rows(const Product& x, std::int64_t i, std::int64_t m, std::int8_t* rows, float* scales) {
  const std::int64_t depth = int8_depth(x.k);
  for (std::int64_t r = 0; r < m; ++r) scales[r] = x.int8->quantize(x.k, x.a + (i + r) * x.lda, rows + r * depth);
}

// For m rows of A in int8 and their scales, in floats.
std::size_t room_to_round(const Product& x, std::int64_t m) {
  return static_cast<std::size_t>(m * (int8_depth(x.k) / 4 + 1));
}

}  // namespace

void multiply_in_int8(const Product& x) {
  constexpr std::int64_t kRows = 96;
  const std::int64_t depth = int8_depth(x.k);
  for (std::int64_t i = 0; i < x.m; i += kRows) {
    Int8Block block;
    block.m = std::min(kRows, x.m - i);
    block.n = x.n;
    block.depth = depth;
    if (x.rounded != nullptr) {
      block.a = x.rounded + i * depth;
      block.a_scale = x.rounded_scales + i;
    } else {
      float* memory = a_scratch.get(room_to_round(x, block.m));
      auto* rows = reinterpret_cast<std::int8_t*>(memory + block.m);
      round_rows(x, i, block.m, rows, memory);
      block.a = rows;
      block.a_scale = memory;
    }
    block.b = x.int8_panels;
    block.b_scale = x.int8_scales;
    block.b_sum = x.int8_sums;
    block.beta = x.beta;
    if (x.beta == 0.0F) block.bias = x.epilogue.bias;
    block.c = x.c + i * x.ldc;
    block.c_row = x.ldc;
    x.int8->block(block);
    finish(x, i, block.m, 0, x.n);
  }
}

void round_rows(Product& x) {
  float* memory = a_scratch.get(room_to_round(x, x.m));
  auto* rows = reinterpret_cast<std::int8_t*>(memory + x.m);
  round_rows(x, 0, x.m, rows, memory);
  x.rounded = rows;
  x.rounded_scales = memory;
}

}  // namespace fovea::kernels
