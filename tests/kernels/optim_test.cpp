#include "kernels/optim.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "kernels/kernels.hpp"

namespace fovea::kernels {
namespace {

using Values = std::vector<float>;

Values random_values(std::size_t n, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  Values v(n);
  for (float& x : v) x = normal(generator);
  return v;
}

class Optim : public ::testing::TestWithParam<const Table*> {
 protected:
  const OptimKernels& kernels_ = *GetParam()->optim;
};

TEST_P(Optim, AdamIsItsFormulaOverSeveralSteps) {
  for (const std::size_t n : {1U, 7U, 8U, 9U, 16U, 33U, 130U}) {
    for (const bool with_mean : {false, true}) {
      // Two values behind the end must stay.
      Values w = random_values(n + 2, 1);
      Values m(n + 2);
      Values v(n + 2);
      Values mean = w;
      const Values start = w;
      std::vector<double> tw(w.begin(), w.end()), tm(n), tv(n), tmean(w.begin(), w.end());
      const double b1 = 0.9, b2 = 0.98, rate = 0.01, eps = 1e-6, decay = 0.1, clip = 0.7, keep = 0.95;
      for (int step = 1; step <= 5; ++step) {
        const Values g = random_values(n, static_cast<unsigned>(10 + step));
        const double c1 = 1 - std::pow(b1, step);
        const double c2 = 1 - std::pow(b2, step);
        const AdamStep s{.factor = static_cast<float>(clip),
                         .beta1 = static_cast<float>(b1),
                         .beta2 = static_cast<float>(b2),
                         .speed = static_cast<float>(rate * std::sqrt(c2) / c1),
                         .epsilon = static_cast<float>(eps * std::sqrt(c2)),
                         .shrink = static_cast<float>(1 - rate * decay),
                         .average = static_cast<float>(keep)};
        kernels_.adam(s, g.data(), m.data(), v.data(), w.data(), with_mean ? mean.data() : nullptr,
                      static_cast<std::int64_t>(n));
        for (std::size_t i = 0; i < n; ++i) {
          const double x = clip * g[i];
          tm[i] = b1 * tm[i] + (1 - b1) * x;
          tv[i] = b2 * tv[i] + (1 - b2) * x * x;
          tw[i] = tw[i] - rate * decay * tw[i] - rate * (tm[i] / c1) / (std::sqrt(tv[i] / c2) + eps);
          if (with_mean) tmean[i] = keep * tmean[i] + (1 - keep) * tw[i];
        }
      }
      for (std::size_t i = 0; i < n; ++i) {
        EXPECT_NEAR(w[i], tw[i], 2e-6) << "n " << n << " i " << i;
        EXPECT_NEAR(m[i], tm[i], 1e-6);
        EXPECT_NEAR(v[i], tv[i], 1e-6);
        EXPECT_NEAR(mean[i], tmean[i], 2e-6);
      }
      for (std::size_t i = n; i < n + 2; ++i) {
        EXPECT_EQ(w[i], start[i]);
        EXPECT_EQ(mean[i], start[i]);
        EXPECT_EQ(m[i], 0.0F);
      }
    }
  }
}

TEST_P(Optim, SumOfSquaresLosesNothingOverAMillionValues) {
  // In float the small values, one in all, would vanish next to the large one; a million roundings of doubles stay
  // under 1e-4.
  Values x(1000003, 1e-3F);
  x[0] = 1000.0F;
  const double truth = 1e6 + 1000002 * static_cast<double>(1e-3F) * 1e-3F;
  EXPECT_NEAR(kernels_.sum_of_squares(x.data(), static_cast<std::int64_t>(x.size())), truth, 1e-4);
  for (const std::int64_t n : {0, 1, 7, 8, 9, 33}) {
    double sum = 0;
    const Values y = random_values(static_cast<std::size_t>(n), 3);
    for (const float v : y) sum += static_cast<double>(v) * v;
    EXPECT_NEAR(kernels_.sum_of_squares(y.data(), n), sum, 1e-12);
  }
}

TEST_P(Optim, AverageMovesTowardsTheWeights) {
  Values mean(19, 1.0F);
  const Values w(19, 3.0F);
  kernels_.average(0.75F, w.data(), mean.data(), 18);
  for (std::size_t i = 0; i < 18; ++i) EXPECT_FLOAT_EQ(mean[i], 1.5F);
  EXPECT_EQ(mean[18], 1.0F);
}

INSTANTIATE_TEST_SUITE_P(Tables, Optim, ::testing::ValuesIn(available().begin(), available().end()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace fovea::kernels
