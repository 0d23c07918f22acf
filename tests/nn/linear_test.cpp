#include "fovea/nn/linear.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.hpp"
#include "fovea/error.hpp"

namespace fovea {
namespace {

Tensor noise(const Shape& shape, std::uint64_t seed) {
  Tensor t = Tensor::empty(shape);
  Rng rng(seed);
  for (float& v : t.values()) v = static_cast<float>(rng.normal());
  return t;
}

TEST(Linear, IsTheProductPlusTheBias) {
  Parameters p(1);
  p.put("l.weight", Tensor::of({2, 3}, {1, 2, 3, 4, 5, 6}));
  p.put("l.bias", Tensor::of({3}, {10, 20, -100}));
  const Linear layer(p, "l", 2, 3);
  const Tensor y = layer(Tensor::of({1, 2}, {1, -1})).value();
  EXPECT_EQ(y.data()[0], 7);
  EXPECT_EQ(y.data()[1], 17);
  EXPECT_EQ(y.data()[2], -103);
  EXPECT_EQ(layer(Tensor::of({1, 2}, {1, -1}), Activation::relu).value().data()[2], 0);
}

TEST(Linear, StartsWithXavierWeightsAndNoBias) {
  Parameters p(1);
  const Linear layer(p, "l", 30, 20);
  double most = 0;
  for (const float w : layer.weight.var.value().values()) most = std::max<double>(most, std::abs(w));
  EXPECT_LE(most, std::sqrt(6.0 / 50) * (1 + 1e-6));
  EXPECT_GT(most, 0.98 * std::sqrt(6.0 / 50));
  for (const float b : layer.bias.value().values()) EXPECT_EQ(b, 0);
}

TEST(Linear, WithoutABiasThereIsNone) {
  Parameters p(1);
  const Linear layer(p, "l", 3, 2, false);
  EXPECT_FALSE(layer.bias);
  EXPECT_EQ(p.find("l.bias"), nullptr);
  for (const float v : layer(Tensor::zeros({1, 3})).value().values()) EXPECT_EQ(v, 0);
}

TEST(Linear, PackedWeightsGiveWhatTheOthersGive) {
  const NoGrad quiet;
  for (const std::int64_t in : {1, 7, 8, 33}) {
    for (const std::int64_t out : {1, 9, 40}) {
      Parameters p(1);
      const Linear plain(p, "l", in, out);
      plain.bias.value().copy_from(noise({out}, 2));
      p.pack();
      const Linear packed(p, "l", in, out);
      ASSERT_TRUE(packed.weight.packed);
      ASSERT_FALSE(plain.weight.packed);
      const Tensor x = noise({2, 3, in}, 3);
      for (const Activation activation : {Activation::none, Activation::relu, Activation::tanh}) {
        const Tensor a = plain(x, activation).value();
        const Tensor b = packed(x, activation).value();
        ASSERT_EQ(a.shape(), b.shape());
        for (std::int64_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a.data()[i], b.data()[i], 1e-4);
      }
    }
  }
}

// What is packed does not follow the weights, and knows neither gradients nor dropout.
TEST(Linear, TrainingDoesNotUseThePackedWeights) {
  Parameters p(1);
  (void)Linear(p, "l", 4, 3);
  p.pack();
  const Linear layer(p, "l", 4, 3);
  for (float& w : layer.weight.var.value().values()) w = 1;
  EXPECT_EQ(layer(Tensor::full({1, 4}, 1.0F)).value().data()[0], 4);
  const Var y = layer(Tensor::full({1, 4}, 1.0F));
  backward(y, Tensor::full({1, 3}, 1.0F));
  EXPECT_EQ(layer.weight.var.grad().data()[0], 1);
}

// An embedding that is also the output layer has a token in every row.
TEST(Weight, MultipliesEitherWayRoundPackedOrNot) {
  for (const MatrixLayout layout : {MatrixLayout::in_out, MatrixLayout::out_in}) {
    for (const bool packed : {false, true}) {
      Parameters p(1);
      const bool stored = layout == MatrixLayout::in_out;
      const Shape shape = stored ? Shape{3, 5} : Shape{5, 3};
      (void)p.matrix("w", shape, Init::xavier, layout);
      if (packed) p.pack();
      const Weight weight = p.matrix("w", shape, Init::xavier, layout);
      ASSERT_EQ(static_cast<bool>(weight.packed), packed);
      EXPECT_EQ(weight.in(), 3);
      EXPECT_EQ(weight.out(), 5);
      const Tensor x = noise({2, 3}, 4);
      const Tensor bias = noise({5}, 5);
      const Tensor y = weight.product(x, bias);
      ASSERT_EQ(y.shape(), (Shape{2, 5}));
      const float* w = weight.var.value().data();
      for (std::int64_t r = 0; r < 2; ++r) {
        for (std::int64_t o = 0; o < 5; ++o) {
          double sum = bias.data()[o];
          for (std::int64_t i = 0; i < 3; ++i) sum += x.data()[r * 3 + i] * (stored ? w[i * 5 + o] : w[o * 3 + i]);
          EXPECT_NEAR(y.data()[r * 5 + o], sum, 1e-5);
        }
      }
    }
  }
}

TEST(Weight, OneThatIsNoMatrixOfALayerIsNotPacked) {
  Parameters p(1);
  (void)p.get("table", {5, 3}, Init::embedding);
  (void)p.matrix("w", {5, 3}, Init::xavier);
  p.pack();
  EXPECT_FALSE(p.entries()[0].packed);
  EXPECT_TRUE(p.entries()[1].packed);
}

TEST(Weight, BothWaysRoundAtOnceIsRefused) {
  Parameters p(1);
  (void)p.matrix("w", {3, 3}, Init::xavier, MatrixLayout::in_out);
  EXPECT_THROW((void)p.matrix("w", {3, 3}, Init::xavier, MatrixLayout::out_in), UsageError);
}

}  // namespace
}  // namespace fovea
