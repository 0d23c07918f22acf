#include "kernels/cross_entropy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "kernels/kernels.hpp"

namespace fovea::kernels {
namespace {

std::vector<float> random_values(std::size_t count, float scale) {
  std::mt19937 generator(5);
  std::normal_distribution<float> normal(0.0F, scale);
  std::vector<float> values(count);
  for (float& v : values) v = normal(generator);
  return values;
}

TEST(CrossEntropy, ExpOfASliceAgreesWithGeneric) {
  for (const Table* table : available()) {
    for (const std::size_t n : {1U, 7U, 8U, 9U, 33U, 64U, 65U, 256U}) {
      for (const float scale : {1.0F, 30.0F, 1e30F}) {
        const auto logits = random_values(n, scale);
        auto expected = logits;
        auto actual = logits;
        float stats[2][3];
        available()[0]->cross_entropy->exp_slice(expected.data(), static_cast<std::int64_t>(n), &stats[0][0],
                                                 &stats[0][1], &stats[0][2]);
        table->cross_entropy->exp_slice(actual.data(), static_cast<std::int64_t>(n), &stats[1][0], &stats[1][1],
                                        &stats[1][2]);
        EXPECT_EQ(stats[1][0], stats[0][0]) << table->name << " n " << n;
        EXPECT_NEAR(stats[1][1], stats[0][1], 2e-6F * stats[0][1]) << table->name << " n " << n;
        EXPECT_NEAR(stats[1][2], stats[0][2], 1e-6F * scale * static_cast<float>(n)) << table->name << " n " << n;
        for (std::size_t i = 0; i < n; ++i) {
          EXPECT_NEAR(actual[i], expected[i], 2e-7F * expected[i] + 1.2e-38F) << table->name << " n " << n;
        }
      }
    }
  }
}

TEST(CrossEntropy, GradientRowsAgreeWithGenericAndStayInsideTheirRows) {
  for (const Table* table : available()) {
    for (const std::int64_t n : {1, 7, 8, 9, 33, 65}) {
      for (const std::int64_t rows : {1, 3, 4, 9}) {
        for (const bool sums : {false, true}) {
          const std::int64_t pitch = n + 3;
          const auto values = random_values(static_cast<std::size_t>(rows * pitch), 1.0F);
          const auto factor = random_values(static_cast<std::size_t>(rows), 2.0F);
          auto expected = values;
          auto actual = values;
          std::vector<float> expected_sums(static_cast<std::size_t>(n), 0.5F);
          auto actual_sums = expected_sums;
          available()[0]->cross_entropy->gradient_rows(rows, n, expected.data(), pitch, factor.data(), 0.25F,
                                                       sums ? expected_sums.data() : nullptr);
          table->cross_entropy->gradient_rows(rows, n, actual.data(), pitch, factor.data(), 0.25F,
                                              sums ? actual_sums.data() : nullptr);
          for (std::size_t i = 0; i < values.size(); ++i) {
            EXPECT_NEAR(actual[i], expected[i], 1e-6F) << table->name << ' ' << rows << 'x' << n << " at " << i;
          }
          for (std::size_t i = 0; i < actual_sums.size(); ++i) {
            EXPECT_NEAR(actual_sums[i], expected_sums[i], 5e-6F) << table->name << ' ' << rows << 'x' << n;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace fovea::kernels
