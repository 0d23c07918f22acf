#include "kernels/rows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernels/kernels.hpp"

namespace fovea::kernels {
namespace {

using Values = std::vector<float>;

Values random_values(std::int64_t n, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  Values v(static_cast<std::size_t>(n));
  for (float& x : v) x = normal(generator);
  return v;
}

void expect_near(const Values& actual, const Values& expected, const std::string& what) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(actual[i], expected[i], 3e-6F * std::max(1.0F, std::abs(expected[i]))) << what << " at " << i;
  }
}

class Rows : public ::testing::TestWithParam<const Table*> {
 protected:
  static constexpr std::int64_t kRows = 3;
  const RowKernels& truth_ = *available()[0]->rows;
  const RowKernels& kernels_ = *GetParam()->rows;

  // Runs `call` on both tables with an output of `size` values, two more behind it that must stay.
  template <class Call>
  void compare(const std::string& what, std::int64_t size, Call&& call) const {
    Values expected = random_values(size + 2, 77);
    Values actual = expected;
    call(truth_, expected.data());
    call(kernels_, actual.data());
    expect_near(actual, expected, what + " of " + GetParam()->name);
  }
};

const std::int64_t kWidths[] = {1, 7, 8, 9, 15, 16, 17, 33, 64, 128, 131};

TEST_P(Rows, EveryKernelAgreesWithGeneric) {
  for (const std::int64_t width : kWidths) {
    const std::int64_t n = kRows * width;
    const Values x = random_values(n, 1);
    const Values dy = random_values(n, 2);
    const Values bias = random_values(width, 3);
    Values y(static_cast<std::size_t>(n));
    Values log_y(y.size());
    truth_.softmax(x.data(), y.data(), kRows, width);
    truth_.log_softmax(x.data(), log_y.data(), kRows, width);
    const std::string w = " width " + std::to_string(width);
    compare("softmax" + w, n, [&](auto& k, float* o) { k.softmax(x.data(), o, kRows, width); });
    compare("log_softmax" + w, n, [&](auto& k, float* o) { k.log_softmax(x.data(), o, kRows, width); });
    for (const bool add : {false, true}) {
      compare("softmax_backward" + w, n,
              [&](auto& k, float* o) { k.softmax_backward(y.data(), dy.data(), o, kRows, width, add); });
      compare("log_softmax_backward" + w, n,
              [&](auto& k, float* o) { k.log_softmax_backward(log_y.data(), dy.data(), o, kRows, width, add); });
    }
    compare("add_bias" + w, n, [&](auto& k, float* o) { k.add_bias(x.data(), bias.data(), o, kRows, width); });
    compare("mul_bias" + w, n, [&](auto& k, float* o) { k.mul_bias(x.data(), bias.data(), o, kRows, width); });
    compare("column_sums" + w, width, [&](auto& k, float* o) { k.column_sums(x.data(), o, kRows, width); });
    compare("column_dots" + w, width, [&](auto& k, float* o) { k.column_dots(x.data(), dy.data(), o, kRows, width); });
    compare("row_sums" + w, kRows, [&](auto& k, float* o) { k.row_sums(x.data(), o, kRows, width); });
    for (const float moved : {0.0F, 39.0F, 100.0F, -45.0F, -1e30F}) {
      Values far = x;
      for (float& v : far) v += moved;
      compare("peak" + w, 3, [&](auto& k, float* o) {
        const Peak p = k.peak(far.data(), width, true);
        o[0] = p.top;
        o[1] = p.shift;
        o[2] = p.sum;
        EXPECT_EQ(k.peak(far.data(), width, false).top, p.top);
        EXPECT_EQ(p.shift, std::abs(p.top) <= kUnshifted ? 0 : p.top);
      });
    }
    for (const float bar : {-10.0F, 0.5F, x[0]}) {
      std::vector<std::int32_t> expected(static_cast<std::size_t>(width)), actual(expected);
      const std::int64_t count = truth_.above(x.data(), width, bar, expected.data());
      EXPECT_EQ(kernels_.above(x.data(), width, bar, actual.data()), count);
      EXPECT_EQ(actual, expected) << width;
    }
    compare("column_max" + w, 2 * width,
            [&](auto& k, float* o) { k.column_max(x.data(), o, o + width, kRows, width); });
  }
}

TEST_P(Rows, LayerNormAgreesWithGeneric) {
  for (const std::int64_t width : kWidths) {
    const std::int64_t n = kRows * width;
    const Values x = random_values(n, 1);
    const Values residual = random_values(n, 2);
    const Values gamma = random_values(width, 3);
    const Values beta = random_values(width, 4);
    const Values dy = random_values(n, 5);
    for (const int variant : {0, 1, 2, 3}) {
      const bool affine = variant != 1;
      LayerNorm norm{.rows = kRows, .width = width, .epsilon = 0.1F, .x = x.data()};
      if (affine) norm.gamma = gamma.data();
      if (affine) norm.beta = beta.data();
      if (variant >= 2) norm.residual = residual.data();
      if (variant == 3) norm.dropout = {.rate = 0.4F, .seed = 8, .counter = 5};
      const std::string what = "variant " + std::to_string(variant) + " width " + std::to_string(width);
      // y, h, mean and rstd behind each other.
      const auto forward = [&](const RowKernels& k, float* o) {
        LayerNorm call = norm;
        call.y = o;
        call.h = o + n;
        call.mean = o + 2 * n;
        call.rstd = o + 2 * n + kRows;
        k.layer_norm(call);
      };
      compare("layer_norm " + what, 2 * n + 2 * kRows, forward);
      if (variant == 3) continue;
      Values kept(static_cast<std::size_t>(2 * n + 2 * kRows));
      forward(truth_, kept.data());
      for (const bool add : {false, true}) {
        compare("layer_norm_backward " + what, n + 2 * width, [&](const RowKernels& k, float* o) {
          k.layer_norm_backward({.rows = kRows,
                                 .width = width,
                                 .x = variant == 2 ? kept.data() + n : x.data(),
                                 .gamma = norm.gamma,
                                 .mean = kept.data() + 2 * n,
                                 .rstd = kept.data() + 2 * n + kRows,
                                 .dy = dy.data(),
                                 .dx = o,
                                 .add = add,
                                 .dgamma = affine ? o + n : nullptr,
                                 .dbeta = affine ? o + n + width : nullptr});
        });
      }
    }
  }
}

TEST_P(Rows, BiasActivationAgreesWithGeneric) {
  for (const std::int64_t width : kWidths) {
    const std::int64_t n = kRows * width;
    const Values x = random_values(n, 1);
    const Values bias = random_values(width, 3);
    const Values dy = random_values(n, 5);
    for (const auto f : {Activation::none, Activation::relu, Activation::leaky_relu, Activation::gelu,
                         Activation::gelu_tanh, Activation::swish, Activation::tanh, Activation::sigmoid}) {
      for (const float rate : {0.0F, 0.3F}) {
        const std::string what = std::to_string(static_cast<int>(f)) + " width " + std::to_string(width);
        BiasActivation call{.rows = kRows, .width = width, .activation = f, .x = x.data(), .bias = bias.data()};
        call.dropout = {.rate = rate, .seed = 4, .counter = 11};
        const auto forward = [&](const RowKernels& k, float* o) {
          BiasActivation c = call;
          c.y = o;
          k.bias_activation(c);
        };
        compare("bias_activation " + what, n, forward);
        Values y(static_cast<std::size_t>(n));
        forward(truth_, y.data());
        for (const bool add : {false, true}) {
          compare("bias_activation_backward " + what, n + width, [&](const RowKernels& k, float* o) {
            k.bias_activation_backward({.rows = kRows,
                                        .width = width,
                                        .activation = f,
                                        .x = x.data(),
                                        .bias = bias.data(),
                                        .y = y.data(),
                                        .dropout = call.dropout,
                                        .dy = dy.data(),
                                        .dx = o,
                                        .add = add,
                                        .dbias = o + n});
          });
        }
      }
    }
  }
}

TEST_P(Rows, SoftmaxRowsSumToOneEvenWhenScoresAreHuge) {
  for (const std::int64_t width : kWidths) {
    for (const float size : {1.0F, 100.0F, 1e30F}) {
      Values x = random_values(kRows * width, 9);
      for (float& v : x) v *= size;
      kernels_.softmax(x.data(), x.data(), kRows, width);
      for (std::int64_t r = 0; r < kRows; ++r) {
        double sum = 0;
        for (std::int64_t i = 0; i < width; ++i) sum += x[static_cast<std::size_t>(r * width + i)];
        EXPECT_NEAR(sum, 1, 1e-6) << GetParam()->name << " width " << width << " size " << size;
      }
    }
  }
}

TEST_P(Rows, SoftmaxOfNothingIsZeroAndAbsentValuesWeighNothing) {
  const float absent = -std::numeric_limits<float>::infinity();
  Values x(19, absent);
  kernels_.softmax(x.data(), x.data(), 1, 19);
  EXPECT_EQ(x, Values(19, 0.0F));
  x.assign(19, absent);
  x[3] = x[17] = 2.0F;
  kernels_.softmax(x.data(), x.data(), 1, 19);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(x[i], i == 3 || i == 17 ? 0.5F : 0.0F);
}

TEST_P(Rows, LayerNormSurvivesALargeMeanAndAConstantRow) {
  const std::int64_t width = 100;
  Values x(static_cast<std::size_t>(2 * width), 1000.0F);
  for (std::size_t i = 0; i < 100; ++i) x[i] += i % 2 == 0 ? 1.0F : -1.0F;
  Values y(x.size());
  Values mean(2);
  Values rstd(2);
  kernels_.layer_norm(
      {.rows = 2, .width = width, .x = x.data(), .y = y.data(), .mean = mean.data(), .rstd = rstd.data()});
  for (std::size_t i = 0; i < 100; ++i) EXPECT_NEAR(y[i], i % 2 == 0 ? 1.0F : -1.0F, 1e-4F);
  for (std::size_t i = 100; i < 200; ++i) EXPECT_EQ(y[i], 0.0F);
}

INSTANTIATE_TEST_SUITE_P(Tables, Rows, ::testing::ValuesIn(available().begin(), available().end()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace fovea::kernels
