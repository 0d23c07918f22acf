#include "kernels/conv.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "kernels/kernels.hpp"

namespace fovea::kernels {
namespace {

using Values = std::vector<float>;

Values random_values(std::int64_t n, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0.0F, 1.0F);
  Values v(static_cast<std::size_t>(n));
  for (float& x : v) x = normal(generator);
  return v;
}

void expect_close(const Values& actual, const Values& expected, const char* table) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 2e-6F) << table << " value " << i;
}

constexpr std::int64_t kWidths[] = {1, 7, 8, 9, 16, 33};

TEST(Conv, EveryGluAgreesWithGeneric) {
  for (const Table* table : available()) {
    for (const std::int64_t d : kWidths) {
      const auto run = [d](const ConvKernels& conv) {
        Values sums = random_values(2 * d, 1);
        Values out(static_cast<std::size_t>(d));
        conv.glu_forward(d, sums.data(), random_values(2 * d, 2).data(), out.data());
        Values all = sums;
        all.insert(all.end(), out.begin(), out.end());
        Values dbias = random_values(2 * d, 3);
        conv.glu_backward(d, sums.data(), random_values(d, 4).data(), dbias.data());
        all.insert(all.end(), sums.begin(), sums.end());
        all.insert(all.end(), dbias.begin(), dbias.end());
        return all;
      };
      expect_close(run(*table->conv), run(*available()[0]->conv), table->name);
    }
  }
}

TEST(Conv, EveryMaximumAgreesWithGeneric) {
  for (const Table* table : available()) {
    for (const std::int64_t n : kWidths) {
      const auto size = static_cast<std::size_t>(n);
      Values best = random_values(n, 1);
      Values x = random_values(n, 2);
      x[0] = best[0];  // the first of equals stays
      Values expected = best;
      std::vector<std::int32_t> where(size, 3);
      std::vector<std::int32_t> expected_where(size, 3);
      table->conv->max_update(n, x.data(), 5, best.data(), where.data());
      available()[0]->conv->max_update(n, x.data(), 5, expected.data(), expected_where.data());
      EXPECT_EQ(best, expected) << table->name;
      EXPECT_EQ(where, expected_where) << table->name;
      EXPECT_EQ(where[0], 3) << table->name;
      Values dx(size, 1.0F);
      table->conv->max_gradient(n, x.data(), where.data(), 5, dx.data());
      for (std::size_t i = 0; i < size; ++i) EXPECT_EQ(dx[i], where[i] == 5 ? 1.0F + x[i] : 1.0F) << table->name;
    }
  }
}

TEST(Conv, AMaximumDoesNotLoseNaN) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const Table* table : available()) {
    Values best{1.0F, nan, nan};
    std::vector<std::int32_t> where(3, 0);
    table->conv->max_update(3, Values{nan, 2.0F, nan}.data(), 1, best.data(), where.data());
    for (const float v : best) EXPECT_TRUE(std::isnan(v)) << table->name;
    EXPECT_EQ(where, (std::vector<std::int32_t>{1, 0, 0})) << table->name;
  }
}

}  // namespace
}  // namespace fovea::kernels
