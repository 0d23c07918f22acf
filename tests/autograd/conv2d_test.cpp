#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "fovea/convolution.hpp"
#include "fovea/error.hpp"
#include "fovea/ops.hpp"
#include "support/gradcheck.hpp"

namespace fovea {
namespace {

using test::random_tensor;

constexpr Window2d kWindows[] = {
    {},
    {.height = 3, .width = 3, .pad_y = 1, .pad_x = 1},
    {.height = 3, .width = 2, .stride_y = 2, .stride_x = 1, .pad_y = 1, .pad_x = 0},
    {.height = 2, .width = 2, .stride_y = 2, .stride_x = 2},
    {.height = 5, .width = 4, .stride_y = 1, .stride_x = 3, .pad_y = 2, .pad_x = 2},
};

// Visits every (output pixel, window place, input pixel) by the definition.
template <class Body>
void for_all(const Tensor& x, const Shape& y, const Window2d& w, const Body& body) {
  for (std::int64_t b = 0; b < y[0]; ++b) {
    for (std::int64_t oy = 0; oy < y[1]; ++oy) {
      for (std::int64_t ox = 0; ox < y[2]; ++ox) {
        for (std::int64_t ky = 0; ky < w.height; ++ky) {
          for (std::int64_t kx = 0; kx < w.width; ++kx) {
            const std::int64_t iy = oy * w.stride_y - w.pad_y + ky;
            const std::int64_t ix = ox * w.stride_x - w.pad_x + kx;
            if (iy < 0 || iy >= x.dim(1) || ix < 0 || ix >= x.dim(2)) continue;
            body((b * y[1] + oy) * y[2] + ox, ky * w.width + kx, (b * x.dim(1) + iy) * x.dim(2) + ix);
          }
        }
      }
    }
  }
}

TEST(Conv2d, ComputesWhatTheFormulaSays) {
  for (const Window2d& window : kWindows) {
    const std::int64_t c = 3;
    const std::int64_t out = 9;
    const Tensor x = random_tensor({2, 5, 6, c}, 1);
    const Tensor w = random_tensor({window.height * window.width * c, out}, 2);
    const Tensor b = random_tensor({out}, 3);
    const Var y = conv2d(x, w, b, window);
    std::vector<double> expected(static_cast<std::size_t>(y.size()));
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = b.data()[i % out];
    for_all(x, y.shape(), window, [&](std::int64_t pixel, std::int64_t place, std::int64_t from) {
      for (std::int64_t o = 0; o < out; ++o) {
        for (std::int64_t i = 0; i < c; ++i) {
          expected[static_cast<std::size_t>(pixel * out + o)] +=
              x.data()[from * c + i] * w.data()[(place * c + i) * out + o];
        }
      }
    });
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(y.value().values()[i], expected[i], 2e-5);
  }
}

TEST(Conv2d, TheRectifierIsAppliedInTheSamePass) {
  for (const Window2d& window : kWindows) {
    const std::vector<Tensor> in{random_tensor({2, 5, 6, 3}, 1),
                                 random_tensor({window.height * window.width * 3, 9}, 2), random_tensor({9}, 3)};
    std::vector<Tensor> values, gradients;
    for (const bool fused : {false, true}) {
      std::vector<Var> leaves;
      for (const Tensor& t : in) leaves.push_back(Var::parameter(t.clone()));
      const Var y = fused ? conv2d(leaves[0], leaves[1], leaves[2], window, Activation::relu)
                          : relu(conv2d(leaves[0], leaves[1], leaves[2], window));
      backward(y, random_tensor(y.shape(), 4));
      values.push_back(y.value());
      for (const Var& leaf : leaves) gradients.push_back(leaf.grad().clone());
    }
    EXPECT_TRUE(std::ranges::equal(values[0].values(), values[1].values()));
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_TRUE(std::ranges::equal(gradients[i].values(), gradients[3 + i].values())) << i;
    }
  }
  EXPECT_THROW((void)conv2d(random_tensor({1, 1, 1, 1}, 1), random_tensor({1, 1}, 2), random_tensor({1}, 3), {},
                            Activation::tanh),
               UsageError);
}

TEST(Conv2d, GradientMatchesFiniteDifferences) {
  for (const Window2d& window : kWindows) {
    for (const std::int64_t out : {1, 9}) {
      test::check_gradients([&](const auto& in) { return conv2d(in[0], in[1], in[2], window); },
                            {random_tensor({2, 5, 4, 3}, 1), random_tensor({window.height * window.width * 3, out}, 2),
                             random_tensor({out}, 3)});
    }
  }
}

TEST(Pool2d, MaximumAndMeanAreThoseOfTheWindow) {
  for (const Window2d& window : kWindows) {
    const std::int64_t c = 9;
    const Tensor x = random_tensor({2, 5, 6, c}, 1);
    const Var largest = max_pool2d(x, window);
    const Var mean = average_pool2d(x, window);
    ASSERT_EQ(largest.shape(), mean.shape());
    std::vector<float> most(static_cast<std::size_t>(mean.size()), -std::numeric_limits<float>::infinity());
    std::vector<double> total(most.size(), 0.0);
    for_all(x, mean.shape(), window, [&](std::int64_t pixel, std::int64_t, std::int64_t from) {
      for (std::int64_t i = 0; i < c; ++i) {
        const auto at = static_cast<std::size_t>(pixel * c + i);
        most[at] = std::max(most[at], x.data()[from * c + i]);
        total[at] += x.data()[from * c + i];
      }
    });
    for (std::size_t i = 0; i < most.size(); ++i) {
      EXPECT_EQ(largest.value().values()[i], most[i]);
      EXPECT_NEAR(mean.value().values()[i], total[i] / static_cast<double>(window.height * window.width), 1e-6);
    }
  }
}

TEST(Pool2d, GradientMatchesFiniteDifferences) {
  for (const std::int64_t c : {1, 7, 8, 9, 33}) {
    // Values far apart, so that a small change moves no maximum.
    const Tensor x = Tensor::empty({2, 5, 4, c});
    std::iota(x.values().begin(), x.values().end(), 0.0F);
    std::shuffle(x.values().begin(), x.values().end(), std::mt19937(1));
    for (float& v : x.values()) v *= 0.1F;
    for (const Window2d& window : kWindows) {
      test::check_gradients([&](const auto& in) { return max_pool2d(in[0], window); }, {x});
      test::check_gradients([&](const auto& in) { return average_pool2d(in[0], window); },
                            {random_tensor(x.shape(), 2)});
    }
    test::check_gradients([&](const auto& in) { return global_average_pool2d(in[0]); }, {random_tensor(x.shape(), 2)});
  }
}

TEST(Pool2d, GlobalMeanIsThatOfAllPixels) {
  const Tensor x = random_tensor({2, 3, 4, 5}, 1);
  const Var mean = global_average_pool2d(x);
  EXPECT_EQ(mean.shape(), (Shape{2, 5}));
  double total = 0;
  for (std::int64_t i = 0; i < 12; ++i) total += x.data()[60 + i * 5 + 2];
  EXPECT_NEAR(mean.value().data()[7], total / 12, 1e-6);
}

TEST(Conv2d, WhatDoesNotFitIsNamed) {
  EXPECT_THROW((void)conv2d(random_tensor({1, 3, 3, 1}, 1), random_tensor({4, 2}, 2), {}, {.height = 2, .width = 2}),
               ShapeError);
  EXPECT_THROW((void)max_pool2d(Tensor::zeros({1, 0, 3, 1}), {.height = 2, .width = 2, .pad_y = 1}), ShapeError);
  const auto message = [](auto&& call) -> std::string {
    try {
      (void)call();
    } catch (const ShapeError& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  const Tensor x = Tensor::zeros({1, 2, 2, 3});
  EXPECT_EQ(message([&] {
              return max_pool2d(Tensor::zeros({2, 2, 3}), {});
            }),
            "max_pool2d: the input is [2,2,3], not [B,H,W,C]");
  EXPECT_EQ(message([&] { return max_pool2d(x, {.height = 3, .width = 3}); }),
            "max_pool2d: a window of 3x3 does not fit on [1,2,2,3] with padding 0x0");
  EXPECT_EQ(message([&] { return max_pool2d(x, {.height = 2, .width = 2, .pad_y = 2}); }),
            "max_pool2d: padding 2x0 is more than half a window of 2x2");
  EXPECT_EQ(message([&] { return average_pool2d(x, {.stride_y = 0}); }),
            "average_pool2d: a window of 1x1, stride 0x1, padding 0x0 makes no sense");
  EXPECT_EQ(message([&] {
              return conv2d(x, Tensor::zeros({4, 5}), Tensor::zeros({5}), {});
            }),
            "conv2d: weights [4,5] and bias [5] for windows of 1x1 on [1,2,2,3]; [3,O] and [O] are needed");
}

}  // namespace
}  // namespace fovea
