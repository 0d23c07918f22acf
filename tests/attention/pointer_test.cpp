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

TEST(CopyMixture, IsADistributionOverKnownAndCopiedWords) {
  // Words 0 and 1 are known; the source says 1 2 2 and padding.
  const Ints source{1, 2, 2, -1};
  const Tensor y = copy_mixture(Tensor::of({1, 1, 2}, {0.25F, 0.75F}), Tensor::of({1, 1}, {0.5F}),
                                Tensor::of({1, 1, 4}, {0.5F, 0.25F, 0.25F, 0.0F}), source, 3)
                       .value();
  EXPECT_FLOAT_EQ(y.data()[0], 0.125F);
  EXPECT_FLOAT_EQ(y.data()[1], 0.375F + 0.25F);
  EXPECT_FLOAT_EQ(y.data()[2], 0.25F);
}

TEST(CopyMixture, GradientsMatchFiniteDifferences) {
  const Ints source{1, 4, 4, -1, 0, 2, 5, 3};
  check_gradients([&](const auto& in) { return copy_mixture(in[0], in[1], in[2], source, 6); },
                  {random_tensor({2, 3, 4}, 1), random_tensor({2, 3}, 2), random_tensor({2, 3, 4}, 3)});
  const Ints far{1, 4, 4, 6, 0, 2, 5, 3};
  EXPECT_THROW((void)copy_mixture(Tensor::zeros({2, 3, 4}), Tensor::zeros({2, 3}), Tensor::zeros({2, 3, 4}), far, 6),
               UsageError);
}

TEST(CopyGate, GradientsMatchFiniteDifferences) {
  check_gradients(
      [](Parameters& p, const auto& in) {
        return CopyGate(p, "gate", {.context_dim = 4, .state_dim = 2, .input_dim = 5})(in[0], in[1], in[2]);
      },
      {random_tensor({2, 3, 4}, 1), random_tensor({2, 3, 2}, 2), random_tensor({2, 3, 5}, 3)});
}

}  // namespace
}  // namespace fovea
