// Cuts a product into blocks that fit the caches (Goto and van de Geijn 2008): a block of B, packed, stays in the
// second-level cache while all of A passes by; of it one panel at a time stays in the first.
#include "kernels/gemm.hpp"

#include <unistd.h>

#include <algorithm>

#include "fovea/threads.hpp"
#include "kernels/gemm_kernels.hpp"
#include "kernels/kernels.hpp"
#include "kernels/scratch.hpp"

namespace fovea::kernels {
namespace {

thread_local Scratch a_scratch;
thread_local Scratch b_scratch;

std::int64_t round_up(std::int64_t value, std::int64_t step) {
  return (value + step - 1) / step * step;
}

// In floats.
std::int64_t l2_size() {
  static const std::int64_t size = [] {
    const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return std::clamp<std::int64_t>(bytes, 256 << 10, 4 << 20) / static_cast<std::int64_t>(sizeof(float));
  }();
  return size;
}

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
};

constexpr std::int64_t kDepth = 256;  // of a block: a panel of B and a tile of A fit the first-level cache
constexpr std::int64_t kPad = 16;     // keeps copied rows of A out of each other's cache sets

// Rows of A for one block, as they stand or copied: rows far apart would fall into the same few cache sets.
void place_a(const GemmKernels& kernels, const Product& x, std::int64_t i, std::int64_t p, GemmBlock& block) {
  const std::int64_t uses = (block.n + kernels.nr - 1) / kernels.nr;
  if (x.ta == Trans::no) {
    block.a = x.a + i * x.lda + p;
    block.a_row = x.lda;
    block.a_k = 1;
    if (x.lda < 512 || uses < 3 || block.m < 4) return;
    float* copy = a_scratch.get(static_cast<std::size_t>(block.m * (block.k + kPad)));
    kernels.copy(block.m, block.k, block.a, x.lda, copy, block.k + kPad);
    block.a = copy;
    block.a_row = block.k + kPad;
  } else {
    block.a = x.a + p * x.lda + i;
    block.a_row = 1;
    block.a_k = x.lda;
    if (x.lda == 1) std::swap(block.a_row, block.a_k);  // one row: both readings are right, this one is fast
    if (block.k * x.lda <= 64 * 64 || uses < 2 || block.m < 4) return;
    float* tiles = a_scratch.get(static_cast<std::size_t>(block.m * block.k + 16));
    kernels.pack_a_transposed(block.m, block.k, block.a, x.lda, tiles);
    block.a = tiles;
    block.a_packed = true;
  }
}

// How the rows and columns of a block of B are dealt out. The bytes do not depend on it.
struct Parts {
  std::int64_t rows, columns;  // of a part
};

Parts serial_parts(const GemmKernels&, std::int64_t, std::int64_t n) {
  return {l2_size() / 4 / kDepth, n};
}

// About four parts per thread, so that a thread that is held up costs little: by rows, and where there are few, by
// columns too.
Parts parallel_parts(const GemmKernels& kernels, std::int64_t m, std::int64_t n) {
  const std::int64_t wanted = 4 * threads();
  const std::int64_t rows = std::min(round_up((m + wanted - 1) / wanted, kernels.mr), l2_size() / 4 / kDepth);
  const std::int64_t row_parts = (m + rows - 1) / rows;
  const std::int64_t column_parts = (wanted + row_parts - 1) / row_parts;
  return {rows, round_up((n + column_parts - 1) / column_parts, 4 * kernels.nr)};
}

template <class For, class Deal>
void multiply(const Product& x, const For& for_each, const Deal& deal) {
  if (x.m <= 0 || x.n <= 0) return;
  const GemmKernels& kernels = *active().gemm;
  const std::int64_t nr = kernels.nr;
  const bool direct = x.tb == Trans::no && (x.m <= 16 || x.k * x.n <= 64 * 64);
  const std::int64_t depth = direct ? x.k : std::min(x.k, kDepth);
  const std::int64_t width = direct ? x.n : std::min(round_up(x.n, nr), l2_size() / 2 / kDepth / nr * nr);
  for (std::int64_t j = 0; j < x.n; j += width) {
    const std::int64_t n = std::min(width, x.n - j);
    const Parts parts = deal(kernels, x.m, n);
    const std::int64_t column_parts = (n + parts.columns - 1) / parts.columns;
    const std::int64_t row_parts = (x.m + parts.rows - 1) / parts.rows;
    std::int64_t p = 0;
    do {
      GemmBlock block;
      block.k = std::min(depth, x.k - p);
      block.beta = p == 0 ? x.beta : 1.0F;
      block.c_row = x.ldc;
      if (direct) {
        block.b = x.b + p * x.ldb + j;
        block.b_k = x.ldb;
        block.b_panel = nr;
      } else {
        float* panels = b_scratch.get(static_cast<std::size_t>(block.k * round_up(n, nr)));
        for_each((n + nr - 1) / nr, 4, [&](std::int64_t begin, std::int64_t end) {
          const std::int64_t first = j + begin * nr;
          const std::int64_t count = std::min(end * nr, n) - begin * nr;
          float* to = panels + begin * nr * block.k;
          if (x.tb == Trans::no) {
            kernels.pack_b(block.k, count, x.b + p * x.ldb + first, x.ldb, to);
          } else {
            kernels.pack_b_transposed(block.k, count, x.b + first * x.ldb + p, x.ldb, to);
          }
        });
        block.b = panels;
        block.b_k = nr;
        block.b_panel = nr * block.k;
        block.b_padded = true;
      }
      for_each(row_parts * column_parts, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t at = begin; at < end; ++at) {
          const std::int64_t i0 = at / column_parts * parts.rows;
          const std::int64_t j0 = at % column_parts * parts.columns;
          GemmBlock part = block;
          part.m = std::min(parts.rows, x.m - i0);
          part.n = std::min(parts.columns, n - j0);
          part.b += j0 / nr * block.b_panel;
          part.c = x.c + i0 * x.ldc + j + j0;
          place_a(kernels, x, i0, p, part);
          kernels.block(part);
        }
      });
      p += depth;
    } while (p < x.k);
  }
}

}  // namespace

void gemm(Trans ta, Trans tb, std::int64_t m, std::int64_t n, std::int64_t k, const float* a, std::int64_t lda,
          const float* b, std::int64_t ldb, float beta, float* c, std::int64_t ldc) {
  const auto in_order = [](std::int64_t count, std::int64_t grain, const auto& body) {
    for (std::int64_t i = 0; i < count; i += grain) body(i, std::min(i + grain, count));
  };
  multiply({ta, tb, m, n, k, a, lda, b, ldb, beta, c, ldc}, in_order, serial_parts);
}

void parallel_gemm(Trans ta, Trans tb, std::int64_t m, std::int64_t n, std::int64_t k, const float* a, std::int64_t lda,
                   const float* b, std::int64_t ldb, float beta, float* c, std::int64_t ldc) {
  // Below a few microseconds of work the other threads are not worth waking.
  if (threads() == 1 || m * n * k < 64 * 64 * 64) return gemm(ta, tb, m, n, k, a, lda, b, ldb, beta, c, ldc);
  const auto on_all_threads = [](std::int64_t count, std::int64_t grain, const auto& body) {
    parallel_for(count, grain, body);
  };
  multiply({ta, tb, m, n, k, a, lda, b, ldb, beta, c, ldc}, on_all_threads, parallel_parts);
}

}  // namespace fovea::kernels
