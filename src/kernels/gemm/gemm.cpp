// Cuts a product into blocks that fit the caches (Goto and van de Geijn 2008): a block of B, packed, stays in the
// second-level cache while all of A passes by; of it one panel at a time stays in the first.
#include "kernels/gemm.hpp"

#include <algorithm>
#include <thread>

#include "fovea/precision.hpp"
#include "fovea/threads.hpp"
#include "kernels/gemm/multiply.hpp"
#include "kernels/kernels.hpp"
#include "kernels/product_time.hpp"

namespace fovea::kernels {

namespace {

// A and C stay in the second-level cache.
bool few_rows(const Product& x) {
  return x.m * kDepth <= l2_size() / 4;
}

// Whether B need not be packed, or only a pass over it is needed.
bool at_once(const Product& x) {
  if (x.k == 0) return true;
  if (x.packed()) return x.m <= 16 || (x.k <= kDepth && few_rows(x));
  return x.tb == Trans::no && (x.m <= 16 || x.k * x.n <= kSmall);
}

void multiply(const GemmKernels& kernels, const Product& x) {
  if (x.m <= 0 || x.n <= 0) return;
  if (x.bf16 != nullptr && x.k > 0) return multiply_in_bf16(x);
  if (x.int8 != nullptr) return multiply_in_int8(x);
  if (x.halves != nullptr) return multiply_halves(kernels, x);
  if (at_once(x)) return multiply_at_once(kernels, x);
  if (few_rows(x)) return multiply_by_panels(kernels, x);
  multiply_by_blocks(kernels, x);
}

// Rows are rounded once: by all threads where there are many of them, else before the columns are split.
void parallel_multiply_in_int8(const GemmKernels& kernels, Product x) {
  const std::int64_t worth = x.m <= 4 ? 192 * 1024 : 4 * 64 * 64 * 64;
  if (x.m * x.n * x.k < worth || free_threads() == 1) return multiply_in_int8(x);
  if (x.m >= 32 * threads()) {
    return parallel_for(x.m, round_up((x.m + threads() - 1) / threads(), 6), [&](std::int64_t begin, std::int64_t end) {
      multiply(kernels, rows_of(x, begin, end - begin));
    });
  }
  round_rows(x);
  parallel_for(x.n, round_up((x.n + threads() - 1) / threads(), 4 * kInt8Columns),
               [&](std::int64_t begin, std::int64_t end) { multiply(kernels, columns_of(x, begin, end - begin)); });
}

// Each thread multiplies a part as if it were alone, so that they meet only once. Parts of columns share no work but
// read all of A each; parts of rows pack all of B each. Large products have several parts per thread, so that one that
// is held up costs less.
void parallel_multiply(const GemmKernels& kernels, const Product& x) {
  if (x.int8 != nullptr) return parallel_multiply_in_int8(kernels, x);
  // Below a few microseconds of work the other threads are not worth waking. Few rows take as long as reading B does:
  // a core reads some 7 values a nanosecond, where it would multiply 80.
  const std::int64_t worth = x.m <= 4 ? 48 * 1024 : 64 * 64 * 64;
  if (x.m * x.n * x.k < worth || free_threads() == 1) return multiply(kernels, x);
  constexpr std::int64_t kWorthAPart = 1'000'000'000;  // multiply-adds: some ten milliseconds
  const std::int64_t parts = threads() * std::clamp<std::int64_t>(x.m * x.n / threads() * x.k / kWorthAPart, 1, 4);
  const std::int64_t nr = x.bf16 != nullptr ? 2 * kBf16Rows : kernels.nr;
  const std::int64_t columns = round_up((x.n + parts - 1) / parts, nr);
  const bool copies = must_place(x) && x.m > x.n;  // all of A, for each part of columns
  if (at_once(x) || (!copies && columns >= (few_rows(x) ? 2 : 4) * nr)) {
    return parallel_for(x.n, columns, [&](std::int64_t begin, std::int64_t end) {
      multiply(kernels, columns_of(x, begin, end - begin));
    });
  }
  parallel_for(x.m, (x.m + parts - 1) / parts,
               [&](std::int64_t begin, std::int64_t end) { multiply(kernels, rows_of(x, begin, end - begin)); });
}

Product packed_product(std::int64_t m, const float* a, std::int64_t lda, const PackedMatrix& b, float beta, float* c,
                       std::int64_t ldc, const Epilogue& epilogue) {
  Product x{Trans::no, Trans::no, m, b.columns(), b.rows(), a, lda, nullptr, 0, beta, c, ldc, epilogue, b.columns()};
  x.bf16 = b.bf16();
  if (b.storage() == Storage::int8) {
    x.int8 = &b.int8_kernels();
    x.int8_panels = b.bytes_of_int8();
    x.int8_scales = b.int8_scales();
    x.int8_sums = b.int8_sums();
  } else if (b.storage() == Storage::f16) {
    x.half = &b.half_kernels();
    x.halves = b.halves();
  } else if (x.bf16 != nullptr) {
    x.tiles = b.tiles();
  } else {
    x.panels = b.panels();
  }
  return x;
}

}  // namespace

void gemm(Trans ta, Trans tb, std::int64_t m, std::int64_t n, std::int64_t k, const float* a, std::int64_t lda,
          const float* b, std::int64_t ldb, float beta, float* c, std::int64_t ldc, const Epilogue& epilogue) {
  const bool plain = epilogue.bias == nullptr && epilogue.activation == Activation::none && epilogue.dropout.rate == 0;
  if (plain && tb == Trans::no && m > 0 && n > 0 && k * n <= kSmall) {
    // The shortest way for attention's blocks: a few dozen nanoseconds matter there.
    GemmBlock block;
    block.m = m;
    block.n = n;
    block.k = k;
    block.a = a;
    block.a_row = ta == Trans::no ? lda : 1;
    block.a_k = ta == Trans::no ? 1 : lda;
    block.b = b;
    block.b_k = ldb;
    block.b_panel = active().gemm->nr;
    block.beta = beta;
    block.c = c;
    block.c_row = ldc;
    return active().gemm->block(block);
  }
  const TimedProduct timed;
  multiply(*active().gemm, {ta, tb, m, n, k, a, lda, b, ldb, beta, c, ldc, epilogue, n});
}

void parallel_gemm(Trans ta, Trans tb, std::int64_t m, std::int64_t n, std::int64_t k, const float* a, std::int64_t lda,
                   const float* b, std::int64_t ldb, float beta, float* c, std::int64_t ldc, const Epilogue& epilogue) {
  const TimedProduct timed;
  Product x{ta, tb, m, n, k, a, lda, b, ldb, beta, c, ldc, epilogue, n};
  x.bf16 = bf16_for(precision(), k, n);
  parallel_multiply(*active().gemm, x);
}

void gemm_packed(std::int64_t m, const float* a, std::int64_t lda, const PackedMatrix& b, float beta, float* c,
                 std::int64_t ldc, const Epilogue& epilogue) {
  const TimedProduct timed;
  multiply(b.kernels(), packed_product(m, a, lda, b, beta, c, ldc, epilogue));
}

void parallel_gemm_packed(std::int64_t m, const float* a, std::int64_t lda, const PackedMatrix& b, float beta, float* c,
                          std::int64_t ldc, const Epilogue& epilogue) {
  const TimedProduct timed;
  parallel_multiply(b.kernels(), packed_product(m, a, lda, b, beta, c, ldc, epilogue));
}

void visit_gemm_packed(std::int64_t m, const float* a, std::int64_t lda, const PackedMatrix& b, const float* bias,
                       std::int64_t width, const ColumnsVisitor& visitor) {
  Product x = packed_product(m, a, lda, b, 0.0F, nullptr, width, {.bias = bias});
  if (x.int8 != nullptr) {
    const TimedProduct timed;
    round_rows(x);
  }
  const std::int64_t blocks = (x.n + width - 1) / width;
  constexpr std::int64_t kWorth = 192 * 1024;
  const bool alone = m * x.n * x.k < kWorth || free_threads() == 1;
  const std::int64_t parts = kPartsPerThread * threads();
  const std::int64_t chunk = alone ? blocks : (blocks + parts - 1) / parts;
  const auto caller = std::this_thread::get_id();
  const auto some = [&](std::int64_t begin, std::int64_t end) {
    thread_local Scratch c_scratch;  // here, so that every thread that comes by has one, and gives it back
    float* c = c_scratch.get(static_cast<std::size_t>(m * width));
    const bool here = std::this_thread::get_id() == caller;  // others' time passes meanwhile
    for (std::int64_t at = begin; at < end; ++at) {
      const std::int64_t n = std::min(width, x.n - at * width);
      Product part = columns_of(x, at * width, n);
      part.c = c;
      if (here) {
        const TimedProduct timed;
        multiply(b.kernels(), part);
      } else {
        multiply(b.kernels(), part);
      }
      visitor.visit(visitor.context, static_cast<int>(begin / chunk), at * width, n, c, width);
    }
  };
  if (alone) return some(0, blocks);
  parallel_for(blocks, chunk, some);
}

}  // namespace fovea::kernels
