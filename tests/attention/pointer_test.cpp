#include <cmath>

#include "attention/both_paths.hpp"
#include "fovea/error.hpp"
#include "support/parameter_gradcheck.hpp"

namespace fovea {
namespace {

using test::check_gradients;
using test::random_tensor;
using Ints = std::vector<std::int64_t>;

TEST(Pointer, GradientsOfItsLossMatchFiniteDifferences) {
  const Ints lengths{5, 3}, targets{4, 0, -1, 2};
  check_gradients(
      [&](Parameters& p, const auto& in) {
        const Pointer pointer(p, "pointer", {.query_dim = 3, .key_dim = 4, .hidden = 6});
        return pointing_loss(pointer(in[0], in[1], lengths), targets);
      },
      {random_tensor({2, 2, 3}, 1), random_tensor({2, 5, 4}, 2)});
}

TEST(Pointer, NeverPointsAtWhatIsHidden) {
  const std::vector<std::uint8_t> open{1, 0, 1, 0};
  Parameters parameters;
  const Pointer pointer(parameters, "pointer", {.query_dim = 3, .key_dim = 4, .hidden = 6});
  const Tensor p = pointer(random_tensor({1, 2, 3}, 1), random_tensor({1, 4, 4}, 2), {}, Mask::of({4}, open)).value();
  EXPECT_EQ(p.data()[1], 0.0F);
  EXPECT_EQ(p.data()[3], 0.0F);
  EXPECT_NEAR(p.data()[0] + p.data()[2], 1.0F, 1e-6);
}

TEST(PointingLoss, OfACertainTargetIsZeroAndOfAnImpossibleOneFinite) {
  const Tensor p = Tensor::of({2, 2}, {1.0F, 0.0F, 0.0F, 1.0F});
  const Ints right{0, 1}, wrong{1, 0}, far{2, 0};
  EXPECT_EQ(pointing_loss(p, right).value().item(), 0.0F);
  EXPECT_TRUE(std::isfinite(pointing_loss(p, wrong).value().item()));
  EXPECT_THROW((void)pointing_loss(p, far), UsageError);
}

}  // namespace
}  // namespace fovea
