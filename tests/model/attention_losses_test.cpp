#include "model/attention_losses.hpp"

#include "fovea/ops.hpp"
#include "support/op_test.hpp"

namespace fovea {
namespace {

using test::random_tensor;

Tensor weights(const Shape& shape, unsigned seed) {
  return softmax(random_tensor(shape, seed)).value();
}

TEST(DoublyStochasticLoss, ComputesWhatTheFormulaSays) {
  const std::vector<Tensor> layers{weights({2, 3, 4, 5}, 1), weights({2, 1, 4, 5}, 2)};
  const std::vector<std::int64_t> lengths{5, 3};
  double expected = 0;
  for (const Tensor& a : layers) {
    for (std::int64_t b = 0; b < 2; ++b) {
      for (std::int64_t h = 0; h < a.dim(1); ++h) {
        for (std::int64_t i = 0; i < 5; ++i) {
          double missing = i < lengths[static_cast<std::size_t>(b)] ? 1 : 0;
          for (std::int64_t t = 0; t < 4; ++t) missing -= a.data()[((b * a.dim(1) + h) * 4 + t) * 5 + i];
          expected += 0.7 * missing * missing / (2.0 * static_cast<double>(a.dim(1)));
        }
      }
    }
  }
  EXPECT_NEAR(doubly_stochastic_loss({layers[0], layers[1]}, lengths, 0.7F).value().item(), expected, 1e-4);
  test::check_gradients([&](const auto& in) { return doubly_stochastic_loss(in, lengths, 0.7F); }, layers);
}

TEST(SampledAttentionLoss, ItsGradientIsReinforces) {
  const Tensor a = weights({2, 1, 3, 4}, 3);
  const Tensor read = Tensor::zeros({2, 3, 4});
  for (std::int64_t r = 0; r < 6; ++r) read.data()[r * 4 + (r * 3 + 1) % 4] = 1;
  const Tensor rewards = Tensor::of({2}, {-1.5F, -3.0F});
  const Var probabilities = Var::parameter(a.clone());
  const Var baseline = Var::parameter(Tensor::full({1}, -0.02F));  // stands for -2
  backward(sampled_attention_loss(probabilities, read, rewards, baseline, {.reward = 0.5F, .entropy = 0.1F}));
  const Tensor da = probabilities.grad();
  for (std::int64_t i = 0; i < a.size(); ++i) {
    const float advantage = (i < 12 ? -1.5F : -3.0F) + 2;
    const double expected =
        (read.data()[i] > 0 ? -0.5 * advantage / a.data()[i] : 0.0) + 0.1 * (std::log(a.data()[i]) + 1);
    EXPECT_NEAR(da.data()[i], expected, 1e-4) << i;
  }
  // The mean reward is below the baseline, so that it is pulled down, which a positive gradient does.
  EXPECT_GT(baseline.grad().item(), 0);
  EXPECT_LT(baseline.grad().item(), 1e-5);
}

TEST(SampledAttentionLoss, RefusesWhatDoesNotFit) {
  const Var a = weights({2, 1, 3, 4}, 3);
  const Var baseline = Tensor::zeros({1});
  test::expect_shape_error(
      [&] {
        (void)sampled_attention_loss(a, Tensor::zeros({2, 3, 5}), Tensor::zeros({2}), baseline, {});
      },
      "[2,3,5]");
  test::expect_shape_error([&] { (void)doubly_stochastic_loss({a}, std::vector<std::int64_t>{4}, 1); }, "1 lengths");
}

}  // namespace
}  // namespace fovea
