#include <cmath>

#include "attention/both_paths.hpp"
#include "fovea/error.hpp"
#include "support/parameter_gradcheck.hpp"

namespace fovea {
namespace {

using test::check_gradients;
using test::random_tensor;

const std::vector<std::int64_t> kStart{0, 2, 5, 5, 6}, kColumn{0, 3, 1, 0, 2, 3};
const Edges kEdges{kStart, kColumn};

TEST(GraphAttention, GradientsMatchFiniteDifferences) {
  check_gradients(
      [](Parameters& p, const auto& in) {
        return GraphAttention(p, "graph", {.dim = 3, .out = 5, .heads = 2})(in[0], kEdges).context;
      },
      {random_tensor({4, 3}, 1)}, {.step = 2e-3, .tolerance = 1e-2});
}

TEST(GraphAttention, IsWhatTheEquationsSay) {
  Parameters p(5);
  const GraphAttention layer(p, "graph", {.dim = 3, .out = 2});
  const Tensor x = random_tensor({4, 3}, 1);
  const Attended attended = layer(x, kEdges, {.weights = true});
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
  EXPECT_NEAR(attended.weights.value().data()[1], w, 1e-5);
  EXPECT_NEAR(attended.context.value().data()[0], (1 - w) * h[0][0] + w * h[3][0], 1e-5);
}

TEST(GraphAttention, ANodeWithoutEdgesGetsZeros) {
  Parameters p(5);
  const GraphAttention layer(p, "graph", {.dim = 3, .out = 2, .heads = 2});
  const Attended attended = layer(random_tensor({4, 3}, 1), kEdges);
  ASSERT_EQ(attended.context.shape(), (Shape{1, 4, 4}));
  for (std::int64_t f = 0; f < 4; ++f) EXPECT_EQ(attended.context.value().data()[2 * 4 + f], 0.0F);
  EXPECT_THROW((void)layer(random_tensor({4, 2}, 1), kEdges), ShapeError);
}

}  // namespace
}  // namespace fovea
