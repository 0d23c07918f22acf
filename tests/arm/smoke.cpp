// Some NEON kernels against the plain ones, in a program that links nothing else, so that it is cross-compiled in
// seconds; script/test-arm runs all tests. Arrays end where readable memory ends: what reads or writes behind one
// crashes.
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>

#include "kernels/attention_step.hpp"
#include "kernels/gemm_kernels.hpp"
#include "kernels/int8.hpp"
#include "kernels/math.hpp"
#include "kernels/random.hpp"

namespace fovea::kernels {

namespace generic {
extern const AttentionStepKernels attention_step;
extern const GemmKernels gemm;
extern const Int8Kernels int8;
extern const MathKernels math;
extern const RandomKernels random;
}  // namespace generic
namespace dotprod {
extern const Int8Kernels int8;
}
namespace neon {
extern const AttentionStepKernels attention_step;
extern const GemmKernels gemm;
extern const MathKernels math;
extern const RandomKernels random;
}  // namespace neon

namespace {

int checks = 0;

// `count` values between -2 and 2 that end at a page that cannot be touched.
class Array {
 public:
  explicit Array(std::int64_t count, unsigned seed = 1) : count_(count) {
    const long page = sysconf(_SC_PAGESIZE);
    const long bytes = (count * static_cast<long>(sizeof(float)) + page - 1) / page * page;
    void* memory = mmap(nullptr, static_cast<std::size_t>(bytes + page), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    auto* end = static_cast<char*>(memory) + bytes;
    mprotect(end, static_cast<std::size_t>(page), PROT_NONE);
    data = reinterpret_cast<float*>(end) - count;
    for (std::int64_t i = 0; i < count; ++i) {
      seed = seed * 1664525U + 1013904223U;
      data[i] = static_cast<float>(seed >> 8) / 4194304.0F - 2.0F;
    }
  }
  void expect_near(const Array& expected, float tolerance, const char* what, std::int64_t size) const {
    for (std::int64_t i = 0; i < count_; ++i, ++checks) {
      const float want = expected.data[i];
      if (std::fabs(data[i] - want) <= tolerance * (1 + std::fabs(want))) continue;
      std::printf("FAILED: %s of size %ld, value %ld: %.9g instead of %.9g\n", what, static_cast<long>(size),
                  static_cast<long>(i), static_cast<double>(data[i]), static_cast<double>(want));
      std::exit(1);
    }
  }

  float* data;

 private:
  std::int64_t count_;
};

void multiply(const GemmKernels& kernels, std::int64_t m, std::int64_t n, std::int64_t k, bool packed, Array& c) {
  const Array a(m * k, 2);
  const Array b(k * n, 3);
  const Array panels((n + kernels.nr - 1) / kernels.nr * kernels.nr * k);
  const Array tiles((m + kernels.mr - 1) / kernels.mr * kernels.a_stride * k);
  GemmBlock block;
  block.m = m;
  block.n = n;
  block.k = k;
  block.a = a.data;
  block.a_row = k;
  block.b = b.data;
  block.b_k = n;
  block.b_panel = kernels.nr;
  if (packed) {  // of A the transposed form
    kernels.pack_a_transposed(m, k, a.data, m, tiles.data);
    kernels.pack_b_transposed(k, n, b.data, k, panels.data);
    block.a = tiles.data;
    block.a_packed = true;
    block.b = panels.data;
    block.b_k = kernels.nr;
    block.b_panel = kernels.nr * k;
    block.b_padded = true;
  }
  block.beta = 0.5F;
  block.c = c.data;
  block.c_row = n;
  kernels.block(block);
}

void check_products() {
  for (const std::int64_t m : {1, 2, 3, 5, 11, 12, 13, 29}) {
    for (const std::int64_t n : {1, 3, 4, 7, 8, 9, 33}) {
      for (const std::int64_t k : {1, 7, 33}) {
        for (const bool packed : {false, true}) {
          Array expected(m * n);
          Array actual(m * n);
          multiply(generic::gemm, m, n, k, packed, expected);
          multiply(neon::gemm, m, n, k, packed, actual);
          actual.expect_near(expected, 2e-5F, packed ? "packed product" : "product", m);
        }
      }
    }
  }
}

// B holds any bytes within +-127, since both kernels read the same.
void multiply_bytes(const Int8Kernels& kernels, std::int64_t m, std::int64_t n, std::int64_t k, Array& c) {
  const std::int64_t depth = int8_depth(k);
  const std::int64_t columns = (n + kInt8Columns - 1) / kInt8Columns * kInt8Columns;
  const Array x(m * k, 6);
  const Array a(m * depth / 4);
  const Array a_scale(m);
  const Array b(columns * depth / 4);
  const Array b_scale(columns, 7);
  const Array bias(n, 8);
  auto* rows = reinterpret_cast<std::int8_t*>(a.data);
  auto* panels = reinterpret_cast<std::int8_t*>(b.data);
  for (std::int64_t i = 0; i < columns * depth; ++i) panels[i] = static_cast<std::int8_t>(i * 37 % 255 - 127);
  for (std::int64_t i = 0; i < m; ++i) a_scale.data[i] = kernels.quantize(k, x.data + i * k, rows + i * depth);
  Int8Block block;
  block.m = m;
  block.n = n;
  block.depth = depth;
  block.a = rows;
  block.a_scale = a_scale.data;
  block.b = panels;
  block.b_scale = b_scale.data;
  block.beta = 0.5F;
  block.bias = m % 2 == 0 ? bias.data : nullptr;
  block.c = c.data;
  block.c_row = n;
  kernels.block(block);
}

void check_bytes() {
  for (const std::int64_t m : {1, 2, 3, 4, 5, 9}) {
    for (const std::int64_t n : {1, 15, 16, 17, 40}) {
      for (const std::int64_t k : {1, 7, 64, 130}) {
        Array expected(m * n);
        Array actual(m * n);
        multiply_bytes(generic::int8, m, n, k, expected);
        multiply_bytes(dotprod::int8, m, n, k, actual);
        actual.expect_near(expected, 0, "product in int8", m);
      }
    }
  }
}

void check_functions() {
  for (const std::int64_t n : {1, 2, 3, 4, 5, 17, 31}) {
    const auto count = static_cast<std::size_t>(n);
    const Array x(n);
    for (const Map MathKernels::*function : {&MathKernels::exp, &MathKernels::tanh, &MathKernels::sigmoid,
                                             &MathKernels::gelu, &MathKernels::swish, &MathKernels::relu}) {
      Array expected(n);
      Array actual(n);
      (generic::math.*function)(x.data, expected.data, count);
      (neon::math.*function)(x.data, actual.data, count);
      actual.expect_near(expected, 1e-6F, "function", n);
      for (std::int64_t i = 0; i < n; ++i) expected.data[i] = std::nanf("");
      (neon::math.*function)(expected.data, actual.data, count);
      for (std::int64_t i = 0; i < n; ++i, ++checks) {
        if (std::isnan(actual.data[i])) continue;
        std::printf("FAILED: NaN became %g\n", static_cast<double>(actual.data[i]));
        std::exit(1);
      }
    }
    Array expected(n);
    Array actual(n);
    generic::random.dropout({0.3F, 9, 5}, x.data, expected.data, n, true);
    neon::random.dropout({0.3F, 9, 5}, x.data, actual.data, n, true);
    actual.expect_near(expected, 0, "dropout", n);
  }
}

void check_attention() {
  for (const std::int64_t keys : {1, 3, 4, 5, 18}) {
    for (const std::int64_t dim : {1, 3, 4, 5, 18}) {
      const Array q(dim, 4);
      const Array k(keys * dim, 5);
      Array scores[2] = {Array(keys), Array(keys)};
      Array contexts[2] = {Array(dim), Array(dim)};
      int at = 0;
      for (const AttentionStepKernels* kernels : {&generic::attention_step, &neon::attention_step}) {
        kernels->dot(keys, dim, 0.3F, q.data, k.data, dim, scores[at].data);
        kernels->softmax(keys, scores[at].data);
        kernels->weigh(keys, dim, scores[at].data, k.data, dim, contexts[at].data);
        kernels->additive_exp(
            {.keys = keys, .dim = dim, .q = contexts[at].data, .k = k.data, .k_stride = dim, .v = q.data},
            scores[at].data);
        ++at;
      }
      contexts[1].expect_near(contexts[0], 1e-5F, "context", keys);
    }
  }
}

}  // namespace
}  // namespace fovea::kernels

int main() {
  using namespace fovea::kernels;
  check_products();
  check_bytes();
  check_functions();
  check_attention();
  std::printf("passed: %d values\n", checks);
}
