#include "base/rng.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace fovea {
namespace {

TEST(Rng, ASequenceContinuesFromItsCounter) {
  Rng first(7);
  for (int i = 0; i < 5; ++i) first.next();
  Rng second(7, first.counter());
  EXPECT_EQ(first.next(), second.next());
}

TEST(Rng, UniformAndNormalHaveTheirMoments) {
  Rng rng(3);
  double u = 0;
  double n = 0;
  double n2 = 0;
  constexpr int kCount = 200000;
  for (int i = 0; i < kCount; ++i) {
    u += rng.uniform();
    const double x = rng.normal();
    n += x;
    n2 += x * x;
  }
  EXPECT_NEAR(u / kCount, 0.5, 0.005);
  EXPECT_NEAR(n / kCount, 0.0, 0.01);
  EXPECT_NEAR(n2 / kCount, 1.0, 0.02);
}

TEST(Rng, BelowIsEvenAndShuffleKeepsEveryItem) {
  Rng rng(11);
  std::array<int, 6> seen{};
  for (int i = 0; i < 60000; ++i) ++seen[rng.below(6)];
  for (const int count : seen) EXPECT_NEAR(count, 10000, 400);
  std::array<int, 100> items{};
  std::iota(items.begin(), items.end(), 0);
  rng.shuffle(std::span<int>(items));
  EXPECT_FALSE(std::is_sorted(items.begin(), items.end()));
  std::sort(items.begin(), items.end());
  for (int i = 0; i < 100; ++i) EXPECT_EQ(items[static_cast<std::size_t>(i)], i);
}

}  // namespace
}  // namespace fovea
