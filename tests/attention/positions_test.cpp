#include <cmath>

#include "attention/both_paths.hpp"
#include "fovea/ops.hpp"

namespace fovea {
namespace {

using test::Attend;
using test::check_gradients;
using test::kBothPaths;
using test::random_tensor;

const Tensor q = random_tensor({2, 2, 4, 4}, 1);
const Tensor k = random_tensor({2, 2, 6, 4}, 2);
const Tensor v = random_tensor({2, 2, 6, 3}, 3);

TEST(Positions, AlibiSlopesAreTheUsualOnes) {
  const auto slopes = [](std::int64_t heads) {
    const Tensor t = alibi_slopes(heads);
    return std::vector<float>(t.values().begin(), t.values().end());
  };
  EXPECT_EQ(slopes(1), (std::vector<float>{0.00390625F}));
  EXPECT_EQ(slopes(4), (std::vector<float>{0.25F, 0.0625F, 0.015625F, 0.00390625F}));
  const auto six = slopes(6);
  EXPECT_FLOAT_EQ(six[4], 0.5F);
  EXPECT_FLOAT_EQ(six[5], 0.125F);
}

TEST(Positions, RelativeBucketsAreT5s) {
  const RelativeBias both{};
  EXPECT_EQ(relative_bucket(0, 32, both), 0);
  EXPECT_EQ(relative_bucket(-7, 32, both), 7);
  EXPECT_EQ(relative_bucket(7, 32, both), 23);
  EXPECT_EQ(relative_bucket(-8, 32, both), 8);
  EXPECT_EQ(relative_bucket(-1000, 32, both), 15);
  EXPECT_EQ(relative_bucket(1000, 32, both), 31);
  const RelativeBias left{.bidirectional = false};
  EXPECT_EQ(relative_bucket(5, 32, left), 0);
  EXPECT_EQ(relative_bucket(-15, 32, left), 15);
  EXPECT_EQ(relative_bucket(-1000, 32, left), 31);
}

TEST(Positions, RelativeBiasEqualsTheWholeBiasArray) {
  const Tensor table = random_tensor({8, 2}, 9);
  const RelativeBias how{.table = table, .max_distance = 6};
  const Tensor bias = Tensor::empty({2, 4, 6});
  for (std::int64_t h = 0; h < 2; ++h) {
    for (std::int64_t i = 0; i < 4; ++i) {
      for (std::int64_t j = 0; j < 6; ++j) {
        bias.data()[(h * 4 + i) * 6 + j] = table.data()[relative_bucket(j - i - 2, 8, how) * 2 + h];
      }
    }
  }
  for (const Attend by : kBothPaths) {
    test::expect_near(by(q, k, v, {.relative_bias = how}).context.value(), by(q, k, v, {.bias = bias}).context.value(),
                      1e-6);
  }
}

TEST(Positions, RotaryScoresDependOnTheDistanceAlone) {
  const Tensor x = random_tensor({1, 1, 8}, 1), y = random_tensor({1, 1, 8}, 2);
  for (const bool interleaved : {false, true}) {
    const Rotary how{.interleaved = interleaved};
    const auto dot = [&](std::int64_t i, std::int64_t j) {
      const Tensor a = rotary(x, how, i).value(), b = rotary(y, how, j).value();
      double sum = 0;
      for (std::int64_t p = 0; p < 8; ++p) sum += static_cast<double>(a.data()[p]) * b.data()[p];
      return sum;
    };
    EXPECT_NEAR(dot(3, 1), dot(1002, 1000), 1e-4);
    EXPECT_GT(std::abs(dot(3, 1) - dot(4, 1)), 1e-2);
  }
}

// Every position's gradient, for one head and several, by both paths.
TEST(Positions, RelativeBiasGradientsMatchFiniteDifferences) {
  for (const bool bidirectional : {false, true}) {
    for (const Attend by : kBothPaths) {
      check_gradients(
          [&](const auto& in) {
            return by(in[0], in[1], in[2],
                      {.relative_bias =
                           RelativeBias{.table = in[3], .max_distance = 5, .bidirectional = bidirectional}})
                .context;
          },
          {q, k, v, random_tensor({6, 2}, 7)}, {.per_input = 12});
    }
  }
}

// Long enough that the kernels split the keys: pairs of one distance meet in one place of the table.
TEST(Positions, LongRelativeBiasLearnsTheSameByBothPaths) {
  const Tensor table = random_tensor({16, 1}, 7), x = random_tensor({1, 700, 4}, 1), dy = random_tensor({1, 700, 4}, 2);
  std::vector<Tensor> grads;
  for (const Attend by : kBothPaths) {
    const Var learned = Var::parameter(table);
    backward(by(x, x, x, {.relative_bias = RelativeBias{.table = learned}}).context, dy);
    grads.push_back(learned.grad());
  }
  test::expect_near(grads[0], grads[1], 1e-4);
}

TEST(Positions, RotaryGradientsMatchFiniteDifferences) {
  for (const Rotary& how : {Rotary{}, Rotary{.base = 100, .dims = 2}, Rotary{.interleaved = true}}) {
    check_gradients([&](const auto& in) { return rotary(in[0], how, 5); }, {random_tensor({2, 3, 4}, 1)});
    check_gradients([&](const auto& in) { return rotary(in[0], how, 5, 2); }, {random_tensor({2, 3, 8}, 1)});
    check_gradients([&](const auto& in) { return attend(in[0], in[1], in[2], {.rotary = how}).context; }, {q, k, v});
  }
}

TEST(Positions, ShawGradientsMatchFiniteDifferences) {
  check_gradients(
      [&](const auto& in) {
        return attend(in[0], in[1], in[2], {.relative_positions = RelativePositions{in[3], in[4]}}).context;
      },
      {q, k, v, random_tensor({5, 4}, 7), random_tensor({5, 3}, 8)}, {.per_input = 15});
}

TEST(Positions, ShawEqualsKeysAndValuesMovedByDistance) {
  // One query sees each key moved by its own distance vector: the same as moving the keys beforehand.
  const Tensor q1 = random_tensor({1, 1, 4}, 1), k1 = random_tensor({1, 4, 4}, 2), v1 = random_tensor({1, 4, 3}, 3);
  const Tensor rk = random_tensor({5, 4}, 4), rv = random_tensor({5, 3}, 5);
  const Tensor k2 = k1.clone(), v2 = v1.clone();
  for (std::int64_t j = 0; j < 4; ++j) {
    const std::int64_t r = std::max<std::int64_t>(j - 3, -2) + 2;
    for (std::int64_t x = 0; x < 4; ++x) k2.data()[j * 4 + x] += rk.data()[r * 4 + x];
    for (std::int64_t x = 0; x < 3; ++x) v2.data()[j * 3 + x] += rv.data()[r * 3 + x];
  }
  test::expect_near(attend(q1, k1, v1, {.relative_positions = RelativePositions{rk, rv}}).context.value(),
                    attend(q1, k2, v2).context.value(), 1e-5);
}

}  // namespace
}  // namespace fovea
