#include <fmt/format.h>

#include "support/op_test.hpp"

namespace fovea {
namespace {

using test::check_gradients;
using test::random_tensor;

class ShapeOps : public test::OpTest {};

TEST_P(ShapeOps, SumsAndMeansMatchFiniteDifferences) {
  for (const std::int64_t n : test::kSizes) {
    const Tensor x = random_tensor({2, 3, n}, 1);
    check_gradients([](const auto& in) { return sum(in[0]); }, {x});
    check_gradients([](const auto& in) { return mean(mul(in[0], in[0])); }, {x});
    for (const int axis : {0, 1, 2, -1}) {
      check_gradients([axis](const auto& in) { return add(sum(in[0], axis), mean(in[0], axis)); }, {x});
    }
  }
}

TEST_P(ShapeOps, SumAlongAnAxisIsThatSum) {
  const Tensor x = Tensor::of({2, 3}, {1, 2, 3, 10, 20, 30});
  EXPECT_TRUE(test::same_bytes(sum(x, 0).value(), Tensor::of({3}, {11, 22, 33})));
  EXPECT_TRUE(test::same_bytes(sum(x, 1).value(), Tensor::of({2}, {6, 60})));
  EXPECT_TRUE(test::same_bytes(mean(x, -1).value(), Tensor::of({2}, {2, 20})));
}

TEST_P(ShapeOps, MaxTakesTheFirstOfEqualsAndItsGradientGoesThere) {
  const Var x = Var::parameter(Tensor::of({3, 2}, {1, 5, 4, 5, 4, 0}));
  const Var y = max(x, 0);
  EXPECT_TRUE(test::same_bytes(y.value(), Tensor::of({2}, {4, 5})));
  backward(y, Tensor::of({2}, {10, 20}));
  EXPECT_TRUE(test::same_bytes(x.grad(), Tensor::of({3, 2}, {0, 20, 10, 0, 0, 0})));
  // Values a whole unit apart: no step of the differences changes the winner.
  for (const std::int64_t n : test::kSizes) {
    Tensor apart = Tensor::empty({2, 5, n});
    for (std::int64_t i = 0; i < apart.size(); ++i) apart.data()[i] = static_cast<float>((i * 37) % 101);
    for (const int axis : {0, 1, 2}) {
      check_gradients([axis](const auto& in) { return max(in[0], axis); }, {apart});
    }
  }
}

TEST_P(ShapeOps, ViewsAndJoinsMatchFiniteDifferences) {
  for (const std::int64_t n : test::kSizes) {
    const Tensor x = random_tensor({3, 4, n}, 1);
    const Tensor z = random_tensor({3, 2, n}, 2);
    check_gradients([n](const auto& in) { return mul(reshape(in[0], {4 * n, -1}), reshape(in[0], {4 * n, 3})); }, {x});
    check_gradients([](const auto& in) { return mul(transpose(in[0], 0, 2), transpose(in[0], 0, 2)); }, {x});
    check_gradients([](const auto& in) { return mul(slice(in[0], 1, 1, 3), slice(in[0], 1, 0, 2)); }, {x});
    check_gradients([](const auto& in) { return mul(select(in[0], 0, 1), select(in[0], 0, 2)); }, {x});
    check_gradients([](const auto& in) { return add(slice(in[0], 1, 1, 2), slice(in[0], 1, 2, 3)); }, {x});
    const auto joined = [](const auto& in) {
      const Var parts[] = {in[0], in[1], in[0]};
      return concat(parts, 1);
    };
    check_gradients(joined, {x, z});
    for (const int axis : {0, 1, -1}) {
      const auto stacked = [axis](const auto& in) {
        const Var parts[] = {in[0], in[1], in[0]};
        return stack(parts, axis);
      };
      check_gradients(stacked, {random_tensor({2, n}, 3), random_tensor({2, n}, 4)});
    }
  }
}

TEST_P(ShapeOps, StackPutsItsAxisWhereAsked) {
  const Var parts[] = {Tensor::of({2}, {1, 2}), Tensor::of({2}, {3, 4}), Tensor::of({2}, {5, 6})};
  EXPECT_TRUE(test::same_bytes(stack(parts, 0).value(), Tensor::of({3, 2}, {1, 2, 3, 4, 5, 6})));
  EXPECT_TRUE(test::same_bytes(stack(parts, 1).value(), Tensor::of({2, 3}, {1, 3, 5, 2, 4, 6})));
}

TEST_P(ShapeOps, EmbeddingGradientsMatchFiniteDifferences) {
  const std::vector<std::int32_t> ids = {4, 0, 4, 2, 4, 0};
  for (const std::int64_t n : test::kSizes) {
    const auto twice = [&](const auto& in) {
      return add(embedding(in[0], ids, {2, 3}, 1.5F), embedding(in[0], ids, {2, 3}));
    };
    check_gradients(twice, {random_tensor({5, n}, 1)});
    check_gradients([&](const auto& in) { return gather(in[0], ids); }, {random_tensor({5, 2, n}, 1)});
  }
}

TEST_P(ShapeOps, EmbeddingGradientsAreTheSameOnAnyNumberOfThreads) {
  const test::ThreadsRestored restore;
  std::vector<std::int32_t> ids(900);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>(i * i % 7);
  const auto run = [&](int count) {
    set_threads(count);
    const Var table = Var::parameter(random_tensor({10, 131}, 1));
    const Var y = embedding(table, ids, {static_cast<std::int64_t>(ids.size())});
    backward(y, random_tensor(y.shape(), 2));
    return table.grad().clone();
  };
  EXPECT_TRUE(test::same_bytes(run(1), run(3)));
}

TEST(Embedding, AnIdOutsideTheVocabularyIsNamed) {
  const Tensor table = Tensor::zeros({5, 3});
  for (const std::int32_t id : {5, -1}) {
    const std::vector<std::int32_t> ids = {0, id};
    try {
      (void)embedding(table, ids, {static_cast<std::int64_t>(ids.size())});
      FAIL() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.what(), fmt::format("embedding: id {} in a vocabulary of 5", id));
    }
  }
  const std::vector<std::int32_t> none;
  EXPECT_EQ(embedding(table, none, {0}).shape(), (Shape{0, 3}));
}

TEST(ShapeOpsErrors, ShapesThatDoNotFitAreNamed) {
  const Var x = Tensor::zeros({2, 3});
  const Var y = Tensor::zeros({3, 3});
  const Var parts[] = {x, y};
  test::expect_shape_error([&] { (void)concat(parts, 1); }, "concat", "[2,3]", "[3,3]");
  test::expect_shape_error([&] { (void)stack(parts); }, "stack", "[2,3]", "[3,3]");
  test::expect_shape_error([&] { (void)sum(x, 2); }, "sum", "[2,3]", "axis 2");
  test::expect_shape_error([&] { (void)mean(x, -3); }, "mean", "[2,3]");
  test::expect_shape_error([&] { (void)max(Tensor::zeros({0, 3}), 0); }, "max", "[0,3]");
  test::expect_shape_error([&] { (void)slice(x, 1, 2, 4); }, "slice", "[2,3]");
  test::expect_shape_error([&] { (void)reshape(x, {4, 2}); }, "reshape", "[2,3]", "[4,2]");
  test::expect_shape_error([&] { (void)embedding(Tensor::zeros({2, 3, 4}), {}, {0}); }, "embedding", "[2,3,4]");
}

FOVEA_EVERY_TABLE(ShapeOps);

}  // namespace
}  // namespace fovea
