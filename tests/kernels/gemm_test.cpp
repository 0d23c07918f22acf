#include "kernels/gemm.hpp"

#include <gtest/gtest.h>

#ifdef FOVEA_HAVE_OPENBLAS
#include <cblas.h>
#endif

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "fovea/threads.hpp"
#include "kernels/gemm_kernels.hpp"
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

// One product with rows at a distance larger than their width.
struct Problem {
  Trans ta, tb;
  std::int64_t m, n, k;
  float beta;
  std::int64_t lda = (ta == Trans::no ? k : m) + 3;
  std::int64_t ldb = (tb == Trans::no ? n : k) + 5;
  std::int64_t ldc = n + 2;
  // As few values as an array may have: the last row has nothing behind it.
  std::vector<float> a = random_values(((ta == Trans::no ? m : k) - 1) * lda + (ta == Trans::no ? k : m), 1);
  std::vector<float> b = random_values(((tb == Trans::no ? k : n) - 1) * ldb + (tb == Trans::no ? n : k), 2);
  std::vector<float> c = random_values((m - 1) * ldc + n, 3);

  [[nodiscard]] std::vector<float> ours(bool parallel = false) const {
    std::vector<float> y = c;
    (parallel ? parallel_gemm : gemm)(ta, tb, m, n, k, a.data(), lda, b.data(), ldb, beta, y.data(), ldc, {});
    return y;
  }
  [[nodiscard]] std::vector<float> oracle() const {
    std::vector<float> y = c;
#ifdef FOVEA_HAVE_OPENBLAS
    const auto blas = [](Trans t) { return t == Trans::no ? CblasNoTrans : CblasTrans; };
    cblas_sgemm(CblasRowMajor, blas(ta), blas(tb), static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), 1.0F,
                a.data(), static_cast<int>(lda), b.data(), static_cast<int>(ldb), beta, y.data(),
                static_cast<int>(ldc));
#else
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        float& to = y[static_cast<std::size_t>(i * ldc + j)];
        double sum = static_cast<double>(beta) * to;
        for (std::int64_t p = 0; p < k; ++p) {
          sum += static_cast<double>(a[static_cast<std::size_t>(ta == Trans::no ? i * lda + p : p * lda + i)]) *
                 b[static_cast<std::size_t>(tb == Trans::no ? p * ldb + j : j * ldb + p)];
        }
        to = static_cast<float>(sum);
      }
    }
#endif
    return y;
  }
  [[nodiscard]] std::string text() const {
    return std::string(active().name) + (ta == Trans::no ? " N" : " T") + (tb == Trans::no ? "N " : "T ") +
           std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k) + " beta " + std::to_string(beta);
  }
};

void expect_close(const std::vector<float>& actual, const std::vector<float>& expected, std::int64_t k,
                  const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size());
  const float tolerance = 2e-6F + 4e-7F * std::sqrt(static_cast<float>(k)) * 4.0F;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    ASSERT_NEAR(actual[i], expected[i], tolerance) << what << " at " << i;
  }
}

constexpr Trans kBoth[] = {Trans::no, Trans::yes};

TEST(Gemm, EveryKernelAgreesWithTheOracle) {
  for (const Table* table : available()) {
    const ScopedKernels use(*table);
    for (const Trans ta : kBoth) {
      for (const Trans tb : kBoth) {
        for (const std::int64_t m : {1, 2, 7, 8, 9, 15, 33}) {
          for (const std::int64_t n : {1, 7, 8, 9, 16, 31, 33, 65, 130}) {
            for (const std::int64_t k : {1, 7, 8, 9, 33}) {
              const Problem problem{ta, tb, m, n, k, m % 2 == 0 ? 1.0F : 0.5F};
              expect_close(problem.ours(), problem.oracle(), k, problem.text());
            }
          }
        }
      }
    }
  }
}

TEST(Gemm, BlocksOfEveryDepthAgreeWithOpenBlas) {
  for (const Table* table : available()) {
    const ScopedKernels use(*table);
    for (const Trans ta : kBoth) {
      for (const Trans tb : kBoth) {
        for (const float beta : {0.0F, 1.0F, 0.5F}) {
          for (const std::int64_t k : {255, 257, 600}) {
            const Problem problem{ta, tb, 37, 131, k, beta};
            expect_close(problem.ours(), problem.oracle(), k, problem.text());
          }
        }
        const Problem tall{ta, tb, 1100, 70, 40, 0.0F};
        expect_close(tall.ours(), tall.oracle(), tall.k, tall.text());
        const Problem wide{ta, tb, 40, 2500, 70, 0.0F};
        expect_close(wide.ours(), wide.oracle(), wide.k, wide.text());
      }
    }
  }
}

TEST(Gemm, ABetaOfZeroDoesNotReadC) {
  for (const Table* table : available()) {
    const ScopedKernels use(*table);
    for (const std::int64_t m : {1, 5, 20}) {
      for (const std::int64_t k : {1, 9, 300}) {
        Problem problem{Trans::no, Trans::no, m, 37, k, 0.0F};
        problem.c.assign(problem.c.size(), std::numeric_limits<float>::quiet_NaN());
        const std::vector<float> y = problem.ours();
        for (std::int64_t i = 0; i < m; ++i) {
          for (std::int64_t j = 0; j < problem.n; ++j) {
            EXPECT_FALSE(std::isnan(y[static_cast<std::size_t>(i * problem.ldc + j)])) << problem.text();
          }
        }
      }
    }
  }
}

TEST(Gemm, ValuesBetweenTheRowsOfCStay) {
  for (const Table* table : available()) {
    const ScopedKernels use(*table);
    for (const std::int64_t n : {1, 15, 17, 33, 63}) {
      const Problem problem{Trans::no, Trans::yes, 9, n, 8, 0.0F};
      const std::vector<float> y = problem.ours();
      for (std::size_t i = 0; i < y.size(); ++i) {
        const auto column = static_cast<std::int64_t>(i) % problem.ldc;
        if (column >= n) {
          EXPECT_EQ(y[i], problem.c[i]) << problem.text();
        }
      }
    }
  }
}

// The same row gives the same bytes alone and at any position of a batch.
TEST(Gemm, ARowDoesNotDependOnItsNeighbours) {
  for (const Table* table : available()) {
    const ScopedKernels use(*table);
    for (const Trans tb : kBoth) {
      for (const std::int64_t k : {64, 300}) {
        const Problem all{Trans::no, tb, 50, 77, k, 0.0F};
        const std::vector<float> expected = all.ours();
        for (const std::int64_t m : {1, 2, 3, 4, 5, 6, 7, 13, 14, 29}) {
          for (const std::int64_t first : {0, 11, 21}) {
            std::vector<float> y(static_cast<std::size_t>(m * all.n));
            gemm(Trans::no, tb, m, all.n, k, all.a.data() + first * all.lda, all.lda, all.b.data(), all.ldb, 0.0F,
                 y.data(), all.n);
            for (std::int64_t i = 0; i < m; ++i) {
              EXPECT_EQ(std::memcmp(y.data() + i * all.n, expected.data() + (first + i) * all.ldc,
                                    static_cast<std::size_t>(all.n) * sizeof(float)),
                        0)
                  << all.text() << " rows " << first << " to " << first + m << ", row " << i;
            }
          }
        }
      }
    }
  }
}

TEST(Gemm, ThreadsDoNotChangeAByte) {
  for (const Trans ta : kBoth) {
    for (const Trans tb : kBoth) {
      for (const auto& [m, n, k] : {std::array{600, 130, 70}, std::array{60, 1300, 600}, std::array{5, 2000, 300}}) {
        const Problem problem{ta, tb, m, n, k, 0.5F};
        EXPECT_EQ(problem.ours(true), problem.ours(false)) << problem.text();
      }
    }
  }
}

TEST(Gemm, NothingToAddLeavesBetaTimesC) {
  for (const Table* table : available()) {
    const ScopedKernels use(*table);
    std::vector<float> c = {1, 2, 3, 4, 5, 6};
    gemm(Trans::no, Trans::no, 2, 3, 0, nullptr, 1, nullptr, 3, 0.5F, c.data(), 3);
    EXPECT_EQ(c, (std::vector<float>{0.5F, 1, 1.5F, 2, 2.5F, 3}));
    gemm(Trans::no, Trans::no, 0, 3, 2, nullptr, 2, nullptr, 3, 0.0F, c.data(), 3);
    EXPECT_EQ(c[0], 0.5F);
  }
}

}  // namespace
}  // namespace fovea::kernels
