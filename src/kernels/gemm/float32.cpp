#include <algorithm>

#include "kernels/gemm/multiply.hpp"

namespace fovea::kernels {

namespace {

// The share of part `at` of `count` in fetching something.
GemmFetch share(const GemmFetch& all, std::int64_t at, std::int64_t count) {
  const std::int64_t rows = (all.rows + count - 1) / count;
  const std::int64_t first = std::min(at * rows, all.rows);
  return {all.first + first * all.stride, std::min(rows, all.rows - first), all.width, all.stride};
}

void pack_b(const GemmKernels& kernels, const Product& x, std::int64_t j, std::int64_t n, Depth d, float* panels) {
  const auto pack = x.tb == Trans::no ? kernels.pack_b : kernels.pack_b_transposed;
  pack(d.k, n, stored_b(x, j, n, d).first, x.ldb, panels);
}

}  // namespace

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

void multiply_halves(const GemmKernels& kernels, const Product& x) {
  if (x.half->rows != nullptr && x.m <= kMostHalfRows && x.ta == Trans::no) {
    x.half->rows({.m = x.m,
                  .n = x.n,
                  .k = x.k,
                  .a = x.a,
                  .a_row = x.lda,
                  .b = x.halves,
                  .beta = x.beta,
                  .bias = x.beta == 0.0F ? x.epilogue.bias : nullptr,
                  .c = x.c,
                  .c_row = x.ldc});
    return finish(x, 0, x.m, 0, x.n);
  }
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

}  // namespace fovea::kernels
