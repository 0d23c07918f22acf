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

}  // namespace
}  // namespace fovea
