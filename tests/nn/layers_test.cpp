// Layer norm, feed-forward layers, gated convolutions and attention as a model's parts, against their formulas.
#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.hpp"
#include "fovea/attention/multi_head.hpp"
#include "fovea/nn/convolution.hpp"
#include "fovea/nn/embedding.hpp"
#include "fovea/nn/feed_forward.hpp"
#include "fovea/nn/layer_norm.hpp"

namespace fovea {
namespace {

Tensor noise(const Shape& shape, std::uint64_t seed) {
  Tensor t = Tensor::empty(shape);
  Rng rng(seed);
  for (float& v : t.values()) v = static_cast<float>(rng.normal());
  return t;
}

void expect_near(const Tensor& a, const Tensor& b, double tolerance) {
  ASSERT_EQ(a.shape(), b.shape());
  for (std::int64_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a.data()[i], b.data()[i], tolerance) << i;
}

TEST(Embedding, IsTheTokensRowTimesTheRootOfItsWidth) {
  for (const bool scaled : {true, false}) {
    Parameters p(1);
    const Embedding embedding(p, "table", 6, 9, {.scaled = scaled});
    const std::int32_t ids[] = {4, 1, 5, 4};
    const Tensor y = embedding(ids, {2, 2}).value();
    ASSERT_EQ(y.shape(), (Shape{2, 2, 9}));
    for (std::int64_t i = 0; i < y.size(); ++i) {
      EXPECT_NEAR(y.data()[i], (scaled ? 3 : 1) * embedding.table.value().data()[ids[i / 9] * 9 + i % 9], 1e-6);
    }
  }
}

TEST(LayerNorm, IsGainTimesTheStandardisedRowPlusBias) {
  Parameters p(1);
  const LayerNorm norm(p, "norm", 5);
  for (const float g : norm.gain.value().values()) EXPECT_EQ(g, 1);
  for (const float b : norm.bias.value().values()) EXPECT_EQ(b, 0);
  norm.gain.value().copy_from(noise({5}, 1));
  norm.bias.value().copy_from(noise({5}, 2));
  const Tensor x = noise({3, 5}, 3);
  const Tensor y = norm(x).value();
  for (std::int64_t r = 0; r < 3; ++r) {
    double mean = 0;
    double variance = 0;
    for (std::int64_t i = 0; i < 5; ++i) mean += x.data()[r * 5 + i] / 5;
    for (std::int64_t i = 0; i < 5; ++i) variance += std::pow(x.data()[r * 5 + i] - mean, 2) / 5;
    for (std::int64_t i = 0; i < 5; ++i) {
      const double z = (x.data()[r * 5 + i] - mean) / std::sqrt(variance + 1e-5);
      EXPECT_NEAR(y.data()[r * 5 + i], norm.gain.value().data()[i] * z + norm.bias.value().data()[i], 1e-4);
    }
  }
}

TEST(LayerNorm, AResidualIsTheSumAndItsNorm) {
  Parameters p(1);
  const LayerNorm norm(p, "norm", 6);
  const Tensor x = noise({2, 6}, 1);
  const Tensor y = noise({2, 6}, 2);
  LayerPass pass;
  const ResidualNorm out = norm.residual(x, y, pass);
  for (std::int64_t i = 0; i < 12; ++i) EXPECT_NEAR(out.sum.value().data()[i], x.data()[i] + y.data()[i], 1e-6);
  expect_near(out.normed.value(), norm(out.sum).value(), 1e-5);
}

TEST(LayerNorm, AResidualDropsOfWhatIsAddedAlone) {
  Parameters p(1);
  const LayerNorm norm(p, "norm", 64);
  LayerPass pass(0.5F, 3);
  const ResidualNorm out = norm.residual(Tensor::full({8, 64}, 10.0F), Tensor::full({8, 64}, 1.0F), pass);
  int dropped = 0;
  for (const float v : out.sum.value().values()) {
    ASSERT_TRUE(v == 10.0F || v == 12.0F) << v;  // nothing, or twice as much
    dropped += v == 10.0F ? 1 : 0;
  }
  EXPECT_NEAR(dropped, 256, 60);
}

TEST(FeedForward, IsTwoProductsWithAReluBetween) {
  Parameters p(1);
  const FeedForward feed(p, "feed", 4, 6);
  feed.first.bias.value().copy_from(noise({6}, 1));
  feed.second.bias.value().copy_from(noise({4}, 2));
  const Tensor x = noise({3, 4}, 3);
  LayerPass pass;
  const Tensor y = feed(x, pass).value();
  const auto product = [](const Tensor& in, const Linear& l) {
    Tensor out = Tensor::empty({in.dim(0), l.weight.out()});
    for (std::int64_t r = 0; r < in.dim(0); ++r) {
      for (std::int64_t j = 0; j < out.dim(1); ++j) {
        double sum = l.bias.value().data()[j];
        for (std::int64_t i = 0; i < in.dim(1); ++i) {
          sum += in.data()[r * in.dim(1) + i] * l.weight.var.value().data()[i * out.dim(1) + j];
        }
        out.data()[r * out.dim(1) + j] = static_cast<float>(sum);
      }
    }
    return out;
  };
  Tensor inner = product(x, feed.first);
  for (float& v : inner.values()) v = std::max(v, 0.0F);
  expect_near(y, product(inner, feed.second), 1e-4);
}

TEST(FeedForward, ItsDropoutIsTheInnerRate) {
  Parameters p(1);
  const FeedForward feed(p, "feed", 4, 16);
  const Tensor x = noise({3, 4}, 3);
  LayerPass none;
  LayerPass other(DropoutRates(0.5F, 0.5F, 0.0F), 1);
  LayerPass inner(DropoutRates(0.0F, 0.0F, 0.5F), 1);
  const Tensor plain = feed(x, none).value();
  expect_near(feed(x, other).value(), plain, 1e-6);
  const Tensor dropped = feed(x, inner).value();
  double difference = 0;
  for (std::int64_t i = 0; i < plain.size(); ++i) difference += std::abs(plain.data()[i] - dropped.data()[i]);
  EXPECT_GT(difference, 0.1);
}

TEST(LayerPass, EachMaskHasASeedOfItsOwnAndARunCanBeRepeated) {
  LayerPass a(0.5F, 7);
  LayerPass b(0.5F, 7);
  const Tensor ones = Tensor::full({100}, 1.0F);
  const Tensor first = a.drop(ones).value();
  const Tensor second = a.drop(ones).value();
  expect_near(b.drop(ones).value(), first, 0);
  expect_near(b.drop(ones).value(), second, 0);
  bool same = true;
  for (std::int64_t i = 0; i < 100; ++i) same = same && first.data()[i] == second.data()[i];
  EXPECT_FALSE(same);
}

TEST(LayerPass, OneRateIsForEverything) {
  const DropoutRates rates(0.3F);
  EXPECT_EQ(rates.all, 0.3F);
  EXPECT_EQ(rates.attention, 0.3F);
  EXPECT_EQ(rates.inner, 0.3F);
}

// (x * A + a) times sigmoid(x * B + b), the columns of A before those of B.
TEST(GatedConvolution, OneStepIsTheLastPositionOfTheWhole) {
  Parameters p(1);
  (void)GatedConvolution(p, "conv", 4, {.kernel = 3});
  const Tensor x = noise({2, 3, 4}, 5);
  for (const bool packed : {false, true}) {
    if (packed) p.pack();
    const GatedConvolution conv(p, "conv", 4, {.kernel = 3});
    conv.bias.value().copy_from(noise({8}, 6));
    const Tensor step = conv.step(x.reshape({2, 12}));
    const float* w = conv.weight.var.value().data();
    for (std::int64_t r = 0; r < 2; ++r) {
      for (std::int64_t j = 0; j < 4; ++j) {
        double value = conv.bias.value().data()[j];
        double gate = conv.bias.value().data()[4 + j];
        for (std::int64_t i = 0; i < 12; ++i) {
          value += x.data()[r * 12 + i] * w[i * 8 + j];
          gate += x.data()[r * 12 + i] * w[i * 8 + 4 + j];
        }
        EXPECT_NEAR(step.data()[r * 4 + j], value / (1 + std::exp(-gate)), 1e-4);
      }
    }
    const Tensor whole = conv(x, {.padding = TimePadding::causal}).value();
    for (std::int64_t r = 0; r < 2; ++r) {
      for (std::int64_t j = 0; j < 4; ++j) EXPECT_NEAR(whole.data()[(r * 3 + 2) * 4 + j], step.data()[r * 4 + j], 1e-4);
    }
  }
}

class MultiHeadLayer : public testing::Test {
 protected:
  // Softmax of query and key products head by head, in plain loops; `divide` by the root of a head's width.
  static Tensor by_hand(const MultiHead& layer, const Tensor& x, const Tensor& memory, bool divide, bool causal) {
    const Tensor q = layer.query(x).value();
    const Tensor k = layer.key(memory).value();
    const Tensor v = layer.value(memory).value();
    const std::int64_t queries = q.dim(1);
    const std::int64_t keys = k.dim(1);
    const std::int64_t width = q.dim(2);
    const std::int64_t each = width / layer.heads;
    Tensor context = Tensor::zeros(q.shape());
    for (std::int64_t h = 0; h < layer.heads; ++h) {
      for (std::int64_t i = 0; i < queries; ++i) {
        std::vector<double> weights;
        double sum = 0;
        for (std::int64_t j = 0; j < (causal ? i + 1 : keys); ++j) {
          double dot = 0;
          for (std::int64_t c = h * each; c < (h + 1) * each; ++c) {
            dot += q.data()[i * width + c] * k.data()[j * width + c];
          }
          weights.push_back(std::exp(divide ? dot / std::sqrt(static_cast<double>(each)) : dot));
          sum += weights.back();
        }
        for (std::size_t j = 0; j < weights.size(); ++j) {
          for (std::int64_t c = h * each; c < (h + 1) * each; ++c) {
            context.data()[i * width + c] +=
                static_cast<float>(weights[j] / sum * v.data()[static_cast<std::int64_t>(j) * width + c]);
          }
        }
      }
    }
    return layer.output(context).value();
  }
};

TEST_F(MultiHeadLayer, IsSoftmaxAttentionPerHeadBetweenFourProducts) {
  const NoGrad quiet;
  for (const bool divide : {true, false}) {
    Parameters p(1);
    MultiHeadOptions options{.dim = 8, .heads = 2, .memory_dim = 6};
    if (!divide) options.score = score::Dot{};
    const MultiHead layer(p, "a", options);
    const Tensor x = noise({1, 3, 8}, 1);
    const Tensor memory = noise({1, 4, 6}, 2);
    expect_near(layer(x, memory).context.value(), by_hand(layer, x, memory, divide, false), 1e-4);
  }
}

TEST_F(MultiHeadLayer, CausalSeesNothingThatComesLater) {
  const NoGrad quiet;
  Parameters p(1);
  const MultiHead layer(p, "a", {.dim = 8, .heads = 2});
  const Tensor x = noise({1, 5, 8}, 1);
  const Attended out = layer(x, x, {.causal = true, .want = {.weights = true}});
  expect_near(out.context.value(), by_hand(layer, x, x, true, true), 1e-4);
  const Tensor weights = out.weights.value().contiguous();
  ASSERT_EQ(weights.shape(), (Shape{1, 2, 5, 5}));
  for (std::int64_t i = 0; i < 50; ++i) {
    if (i % 5 > i / 5 % 5) EXPECT_EQ(weights.data()[i], 0);
  }
}

TEST_F(MultiHeadLayer, KeysPastALengthAreNotSeen) {
  const NoGrad quiet;
  Parameters p(1);
  const MultiHead layer(p, "a", {.dim = 8, .heads = 2});
  const Tensor x = noise({1, 3, 8}, 1);
  const Tensor memory = noise({1, 4, 8}, 2);
  const std::int64_t two[] = {2};
  expect_near(layer(x, memory, {.lengths = two}).context.value(),
              layer(x, memory.slice(1, 0, 2).contiguous()).context.value(), 1e-5);
}

TEST_F(MultiHeadLayer, ItsDropoutIsOfTheWeightsThatMakeTheContext) {
  Parameters p(1);
  const MultiHead layer(p, "a", {.dim = 8, .heads = 2});
  const Tensor x = noise({1, 6, 8}, 1);
  LayerPass pass(DropoutRates(0.0F, 0.5F, 0.0F), 1);
  const Attended plain_run = layer(x, x, {.want = {.weights = true}});
  const Tensor plain = plain_run.context.value();
  expect_near(layer(x, x, {.dropout = pass.next(pass.rates.all)}).context.value(), plain, 1e-6);
  const Attended run = layer(x, x, {.dropout = pass.next(pass.rates.attention), .want = {.weights = true}});
  expect_near(run.weights.value().contiguous(), plain_run.weights.value().contiguous(), 1e-6);
  const Tensor dropped = run.context.value();
  double difference = 0;
  for (std::int64_t i = 0; i < plain.size(); ++i) difference += std::abs(plain.data()[i] - dropped.data()[i]);
  EXPECT_GT(difference, 0.1);
}

}  // namespace
}  // namespace fovea
