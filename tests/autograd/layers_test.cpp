// The ops that layers of a network are made of.
#include "fovea/error.hpp"
#include "fovea/ops.hpp"
#include "kernels/kernels.hpp"
#include "support/gradcheck.hpp"

namespace fovea {
namespace {

using test::check_gradients;
using test::random_tensor;

template <class Body>
void on_every_table(const Body& body) {
  for (const kernels::Table* table : kernels::available()) {
    SCOPED_TRACE(table->name);
    const kernels::ScopedKernels scoped(*table);
    for (const std::int64_t n : {1, 7, 8, 9, 33}) body(n);
  }
}

TEST(Linear, GradientMatchesFiniteDifferences) {
  on_every_table([](std::int64_t n) {
    for (const Activation f :
         {Activation::none, Activation::tanh, Activation::gelu, Activation::swish, Activation::sigmoid}) {
      check_gradients([f](const auto& in) { return linear(in[0], in[1], in[2], f); },
                      {random_tensor({2, 3, n}, 1, 0.5F), random_tensor({n, 5}, 2, 0.5F), random_tensor({5}, 3)},
                      {.per_input = 8});
    }
    check_gradients([](const auto& in) { return linear(in[0], in[1]); },
                    {random_tensor({4, 5}, 1), random_tensor({5, n}, 2)}, {.per_input = 8});
  });
}

TEST(Linear, ReluPassesWhatIsPositive) {
  const Var x = Var::parameter(Tensor::of({1, 2}, {1.0F, -2.0F}));
  const Var w = Var::parameter(Tensor::of({2, 2}, {1.0F, 0.0F, 0.0F, 1.0F}));
  const Var y = linear(x, w, {}, Activation::relu);
  EXPECT_EQ(y.value().data()[0], 1.0F);
  EXPECT_EQ(y.value().data()[1], 0.0F);
  backward(sum(y));
  EXPECT_EQ(x.grad().data()[0], 1.0F);
  EXPECT_EQ(x.grad().data()[1], 0.0F);
}

TEST(LayerNorm, GradientMatchesFiniteDifferences) {
  on_every_table([](std::int64_t n) {
    if (n == 1) return;  // a row of one value has no spread to normalise
    check_gradients([](const auto& in) { return layer_norm(in[0], in[1], in[2]); },
                    {random_tensor({3, n}, 1, 2.0F), random_tensor({n}, 2), random_tensor({n}, 3)}, {.per_input = 8});
  });
}

TEST(ResidualNorm, GradientMatchesFiniteDifferences) {
  on_every_table([](std::int64_t n) {
    if (n == 1) return;
    for (const float rate : {0.0F, 0.4F}) {
      for (const int wanted : {0, 1, 2}) {
        check_gradients(
            [=](const auto& in) {
              const ResidualNorm r = residual_norm(in[0], in[1], in[2], in[3], {.dropout = {rate, 5}});
              return wanted == 0 ? r.sum : wanted == 1 ? r.normed : add(r.sum, r.normed);
            },
            {random_tensor({3, n}, 1, 2.0F), random_tensor({3, n}, 4, 2.0F), random_tensor({n}, 2),
             random_tensor({n}, 3)},
            {.per_input = 6});
      }
    }
  });
}

TEST(ResidualNorm, EqualsItsParts) {
  const Tensor x = random_tensor({5, 33}, 1);
  const Tensor y = random_tensor({5, 33}, 2);
  const Tensor gain = random_tensor({33}, 3);
  const Tensor bias = random_tensor({33}, 4);
  const ResidualNorm r = residual_norm(x, y, gain, bias, {.dropout = {0.3F, 9}});
  const Var h = add(x, dropout(y, {.rate = 0.3F, .seed = 9}));
  const Var z = layer_norm(h, gain, bias);
  for (std::int64_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(r.sum.value().data()[i], h.value().data()[i], 1e-6F);
    EXPECT_NEAR(r.normed.value().data()[i], z.value().data()[i], 1e-5F);
  }
}

TEST(Embedding, GradientMatchesFiniteDifferences) {
  on_every_table([](std::int64_t n) {
    const std::vector<std::int32_t> ids{3, 0, 3, 1, 4, 3};
    check_gradients(
        [&](const auto& in) {
          return embedding(in[0], ids, {2, 3}, 1.5F);
        },
        {random_tensor({5, n}, 1)}, {.per_input = 10});
  });
}

TEST(Embedding, AnIdOutsideTheTableIsNamed) {
  const std::vector<std::int32_t> ids{7};
  try {
    (void)embedding(Tensor::zeros({5, 2}), ids, {1});
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "embedding: id 7 in a vocabulary of 5");
  }
}

TEST(Dropout, GradientMatchesFiniteDifferencesAndTheShareIsRight) {
  on_every_table([](std::int64_t n) {
    check_gradients([](const auto& in) { return dropout(in[0], {.rate = 0.4F, .seed = 77}); },
                    {random_tensor({3, n}, 1)}, {.per_input = 10});
  });
  const Tensor y = dropout(Tensor::full({100000}, 1.0F), {.rate = 0.25F, .seed = 3}).value();
  double kept = 0;
  for (const float v : y.values()) kept += v > 0 ? 1 : 0;
  EXPECT_NEAR(kept / 100000, 0.75, 0.01);
  EXPECT_THROW((void)dropout(y, {.rate = 1.0F, .seed = 1}), UsageError);
}

TEST(AddRows, GradientMatchesFiniteDifferences) {
  on_every_table([](std::int64_t n) {
    check_gradients([](const auto& in) { return add_rows(in[0], in[1]); },
                    {random_tensor({3, 2, n}, 1), random_tensor({2, n}, 2)}, {.per_input = 10});
  });
}

TEST(AddToRows, GradientMatchesFiniteDifferences) {
  on_every_table([](std::int64_t n) {
    check_gradients([](const auto& in) { return add_to_rows(in[0], in[1]); },
                    {random_tensor({3, 2, n}, 1), random_tensor({3, n}, 2)}, {.per_input = 10});
  });
}

TEST(MeanRows, GradientMatchesFiniteDifferences) {
  const std::vector<std::int64_t> lengths{3, 0, 1};
  check_gradients([&](const auto& in) { return mean_rows(in[0], lengths); }, {random_tensor({3, 4, 7}, 1)});
}

TEST(Shapes, SliceReshapeAndScaleHaveTheirGradients) {
  check_gradients(
      [](const auto& in) {
        return scale(reshape(slice(in[0], 1, 1, 3), {2, 10}), -0.5F);
      },
      {random_tensor({2, 4, 5}, 1)});
}

TEST(LinearCrossEntropy, GradientMatchesFiniteDifferences) {
  on_every_table([](std::int64_t n) {
    for (const float smoothing : {0.0F, 0.2F}) {
      const std::vector<std::int32_t> targets{1, 0, 4, 2, 1};
      check_gradients(
          [&](const auto& in) {
            return linear_cross_entropy(in[0], in[1], in[2], targets, {.label_smoothing = smoothing}).loss;
          },
          {random_tensor({5, n}, 1, 0.5F), random_tensor({7, n}, 2, 0.5F), random_tensor({7}, 3)}, {.per_input = 10});
    }
  });
}

TEST(LinearCrossEntropy, EqualsTheFormulaOverManyBlocks) {
  const Tensor x = random_tensor({300, 9}, 1);
  const Tensor w = random_tensor({11, 9}, 2);
  const Tensor b = random_tensor({11}, 3);
  std::vector<std::int32_t> targets(300);
  for (int i = 0; i < 300; ++i) targets[static_cast<std::size_t>(i)] = i * 7 % 11;
  const CrossEntropy c = linear_cross_entropy(x, w, b, targets, {.label_smoothing = 0.1F});
  double loss = 0;
  double nll = 0;
  std::int64_t tokens = 0;
  for (int i = 0; i < 300; ++i) {
    if (targets[static_cast<std::size_t>(i)] == 0) continue;
    double z[11];
    double sum = 0;
    double mean = 0;
    for (int v = 0; v < 11; ++v) {
      z[v] = b.data()[v];
      for (int k = 0; k < 9; ++k) z[v] += static_cast<double>(x.data()[i * 9 + k]) * w.data()[v * 9 + k];
      sum += std::exp(z[v]);
      mean += z[v] / 11;
    }
    const double row = std::log(sum) - z[targets[static_cast<std::size_t>(i)]];
    nll += row;
    loss += 0.9 * row + 0.1 * (std::log(sum) - mean);
    ++tokens;
  }
  EXPECT_NEAR(c.loss.value().item(), loss, 1e-5 * loss);
  EXPECT_NEAR(c.nll, nll, 1e-5 * nll);
  EXPECT_EQ(c.tokens, tokens);
}

TEST(Layers, ShapesThatDoNotFitAreNamed) {
  const Tensor x = Tensor::zeros({2, 3});
  EXPECT_THROW((void)linear(x, Tensor::zeros({4, 5})), ShapeError);
  EXPECT_THROW((void)layer_norm(x, Tensor::zeros({4}), Tensor::zeros({4})), ShapeError);
  EXPECT_THROW((void)residual_norm(x, Tensor::zeros({3, 3}), Tensor::zeros({3}), Tensor::zeros({3})), ShapeError);
  EXPECT_THROW((void)add_rows(x, Tensor::zeros({3, 3})), ShapeError);
}

}  // namespace
}  // namespace fovea
