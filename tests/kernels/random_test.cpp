#include "kernels/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/kernels.hpp"

namespace fovea::kernels {
namespace {

std::vector<float> mask_of(const Table& table, const Dropout& how, std::int64_t n) {
  const std::vector<float> ones(static_cast<std::size_t>(n), 1.0F);
  std::vector<float> y(ones.size());
  table.random->dropout(how, ones.data(), y.data(), n, false);
  return y;
}

// 0 and 1 with mean p as values of mean 0 and variance 1, so that a mean of products is a correlation.
std::vector<double> standard(const std::vector<float>& mask, double rate) {
  std::vector<double> z;
  z.reserve(mask.size());
  for (const float m : mask) z.push_back(((m != 0) - (1 - rate)) / std::sqrt(rate * (1 - rate)));
  return z;
}

double correlation(const std::vector<double>& a, const std::vector<double>& b, std::size_t lag) {
  double total = 0;
  for (std::size_t i = 0; i + lag < a.size(); ++i) total += a[i] * b[i + lag];
  return total / static_cast<double>(a.size() - lag);
}

constexpr std::int64_t kMany = 1 << 18;
const double kFiveSigma = 5 / std::sqrt(static_cast<double>(kMany));

TEST(Dropout, EveryKernelGivesTheSameBitsFromAnyCounter) {
  const std::uint64_t edge = std::uint64_t{7} << 32;  // the key changes here
  for (const std::uint64_t counter :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{13}, std::uint64_t{16}, std::uint64_t{31}, std::uint64_t{32},
        edge - 64, edge - 50, edge - 33, edge - 1}) {
    for (const std::int64_t n : {1, 7, 8, 9, 16, 31, 32, 33, 64, 65, 130}) {
      for (const bool add : {false, true}) {
        const Dropout how{.rate = 0.3F, .seed = 99, .counter = counter};
        std::vector<float> x(static_cast<std::size_t>(n));
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.5F + static_cast<float>(i);
        std::vector<float> expected(x.size() + 2, 3.0F);
        available()[0]->random->dropout(how, x.data(), expected.data(), n, add);
        for (const Table* table : available()) {
          std::vector<float> actual(x.size() + 2, 3.0F);
          table->random->dropout(how, x.data(), actual.data(), n, add);
          EXPECT_EQ(actual, expected) << table->name << " counter " << counter << " n " << n;
        }
      }
    }
  }
}

TEST(Dropout, KeepsTheRateAndTheMean) {
  for (const float rate : {0.0F, 0.1F, 0.3F, 0.5F, 0.9F}) {
    const auto mask = mask_of(active(), {.rate = rate, .seed = 5}, kMany);
    double kept = 0;
    double sum = 0;
    for (const float m : mask) {
      kept += m != 0;
      sum += m;
      ASSERT_FLOAT_EQ(m, m == 0 ? 0 : 1 / (1 - rate));
    }
    const double deviation = std::sqrt(rate * (1 - rate)) * kFiveSigma;
    EXPECT_NEAR(kept / kMany, 1 - rate, deviation + 1e-5);
    EXPECT_NEAR(sum / kMany, 1, (deviation + 1e-5) / (1 - rate));
  }
}

TEST(Dropout, NeighboursAreIndependent) {
  for (const std::uint64_t seed : {0U, 1U, 12345U}) {
    const auto z = standard(mask_of(active(), {.rate = 0.4F, .seed = seed}, kMany), 0.4);
    for (const std::size_t lag :
         {1U, 2U, 3U, 8U, 15U, 16U, 17U, 32U, 33U, 64U, 100U, 256U, 512U, 1024U, 4096U, 65536U}) {
      EXPECT_NEAR(correlation(z, z, lag), 0, kFiveSigma * 1.2) << "seed " << seed << " lag " << lag;
    }
  }
}

TEST(Dropout, RunsOfKeptValuesHaveTheirLengths) {
  // Counts the 256 patterns of eight neighbours at rate 1/2 and compares them with chance (chi square, 255 degrees).
  const auto mask = mask_of(active(), {.rate = 0.5F, .seed = 3}, kMany);
  std::vector<double> counts(256);
  for (std::size_t i = 0; i + 8 <= mask.size(); i += 8) {
    std::size_t pattern = 0;
    for (std::size_t k = 0; k < 8; ++k) pattern = pattern * 2 + (mask[i + k] != 0);
    ++counts[pattern];
  }
  const double expected = kMany / 8.0 / 256.0;
  double chi = 0;
  for (const double c : counts) chi += (c - expected) * (c - expected) / expected;
  EXPECT_GT(chi, 255 - 5 * std::sqrt(2.0 * 255));
  EXPECT_LT(chi, 255 + 5 * std::sqrt(2.0 * 255));
}

TEST(Dropout, SeedsAndBlocksAreUnrelated) {
  const auto base = standard(mask_of(active(), {.rate = 0.5F, .seed = 10}, kMany), 0.5);
  const auto check = [&](const Dropout& how) {
    const auto other = standard(mask_of(active(), how, kMany), 0.5);
    for (const std::size_t lag : {0U, 1U, 16U, 32U}) {
      EXPECT_NEAR(correlation(base, other, lag), 0, kFiveSigma) << how.seed << " " << how.counter << " lag " << lag;
    }
  };
  check({.rate = 0.5F, .seed = 11});
  check({.rate = 0.5F, .seed = 10 + (std::uint64_t{1} << 32)});
  check({.rate = 0.5F, .seed = 10, .counter = kMany});
  check({.rate = 0.5F, .seed = 10, .counter = std::uint64_t{1} << 32});
}

TEST(Dropout, TheGeneratorIsThatOfTheHeader) {
  // Saved models and resumed runs rely on it.
  std::uint32_t bits = 0;
  for (std::uint64_t c = 0; c < 32; ++c)
    bits |= static_cast<std::uint32_t>(dropout_keeps(42, c, dropout_threshold(0.5F))) << c;
  EXPECT_EQ(bits, 2301618439U);
}

}  // namespace
}  // namespace fovea::kernels
