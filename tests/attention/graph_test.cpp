#include <cmath>

#include "attention/both_paths.hpp"
#include "fovea/error.hpp"

namespace fovea {
namespace {

using test::check_gradients;
using test::random_tensor;

const std::vector<std::int64_t> kStart{0, 2, 5, 5, 6}, kColumn{0, 3, 1, 0, 2, 3};
const Edges kEdges{kStart, kColumn};

TEST(GraphAttention, GradientsMatchFiniteDifferences) {
  check_gradients(
      [](const auto& in) {
        return GraphAttention{in[1], in[2], in[3], 2}(in[0], kEdges).context;
      },
      {random_tensor({4, 3}, 1), random_tensor({3, 10}, 2, 0.5F), random_tensor({2, 5}, 3), random_tensor({2, 5}, 4)},
      {.step = 2e-3, .tolerance = 1e-2});
}

TEST(GraphAttention, IsWhatTheEquationsSay) {
  const GraphAttention layer = GraphAttention::make(3, 2, 1, 5);
  const Tensor x = random_tensor({4, 3}, 1);
  const Attended seen = layer(x, kEdges, {.weights = true});
  double h[4][2] = {};
  for (std::int64_t n = 0; n < 4; ++n) {
    for (std::int64_t i = 0; i < 3; ++i) {
      for (std::int64_t o = 0; o < 2; ++o)
        h[n][o] += static_cast<double>(x.data()[n * 3 + i]) * layer.w.value().data()[i * 2 + o];
    }
  }
  const auto e = [&](std::int64_t i, std::int64_t j) {
    double s = 0;
    for (std::int64_t o = 0; o < 2; ++o) {
      s += h[i][o] * layer.a_target.value().data()[o] + h[j][o] * layer.a_source.value().data()[o];
    }
    return std::exp(s > 0 ? s : 0.2 * s);
  };
  const double w = e(0, 3) / (e(0, 0) + e(0, 3));
  EXPECT_NEAR(seen.weights.value().data()[1], w, 1e-5);
  EXPECT_NEAR(seen.context.value().data()[0], (1 - w) * h[0][0] + w * h[3][0], 1e-5);
}

TEST(GraphAttention, ANodeWithoutEdgesGetsZeros) {
  const Attended seen = GraphAttention::make(3, 2, 2, 5)(random_tensor({4, 3}, 1), kEdges);
  ASSERT_EQ(seen.context.shape(), (Shape{1, 4, 4}));
  for (std::int64_t f = 0; f < 4; ++f) EXPECT_EQ(seen.context.value().data()[2 * 4 + f], 0.0F);
  EXPECT_THROW((void)GraphAttention::make(3, 2, 2, 5)(random_tensor({4, 2}, 1), kEdges), ShapeError);
}

}  // namespace
}  // namespace fovea
