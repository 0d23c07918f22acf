#include "kernels/simd/attention_product.hpp"

#include "kernels/simd/isa.hpp"

namespace fovea::kernels::FOVEA_ISA {
namespace {

using F = hn::ScalableTag<float>;
using V = hn::Vec<F>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(F()));

// Accumulators: rows by vectors. As many as fit into the registers with the vectors of B and one value of A.
#if FOVEA_REGISTERS == 32
constexpr int kMaxVectors = 4;
constexpr int kMaxRows[] = {0, 16, 12, 8, 6};
#else
constexpr int kMaxVectors = 2;
constexpr int kMaxRows[] = {0, 8, 6};
#endif

struct Block {
  std::int64_t k;
  const float* a;
  std::int64_t a_stride;
  const float* b;
  std::int64_t b_stride;
  float* c;
  std::int64_t c_stride;
  bool add;
  const float* before;
  const float* after;
};

// Every loop over the accumulators is unrolled by name of the pragma: g++ keeps them in memory otherwise.
template <bool kTransposed, int kRows, int kVectors>
void block(const Block& p) {
  const F f;
  const float* HWY_RESTRICT a = p.a;
  const float* HWY_RESTRICT b = p.b;
  float* HWY_RESTRICT c = p.c;
  const std::int64_t a_stride = p.a_stride;
  const std::int64_t b_stride = p.b_stride;
  const std::int64_t c_stride = p.c_stride;
  V sum[kRows][kVectors];
  if (p.add) {
#pragma GCC unroll 16
    for (int m = 0; m < kRows; ++m) {
#pragma GCC unroll 4
      for (int n = 0; n < kVectors; ++n) sum[m][n] = hn::LoadU(f, c + m * c_stride + n * kLanes);
    }
    if (p.before != nullptr) {
#pragma GCC unroll 16
      for (int m = 0; m < kRows; ++m) {
        const V by = hn::Set(f, p.before[m]);
#pragma GCC unroll 4
        for (int n = 0; n < kVectors; ++n) sum[m][n] = hn::Mul(by, sum[m][n]);
      }
    }
  } else {
#pragma GCC unroll 16
    for (int m = 0; m < kRows; ++m) {
#pragma GCC unroll 4
      for (int n = 0; n < kVectors; ++n) sum[m][n] = hn::Zero(f);
    }
  }
  for (std::int64_t k = 0; k < p.k; ++k) {
    V bs[kVectors];
#pragma GCC unroll 4
    for (int n = 0; n < kVectors; ++n) bs[n] = hn::LoadU(f, b + n * kLanes);
#pragma GCC unroll 16
    for (int m = 0; m < kRows; ++m) {
      const V as = hn::Set(f, a[kTransposed ? m : m * a_stride]);
#pragma GCC unroll 4
      for (int n = 0; n < kVectors; ++n) sum[m][n] = hn::MulAdd(as, bs[n], sum[m][n]);
    }
    a += kTransposed ? a_stride : 1;
    b += b_stride;
  }
  if (p.after != nullptr) {
#pragma GCC unroll 16
    for (int m = 0; m < kRows; ++m) {
      const V by = hn::Set(f, p.after[m]);
#pragma GCC unroll 4
      for (int n = 0; n < kVectors; ++n) sum[m][n] = hn::Mul(by, sum[m][n]);
    }
  }
#pragma GCC unroll 16
  for (int m = 0; m < kRows; ++m) {
#pragma GCC unroll 4
    for (int n = 0; n < kVectors; ++n) hn::StoreU(sum[m][n], f, c + m * c_stride + n * kLanes);
  }
}

using BlockFunction = void (*)(const Block&);

// at[v - 1][r - 1] computes r rows of v vectors.
struct Blocks {
  BlockFunction at[kMaxVectors][16];
};
template <bool kTransposed, int kVectors, int kRows>
constexpr void fill(Blocks& blocks) {
  blocks.at[kVectors - 1][kRows - 1] = block<kTransposed, kRows, kVectors>;
  if constexpr (kRows > 1) {
    fill<kTransposed, kVectors, kRows - 1>(blocks);
  } else if constexpr (kVectors > 1) {
    fill<kTransposed, kVectors - 1, kMaxRows[kVectors - 1]>(blocks);
  }
}
template <bool kTransposed>
constexpr Blocks make_blocks() {
  Blocks blocks{};
  fill<kTransposed, kMaxVectors, kMaxRows[kMaxVectors]>(blocks);
  return blocks;
}
constexpr Blocks kBlocks = make_blocks<false>();
constexpr Blocks kTransposedBlocks = make_blocks<true>();

// Longer sums are cut so that the part of B that all rows of A meet stays in L1.
constexpr int kMaxK = 256;

int min(int a, int b) {
  return a < b ? a : b;
}
int max(int a, int b) {
  return a > b ? a : b;
}

// Cuts [0, n) into equal parts of at most `most`, calling part(begin, end).
template <class Part>
HWY_INLINE void in_parts(int n, int most, Part part) {
  const int parts = (n + most - 1) / most;
  const int size = parts == 0 ? 0 : n / parts;
  const int longer = parts == 0 ? 0 : n % parts;  // the first ones have one more
  int begin = 0;
  for (int i = 0; i < parts; ++i) {
    const int end = begin + size + (i < longer ? 1 : 0);
    part(begin, end);
    begin = end;
  }
}

template <bool kTransposed>
HWY_INLINE void multiply_banded_k(const Product& p) {
  in_parts(p.n / kLanes, kMaxVectors, [&](int v0, int v1) {
    const int vectors = v1 - v0;
    const auto* blocks = (kTransposed ? kTransposedBlocks : kBlocks).at[vectors - 1];
    for (int cut = 0; cut == 0 || cut < p.k; cut += kMaxK) {
      in_parts(p.m, kMaxRows[vectors], [&](int m0, int m1) {
        const int k0 = max(cut, p.from + m0);
        const int k1 = min(min(cut + kMaxK, p.k), p.to + m1);
        const bool add = p.add || cut > 0;
        const float* before = p.before != nullptr && cut == 0 ? p.before + m0 : nullptr;
        const float* after = p.after != nullptr && cut + kMaxK >= p.k ? p.after + m0 : nullptr;
        if (k0 >= k1 && add && before == nullptr && after == nullptr) return;
        blocks[m1 - m0 - 1]({.k = max(0, k1 - k0),
                             .a = kTransposed ? p.a + k0 * p.a_stride + m0 : p.a + m0 * p.a_stride + k0,
                             .a_stride = p.a_stride,
                             .b = p.b + k0 * p.b_stride + v0 * kLanes,
                             .b_stride = p.b_stride,
                             .c = p.c + m0 * p.c_stride + v0 * kLanes,
                             .c_stride = p.c_stride,
                             .add = add,
                             .before = before,
                             .after = after});
      });
    }
  });
}

}  // namespace

void multiply(const Product& p) {
  multiply_banded_k<false>(p);
}
void multiply_transposed(const Product& p) {
  multiply_banded_k<true>(p);
}

void multiply_banded_columns(const Product& p) {
  in_parts(p.n / kLanes, kMaxVectors, [&](int v0, int v1) {
    for (int cut = 0; cut == 0 || cut < p.k; cut += kMaxK) {
      in_parts(p.m, kMaxRows[v1 - v0], [&](int m0, int m1) {
        const int first = max(v0, (p.from + m0) / kLanes);
        const int last = min(v1, (p.to + m1 - 1) / kLanes + 1);
        if (p.to + m1 <= 0 || first >= last) return;
        kBlocks.at[last - first - 1][m1 - m0 - 1]({.k = min(kMaxK, p.k - cut),
                                                   .a = p.a + m0 * p.a_stride + cut,
                                                   .a_stride = p.a_stride,
                                                   .b = p.b + cut * p.b_stride + first * kLanes,
                                                   .b_stride = p.b_stride,
                                                   .c = p.c + m0 * p.c_stride + first * kLanes,
                                                   .c_stride = p.c_stride,
                                                   .add = p.add || cut > 0,
                                                   .before = nullptr,
                                                   .after = nullptr});
      });
    }
  });
}

}  // namespace fovea::kernels::FOVEA_ISA
