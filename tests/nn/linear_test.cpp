#include "fovea/nn/linear.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.hpp"
#include "fovea/nn/embedding.hpp"

namespace fovea {
namespace {

Tensor normal_tensor(const Shape& shape, std::uint64_t seed) {
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
  const Linear layer(p, "l", 3, 2, {.bias = false});
  EXPECT_FALSE(layer.bias);
  EXPECT_EQ(p.find("l.bias"), nullptr);
  const Var output = layer(Tensor::zeros({1, 3}));
  for (const float v : output.value().values()) EXPECT_EQ(v, 0);
}

TEST(Linear, PackedWeightsGiveWhatTheOthersGive) {
  const NoGrad quiet;
  for (const std::int64_t in : {1, 7, 8, 33}) {
    for (const std::int64_t out : {1, 9, 40}) {
      Parameters p(1);
      const Linear plain(p, "l", in, out);
      plain.bias.value().copy_from(normal_tensor({out}, 2));
      p.pack();
      const Linear packed(p, "l", in, out);
      ASSERT_TRUE(packed.weight.packed);
      ASSERT_FALSE(plain.weight.packed);
      const Tensor x = normal_tensor({2, 3, in}, 3);
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

// An output layer whose rows are tokens, as in an embedding: x W'.
TEST(Weight, BothLayoutsGiveTheProductPackedAndNot) {
  for (const MatrixLayout layout : {MatrixLayout::in_out, MatrixLayout::out_in}) {
    Parameters p(1);
    const bool by_rows = layout == MatrixLayout::out_in;
    const Shape shape = by_rows ? Shape{5, 3} : Shape{3, 5};
    (void)p.matrix("w", shape, Init::xavier, layout);
    const Tensor x = normal_tensor({2, 3}, 4);
    const Tensor bias = normal_tensor({5}, 5);
    for (const bool packed : {false, true}) {
      if (packed) p.pack();
      const Weight w = p.matrix("w", shape, Init::xavier, layout);
      ASSERT_EQ(w.packed != nullptr, packed);
      EXPECT_EQ(w.in(), 3);
      EXPECT_EQ(w.out(), 5);
      if (packed) {
        EXPECT_EQ(w.packed->in(), 3);
        EXPECT_EQ(w.packed->out(), 5);
        EXPECT_EQ(w.packed->storage(), Storage::f32);
      }
      const Tensor y = w.product(x, bias, Activation::relu);
      const float* values = w.var.value().data();
      for (std::int64_t r = 0; r < 2; ++r) {
        for (std::int64_t v = 0; v < 5; ++v) {
          double sum = bias.data()[v];
          for (std::int64_t i = 0; i < 3; ++i) {
            sum += x.data()[r * 3 + i] * values[by_rows ? v * 3 + i : i * 5 + v];
          }
          EXPECT_NEAR(y.data()[r * 5 + v], std::max(sum, 0.0), 1e-5);
        }
      }
    }
  }
}

TEST(Weight, OnlyWhatLayersMultiplyWithIsPacked) {
  Parameters p(1);
  (void)Linear(p, "layer", 5, 3);
  const Embedding table(p, "source.embedding", 5, 3);
  (void)Embedding(p, "target.embedding", 5, 3);
  (void)p.matrix("target.embedding", {5, 3}, Init::embedding, MatrixLayout::out_in);
  for (const auto& entry : p.entries()) EXPECT_FALSE(entry.packed) << entry.name;
  p.pack();
  for (const auto& entry : p.entries()) {
    const bool multiplied = entry.name == "layer.weight" || entry.name == "target.embedding";
    EXPECT_EQ(entry.packed != nullptr, multiplied) << entry.name;
  }
  Parameters copy = p.replica();
  EXPECT_TRUE(Linear(copy, "layer", 5, 3).weight.packed);
}

}  // namespace
}  // namespace fovea
