#include "kernels/bf16.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "fovea/precision.hpp"
#include "fovea/threads.hpp"
#include "kernels/gemm.hpp"
#include "kernels/kernels.hpp"

namespace fovea::kernels {
namespace {

std::vector<float> random_values(std::int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& v : values) v = uniform(generator);
  return values;
}

// To the nearest, ties to even; written unlike the kernels'.
double rounded(float value) {
  if (value == 0) return 0;
  const int exponent = std::ilogb(value);
  return std::ldexp(std::nearbyint(std::ldexp(static_cast<double>(value), 7 - exponent)), exponent - 7);
}

struct Problem {
  Trans ta, tb;
  std::int64_t m, n, k;
  float beta;
  bool bias = false;
  std::int64_t lda = (ta == Trans::no ? k : m) + 3;
  std::int64_t ldb = (tb == Trans::no ? n : k) + 5;
  std::int64_t ldc = n + 2;
  std::vector<float> a = random_values(((ta == Trans::no ? m : k) - 1) * lda + (ta == Trans::no ? k : m), 1);
  std::vector<float> b = random_values(((tb == Trans::no ? k : n) - 1) * ldb + (tb == Trans::no ? n : k), 2);
  std::vector<float> c = random_values((m - 1) * ldc + n, 3);
  std::vector<float> biases = random_values(n, 4);

  [[nodiscard]] Epilogue epilogue() const { return {.bias = bias ? biases.data() : nullptr}; }
  [[nodiscard]] std::vector<float> ours() const {
    std::vector<float> y = c;
    parallel_gemm(ta, tb, m, n, k, a.data(), lda, b.data(), ldb, beta, y.data(), ldc, epilogue());
    return y;
  }
  [[nodiscard]] std::vector<float> ours_packed() const {
    std::vector<float> y = c;
    const PackedMatrix packed(tb, k, n, b.data(), ldb);
    EXPECT_EQ(packed.stored_precision(), Precision::bf16);
    gemm_packed(m, a.data(), lda, packed, beta, y.data(), ldc, epilogue());
    return y;
  }
  [[nodiscard]] double expected(std::int64_t i, std::int64_t j, bool round) const {
    double sum = beta == 0 ? 0 : static_cast<double>(beta) * at(c, i * ldc + j);
    if (bias) sum += at(biases, j);
    for (std::int64_t p = 0; p < k; ++p) {
      const float x = at(a, ta == Trans::no ? i * lda + p : p * lda + i);
      const float y = at(b, tb == Trans::no ? p * ldb + j : j * ldb + p);
      sum += round ? rounded(x) * rounded(y) : static_cast<double>(x) * y;
    }
    return sum;
  }
  static float at(const std::vector<float>& values, std::int64_t i) { return values[static_cast<std::size_t>(i)]; }
  [[nodiscard]] std::string text() const {
    return std::string(active().name) + (ta == Trans::no ? " N" : " T") + (tb == Trans::no ? "N " : "T ") +
           std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k) + " beta " + std::to_string(beta) +
           (bias ? " bias" : "");
  }
  void expect_right(const std::vector<float>& y) const {
    const double tolerance = 1e-6 + 1e-7 * static_cast<double>(k);
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        ASSERT_NEAR(at(y, i * ldc + j), expected(i, j, true), tolerance) << text() << " at " << i << ',' << j;
      }
      for (std::int64_t j = n; j < ldc && i + 1 < m; ++j) {
        ASSERT_EQ(at(y, i * ldc + j), at(c, i * ldc + j)) << text() << ": behind row " << i;
      }
    }
  }
};

constexpr Trans kBoth[] = {Trans::no, Trans::yes};

std::vector<const Table*> tables() {
  std::vector<const Table*> found;
  for (const Table* table : available()) {
    const ScopedKernels use(*table);
    if (permitted_bf16() != nullptr) found.push_back(table);
  }
  return found;
}

TEST(Bf16, ProductsAreThoseOfRoundedFactors) {
  for (const Table* table : tables()) {
    const ScopedKernels use(*table);
    const ScopedPrecision precision(Precision::bf16);
    for (const Trans ta : kBoth) {
      for (const Trans tb : kBoth) {
        for (const std::int64_t m : {1, 7, 8, 9, 16, 17, 33, 150}) {
          for (const auto& [n, k] : {std::pair<std::int64_t, std::int64_t>{130, 33}, {65, 100}, {16, 300}, {100, 64}}) {
            const Problem problem{ta, tb, m, n, k, m % 2 == 0 ? 1.0F : m % 3 == 0 ? 0.5F : 0.0F, m % 4 == 1};
            problem.expect_right(problem.ours());
            if (ta == Trans::no) problem.expect_right(problem.ours_packed());
          }
        }
        const Problem deep{ta, tb, 40, 40, 1100, 0.0F};  // k in several blocks
        deep.expect_right(deep.ours());
        const Problem wide{ta, tb, 20, 2100, 40, 0.0F, true};  // n too
        wide.expect_right(wide.ours());
      }
    }
  }
}

TEST(Bf16, OddSizesThatNoBlockFits) {
  for (const Table* table : tables()) {
    const ScopedKernels use(*table);
    const ScopedPrecision precision(Precision::bf16);
    for (const Trans tb : kBoth) {
      // A small B stays fp32, so that each size around an edge meets a large other one.
      const auto try_size = [&](std::int64_t n, std::int64_t k) {
        const Problem problem{Trans::no, tb, 9, n, k, 0.0F};
        problem.expect_right(problem.ours_packed());
      };
      for (const std::int64_t n : {1, 7, 8, 9, 15, 16, 17, 31, 32, 33}) {
        for (const std::int64_t more : {1, 2, 7, 8, 9, 31, 33}) try_size(n, 4096 / n + more);
      }
      for (const std::int64_t k : {1, 2, 7, 8, 9, 31, 33}) {
        for (const std::int64_t more : {1, 7, 9, 17}) try_size(4096 / k + more, k);
      }
    }
  }
}

TEST(Bf16, SmallProductsStayFp32PackedOrNot) {
  const ScopedPrecision precision(Precision::bf16);
  for (const Table* table : tables()) {
    const ScopedKernels use(*table);
    const Problem small{Trans::no, Trans::no, 5, 64, 64, 0.0F};
    const PackedMatrix packed(Trans::no, small.k, small.n, small.b.data(), small.ldb);
    EXPECT_EQ(packed.stored_precision(), Precision::fp32) << table->name;
    std::vector<float> y = small.c;
    gemm_packed(small.m, small.a.data(), small.lda, packed, 0, y.data(), small.ldc);
    EXPECT_EQ(y, small.ours()) << table->name;
  }
}

// The rounding shows: a test that products in fp32 would pass too would say nothing.
TEST(Bf16, IsNotFp32) {
  for (const Table* table : tables()) {
    const ScopedKernels use(*table);
    const Problem problem{Trans::no, Trans::no, 4, 100, 100, 0.0F};
    std::vector<float> rounds;
    {
      const ScopedPrecision precision(Precision::bf16);
      rounds = problem.ours();
    }
    EXPECT_EQ(fovea::precision(), Precision::fp32);
    double furthest = 0;
    for (std::int64_t j = 0; j < problem.n; ++j) {
      furthest = std::max(furthest, std::abs(Problem::at(rounds, j) - problem.expected(0, j, false)));
      EXPECT_NEAR(Problem::at(problem.ours(), j), problem.expected(0, j, false), 1e-5);
    }
    EXPECT_GT(furthest, 1e-3);
    EXPECT_LT(furthest, 0.1);
  }
}

// The same row gives the same bytes alone, at any position of a batch, and on all threads.
TEST(Bf16, ARowDoesNotDependOnItsNeighbours) {
  for (const Table* table : tables()) {
    const ScopedKernels use(*table);
    const ScopedPrecision precision(Precision::bf16);
    for (const bool bias : {false, true}) {
      const Problem all{Trans::no, Trans::no, 150, 200, 600, bias ? 0.0F : 1.0F, bias};
      const std::vector<float> expected = all.ours();
      EXPECT_EQ(all.ours_packed(), expected);
      for (const std::int64_t row : {0, 5, 31, 32, 149}) {
        std::vector<float> y(all.c.begin() + row * all.ldc, all.c.begin() + row * all.ldc + all.n);
        parallel_gemm(Trans::no, Trans::no, 1, all.n, all.k, all.a.data() + row * all.lda, all.lda, all.b.data(),
                      all.ldb, all.beta, y.data(), all.n, all.epilogue());
        EXPECT_EQ(std::memcmp(y.data(), expected.data() + row * all.ldc, y.size() * sizeof(float)), 0)
            << table->name << " row " << row;
      }
      const int before = threads();
      set_threads(1);
      EXPECT_EQ(all.ours(), expected) << table->name;
      set_threads(before);
    }
  }
}

TEST(Bf16, PacksAsTheGenericKernelsDo) {
  const Bf16Kernels& truth = *available().front()->bf16;
  // Halfway cases, denormals, infinities and NaN among ordinary values.
  std::vector<float> values = random_values(70 * 90, 5);
  for (std::size_t i = 0; i < values.size(); i += 7) {
    values[i] = std::bit_cast<float>(std::bit_cast<std::uint32_t>(values[i]) >> 16U << 16U | 0x8000U);
  }
  values[3] = std::numeric_limits<float>::infinity();
  values[4] = -std::numeric_limits<float>::infinity();
  values[5] = std::numeric_limits<float>::quiet_NaN();
  values[6] = 1e-40F;
  values[8] = std::numeric_limits<float>::max();
  for (const Table* table : tables()) {
    for (const auto& [rows, k] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {16, 32}, {17, 33}, {65, 88}}) {
      const std::int64_t depth = bf16_depth(k);
      const auto size = static_cast<std::size_t>((rows + 15) / 16 * 16 * depth);
      const auto same = [&, rows = rows, k = k](auto pack, const char* what) {
        std::vector<Bf16> expected(size + 32, 7);
        std::vector<Bf16> actual(size + 32, 7);
        // Kernels store whole rows of tiles, which are aligned.
        const auto aligned = [](std::vector<Bf16>& v) {
          return v.data() + (64 - reinterpret_cast<std::uintptr_t>(v.data()) % 64) % 64 / 2;
        };
        pack(truth, aligned(expected));
        pack(*table->bf16, aligned(actual));
        EXPECT_EQ(std::memcmp(aligned(expected), aligned(actual), size * sizeof(Bf16)), 0)
            << table->name << ' ' << what << ' ' << rows << 'x' << k;
      };
      same([&, m = rows, k = k](const Bf16Kernels& b, Bf16* to) { b.pack_a(m, k, values.data(), k + 1, to); }, "a");
      same([&, m = rows, k = k](const Bf16Kernels& b, Bf16* to) { b.pack_a_transposed(m, k, values.data(), m, to); },
           "a transposed");
      same([&, n = rows, k = k](const Bf16Kernels& b,
                                Bf16* to) { b.pack_b(k, n, values.data(), n, to, 16 * bf16_depth(k)); },
           "b");
      same([&, n = rows, k = k](const Bf16Kernels& b,
                                Bf16* to) { b.pack_b_transposed(k, n, values.data(), k + 1, to, 16 * bf16_depth(k)); },
           "b transposed");
    }
  }
}

}  // namespace
}  // namespace fovea::kernels
