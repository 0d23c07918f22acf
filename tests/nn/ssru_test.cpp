#include "fovea/nn/ssru.hpp"

#include <gtest/gtest.h>

#include "fovea/error.hpp"
#include "support/parameter_gradcheck.hpp"

namespace fovea {
namespace {

using test::random_tensor;

TEST(SsruLayer, GradientsOfItsWeightsMatchFiniteDifferences) {
  test::check_gradients([](Parameters& p, const auto& in) { return Ssru(p, "unit", 6)(in[0]); },
                        {random_tensor({2, 4, 6}, 1)}, {.step = 5e-3});
}

TEST(SsruLayer, StepsGiveWhatAllPositionsGiveAtOnce) {
  Parameters p(1);
  const Ssru unit(p, "unit", 9);
  test::scatter(p);
  const Tensor x = random_tensor({3, 5, 9}, 2);
  const NoGrad quiet;
  const Tensor whole = unit(x).value();
  const Tensor cell = Tensor::zeros({3, 9});
  for (std::int64_t t = 0; t < 5; ++t) {
    const Tensor y = unit.step(x.select(1, t).contiguous(), cell);
    for (std::int64_t r = 0; r < 3; ++r) {
      for (std::int64_t i = 0; i < 9; ++i) EXPECT_NEAR(y.data()[r * 9 + i], whole.data()[(r * 5 + t) * 9 + i], 1e-6);
    }
  }
  EXPECT_THROW((void)unit.step(x.select(1, 0).contiguous(), Tensor::zeros({2, 9})), ShapeError);
}

}  // namespace
}  // namespace fovea
