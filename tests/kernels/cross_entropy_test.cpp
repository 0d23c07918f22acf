#include "kernels/cross_entropy.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
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

TEST(CrossEntropy, PairsAgreeWithGenericAndStayInsideTheirRows) {
  const CrossEntropyKernels& truth = *available()[0]->cross_entropy;
  for (const Table* table : available()) {
    for (const std::int64_t n : {1, 7, 8, 9, 33, 65, 256}) {
      for (const std::int64_t pairs : {1, 3}) {
        SCOPED_TRACE(std::string(table->name) + ' ' + std::to_string(pairs) + " pairs of " + std::to_string(n));
        const std::int64_t pitch = n + 3;
        const auto logits = random_values(static_cast<std::size_t>(2 * pairs * pitch), 2.0F);
        struct Side {
          std::vector<float> x, apart, factor, sums;
          std::vector<float> stats[4];  // max, sum, total, weighted
        } sides[2];
        for (Side& side : sides) {
          const bool first = &side == sides;
          const CrossEntropyKernels& use = first ? truth : *table->cross_entropy;
          side.x = logits;
          side.apart.assign(static_cast<std::size_t>(pairs * pitch), -1.0F);
          side.sums.assign(static_cast<std::size_t>(n), 0.5F);
          for (auto& s : side.stats) s.resize(static_cast<std::size_t>(2 * pairs));
          std::vector<PairTerms> terms;
          for (std::int64_t i = 0; i < pairs; ++i) {
            float* a = side.x.data() + 2 * i * pitch;
            use.exp_pair(a, a + pitch, n, side.stats[0].data() + 2 * i, side.stats[1].data() + 2 * i,
                         side.stats[2].data() + 2 * i, side.apart.data() + i * pitch, side.stats[3].data() + 2 * i);
            terms.push_back({.weight = 2.5F, .offset = 0.3F, .kl_a = 0.7F, .kl_b = 0.2F});
          }
          for (std::int64_t i = 0; i < 2 * pairs; ++i) {
            const auto at = static_cast<std::size_t>(i);
            side.factor.push_back(1 / sides[0].stats[1][at]);
            EXPECT_NEAR(side.stats[0][at], sides[0].stats[0][at], 0.0F);
            EXPECT_NEAR(side.stats[1][at], sides[0].stats[1][at], 2e-6F * sides[0].stats[1][at]);
            EXPECT_NEAR(side.stats[2][at], sides[0].stats[2][at], 2e-6F * static_cast<float>(n));
            EXPECT_NEAR(side.stats[3][at], sides[0].stats[3][at], 1e-5F * sides[0].stats[1][at]);
          }
          use.gradient_pairs(pairs, n, side.x.data(), pitch, side.factor.data(), 0.25F, terms.data(), side.apart.data(),
                             pitch, side.sums.data());
        }
        for (std::size_t i = 0; i < logits.size(); ++i) EXPECT_NEAR(sides[1].x[i], sides[0].x[i], 4e-6F) << "at " << i;
        for (std::size_t i = 0; i < sides[0].apart.size(); ++i) EXPECT_EQ(sides[1].apart[i], sides[0].apart[i]);
        for (std::size_t i = 0; i < sides[0].sums.size(); ++i) EXPECT_NEAR(sides[1].sums[i], sides[0].sums[i], 1e-5F);
      }
    }
  }
}

}  // namespace
}  // namespace fovea::kernels
