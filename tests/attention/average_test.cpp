#include "fovea/attention/average.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "fovea/error.hpp"
#include "support/parameter_gradcheck.hpp"

namespace fovea {
namespace {

using test::random_tensor;

constexpr std::int64_t kDim = 5;
constexpr std::int64_t kInner = 7;

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

// y_j + (x W)_j.
std::vector<double> product(const std::vector<double>& x, const Linear& map, std::vector<double> y) {
  const std::int64_t out = map.weight.out();
  y.resize(static_cast<std::size_t>(out), 0.0);
  for (std::int64_t j = 0; j < out; ++j) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      y[static_cast<std::size_t>(j)] += x[i] * map.weight.var.value().data()[static_cast<std::int64_t>(i) * out + j];
    }
    if (map.bias) y[static_cast<std::size_t>(j)] += map.bias.value().data()[j];
  }
  return y;
}

// One position after the other in double, as the paper has it.
TEST(AverageAttention, IsItsFormula) {
  Parameters p(1);
  const AverageAttention layer(p, "average", {.dim = kDim, .inner = kInner});
  test::scatter(p);
  const Tensor x = random_tensor({1, 4, kDim}, 2);
  Pass pass;
  const Tensor y = layer(x, pass).value();
  std::vector<double> sum(kDim, 0.0);
  for (std::int64_t t = 0; t < 4; ++t) {
    std::vector<double> now(x.data() + t * kDim, x.data() + (t + 1) * kDim);
    std::vector<double> mean(kDim);
    for (std::size_t i = 0; i < kDim; ++i) mean[i] = (sum[i] += now[i]) / static_cast<double>(t + 1);
    std::vector<double> inner = product(mean, layer.feed.first, {});
    for (double& v : inner) v = std::max(v, 0.0);
    const std::vector<double> g = product(inner, layer.feed.second, {});
    const std::vector<double> gates = product(g, layer.gate_average, product(now, layer.gate_input, {}));
    for (std::size_t i = 0; i < kDim; ++i) {
      const double expected = sigmoid(gates[i]) * now[i] + sigmoid(gates[kDim + i]) * g[i];
      EXPECT_NEAR(y.data()[t * kDim + static_cast<std::int64_t>(i)], expected, 1e-5);
    }
  }
}

TEST(AverageAttention, GradientsMatchFiniteDifferences) {
  test::check_gradients(
      [](Parameters& p, const auto& in) {
        Pass pass;
        return AverageAttention(p, "average", {.dim = kDim, .inner = kInner, .activation = Activation::tanh})(in[0],
                                                                                                              pass);
      },
      {random_tensor({2, 4, kDim}, 1)});
}

TEST(AverageAttention, StepsGiveWhatAllPositionsGiveAtOnce) {
  Parameters p(1);
  const AverageAttention layer(p, "average", {.dim = kDim, .inner = kInner});
  test::scatter(p);
  const Tensor x = random_tensor({3, 6, kDim}, 2);
  const NoGrad quiet;
  Pass pass;
  const Tensor whole = layer(x, pass).value();
  const Tensor sum = Tensor::zeros({3, kDim});
  for (std::int64_t t = 0; t < 6; ++t) {
    const Tensor y = layer.step(x.select(1, t).contiguous(), sum, t + 1);
    for (std::int64_t r = 0; r < 3; ++r) {
      for (std::int64_t i = 0; i < kDim; ++i) {
        EXPECT_NEAR(y.data()[r * kDim + i], whole.data()[(r * 6 + t) * kDim + i], 1e-5);
      }
    }
  }
  EXPECT_THROW((void)layer.step(x.select(1, 0).contiguous(), Tensor::zeros({2, kDim}), 1), ShapeError);
}

TEST(AverageAttention, ASizeThatWasLeftOutIsNamed) {
  Parameters p(1);
  EXPECT_THROW(AverageAttention(p, "average", {.dim = kDim}), UsageError);
}

}  // namespace
}  // namespace fovea
