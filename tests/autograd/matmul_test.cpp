#include "fovea/error.hpp"
#include "fovea/ops.hpp"
#include "support/gradcheck.hpp"

namespace fovea {
namespace {

TEST(Matmul, GradientMatchesFiniteDifferences) {
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      for (const std::int64_t n : {1, 7, 8, 9, 33}) {
        const auto product = [&](const auto& in) {
          return matmul(in[0], in[1], {.transpose_a = ta, .transpose_b = tb});
        };
        test::check_gradients(product, {test::random_tensor(ta ? Shape{5, 3} : Shape{3, 5}, 1),
                                        test::random_tensor(tb ? Shape{n, 5} : Shape{5, n}, 2)});
        test::check_gradients(product, {test::random_tensor(ta ? Shape{4, 5, 3} : Shape{4, 3, 5}, 1),
                                        test::random_tensor(tb ? Shape{4, n, 5} : Shape{4, 5, n}, 2)});
      }
    }
  }
}

TEST(Matmul, AValueUsedTwiceGetsBothGradients) {
  test::check_gradients([](const auto& in) { return matmul(in[0], in[0], {.transpose_b = true}); },
                        {test::random_tensor({4, 9}, 1)});
}

TEST(Matmul, ViewsGiveWhatTheirCopiesGive) {
  const Tensor a = test::random_tensor({6, 2, 5}, 1);
  const Tensor b = test::random_tensor({2, 7, 5}, 2);
  const Tensor swapped = a.transpose(0, 1);  // [2,6,5], rows far apart
  const Tensor turned = b.transpose(1, 2);   // [2,5,7], columns packed
  const Tensor half = test::random_tensor({2, 5, 14}, 3).slice(2, 3, 10);
  const auto same = [](const Var& x, const Var& y) {
    EXPECT_EQ(x.shape(), y.shape());
    for (std::int64_t i = 0; i < x.size(); ++i) EXPECT_EQ(x.value().data()[i], y.value().data()[i]);
  };
  same(matmul(swapped, turned), matmul(swapped.clone(), turned.clone()));
  same(matmul(swapped, half), matmul(swapped.clone(), half.clone()));
  same(matmul(turned, swapped, {.transpose_a = true, .transpose_b = true}),
       matmul(turned.clone(), swapped.clone(), {.transpose_a = true, .transpose_b = true}));
}

TEST(Matmul, ShapesThatDoNotFitAreNamed) {
  try {
    (void)matmul(Tensor::zeros({2, 3}), Tensor::zeros({2, 3}));
    FAIL() << "nothing was thrown";
  } catch (const ShapeError& error) {
    EXPECT_STREQ(error.what(), "matmul: [2,3] times [2,3]");
  }
  EXPECT_THROW((void)matmul(Tensor::zeros({2, 3, 4}), Tensor::zeros({4, 5})), ShapeError);
  EXPECT_THROW((void)matmul(Tensor::zeros({2, 3, 4}), Tensor::zeros({3, 4, 5})), ShapeError);
}

}  // namespace
}  // namespace fovea
