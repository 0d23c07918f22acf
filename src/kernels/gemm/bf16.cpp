#include <algorithm>

#include "kernels/gemm/multiply.hpp"

namespace fovea::kernels {

void multiply_in_bf16(const Product& x) {
  constexpr std::int64_t kBlockDepth = 512;
  constexpr std::int64_t kBlockRows = 128;
  const std::int64_t most = std::max(l2_size() / kBlockDepth / 2, std::int64_t{128}) / 32 * 32;
  const std::int64_t strip =
      kBf16Rows * (x.tiles != nullptr ? bf16_depth(x.k) : std::min(bf16_depth(x.k), kBlockDepth));
  // As Bf16; a float has room for two.
  const auto room = [](std::int64_t values) { return static_cast<std::size_t>((values + 1) / 2); };
  for (std::int64_t j = 0; j < x.n; j += most) {
    const std::int64_t n = std::min(most, x.n - j);
    for (std::int64_t p = 0; p < x.k; p += kBlockDepth) {
      const Depth d{p, std::min(kBlockDepth, x.k - p)};
      const bool last = p + kBlockDepth >= x.k;
      const Bf16* b = nullptr;
      if (x.tiles != nullptr) {
        b = x.tiles + j * bf16_depth(x.k) + p * kBf16Rows;
      } else {
        auto* tiles = reinterpret_cast<Bf16*>(b_scratch.get(room(round_up(n, kBf16Rows) / kBf16Rows * strip)));
        (x.tb == Trans::no ? x.bf16->pack_b : x.bf16->pack_b_transposed)(d.k, n, stored_b(x, j, n, d).first, x.ldb,
                                                                         tiles, strip);
        b = tiles;
      }
      for (std::int64_t i = 0; i < x.m; i += kBlockRows) {
        const GemmBlock from = block_of(x, j, d);
        Bf16Block block;
        block.m = std::min(kBlockRows, x.m - i);
        block.n = n;
        block.depth = bf16_depth(d.k) / kBf16Depth;
        auto* a = reinterpret_cast<Bf16*>(a_scratch.get(room(round_up(block.m, kBf16Rows) * bf16_depth(d.k))));
        (x.ta == Trans::no ? x.bf16->pack_a : x.bf16->pack_a_transposed)(block.m, d.k, stored_a(x, i, block.m, d).first,
                                                                         x.lda, a);
        block.a = a;
        block.b = b;
        block.b_strip = strip;
        block.beta = from.beta;
        block.bias = from.bias;
        block.c = from.c + i * x.ldc;
        block.c_row = x.ldc;
        x.bf16->block(block);
        if (last) finish(x, i, block.m, j, n);
      }
    }
  }
}

}  // namespace fovea::kernels
