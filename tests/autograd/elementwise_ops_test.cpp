#include "support/op_test.hpp"

namespace fovea {
namespace {

using test::check_gradients;
using test::random_tensor;

class ElementwiseOps : public test::OpTest {};

// Away from 0, where relu has no slope, and positive for log.
Tensor away_from_zero(const Shape& shape, unsigned seed) {
  Tensor t = random_tensor(shape, seed);
  for (float& v : t.values()) v += v < 0 ? -0.1F : 0.1F;
  return t;
}
Tensor positive(const Shape& shape, unsigned seed) {
  Tensor t = random_tensor(shape, seed);
  for (float& v : t.values()) v = 0.5F + std::abs(v);
  return t;
}

TEST_P(ElementwiseOps, GradientsMatchFiniteDifferences) {
  for (const std::int64_t n : test::kSizes) {
    const Tensor x = random_tensor({2, n}, 1);
    const Tensor z = random_tensor({2, n}, 2);
    const Tensor row = random_tensor({n}, 3);
    // Each input is used twice, so that both writing and adding a gradient is tested.
    check_gradients([](const auto& in) { return add(add(in[0], in[1]), in[0]); }, {x, z});
    check_gradients([](const auto& in) { return sub(sub(in[0], in[1]), in[1]); }, {x, z});
    check_gradients([](const auto& in) { return mul(mul(in[0], in[1]), in[1]); }, {x, z});
    check_gradients([](const auto& in) { return add(add(in[0], in[1]), in[1]); }, {x, row});
    check_gradients([](const auto& in) { return sub(in[0], in[1]); }, {x, row});
    check_gradients([](const auto& in) { return mul(mul(in[0], in[1]), in[1]); }, {x, row});
    check_gradients([](const auto& in) { return div(div(in[0], in[1]), in[1]); }, {x, positive({2, n}, 7)});
    check_gradients([](const auto& in) { return div(in[0], in[1]); }, {x, positive({n}, 8)});
    check_gradients([](const auto& in) { return add(add(in[0], 2.0F), in[0]); }, {x});
    check_gradients([](const auto& in) { return add(scale(in[0], 3.0F), neg(in[0])); }, {x});
    check_gradients([](const auto& in) { return add(exp(in[0]), exp(in[0])); }, {x});
    check_gradients([](const auto& in) { return add(log(in[0]), log(in[0])); }, {positive({2, n}, 4)});
    check_gradients([](const auto& in) { return add(tanh(in[0]), tanh(in[0])); }, {x});
    check_gradients([](const auto& in) { return add(sigmoid(in[0]), sigmoid(in[0])); }, {x});
    check_gradients([](const auto& in) { return add(relu(in[0]), relu(in[0])); }, {away_from_zero({2, n}, 5)});
    check_gradients([](const auto& in) { return add(leaky_relu(in[0]), leaky_relu(in[0])); },
                    {away_from_zero({2, n}, 6)});
    check_gradients([](const auto& in) { return add(gelu(in[0]), gelu(in[0])); }, {x});
    check_gradients([](const auto& in) { return add(gelu_tanh(in[0]), gelu_tanh(in[0])); }, {x});
    check_gradients([](const auto& in) { return add(swish(in[0]), swish(in[0])); }, {x});
  }
}

TEST_P(ElementwiseOps, ArraysOverSeveralChunksAreWholeAndTheSameOnAnyNumberOfThreads) {
  const test::ThreadsRestored restore;
  const std::int64_t rows = 700;
  const std::int64_t width = 131;
  const auto run = [&](int count) {
    set_threads(count);
    const Var x = Var::parameter(random_tensor({rows, width}, 1));
    const Var b = Var::parameter(random_tensor({width}, 2));
    const Var y = mul(gelu(add(x, b)), b);
    backward(sum(y));
    return std::array{y.value().clone(), x.grad().clone(), b.grad().clone()};
  };
  const auto one = run(1);
  const auto three = run(3);
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(test::same_bytes(one[i], three[i])) << i;
}

TEST(ElementwiseOpsPlain, ShapesThatDoNotFitAreNamed) {
  const Tensor a = Tensor::zeros({2, 3});
  const Tensor b = Tensor::zeros({3, 2});
  test::expect_shape_error([&] { (void)add(a, b); }, "add", "[2,3]", "[3,2]");
  test::expect_shape_error([&] { (void)sub(a, b); }, "sub", "[2,3]", "[3,2]");
  test::expect_shape_error([&] { (void)mul(a, b); }, "mul", "[2,3]", "[3,2]");
  test::expect_shape_error([&] { (void)div(a, b); }, "div", "[2,3]", "[3,2]");
  test::expect_shape_error([&] { (void)div(Tensor::zeros({3}), a); }, "div", "[3]", "[2,3]");
}

TEST_P(ElementwiseOps, OperatorsGiveTheValuesOfTheirFormulas) {
  const Var a = Var::parameter(Tensor::of({2, 2}, {1, 2, 3, 4}));
  const Var b = Var::parameter(Tensor::of({2, 2}, {8, 6, 4, 2}));
  const Var row = Var::parameter(Tensor::of({2}, {2, 4}));
  const auto expect = [](const Var& y, std::array<float, 4> values) {
    for (std::size_t i = 0; i < 4; ++i) EXPECT_FLOAT_EQ(y.value().data()[i], values[i]);
  };
  expect(a + b, {9, 8, 7, 6});
  expect(a - b, {-7, -4, -1, 2});
  expect(a * b, {8, 12, 12, 8});
  expect(b / a, {8, 3, 4.0F / 3, 0.5F});
  expect(a + row, {3, 6, 5, 8});
  expect(a - row, {-1, -2, 1, 0});
  expect(a * row, {2, 8, 6, 16});
  expect(a / row, {0.5F, 0.5F, 1.5F, 1});
  expect(-a, {-1, -2, -3, -4});
  expect(a + 1, {2, 3, 4, 5});
  expect(a - 1, {0, 1, 2, 3});
  expect(a * 3, {3, 6, 9, 12});
  expect(a / 2, {0.5F, 1, 1.5F, 2});
  expect(1 + a, {2, 3, 4, 5});
  expect(1 - a, {0, -1, -2, -3});
  expect(3 * a, {3, 6, 9, 12});
  expect(12 / a, {12, 6, 4, 3});
  // d(sum((1 - a) * a / row)) / da = (1 - 2 a) / row
  backward(sum((1 - a) * a / row));
  expect(a.grad(), {-0.5F, -0.75F, -2.5F, -1.75F});
}

TEST_P(ElementwiseOps, LeakyReluAndSwishGiveTheValuesOfTheirFormulas) {
  const Tensor x = Tensor::of({4}, {-2.0F, 0.0F, 1.0F, 3.0F});
  const Tensor leaky = leaky_relu(x).value();
  const Tensor swished = swish(x).value();
  const float expected_leaky[] = {-0.4F, 0.0F, 1.0F, 3.0F};
  const float expected_swish[] = {-0.238405844F, 0.0F, 0.731058579F, 2.857722380F};
  for (int i = 0; i < 4; ++i) {
    EXPECT_FLOAT_EQ(leaky.data()[i], expected_leaky[i]);
    EXPECT_FLOAT_EQ(swished.data()[i], expected_swish[i]);
  }
}

TEST(ElementwiseOpsPlain, ViewsThatAreNotPackedAreTaken) {
  const Tensor x = random_tensor({3, 5}, 1);
  const Tensor t = x.transpose(0, 1);
  EXPECT_TRUE(test::same_bytes(tanh(t).value(), tanh(t.contiguous()).value()));
  EXPECT_TRUE(test::same_bytes(add(t, t).value(), scale(t, 2.0F).value()));
}

TEST(DropoutOp, GradientIsTheMaskAndNothingIsDroppedAtRateZero) {
  const Var x = Var::parameter(random_tensor({9, 33}, 1));
  const Var y = dropout(x, {.rate = 0.25F, .seed = 3});
  backward(y, Tensor::full(x.shape(), 1.0F));
  int dropped = 0;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    EXPECT_FLOAT_EQ(y.value().data()[i], x.grad().data()[i] * x.value().data()[i]);
    dropped += x.grad().data()[i] == 0;
  }
  EXPECT_GT(dropped, 30);
  EXPECT_LT(dropped, 130);
  EXPECT_TRUE(test::same_bytes(dropout(x, {.rate = 0, .seed = 3}).value(), x.value()));
  EXPECT_THROW((void)dropout(x, {.rate = 1.0F, .seed = 3}), UsageError);
}

FOVEA_EVERY_TABLE(ElementwiseOps);

}  // namespace
}  // namespace fovea
