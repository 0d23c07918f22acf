#include "kernels/gemm/product.hpp"

#include <unistd.h>

#include <algorithm>

#include "kernels/kernels.hpp"
#include "kernels/math.hpp"

namespace fovea::kernels {
namespace {

constexpr std::int64_t kPad = 16;  // keeps copied rows of A out of each other's cache sets

}  // namespace

thread_local Scratch a_scratch;
thread_local Scratch b_scratch;

std::int64_t l2_size() {
  static const std::int64_t size = [] {
    const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return std::clamp<std::int64_t>(bytes, 256 << 10, 4 << 20) / static_cast<std::int64_t>(sizeof(float));
  }();
  return size;
}

GemmFetch stored_a(const Product& x, std::int64_t i, std::int64_t m, Depth d) {
  if (x.ta == Trans::no) return {x.a + i * x.lda + d.p, m, d.k, x.lda};
  return {x.a + d.p * x.lda + i, d.k, m, x.lda};
}

GemmFetch stored_b(const Product& x, std::int64_t j, std::int64_t n, Depth d) {
  if (x.tb == Trans::no) return {x.b + d.p * x.ldb + j, d.k, n, x.ldb};
  return {x.b + j * x.ldb + d.p, n, d.k, x.ldb};
}

bool must_place(const Product& x) {
  if (x.m < 8) return false;
  return x.ta == Trans::no ? x.lda % 512 == 0 && x.lda >= 1024 : x.lda >= 512;
}

void place_a(const GemmKernels& kernels, const Product& x, std::int64_t i, Depth d, bool copy, GemmBlock& block) {
  const GemmFetch from = stored_a(x, i, block.m, d);
  block.a = from.first;
  block.a_row = x.ta == Trans::no ? x.lda : 1;
  block.a_k = x.ta == Trans::no ? 1 : x.lda;
  if (!copy) return;
  if (x.ta == Trans::no) {
    float* rows = a_scratch.get(static_cast<std::size_t>(block.m * (d.k + kPad)));
    kernels.copy(block.m, d.k, block.a, x.lda, rows, d.k + kPad);
    block.a = rows;
    block.a_row = d.k + kPad;
  } else {
    const std::int64_t tiles = (block.m + kernels.mr - 1) / kernels.mr;
    float* packed = a_scratch.get(static_cast<std::size_t>(tiles * d.k * kernels.a_stride));
    kernels.pack_a_transposed(block.m, d.k, block.a, x.lda, packed);
    block.a = packed;
    block.a_packed = true;
  }
}

GemmBlock block_of(const Product& x, std::int64_t j, Depth d) {
  GemmBlock block;
  block.m = x.m;
  block.n = x.n - j;
  block.k = d.k;
  block.beta = d.p == 0 ? x.beta : 1.0F;
  if (x.epilogue.bias != nullptr && x.beta == 0.0F && d.p == 0) block.bias = x.epilogue.bias + j;
  block.c = x.c + j;
  block.c_row = x.ldc;
  return block;
}

void finish(const Product& x, std::int64_t i, std::int64_t m, std::int64_t j, std::int64_t n) {
  const Activation activation = x.epilogue.activation;
  const bool add = x.epilogue.bias != nullptr && x.beta != 0.0F;
  const Dropout& dropout = x.epilogue.dropout;
  if (!add && activation == Activation::none && dropout.rate == 0) return;
  const MathKernels& math = *active().math;
  const Map map = math.of(activation);
  for (std::int64_t row = i; row < i + m; ++row) {
    float* y = x.c + row * x.ldc + j;
    const auto count = static_cast<std::size_t>(n);
    if (add) math.add_in_place(x.epilogue.bias + j, y, count);
    if (map != nullptr) map(y, y, count);
    if (dropout.rate > 0) {
      const auto first = dropout.counter + static_cast<std::uint64_t>(row * x.width + j);
      active().random->dropout({dropout.rate, dropout.seed, first}, y, y, n, false);
    }
  }
}

Product rows_of(Product x, std::int64_t i, std::int64_t m) {
  x.a = stored_a(x, i, m, {0, x.k}).first;
  if (x.rounded != nullptr) {
    x.rounded += i * int8_depth(x.k);
    x.rounded_scales += i;
  }
  x.c += i * x.ldc;
  x.epilogue.dropout.counter += static_cast<std::uint64_t>(i * x.width);
  x.m = m;
  return x;
}

Product columns_of(Product x, std::int64_t j, std::int64_t n) {
  if (x.panels != nullptr) {
    x.panels += j * x.k;
  } else if (x.tiles != nullptr) {
    x.tiles += j * bf16_depth(x.k);
  } else if (x.halves != nullptr) {
    x.halves += j * x.k;
  } else if (x.int8_panels != nullptr) {
    x.int8_panels += j * int8_depth(x.k);
    x.int8_scales += j;
    x.int8_sums += j;
  } else {
    x.b = stored_b(x, j, n, {0, x.k}).first;
  }
  if (x.epilogue.bias != nullptr) x.epilogue.bias += j;
  x.epilogue.dropout.counter += static_cast<std::uint64_t>(j);
  x.c += j;
  x.n = n;
  return x;
}

}  // namespace fovea::kernels
