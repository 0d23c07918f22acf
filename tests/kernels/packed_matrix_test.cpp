#include "kernels/packed_matrix.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <utility>
#include <vector>

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

TEST(PackedMatrix, GivesTheSameBytesAsGemm) {
  for (const Table* table : available()) {
    const ScopedKernels use(*table);
    for (const Trans tb : {Trans::no, Trans::yes}) {
      for (const auto& [n, k] : {std::pair{1, 7}, {33, 8}, {77, 300}, {530, 20}}) {
        const auto b = random_values(n * k, 2);
        const std::int64_t ldb = tb == Trans::no ? n : k;
        const PackedMatrix packed(tb, k, n, b.data(), ldb);
        for (const std::int64_t m : {1, 2, 3, 5, 7, 16, 17, 64, 530}) {
          for (const float beta : {0.0F, 0.5F}) {
            const auto a = random_values(m * k, 1);
            auto expected = random_values(m * n, 3);
            auto actual = expected;
            auto on_all_threads = expected;
            gemm(Trans::no, tb, m, n, k, a.data(), k, b.data(), ldb, beta, expected.data(), n);
            gemm_packed(m, a.data(), k, packed, beta, actual.data(), n);
            parallel_gemm_packed(m, a.data(), k, packed, beta, on_all_threads.data(), n);
            EXPECT_EQ(actual, expected) << table->name << ' ' << m << 'x' << n << 'x' << k << " beta " << beta;
            EXPECT_EQ(on_all_threads, expected) << table->name << ' ' << m << 'x' << n << 'x' << k << " beta " << beta;
          }
        }
      }
    }
  }
}

TEST(PackedMatrix, KeepsTheKernelsItWasPackedFor) {
  const auto b = random_values(40 * 20, 1);
  const auto a = random_values(3 * 20, 2);
  for (const Table* table : available()) {
    std::vector<float> expected(3 * 40);
    std::vector<float> actual(3 * 40);
    PackedMatrix packed;
    {
      const ScopedKernels use(*table);
      packed = PackedMatrix(Trans::no, 20, 40, b.data(), 40);
      gemm_packed(3, a.data(), 20, packed, 0.0F, expected.data(), 40);
    }
    gemm_packed(3, a.data(), 20, packed, 0.0F, actual.data(), 40);
    EXPECT_EQ(actual, expected);
  }
}

TEST(Epilogue, AddsTheBiasAndAppliesTheActivation) {
  const auto apply = [](Activation activation, double v) {
    switch (activation) {
      case Activation::none:
        return v;
      case Activation::relu:
        return std::max(v, 0.0);
      case Activation::leaky_relu:
        return v > 0 ? v : 0.2 * v;
      case Activation::gelu:
        return v * 0.5 * std::erfc(-v * M_SQRT1_2);
      case Activation::gelu_tanh:
        return v * 0.5 * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
      case Activation::swish:
        return v / (1 + std::exp(-v));
      case Activation::tanh:
        return std::tanh(v);
      case Activation::sigmoid:
        return 1 / (1 + std::exp(-v));
    }
    return v;
  };
  for (const Table* table : available()) {
    const ScopedKernels use(*table);
    for (const auto& [m, n, k] : {std::array{3, 130, 9}, {40, 33, 300}, {530, 40, 17}}) {
      const auto a = random_values(m * k, 1);
      const auto b = random_values(n * k, 2);
      const auto bias = random_values(n, 3);
      const PackedMatrix packed(Trans::no, k, n, b.data(), n);
      for (const float beta : {0.0F, 0.5F}) {
        const auto before = random_values(m * n, 4);
        auto plain = before;
        gemm(Trans::no, Trans::no, m, n, k, a.data(), k, b.data(), n, beta, plain.data(), n);
        for (const Activation activation :
             {Activation::none, Activation::relu, Activation::leaky_relu, Activation::gelu, Activation::gelu_tanh,
              Activation::swish, Activation::tanh, Activation::sigmoid}) {
          const Epilogue epilogue{.bias = bias.data(), .activation = activation};
          auto actual = before;
          auto from_packed = before;
          gemm(Trans::no, Trans::no, m, n, k, a.data(), k, b.data(), n, beta, actual.data(), n, epilogue);
          parallel_gemm_packed(m, a.data(), k, packed, beta, from_packed.data(), n, epilogue);
          EXPECT_EQ(actual, from_packed);
          for (std::size_t i = 0; i < actual.size(); ++i) {
            const double expected = apply(activation, plain[i] + bias[i % static_cast<std::size_t>(n)]);
            ASSERT_NEAR(actual[i], expected, 2e-5 * std::max(1.0, std::abs(expected)))
                << table->name << ' ' << m << 'x' << n << 'x' << k << " at " << i;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace fovea::kernels
