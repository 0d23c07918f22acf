#include "kernels/math.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/kernels.hpp"

namespace fovea::kernels {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::nanf("");

// Every 2063rd float from lo to hi, both signs' bit patterns walked in order.
std::vector<float> floats_between(float lo, float hi) {
  std::vector<float> x;
  const auto key = [](float v) {
    const auto bits = std::bit_cast<std::int32_t>(v);
    return bits < 0 ? std::int64_t{std::numeric_limits<std::int32_t>::min()} - bits : std::int64_t{bits};
  };
  for (std::int64_t k = key(lo); k <= key(hi); k += 2063) {
    const auto bits = static_cast<std::int32_t>(k < 0 ? std::numeric_limits<std::int32_t>::min() - k : k);
    x.push_back(std::bit_cast<float>(bits));
  }
  x.push_back(hi);
  return x;
}

// The distance in units of the last place of the true value, as float would hold it.
double ulps(float actual, double truth) {
  if (std::isnan(truth)) return std::isnan(actual) ? 0 : 1e9;
  const auto rounded = static_cast<float>(truth);
  if (std::isinf(rounded)) return actual == rounded ? 0 : 1e9;
  int exponent = 0;
  (void)std::frexp(truth, &exponent);
  const double unit = std::ldexp(1.0, std::max(exponent - 24, -149));
  return std::abs(actual - truth) / unit;
}

double worst_ulps(Map kernel, double (*truth)(double), float lo, float hi) {
  const std::vector<float> x = floats_between(lo, hi);
  std::vector<float> y(x.size());
  kernel(x.data(), y.data(), x.size());
  double worst = 0;
  float at = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double u = ulps(y[i], truth(x[i]));
    if (u > worst) {
      worst = u;
      at = x[i];
    }
  }
  ::testing::Test::RecordProperty("worst_at", std::to_string(at));
  return worst;
}

double sigmoid(double x) {
  return x > 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}
double gelu(double x) {
  return x * 0.5 * std::erfc(-x * M_SQRT1_2);
}
double gelu_slope(double x) {
  return 0.5 * std::erfc(-x * M_SQRT1_2) + x * std::exp(-0.5 * x * x) / std::sqrt(2 * M_PI);
}
double gelu_tanh(double x) {
  return x * sigmoid(2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x));
}
double gelu_tanh_slope(double x) {
  const double c = 2 * std::sqrt(2 / M_PI);
  const double u = c * (x + 0.044715 * x * x * x);
  return sigmoid(u) * (1 + x * sigmoid(-u) * c * (1 + 3 * 0.044715 * x * x));
}
double swish(double x) {
  return x * sigmoid(x);
}
double swish_slope(double x) {
  return sigmoid(x) * (1 + x * sigmoid(-x));
}
double true_exp(double x) {
  return std::exp(x);
}
double true_exp2(double x) {
  return std::exp2(x);
}
double true_tanh(double x) {
  return std::tanh(x);
}
double true_log(double x) {
  return std::log(x);
}

class Math : public ::testing::TestWithParam<const Table*> {};

TEST_P(Math, StaysWithinItsUlpsOverTheWholeRange) {
  const MathKernels& k = *GetParam()->math;
  EXPECT_LE(worst_ulps(k.exp, true_exp, -kInf, kInf), 1.1);
  EXPECT_LE(worst_ulps(k.exp2, true_exp2, -kInf, kInf), 2.0);
  EXPECT_LE(worst_ulps(k.exp_neg, true_exp, -87.33F, 0.0F), 1.1);
  EXPECT_LE(worst_ulps(k.exp2_neg, true_exp2, -126.0F, 0.0F), 2.6);
  EXPECT_LE(worst_ulps(k.tanh, true_tanh, -kInf, kInf), 3.6);
  EXPECT_LE(worst_ulps(k.sigmoid, sigmoid, -104.0F, kInf), 3.0);
  EXPECT_LE(worst_ulps(k.gelu, gelu, -12.9F, 3e38F), 5.0);
  EXPECT_LE(worst_ulps(k.gelu_tanh, gelu_tanh, -1.0F, 3e38F), 6.0);
  EXPECT_LE(worst_ulps(k.swish, swish, -87.0F, 3e38F), 5.0);
  EXPECT_LE(worst_ulps(k.log, true_log, 0.0F, kInf), 2.0);
}

TEST_P(Math, InfinitiesAndNansComeOutAsInLibm) {
  const MathKernels& k = *GetParam()->math;
  const auto of = [](Map f, float x) {
    const std::vector<float> in(19, x);  // whole vectors and the tail
    std::vector<float> out(in.size());
    f(in.data(), out.data(), in.size());
    for (const float v : out) EXPECT_EQ(std::isnan(v) ? 0.0F : v, std::isnan(out[0]) ? 0.0F : out[0]);
    return out[0];
  };
  EXPECT_EQ(of(k.exp, -kInf), 0.0F);
  EXPECT_EQ(of(k.exp, kInf), kInf);
  EXPECT_EQ(of(k.exp, 1000.0F), kInf);
  EXPECT_EQ(of(k.exp, 0.0F), 1.0F);
  EXPECT_EQ(of(k.exp_neg, -kInf), 0.0F);
  EXPECT_EQ(of(k.exp_neg, -1e30F), 0.0F);
  EXPECT_EQ(of(k.exp_neg, 0.0F), 1.0F);
  EXPECT_EQ(of(k.exp2_neg, -kInf), 0.0F);
  EXPECT_EQ(of(k.exp2_neg, -1e30F), 0.0F);
  EXPECT_EQ(of(k.exp2_neg, 0.0F), 1.0F);
  EXPECT_EQ(of(k.exp2, -kInf), 0.0F);
  EXPECT_EQ(of(k.exp2, kInf), kInf);
  EXPECT_EQ(of(k.tanh, kInf), 1.0F);
  EXPECT_EQ(of(k.tanh, -kInf), -1.0F);
  EXPECT_EQ(of(k.sigmoid, kInf), 1.0F);
  EXPECT_EQ(of(k.sigmoid, -kInf), 0.0F);
  EXPECT_EQ(of(k.gelu, kInf), kInf);
  EXPECT_EQ(of(k.gelu, -kInf), 0.0F);
  EXPECT_EQ(of(k.gelu_tanh, kInf), kInf);
  EXPECT_EQ(of(k.gelu_tanh, -kInf), 0.0F);
  EXPECT_EQ(of(k.swish, kInf), kInf);
  EXPECT_EQ(of(k.swish, -kInf), 0.0F);
  EXPECT_EQ(of(k.leaky_relu, kInf), kInf);
  EXPECT_EQ(of(k.leaky_relu, -kInf), -kInf);
  EXPECT_EQ(of(k.relu, -kInf), 0.0F);
  EXPECT_EQ(of(k.relu, kInf), kInf);
  EXPECT_EQ(of(k.log, 0.0F), -kInf);
  EXPECT_EQ(of(k.log, kInf), kInf);
  EXPECT_TRUE(std::isnan(of(k.log, -1.0F)));
  for (const Map f : {k.exp, k.exp2, k.exp_neg, k.exp2_neg, k.tanh, k.sigmoid, k.relu, k.leaky_relu, k.gelu,
                      k.gelu_tanh, k.swish, k.log}) {
    EXPECT_TRUE(std::isnan(of(f, kNan)));
  }
}

TEST_P(Math, TanhAndSigmoidNeverLeaveTheirRange) {
  const std::vector<float> x = floats_between(-kInf, kInf);
  std::vector<float> y(x.size());
  GetParam()->math->tanh(x.data(), y.data(), x.size());
  for (const float v : y) ASSERT_LE(std::abs(v), 1.0F);
  GetParam()->math->sigmoid(x.data(), y.data(), x.size());
  for (const float v : y) ASSERT_TRUE(v >= 0.0F && v <= 1.0F);
}

TEST_P(Math, GeluSlopeIsNearTheTruth) {
  const std::vector<float> x = floats_between(-kInf, kInf);
  const std::vector<float> dy(x.size(), 1.0F);
  std::vector<float> dx(x.size());
  GetParam()->math->gelu_backward(x.data(), dy.data(), dx.data(), x.size(), false);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double truth = std::abs(x[i]) < 30 ? gelu_slope(x[i]) : x[i] > 0 ? 1 : 0;
    ASSERT_NEAR(dx[i], truth, 4e-7) << x[i];
  }
}

TEST_P(Math, GeluByTanhAndItsSlopeAreNearTheTruth) {
  const std::vector<float> x = floats_between(-kInf, kInf);
  const std::vector<float> dy(x.size(), 1.0F);
  std::vector<float> y(x.size()), dx(x.size());
  GetParam()->math->gelu_tanh(x.data(), y.data(), x.size());
  GetParam()->math->gelu_tanh_backward(x.data(), dy.data(), dx.data(), x.size(), false);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] < 0) {
      ASSERT_NEAR(y[i], x[i] > -30 ? gelu_tanh(x[i]) : 0, 5e-7) << x[i];
    }
    ASSERT_NEAR(dx[i], std::abs(x[i]) < 30 ? gelu_tanh_slope(x[i]) : x[i] > 0 ? 1 : 0, 1e-6) << x[i];
  }
}

TEST_P(Math, SwishSlopeIsNearTheTruth) {
  const std::vector<float> x = floats_between(-kInf, kInf);
  const std::vector<float> dy(x.size(), 1.0F);
  std::vector<float> dx(x.size());
  GetParam()->math->swish_backward(x.data(), dy.data(), dx.data(), x.size(), false);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double truth = std::abs(x[i]) < 100 ? swish_slope(x[i]) : x[i] > 0 ? 1 : 0;
    ASSERT_NEAR(dx[i], truth, 5e-7) << x[i];
  }
}

// Sizes around the vectors' edges; values behind the end must stay as they are.
TEST_P(Math, EveryKernelAgreesWithGeneric) {
  const MathKernels& truth = *available()[0]->math;
  const MathKernels& k = *GetParam()->math;
  for (const std::size_t n : {0U, 1U, 7U, 8U, 9U, 15U, 16U, 17U, 33U, 64U, 131U}) {
    std::vector<float> a(n), b(n), before(n + 3);
    for (std::size_t i = 0; i < n; ++i) {
      a[i] = -3.0F + 0.173F * static_cast<float>(i % 37);
      b[i] = 1.5F - 0.211F * static_cast<float>(i % 23);
    }
    for (std::size_t i = 0; i < n + 3; ++i) before[i] = 0.01F * static_cast<float>(i);
    const auto check = [&](const char* name, auto&& run) {
      std::vector<float> expected = before;
      std::vector<float> actual = before;
      run(truth, expected.data());
      run(k, actual.data());
      for (std::size_t i = 0; i < n + 3; ++i) {
        if (std::isnan(expected[i])) {
          EXPECT_TRUE(std::isnan(actual[i])) << name;
        } else {
          EXPECT_NEAR(actual[i], expected[i], 1e-6F * std::max(1.0F, std::abs(expected[i])))
              << name << " n " << n << " i " << i;
        }
      }
    };
#define FOVEA_CHECK(call) check(#call, [&](const MathKernels& m, float* y) { m.call; })
    FOVEA_CHECK(exp(a.data(), y, n));
    FOVEA_CHECK(exp2(a.data(), y, n));
    FOVEA_CHECK(tanh(a.data(), y, n));
    FOVEA_CHECK(sigmoid(a.data(), y, n));
    FOVEA_CHECK(relu(a.data(), y, n));
    FOVEA_CHECK(leaky_relu(a.data(), y, n));
    FOVEA_CHECK(gelu(a.data(), y, n));
    FOVEA_CHECK(gelu_tanh(a.data(), y, n));
    FOVEA_CHECK(swish(a.data(), y, n));
    FOVEA_CHECK(log(a.data(), y, n));
    for (const bool add : {false, true}) {
      FOVEA_CHECK(exp_backward(a.data(), b.data(), y, n, add));
      FOVEA_CHECK(log_backward(a.data(), b.data(), y, n, add));
      FOVEA_CHECK(tanh_backward(a.data(), b.data(), y, n, add));
      FOVEA_CHECK(sigmoid_backward(a.data(), b.data(), y, n, add));
      FOVEA_CHECK(relu_backward(a.data(), b.data(), y, n, add));
      FOVEA_CHECK(leaky_relu_backward(a.data(), b.data(), y, n, add));
      FOVEA_CHECK(gelu_backward(a.data(), b.data(), y, n, add));
      FOVEA_CHECK(gelu_tanh_backward(a.data(), b.data(), y, n, add));
      FOVEA_CHECK(swish_backward(a.data(), b.data(), y, n, add));
    }
    FOVEA_CHECK(add(a.data(), b.data(), y, n));
    FOVEA_CHECK(sub(a.data(), b.data(), y, n));
    FOVEA_CHECK(mul(a.data(), b.data(), y, n));
    FOVEA_CHECK(mul_add(a.data(), b.data(), y, n));
    FOVEA_CHECK(add_in_place(a.data(), y, n));
    FOVEA_CHECK(scale(1.7F, a.data(), y, n));
    FOVEA_CHECK(axpy(-0.3F, a.data(), y, n));
#undef FOVEA_CHECK
  }
}

INSTANTIATE_TEST_SUITE_P(Tables, Math, ::testing::ValuesIn(available().begin(), available().end()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace fovea::kernels
