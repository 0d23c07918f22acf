#include "attention/both_paths.hpp"
#include "fovea/error.hpp"
#include "fovea/ops.hpp"
#include "support/parameter_gradcheck.hpp"

namespace fovea {
namespace {

using test::check_gradients;
using test::random_tensor;

const std::vector<std::int64_t> kLengths{5, 3};

constexpr CoverageOptions kSizes{.query_dim = 4, .key_dim = 3, .hidden = 6};

std::vector<Tensor> inputs() {
  return {random_tensor({2, 3, 4}, 1), random_tensor({2, 5, 3}, 2), random_tensor({2, 5, 2}, 3)};
}

TEST(Coverage, GradientsFlowThroughTheWeightsOfEarlierSteps) {
  check_gradients(
      [](Parameters& p, const auto& in) {
        return CoverageAttention(p, "coverage", kSizes)(in[0], in[1], in[2], kLengths).context;
      },
      inputs(), {.per_input = 15});
}

TEST(Coverage, TheLossesGradientsMatchFiniteDifferences) {
  check_gradients(
      [](Parameters& p, const auto& in) {
        return CoverageAttention(p, "coverage", kSizes)(in[0], in[1], in[2], kLengths).loss;
      },
      inputs(), {.step = 1e-3, .tolerance = 1e-2, .per_input = 10});
}

TEST(Coverage, IsTheSumOfTheWeights) {
  Parameters p;
  const CoverageAttention attention(p, "coverage", kSizes);
  const auto in = inputs();
  const auto result = attention(in[0], in[1], in[2], kLengths);
  for (std::int64_t j = 0; j < 5; ++j) {
    float sum = 0;
    for (std::int64_t t = 0; t < 3; ++t) sum += result.weights.value().data()[t * 5 + j];
    EXPECT_NEAR(result.coverage.value().data()[j], sum, 1e-6);
  }
  // Going on from a state gives the same as going through.
  const auto first = attention(in[0].slice(1, 0, 2), in[1], in[2], kLengths);
  const auto last = attention(in[0].slice(1, 2, 3), in[1], in[2], kLengths, first.coverage);
  test::expect_near(last.context.value(), result.context.value().slice(1, 2, 3), 1e-6);
}

TEST(Coverage, LossCountsKeysThatAreAttendedToTwice) {
  const Tensor weights = Tensor::of({1, 3}, {0.5F, 0.5F, 0.0F}), coverage = Tensor::of({1, 3}, {1.0F, 0.25F, 0.75F});
  EXPECT_FLOAT_EQ(coverage_loss(weights, coverage).value().item(), 0.75F);
  EXPECT_THROW((void)coverage_loss(weights, Tensor::zeros({3})), ShapeError);
}

}  // namespace
}  // namespace fovea
