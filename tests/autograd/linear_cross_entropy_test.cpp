#include <algorithm>
#include <cmath>
#include <vector>

#include "fovea/error.hpp"
#include "fovea/ops.hpp"
#include "kernels/kernels.hpp"
#include "support/gradcheck.hpp"

namespace fovea {
namespace {

// Rows, vocabulary: more than a block of rows, more than a slice of the vocabulary.
struct Sizes {
  std::int64_t rows, width, vocabulary;
};

struct Problem {
  Sizes sizes;
  bool transposed;
  float smoothing;
  Tensor x = test::random_tensor({sizes.rows, sizes.width}, 1);
  Tensor w = test::random_tensor(
      transposed ? Shape{sizes.width, sizes.vocabulary} : Shape{sizes.vocabulary, sizes.width}, 2, 0.3F);
  Tensor b = test::random_tensor({sizes.vocabulary}, 3);
  std::vector<std::int32_t> targets = [this] {
    std::vector<std::int32_t> t;
    for (std::int64_t i = 0; i < sizes.rows; ++i) t.push_back(static_cast<std::int32_t>(i * 7 % sizes.vocabulary));
    return t;
  }();

  [[nodiscard]] double weight(std::int64_t v, std::int64_t k) const {
    return w.data()[transposed ? k * sizes.vocabulary + v : v * sizes.width + k];
  }
  [[nodiscard]] CrossEntropy ours(const Var& vx, const Var& vw, const Var& vb) const {
    return linear_cross_entropy(vx, vw, vb, targets, {.label_smoothing = smoothing, .transposed = transposed});
  }
};

// Everything in double, straight from the formulas; target 0 is padding.
void expect_formula(const Problem& p) {
  const Var x = Var::parameter(p.x);
  const Var w = Var::parameter(p.w);
  const Var b = Var::parameter(p.b);
  const CrossEntropy c = p.ours(x, w, b);
  backward(scale(c.loss, 0.5F));
  const auto& [rows, width, vocabulary] = p.sizes;
  std::vector<double> dw(static_cast<std::size_t>(vocabulary * width));
  std::vector<double> db(static_cast<std::size_t>(vocabulary));
  double loss = 0;
  double nll = 0;
  std::int64_t tokens = 0;
  std::int64_t correct = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int32_t t = p.targets[static_cast<std::size_t>(i)];
    std::vector<double> z(static_cast<std::size_t>(vocabulary));
    double sum = 0;
    double mean = 0;
    double largest = -1e300;
    for (std::int64_t v = 0; v < vocabulary; ++v) {
      double& logit = z[static_cast<std::size_t>(v)];
      logit = p.b.data()[v];
      for (std::int64_t k = 0; k < width; ++k) logit += p.x.data()[i * width + k] * p.weight(v, k);
      sum += std::exp(logit);
      mean += logit / static_cast<double>(vocabulary);
      largest = std::max(largest, logit);
    }
    std::vector<double> dx(static_cast<std::size_t>(width));
    if (t != 0) {
      const double row = std::log(sum) - z[static_cast<std::size_t>(t)];
      nll += row;
      loss += (1 - p.smoothing) * row + p.smoothing * (std::log(sum) - mean);
      ++tokens;
      correct += z[static_cast<std::size_t>(t)] == largest ? 1 : 0;
      for (std::int64_t v = 0; v < vocabulary; ++v) {
        double dz = std::exp(z[static_cast<std::size_t>(v)]) / sum - p.smoothing / static_cast<double>(vocabulary);
        if (v == t) dz -= 1 - p.smoothing;
        dz *= 0.5;
        db[static_cast<std::size_t>(v)] += dz;
        for (std::int64_t k = 0; k < width; ++k) {
          dw[static_cast<std::size_t>(v * width + k)] += dz * p.x.data()[i * width + k];
          dx[static_cast<std::size_t>(k)] += dz * p.weight(v, k);
        }
      }
    }
    for (std::int64_t k = 0; k < width; ++k) {
      ASSERT_NEAR(x.grad().data()[i * width + k], dx[static_cast<std::size_t>(k)], 2e-6) << "dx of row " << i;
    }
  }
  EXPECT_NEAR(c.loss.value().item(), loss, 2e-6 * loss);
  EXPECT_NEAR(c.nll, nll, 1e-6 * nll);
  EXPECT_EQ(c.tokens, tokens);
  EXPECT_EQ(c.correct, correct);
  for (std::int64_t v = 0; v < vocabulary; ++v) {
    ASSERT_NEAR(b.grad().data()[v], db[static_cast<std::size_t>(v)], 2e-5) << "db of " << v;
    for (std::int64_t k = 0; k < width; ++k) {
      ASSERT_NEAR(w.grad().data()[p.transposed ? k * vocabulary + v : v * width + k],
                  dw[static_cast<std::size_t>(v * width + k)], 2e-5)
          << "dw of " << v << ", " << k;
    }
  }
}

TEST(LinearCrossEntropy, LossAndGradientsFollowTheFormulas) {
  for (const kernels::Table* table : kernels::available()) {
    SCOPED_TRACE(table->name);
    const kernels::ScopedKernels use(*table);
    for (const bool transposed : {false, true}) {
      for (const Sizes& sizes : {Sizes{1, 1, 2}, {9, 7, 8}, {33, 9, 33}, {40, 300, 70}, {270, 5, 523}}) {
        expect_formula({sizes, transposed, 0.0F});
        expect_formula({sizes, transposed, 0.2F});
      }
    }
  }
}

TEST(LinearCrossEntropy, GradientMatchesFiniteDifferencesWithoutABias) {
  const std::vector<std::int32_t> targets{1, 0, 4, 2, 1};
  for (const bool transposed : {false, true}) {
    test::check_gradients(
        [&](const auto& in) {
          return linear_cross_entropy(in[0], in[1], {}, targets, {.label_smoothing = 0.1F, .transposed = transposed})
              .loss;
        },
        {test::random_tensor({5, 9}, 1, 0.5F), test::random_tensor(transposed ? Shape{9, 7} : Shape{7, 9}, 2, 0.5F)});
  }
}

// Each token twice: p and q of the formula.
Problem twice(const Sizes& half, bool transposed, float smoothing) {
  Problem p{{2 * half.rows, half.width, half.vocabulary}, transposed, smoothing};
  const auto middle = p.targets.begin() + half.rows;
  std::copy(p.targets.begin(), middle, middle);
  return p;
}

// L + a/2 sum [KL(p, q) + KL(q, p)] in double; gradients through central differences below.
TEST(LinearCrossEntropy, RDropAddsBothDivergences) {
  for (const kernels::Table* table : kernels::available()) {
    SCOPED_TRACE(table->name);
    const kernels::ScopedKernels use(*table);
    for (const bool transposed : {false, true}) {
      for (const Sizes& half : {Sizes{1, 1, 2}, {9, 7, 8}, {33, 9, 33}, {150, 5, 523}}) {
        const Problem p = twice(half, transposed, 0.1F);
        double expected = p.ours(p.x, p.w, p.b).loss.value().item();
        for (std::int64_t i = 0; i < half.rows; ++i) {
          if (p.targets[static_cast<std::size_t>(i)] == 0) continue;
          std::vector<double> log_p[2];
          for (int side = 0; side < 2; ++side) {
            double sum = 0;
            for (std::int64_t v = 0; v < half.vocabulary; ++v) {
              double logit = p.b.data()[v];
              for (std::int64_t k = 0; k < half.width; ++k) {
                logit += p.x.data()[(i + side * half.rows) * half.width + k] * p.weight(v, k);
              }
              log_p[side].push_back(logit);
              sum += std::exp(logit);
            }
            for (double& v : log_p[side]) v -= std::log(sum);
          }
          for (std::size_t v = 0; v < log_p[0].size(); ++v) {
            expected += 1.5 * (std::exp(log_p[0][v]) - std::exp(log_p[1][v])) * (log_p[0][v] - log_p[1][v]);
          }
        }
        const CrossEntropyOptions how{.label_smoothing = 0.1F, .transposed = transposed, .r_drop = 3};
        const CrossEntropy c = linear_cross_entropy(Var::parameter(p.x), p.w, p.b, p.targets, how);
        EXPECT_NEAR(c.loss.value().item(), expected, 3e-6 * expected);
        const CrossEntropy plain = linear_cross_entropy(p.x, p.w, p.b, p.targets, how);
        EXPECT_EQ(c.loss.value().item(), plain.loss.value().item());
        EXPECT_EQ(c.nll, plain.nll);
      }
    }
  }
}

TEST(LinearCrossEntropy, GradientWithRDropMatchesFiniteDifferences) {
  const std::vector<std::int32_t> targets{1, 0, 4, 2, 1, 0, 4, 2};
  for (const kernels::Table* table : kernels::available()) {
    const kernels::ScopedKernels use(*table);
    for (const bool transposed : {false, true}) {
      test::check_gradients(
          [&](const auto& in) {
            return linear_cross_entropy(in[0], in[1], in[2], targets,
                                        {.label_smoothing = 0.1F, .transposed = transposed, .r_drop = 4})
                .loss;
          },
          {test::random_tensor({2, 4, 9}, 1, 0.5F),
           test::random_tensor(transposed ? Shape{9, 7} : Shape{7, 9}, 2, 0.5F), test::random_tensor({7}, 3, 0.5F)});
    }
  }
}

// In several blocks of rows and slices of the vocabulary: the gradient is that of each pair alone.
TEST(LinearCrossEntropy, RDropOfManyPairsIsTheSumOfEach) {
  const Problem p = twice({200, 5, 523}, false, 0.1F);
  const CrossEntropyOptions how{.label_smoothing = 0.1F, .r_drop = 5};
  const Var x = Var::parameter(p.x);
  const Var w = Var::parameter(p.w);
  backward(linear_cross_entropy(x, w, p.b, p.targets, how).loss);
  const Var alone = Var::parameter(p.w);
  for (std::int64_t i = 0; i < 200; ++i) {
    const Tensor two = Tensor::empty({2, 5});
    std::copy_n(p.x.data() + i * 5, 5, two.data());
    std::copy_n(p.x.data() + (200 + i) * 5, 5, two.data() + 5);
    const std::int32_t t = p.targets[static_cast<std::size_t>(i)];
    const Var pair = Var::parameter(two);
    backward(linear_cross_entropy(pair, alone, p.b, std::vector<std::int32_t>{t, t}, how).loss);
    for (std::int64_t k = 0; k < 5; ++k) {
      ASSERT_NEAR(x.grad().data()[i * 5 + k], pair.grad().data()[k], 3e-6) << "pair " << i;
      ASSERT_NEAR(x.grad().data()[(200 + i) * 5 + k], pair.grad().data()[5 + k], 3e-6) << "pair " << i;
    }
  }
  for (std::int64_t k = 0; k < p.w.size(); ++k) ASSERT_NEAR(w.grad().data()[k], alone.grad().data()[k], 5e-5);
}

TEST(LinearCrossEntropy, RDropOfEqualHalvesAddsNothing) {
  const Tensor half = test::random_tensor({3, 5}, 1);
  const Tensor x = Tensor::empty({6, 5});
  std::copy_n(half.data(), 15, x.data());
  std::copy_n(half.data(), 15, x.data() + 15);
  const Tensor w = test::random_tensor({7, 5}, 2);
  const std::vector<std::int32_t> targets{1, 2, 3, 1, 2, 3};
  EXPECT_EQ(linear_cross_entropy(x, w, {}, targets, {.r_drop = 5}).loss.value().item(),
            linear_cross_entropy(x, w, {}, targets).loss.value().item());
}

TEST(LinearCrossEntropy, IsTheSameWithAndWithoutRecording) {
  const Problem p{{300, 33, 600}, false, 0.1F};
  const CrossEntropy recorded = p.ours(Var::parameter(p.x), p.w, p.b);
  const CrossEntropy plain = p.ours(p.x, p.w, p.b);
  EXPECT_EQ(recorded.loss.value().item(), plain.loss.value().item());
  EXPECT_EQ(recorded.nll, plain.nll);
  EXPECT_EQ(recorded.correct, plain.correct);
}

TEST(LinearCrossEntropy, GivesTheSameBytesEveryTime) {
  const Problem p{{600, 33, 2000}, false, 0.1F};
  const auto gradient = [&] {
    const Var w = Var::parameter(p.w);
    backward(p.ours(p.x, w, p.b).loss);
    return w.grad();
  };
  const Tensor first = gradient();
  for (int i = 0; i < 3; ++i) {
    const Tensor again = gradient();
    EXPECT_TRUE(std::ranges::equal(first.values(), again.values()));
  }
}

TEST(LinearCrossEntropy, StaysFiniteForHugeLogits) {
  const Var x = Var::parameter(Tensor::of({2, 1}, {1.0F, -1.0F}));
  const Var w = Var::parameter(Tensor::of({3, 1}, {1e30F, -1e30F, 0.0F}));
  const CrossEntropy c = linear_cross_entropy(x, w, {}, std::vector<std::int32_t>{0, 1}, {.padding = -1});
  EXPECT_EQ(c.loss.value().item(), 0.0F);
  EXPECT_EQ(c.correct, 2);
  backward(c.loss);
  for (const float v : w.grad().values()) EXPECT_EQ(v, 0.0F);
}

TEST(LinearCrossEntropy, NothingButPaddingCostsNothing) {
  const Var x = Var::parameter(test::random_tensor({3, 5}, 1));
  const Var w = Var::parameter(test::random_tensor({7, 5}, 2));
  const CrossEntropy c = linear_cross_entropy(x, w, {}, std::vector<std::int32_t>{0, 0, 0});
  EXPECT_EQ(c.tokens, 0);
  EXPECT_EQ(c.loss.value().item(), 0.0F);
  backward(c.loss);
  for (const float v : x.grad().values()) EXPECT_EQ(v, 0.0F);
  for (const float v : w.grad().values()) EXPECT_EQ(v, 0.0F);
}

TEST(LinearCrossEntropy, WhatDoesNotFitIsNamed) {
  const std::vector<std::int32_t> one{1};
  EXPECT_THROW((void)linear_cross_entropy(Tensor::zeros({1, 0}), Tensor::zeros({5, 0}), {}, one, {}), ShapeError);
  EXPECT_THROW(
      (void)linear_cross_entropy(Tensor::zeros({1, 2}), Tensor::zeros({5, 2}), {}, one, {.label_smoothing = 1}),
      UsageError);
  const Tensor x = Tensor::zeros({2, 3});
  for (const float weight : {-1.0F, std::nanf("")}) {
    EXPECT_THROW(
        (void)linear_cross_entropy(x, Tensor::zeros({5, 3}), {}, std::vector<std::int32_t>{1, 1}, {.r_drop = weight}),
        UsageError);
  }
  EXPECT_THROW((void)linear_cross_entropy(x, Tensor::zeros({5, 3}), {}, std::vector<std::int32_t>{1, 2}, {.r_drop = 1}),
               UsageError);
  EXPECT_THROW((void)linear_cross_entropy(Tensor::zeros({1, 3}), Tensor::zeros({5, 3}), {}, one, {.r_drop = 1}),
               UsageError);
  const std::vector<std::int32_t> targets{1, 2};
  EXPECT_THROW((void)linear_cross_entropy(x, Tensor::zeros({5, 4}), {}, targets), ShapeError);
  EXPECT_THROW((void)linear_cross_entropy(x, Tensor::zeros({5, 3}), Tensor::zeros({4}), targets), ShapeError);
  EXPECT_THROW((void)linear_cross_entropy(x, Tensor::zeros({5, 3}), {}, std::vector<std::int32_t>{1}), ShapeError);
  try {
    (void)linear_cross_entropy(x, Tensor::zeros({5, 3}), {}, std::vector<std::int32_t>{1, 5});
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "linear_cross_entropy: target 5 in a vocabulary of 5");
  }
}

}  // namespace
}  // namespace fovea
