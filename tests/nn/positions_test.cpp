#include "fovea/nn/positions.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "fovea/error.hpp"

namespace fovea {
namespace {

TEST(SinusoidalPositions, AreSinesAndThenCosinesOfGeometricWavelengths) {
  for (const std::int64_t width : {1, 2, 7, 8, 33}) {
    const Tensor table = sinusoidal_positions(3, 5, width);
    ASSERT_EQ(table.shape(), (Shape{5, width}));
    const std::int64_t half = (width + 1) / 2;
    for (std::int64_t t = 0; t < 5; ++t) {
      for (std::int64_t i = 0; i < width; ++i) {
        const std::int64_t wave = i < half ? i : i - half;
        const double angle = static_cast<double>(3 + t) /
                             std::pow(10000.0, 2.0 * static_cast<double>(wave) / static_cast<double>(width));
        EXPECT_NEAR(table.data()[t * width + i], i < half ? std::sin(angle) : std::cos(angle), 1e-6);
      }
    }
  }
}

TEST(PositionEmbedding, AddsSinusoidsFromTheFirstPositionAsked) {
  Parameters p(1);
  const PositionEmbedding positions(p, "positions",
                                    {.kind = PositionEmbedding::Kind::sinusoidal, .width = 8, .max_length = 4});
  EXPECT_TRUE(p.entries().empty());
  for (const std::int64_t first : {0, 60, 100}) {  // past the capacity it starts with
    const Var y = positions.add_to(Tensor::full({2, 10, 8}, 0.5F), first);
    const Tensor wanted = sinusoidal_positions(first, 10, 8);
    for (std::int64_t i = 0; i < y.size(); ++i) {
      EXPECT_NEAR(y.value().data()[i], 0.5F + wanted.data()[i % wanted.size()], 1e-6);
    }
  }
}

// The embeddings they are added to are scaled alike.
TEST(PositionEmbedding, LearnedOnesAreScaledByTheRootOfTheWidth) {
  Parameters p(1);
  const PositionEmbedding positions(p, "positions",
                                    {.kind = PositionEmbedding::Kind::learned, .width = 9, .max_length = 6});
  const Tensor table = p.find("positions")->value();
  ASSERT_EQ(table.shape(), (Shape{6, 9}));
  const Var y = positions.add_to(Tensor::full({2, 3, 9}, 0.5F), 2);
  for (std::int64_t b = 0; b < 2; ++b) {
    for (std::int64_t t = 0; t < 3; ++t) {
      for (std::int64_t i = 0; i < 9; ++i) {
        EXPECT_NEAR(y.value().data()[(b * 3 + t) * 9 + i], 0.5F + 3 * table.data()[(2 + t) * 9 + i], 1e-6);
      }
    }
  }
}

TEST(PositionEmbedding, LearnedOnesAreLearned) {
  Parameters p(1);
  const PositionEmbedding positions(p, "positions",
                                    {.kind = PositionEmbedding::Kind::learned, .width = 4, .max_length = 6});
  const Var y = positions.add_to(Tensor::zeros({2, 3, 4}), 1);
  backward(y, Tensor::full(y.shape(), 1.0F));
  const Tensor grad = p.find("positions")->grad();
  for (std::int64_t t = 0; t < 6; ++t) {
    for (std::int64_t i = 0; i < 4; ++i) {
      EXPECT_NEAR(grad.data()[t * 4 + i], t >= 1 && t < 4 ? 4.0F : 0.0F, 1e-6);  // two rows times the root of 4
    }
  }
}

TEST(PositionEmbedding, ASequenceBeyondTheLearnedOnesIsAnError) {
  Parameters p(1);
  const PositionEmbedding positions(p, "positions",
                                    {.kind = PositionEmbedding::Kind::learned, .width = 4, .max_length = 6});
  EXPECT_NO_THROW((void)positions.add_to(Tensor::zeros({1, 6, 4}), 0));
  EXPECT_THROW((void)positions.add_to(Tensor::zeros({1, 7, 4}), 0), Error);
  EXPECT_THROW((void)positions.add_to(Tensor::zeros({1, 3, 4}), 4), Error);
}

TEST(PositionEmbedding, NoneLeavesItAlone) {
  Parameters p(1);
  const PositionEmbedding positions(p, "positions",
                                    {.kind = PositionEmbedding::Kind::none, .width = 4, .max_length = 6});
  const Var y = positions.add_to(Tensor::full({1, 3, 4}, 0.5F), 0);
  for (const float v : y.value().values()) EXPECT_EQ(v, 0.5F);
}

}  // namespace
}  // namespace fovea
