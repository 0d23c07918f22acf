// Cuts a product into blocks that fit the caches (Goto and van de Geijn 2008): a block of B, packed, stays in the
// second-level cache while all of A passes by; of it one panel at a time stays in the first.
#include "kernels/gemm.hpp"

#include <unistd.h>

#include <algorithm>
#include <thread>

#include "fovea/precision.hpp"
#include "fovea/threads.hpp"
#include "kernels/bf16.hpp"
#include "kernels/gemm_kernels.hpp"
#include "kernels/kernels.hpp"
#include "kernels/math.hpp"
#include "kernels/product_time.hpp"
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
  Epilogue epilogue;
  std::int64_t width;                 // of the whole product, of which this may be some columns
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
constexpr std::int64_t kPad = 16;         // keeps copied rows of A out of each other's cache sets

// What a block of k holds: rows p to p + k of op(B), columns p to p + k of op(A).
struct Depth {
  std::int64_t p, k;
};

// Rows i to i + m of op(A) where they stand.
GemmFetch stored_a(const Product& x, std::int64_t i, std::int64_t m, Depth d) {
  if (x.ta == Trans::no) return {x.a + i * x.lda + d.p, m, d.k, x.lda};
  return {x.a + d.p * x.lda + i, d.k, m, x.lda};
}

// Columns j to j + n of op(B) where they stand.
GemmFetch stored_b(const Product& x, std::int64_t j, std::int64_t n, Depth d) {
  if (x.tb == Trans::no) return {x.b + d.p * x.ldb + j, d.k, n, x.ldb};
  return {x.b + j * x.ldb + d.p, n, d.k, x.ldb};
}

// The share of part `at` of `count` in fetching something.
GemmFetch share(const GemmFetch& all, std::int64_t at, std::int64_t count) {
  const std::int64_t rows = (all.rows + count - 1) / count;
  const std::int64_t first = std::min(at * rows, all.rows);
  return {all.first + first * all.stride, std::min(rows, all.rows - first), all.width, all.stride};
}

// Whether A must be copied: rows a multiple of 4 KB apart fall into one set of the first-level cache, and columns of
// long rows touch a page each.
bool must_place(const Product& x) {
  if (x.m < 8) return false;
  return x.ta == Trans::no ? x.lda % 512 == 0 && x.lda >= 1024 : x.lda >= 512;
}

// Points `block` at rows i to i + m of op(A).
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

void pack_b(const GemmKernels& kernels, const Product& x, std::int64_t j, std::int64_t n, Depth d, float* panels) {
  const auto pack = x.tb == Trans::no ? kernels.pack_b : kernels.pack_b_transposed;
  pack(d.k, n, stored_b(x, j, n, d).first, x.ldb, panels);
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

// Adds the bias if the chains did not start from it, and applies activation and dropout to rows i to i + m, columns j
// to j + n.
void finish(const Product& x, std::int64_t i, std::int64_t m, std::int64_t j, std::int64_t n) {
  const Activation activation = x.epilogue.activation;
  const bool add = x.epilogue.bias != nullptr && x.beta != 0.0F;
  const Dropout& dropout = x.epilogue.dropout;
  if (!add && activation == Activation::none && dropout.rate == 0) return;
  const MathKernels& math = *active().math;
  for (std::int64_t row = i; row < i + m; ++row) {
    float* y = x.c + row * x.ldc + j;
    const auto count = static_cast<std::size_t>(n);
    if (add) math.add_in_place(x.epilogue.bias + j, y, count);
    if (activation == Activation::relu) math.relu(y, y, count);
    if (activation == Activation::leaky_relu) math.leaky_relu(y, y, count);
    if (activation == Activation::gelu) math.gelu(y, y, count);
    if (activation == Activation::swish) math.swish(y, y, count);
    if (activation == Activation::tanh) math.tanh(y, y, count);
    if (activation == Activation::sigmoid) math.sigmoid(y, y, count);
    if (dropout.rate > 0) {
      const auto first = dropout.counter + static_cast<std::uint64_t>(row * x.width + j);
      active().random->dropout({dropout.rate, dropout.seed, first}, y, y, n, false);
    }
  }
}

// All of k at once, with B as it stands: for few rows, and when all of B is small or packed already.
void multiply_at_once(const GemmKernels& kernels, const Product& x) {
  const std::int64_t nr = kernels.nr;
  GemmBlock block = block_of(x, 0, {0, x.k});
  if (x.panels != nullptr) {
    block.b = x.panels;
    block.b_k = nr;
    block.b_panel = nr * x.k;
    block.b_padded = true;
  } else {
    block.b = x.b;
    block.b_k = x.ldb;
    block.b_panel = nr;
  }
  place_a(kernels, x, 0, {0, x.k}, false, block);
  kernels.block(block);
  finish(x, 0, x.m, 0, x.n);
}

// When A has few enough rows to stay in the second-level cache: panel by panel of B is packed in the first-level cache
// and used up at once.
void multiply_by_panels(const GemmKernels& kernels, const Product& x) {
  const std::int64_t nr = kernels.nr;
  const std::int64_t depth = std::min(x.k, kDepth);
  const bool copy = must_place(x);
  const std::int64_t width = std::max(l2_size() / 4 / x.m / nr, std::int64_t{8}) * nr;  // C stays there too
  float* panel = b_scratch.get(static_cast<std::size_t>(depth * nr));
  for (std::int64_t j = 0; j < x.n; j += width) {
    const std::int64_t j_end = std::min(j + width, x.n);
    for (std::int64_t p = 0; p < x.k; p += depth) {
      const Depth d{p, std::min(depth, x.k - p)};
      const Depth next{p + depth, std::min(depth, x.k - p - depth)};
      GemmBlock a;
      a.m = x.m;
      place_a(kernels, x, 0, d, copy, a);
      const std::int64_t panels = (j_end - j + nr - 1) / nr;
      for (std::int64_t at = 0; at < panels; ++at) {
        const std::int64_t column = j + at * nr;
        GemmBlock block = block_of(x, column, d);
        block.a = a.a;
        block.a_row = a.a_row;
        block.a_k = a.a_k;
        block.a_packed = a.a_packed;
        block.n = std::min(nr, j_end - column);
        block.b_k = nr;
        block.b_padded = true;
        if (x.panels != nullptr) {
          block.b = x.panels + column * x.k + p * nr;
        } else {
          pack_b(kernels, x, column, block.n, d, panel);
          block.b = panel;
          if (at + 1 < panels) {
            block.fetch[0] = stored_b(x, column + nr, std::min(nr, j_end - column - nr), d);
          } else if (next.k > 0) {
            block.fetch[0] = stored_b(x, j, std::min(nr, j_end - j), next);
          }
        }
        if (next.k > 0) block.fetch[1] = share(stored_a(x, 0, x.m, next), at, panels);
        kernels.block(block);
      }
    }
    finish(x, 0, x.m, j, j_end - j);
  }
}

// All else: a block of B is packed in the second-level cache while the rows of A pass by.
void multiply_by_blocks(const GemmKernels& kernels, const Product& x) {
  const std::int64_t nr = kernels.nr;
  const std::int64_t depth = std::min(x.k, kDepth);
  const std::int64_t width = std::min(round_up(x.n, nr), l2_size() / 4 / kDepth / nr * nr);
  const bool copy = must_place(x);
  // What is copied should stay in the first-level cache until it is used.
  const std::int64_t step = copy ? 2 * kernels.mr : l2_size() / 8 / kDepth;
  for (std::int64_t j = 0; j < x.n; j += width) {
    const std::int64_t n = std::min(width, x.n - j);
    for (std::int64_t p = 0; p < x.k; p += depth) {
      const Depth d{p, std::min(depth, x.k - p)};
      const float* panels = x.panels + j * x.k + p * nr;
      if (x.panels == nullptr) {
        float* packed = b_scratch.get(static_cast<std::size_t>(d.k * round_up(n, nr)));
        pack_b(kernels, x, j, n, d, packed);
        panels = packed;
      }
      const bool last = p + depth >= x.k;
      GemmFetch next_b;
      if (x.panels == nullptr) {
        if (!last) {
          next_b = stored_b(x, j, n, {p + depth, std::min(depth, x.k - p - depth)});
        } else if (j + width < x.n) {
          next_b = stored_b(x, j + width, std::min(width, x.n - j - width), {0, depth});
        }
      }
      for (std::int64_t i = 0; i < x.m; i += step) {
        GemmBlock block = block_of(x, j, d);
        block.m = std::min(step, x.m - i);
        block.n = n;
        block.b = panels;
        block.b_k = nr;
        block.b_panel = nr * (x.panels == nullptr ? d.k : x.k);
        block.b_padded = true;
        block.c += i * x.ldc;
        place_a(kernels, x, i, d, copy, block);
        const std::int64_t next = i + block.m;
        if (next < x.m) block.fetch[0] = stored_a(x, next, std::min(step, x.m - next), d);
        block.fetch[1] = share(next_b, i / step, (x.m + step - 1) / step);
        kernels.block(block);
        if (last) finish(x, i, block.m, j, n);
      }
    }
  }
}

// In bf16: a block of B, rounded and packed, stays in the second-level cache while the rows of A are packed and pass
// by.
void multiply_in_bf16(const Product& x) {
  constexpr std::int64_t kBlockDepth = 512;
  constexpr std::int64_t kBlockRows = 128;
  const std::int64_t most = std::max(l2_size() / kBlockDepth / 2, std::int64_t{128}) / 32 * 32;
  const std::int64_t strip =
      kBf16Rows * (x.tiles != nullptr ? bf16_depth(x.k) : std::min(bf16_depth(x.k), kBlockDepth));
  // As Bf16, of which two fit into a float.
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

// Rounds rows i to i + m of A; their scales stand behind them.
void round_rows(const Product& x, std::int64_t i, std::int64_t m, std::int8_t* rows, float* scales) {
  const std::int64_t depth = int8_depth(x.k);
  for (std::int64_t r = 0; r < m; ++r) scales[r] = x.int8->quantize(x.k, x.a + (i + r) * x.lda, rows + r * depth);
}

// For m rows of A in int8 and their scales, in floats.
std::size_t room_to_round(const Product& x, std::int64_t m) {
  return static_cast<std::size_t>(m * (int8_depth(x.k) / 4 + 1));
}

// In int8: some rows of A, rounded, stay in the first-level cache while B passes by.
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

// With a B in half precision: as many of its panels as a wide tile spans are widened in the first-level cache and used
// up at once.
void multiply_halves(const GemmKernels& kernels, const Product& x) {
  const std::int64_t nr = kernels.nr;
  const std::int64_t width = 4 * nr;
  const std::int64_t depth = std::min(x.k, std::max<std::int64_t>(32, 8192 / width));
  float* panels = b_scratch.get(static_cast<std::size_t>(depth * width));
  for (std::int64_t j = 0; j < x.n; j += width) {
    const std::int64_t n = std::min(width, x.n - j);
    for (std::int64_t p = 0; p < x.k; p += depth) {
      const Depth d{p, std::min(depth, x.k - p)};
      for (std::int64_t at = 0; at < n; at += nr) {
        x.half->widen(d.k * nr, x.halves + (j + at) * x.k + p * nr, panels + at * d.k);
      }
      GemmBlock block = block_of(x, j, d);
      block.n = n;
      block.b = panels;
      block.b_k = nr;
      block.b_panel = nr * d.k;
      block.b_padded = true;
      place_a(kernels, x, 0, d, false, block);
      kernels.block(block);
    }
    finish(x, 0, x.m, j, n);
  }
}

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

// Rows i to i + m.
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

// Columns j to j + n; j is a multiple of a panel's width.
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

// Rows are rounded once: by all threads where there are many of them, else before the columns are split.
void parallel_multiply_in_int8(const GemmKernels& kernels, Product x) {
  const std::int64_t worth = x.m <= 4 ? 192 * 1024 : 4 * 64 * 64 * 64;
  if (free_threads() == 1 || x.m * x.n * x.k < worth) return multiply_in_int8(x);
  if (x.m >= 32 * threads()) {
    return parallel_for(x.m, round_up((x.m + threads() - 1) / threads(), 6), [&](std::int64_t begin, std::int64_t end) {
      multiply(kernels, rows_of(x, begin, end - begin));
    });
  }
  float* memory = a_scratch.get(room_to_round(x, x.m));
  auto* rows = reinterpret_cast<std::int8_t*>(memory + x.m);
  round_rows(x, 0, x.m, rows, memory);
  x.rounded = rows;
  x.rounded_scales = memory;
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
  if (free_threads() == 1 || x.m * x.n * x.k < worth) return multiply(kernels, x);
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
  thread_local Scratch c_scratch;
  Product x = packed_product(m, a, lda, b, 0.0F, nullptr, width, {.bias = bias});
  if (x.int8 != nullptr) {
    const TimedProduct timed;
    float* memory = a_scratch.get(room_to_round(x, m));
    auto* rows = reinterpret_cast<std::int8_t*>(memory + m);
    round_rows(x, 0, m, rows, memory);
    x.rounded = rows;
    x.rounded_scales = memory;
  }
  const std::int64_t blocks = (x.n + width - 1) / width;
  constexpr std::int64_t kWorth = 192 * 1024;
  const bool alone = free_threads() == 1 || m * x.n * x.k < kWorth;
  const std::int64_t chunk = alone ? blocks : (blocks + threads() - 1) / threads();
  const auto caller = std::this_thread::get_id();
  const auto some = [&](std::int64_t begin, std::int64_t end) {
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
