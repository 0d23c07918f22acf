#include <cmath>

#include "fovea/error.hpp"
#include "fovea/ops.hpp"
#include "support/gradcheck.hpp"

namespace fovea {
namespace {

TEST(Linear, GradientsOfRectifiersMatchFiniteDifferences) {
  Tensor bias = test::random_tensor({9}, 3);
  for (float& v : bias.values()) v = v < 0 ? -20.0F : 20.0F;  // away from 0, where it has no slope
  for (const Activation f : {Activation::relu, Activation::leaky_relu}) {
    test::check_gradients([&](const auto& in) { return linear(in[0], in[1], in[2], f); },
                          {test::random_tensor({2, 3, 5}, 1), test::random_tensor({5, 9}, 2, 0.5F), bias},
                          {.tolerance = 5e-3});
  }
}

TEST(Linear, TheBiasGradientSumsOverManyRows) {
  const std::int64_t rows = 1000;
  const Var x = Var::parameter(test::random_tensor({rows, 3}, 1));
  const Var w = Var::parameter(test::random_tensor({3, 9}, 2));
  const Var b = Var::parameter(Tensor::zeros({9}));
  backward(linear(x, w, b), Tensor::full({rows, 9}, 1.0F));
  for (const float v : b.grad().values()) EXPECT_EQ(v, 1000.0F);
}

TEST(Linear, GivesTheSameWhetherItRecordsOrNot) {
  const Tensor x = test::random_tensor({40, 16}, 1);
  const Tensor w = test::random_tensor({16, 24}, 2);
  for (const Activation f : {Activation::leaky_relu, Activation::gelu, Activation::gelu_tanh, Activation::swish}) {
    const Var recorded = linear(Var::parameter(x), w, {}, f);
    const Var plain = linear(x, w, {}, f);
    EXPECT_TRUE(recorded.requires_grad());
    for (std::int64_t i = 0; i < plain.size(); ++i) EXPECT_EQ(recorded.value().data()[i], plain.value().data()[i]);
  }
}

TEST(Linear, DropsWhatDropoutWouldDrop) {
  // Sizes on both sides of what threads and blocks split; the same bytes in both directions.
  for (const Activation f : {Activation::none, Activation::relu, Activation::leaky_relu, Activation::gelu,
                             Activation::swish, Activation::tanh}) {
    for (const std::int64_t rows : {1, 33, 700}) {
      const Tensor x = test::random_tensor({rows, 70}, 1);
      const Tensor w = test::random_tensor({70, 90}, 2, 0.2F);
      const Tensor b = test::random_tensor({90}, 3);
      const Tensor dy = test::random_tensor({rows, 90}, 4);
      const Var fused[] = {Var::parameter(x), Var::parameter(w), Var::parameter(b)};
      const Var apart[] = {Var::parameter(x), Var::parameter(w), Var::parameter(b)};
      const Var y = linear(fused[0], fused[1], fused[2], f, {.rate = 0.3F, .seed = 99});
      const Var z = dropout(linear(apart[0], apart[1], apart[2], f), {.rate = 0.3F, .seed = 99});
      for (std::int64_t i = 0; i < y.size(); ++i) ASSERT_EQ(y.value().data()[i], z.value().data()[i]);
      backward(y, dy);
      backward(z, dy);
      for (int p = 0; p < 3; ++p) {
        const Tensor g = fused[p].grad();
        const Tensor h = apart[p].grad();
        for (std::int64_t i = 0; i < g.size(); ++i)
          ASSERT_NEAR(g.data()[i], h.data()[i], 2e-5F * (1 + std::abs(h.data()[i])));
      }
    }
  }
  EXPECT_THROW((void)linear(Tensor::zeros({2, 3}), Tensor::zeros({3, 5}), {}, Activation::relu, {.rate = 1.0F}),
               UsageError);
}

TEST(Linear, ShapesThatDoNotFitAreNamed) {
  try {
    (void)linear(Tensor::zeros({2, 3}), Tensor::zeros({4, 5}));
    FAIL() << "nothing was thrown";
  } catch (const ShapeError& error) {
    EXPECT_STREQ(error.what(), "linear: x [2,3], weight [4,5]; x [.., in], weight [in, out] and bias [out] are needed");
  }
  EXPECT_THROW((void)linear(Tensor::zeros({2, 3}), Tensor::zeros({3, 5}), Tensor::zeros({4})), ShapeError);
}

}  // namespace
}  // namespace fovea
