#include "fovea/error.hpp"
#include "fovea/ops.hpp"
#include "support/gradcheck.hpp"

namespace fovea {
namespace {

TEST(Add, GradientMatchesFiniteDifferences) {
  for (const std::int64_t n : {1, 7, 8, 9, 33}) {
    test::check_gradients([](const auto& in) { return add(add(in[0], in[1]), in[0]); },
                          {test::random_tensor({2, n}, 1), test::random_tensor({2, n}, 2)});
  }
}

TEST(Add, ShapesThatDifferAreNamed) {
  try {
    (void)add(Tensor::zeros({2, 3}), Tensor::zeros({3, 2}));
    FAIL() << "nothing was thrown";
  } catch (const ShapeError& error) {
    EXPECT_STREQ(error.what(), "add: [2,3] and [3,2] differ");
  }
}

TEST(Tape, ALongChainIsTakenApartWithoutRecursion) {
  const Var x = Var::parameter(Tensor::full({1}, 0.0F));
  Var y = x;
  for (int i = 0; i < 200000; ++i) y = add(y, x);
  backward(y);
  EXPECT_EQ(x.grad().item(), 200001.0F);
  Var unused = x;
  for (int i = 0; i < 200000; ++i) unused = add(unused, x);
}

TEST(Tape, AValueUsedTwiceGetsBothGradients) {
  const Var x = Var::parameter(Tensor::of({2}, {1.0F, 2.0F}));
  const Var y = add(x, x);
  backward(sum(add(y, y)));
  EXPECT_EQ(x.grad().data()[0], 4.0F);
  EXPECT_EQ(x.grad().data()[1], 4.0F);
}

}  // namespace
}  // namespace fovea
