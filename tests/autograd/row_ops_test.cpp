#include "support/op_test.hpp"

namespace fovea {
namespace {

using test::check_gradients;
using test::random_tensor;

// x moved away from 0, where relu has no slope.
Tensor far(const Tensor& x) {
  Tensor t = x.clone();
  for (float& v : t.values()) v += v < 0 ? -0.1F : 0.1F;
  return t;
}

class RowOps : public test::OpTest {};

TEST_P(RowOps, SoftmaxGradientsMatchFiniteDifferences) {
  for (const std::int64_t n : test::kSizes) {
    const Tensor x = random_tensor({2, 2, n}, 1);
    check_gradients([](const auto& in) { return add(softmax(in[0]), softmax(in[0])); }, {x});
    check_gradients([](const auto& in) { return add(log_softmax(in[0]), log_softmax(in[0])); }, {x});
  }
}

TEST_P(RowOps, LayerNormGradientsMatchFiniteDifferences) {
  for (const std::int64_t n : {7, 8, 9, 33}) {
    const Tensor x = random_tensor({3, n}, 1);
    const Tensor gamma = random_tensor({n}, 2);
    const Tensor beta = random_tensor({n}, 3);
    check_gradients(
        [](const auto& in) { return add(layer_norm(in[0], in[1], in[2]), layer_norm(in[0], in[1], in[2])); },
        {x, gamma, beta});
    check_gradients([](const auto& in) { return layer_norm(in[0], {}, {}, {.epsilon = 0.1F}); }, {x});
    // Only gamma asks for a gradient.
    check_gradients([&](const auto& in) { return layer_norm(x, in[0], beta); }, {gamma});
  }
}

TEST_P(RowOps, ResidualNormGradientsMatchFiniteDifferences) {
  for (const std::int64_t n : {7, 8, 9, 33}) {
    const std::vector<Tensor> inputs = {random_tensor({3, n}, 1), random_tensor({3, n}, 2), random_tensor({n}, 3),
                                        random_tensor({n}, 4)};
    for (const float rate : {0.0F, 0.3F}) {
      const auto normed = [&](const auto& in) {
        return residual_norm(in[0], in[1], in[2], in[3], {.dropout = {rate, 5}}).normed;
      };
      const auto both = [&](const auto& in) {
        const ResidualNorm out = residual_norm(in[0], in[1], in[2], in[3], {.dropout = {rate, 5}});
        return add(mul(out.sum, out.normed), out.sum);
      };
      const auto total = [&](const auto& in) {
        return residual_norm(in[0], in[1], in[2], in[3], {.dropout = {rate, 5}}).sum;
      };
      check_gradients(normed, inputs);
      check_gradients(both, inputs, {.tolerance = 4e-3});
      check_gradients(total, inputs);
    }
  }
}

TEST_P(RowOps, ResidualNormIsItsThreeSteps) {
  const Tensor x = random_tensor({4, 33}, 1);
  const Tensor y = random_tensor({4, 33}, 2);
  const Tensor gamma = random_tensor({33}, 3);
  const Tensor beta = random_tensor({33}, 4);
  const ResidualNorm fused = residual_norm(x, y, gamma, beta, {.dropout = {0.5F, 6}, .epsilon = 0.1F});
  const Var steps = add(x, dropout(y, {.rate = 0.5F, .seed = 6}));
  for (std::int64_t i = 0; i < x.size(); ++i) EXPECT_NEAR(fused.sum.value().data()[i], steps.value().data()[i], 1e-6F);
  const Var normed = layer_norm(steps, gamma, beta, {.epsilon = 0.1F});
  for (std::int64_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(fused.normed.value().data()[i], normed.value().data()[i], 1e-5F);
  }
}

TEST_P(RowOps, BiasActivationGradientsMatchFiniteDifferences) {
  for (const std::int64_t n : test::kSizes) {
    const Tensor bias = random_tensor({n}, 2);
    for (const auto f : {Activation::none, Activation::relu, Activation::leaky_relu, Activation::gelu,
                         Activation::swish, Activation::tanh, Activation::sigmoid}) {
      Tensor x = random_tensor({3, n}, 1);
      if (f == Activation::relu || f == Activation::leaky_relu) {  // keep x + bias away from the corner
        for (std::int64_t i = 0; i < x.size(); ++i) {
          const float z = x.data()[i] + bias.data()[i % n];
          if (std::abs(z) < 0.1F) x.data()[i] += z < 0 ? -0.1F : 0.1F;
        }
      }
      for (const float rate : {0.0F, 0.4F}) {
        const auto once = [&](const auto& in) { return bias_activation(in[0], in[1], f, {rate, 9}); };
        check_gradients([&](const auto& in) { return add(once(in), once(in)); }, {x, bias});
      }
      check_gradients([&](const auto& in) { return bias_activation(in[0], {}, f); },
                      {f == Activation::relu || f == Activation::leaky_relu ? far(x) : x});
    }
  }
}

TEST_P(RowOps, CumulativeMeanGradientsMatchFiniteDifferences) {
  for (const std::int64_t n : test::kSizes) {
    check_gradients([](const auto& in) { return cumulative_mean(in[0]); }, {random_tensor({2, 5, n}, 1)});
  }
  const Tensor y = cumulative_mean(Tensor::of({1, 3, 2}, {1, 2, 3, 6, 5, 1})).value();
  const std::vector<float> expected{1, 2, 2, 4, 3, 3};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(y.data()[i], expected[i], 1e-6F);
}

TEST(RowOpsErrors, ShapesThatDoNotFitAreNamed) {
  const Tensor x = Tensor::zeros({2, 3});
  const Tensor four = Tensor::zeros({4});
  test::expect_shape_error([&] { (void)layer_norm(x, four, four); }, "layer_norm", "[4]", "[2,3]");
  test::expect_shape_error([&] { (void)layer_norm(x, Tensor::zeros({3}), {}); }, "layer_norm", "gain");
  test::expect_shape_error([&] { (void)residual_norm(x, four, {}, {}); }, "residual_norm", "[4]", "[2,3]");
  test::expect_shape_error([&] { (void)bias_activation(x, four, Activation::relu); }, "bias_activation", "[4]",
                           "[2,3]");
  test::expect_shape_error([&] { (void)softmax(Tensor::zeros({})); }, "softmax");
  test::expect_shape_error([&] { (void)cumulative_mean(x); }, "cumulative_mean", "[2,3]");
}

FOVEA_EVERY_TABLE(RowOps);

}  // namespace
}  // namespace fovea
