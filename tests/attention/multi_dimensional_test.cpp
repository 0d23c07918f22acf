#include "attention/both_paths.hpp"
#include "fovea/error.hpp"
#include "support/parameter_gradcheck.hpp"

namespace fovea {
namespace {

using test::check_gradients;
using test::random_tensor;
using Lengths = std::vector<std::int64_t>;

TEST(FeatureAttend, GradientsMatchFiniteDifferencesInEveryDirection) {
  const Lengths lengths{5, 3};
  for (const Direction direction : {Direction::both, Direction::forward, Direction::backward}) {
    for (const float c : {0.0F, 5.0F}) {
      check_gradients([&](const auto& in) { return feature_attend(in[0], in[1], in[2], c, lengths, direction); },
                      {random_tensor({2, 5, 3}, 1), random_tensor({2, 5, 3}, 2), random_tensor({2, 5, 3}, 3)});
    }
  }
}

TEST(MultiDimensional, GradientsMatchFiniteDifferences) {
  check_gradients([](Parameters& p, const auto& in) { return MultiDimensional(p, "disan", 3)(in[0]); },
                  {random_tensor({2, 4, 3}, 1)});
}

TEST(MultiDimensional, RowsOfAnotherWidthAreNamed) {
  Parameters p;
  const MultiDimensional layer(p, "disan", 4);
  EXPECT_THROW((void)layer(random_tensor({2, 3, 8}, 3)), ShapeError);
  EXPECT_THROW((void)layer(random_tensor({2, 3, 2}, 3)), ShapeError);
}

TEST(MultiDimensionalPooling, GradientsMatchFiniteDifferences) {
  const Lengths lengths{4, 2};
  check_gradients([&](Parameters& p, const auto& in) { return MultiDimensionalPooling(p, "pool", 3)(in[0], lengths); },
                  {random_tensor({2, 4, 3}, 1)}, {.step = 4e-3, .tolerance = 4e-3});
}

TEST(FeatureAttend, WithOneFeatureIsOrdinaryAttention) {
  // s_ij = a_i + b_j: the query's part is the same for all keys.
  const Tensor a = random_tensor({2, 3, 1}, 1), b = random_tensor({2, 5, 1}, 2), v = random_tensor({2, 5, 1}, 3);
  const Tensor ones = Tensor::full({2, 3, 1}, 1.0F);
  test::expect_near(feature_attend(a, b, v, 0).value(), attend(ones, b, v, {.score = score::Dot{}}).context.value(),
                    1e-6);
}

TEST(FeatureAttend, AQueryThatSeesNothingGetsZeros) {
  const Tensor x = random_tensor({1, 3, 2}, 1);
  const Tensor forward = feature_attend(x, x, x, 5, {}, Direction::forward).value();
  EXPECT_EQ(forward.data()[0], 0.0F);
  EXPECT_NE(forward.data()[2], 0.0F);
  const Lengths none{0};
  const Var p = Var::parameter(x);
  backward(feature_attend(p, p, p, 5, none), random_tensor({1, 3, 2}, 2));
  for (const float g : p.grad().values()) EXPECT_EQ(g, 0.0F);
  const Lengths far{4};
  EXPECT_THROW((void)feature_attend(x, x, x, 5, far), UsageError);
}

}  // namespace
}  // namespace fovea
