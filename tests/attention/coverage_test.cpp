#include "attention/both_paths.hpp"
#include "fovea/error.hpp"
#include "fovea/ops.hpp"

namespace fovea {
namespace {

using test::check_gradients;
using test::random_tensor;

const std::vector<std::int64_t> kLengths{5, 3};

std::vector<Tensor> inputs() {
  return {random_tensor({2, 3, 4}, 1),    random_tensor({2, 5, 3}, 2),    random_tensor({2, 5, 2}, 3),
          random_tensor({6, 4}, 4, 0.5F), random_tensor({6, 3}, 5, 0.5F), random_tensor({6}, 6),
          random_tensor({6}, 7),          random_tensor({6}, 8)};
}

TEST(Coverage, GradientsFlowThroughWhatEarlierStepsSaw) {
  check_gradients(
      [](const auto& in) {
        return CoverageAttention{in[3], in[4], in[5], in[6], in[7]}(in[0], in[1], in[2], kLengths).context;
      },
      inputs(), {.per_input = 15});
}

TEST(Coverage, TheLossesGradientsMatchFiniteDifferences) {
  check_gradients(
      [](const auto& in) {
        return CoverageAttention{in[3], in[4], in[5], in[6], in[7]}(in[0], in[1], in[2], kLengths).loss;
      },
      inputs(), {.step = 1e-3, .tolerance = 1e-2, .per_input = 10});
}

TEST(Coverage, IsTheSumOfTheWeights) {
  const CoverageAttention attention = CoverageAttention::make(4, 3, 6, 1);
  const auto in = inputs();
  const auto read = attention(in[0], in[1], in[2], kLengths);
  for (std::int64_t j = 0; j < 5; ++j) {
    float sum = 0;
    for (std::int64_t t = 0; t < 3; ++t) sum += read.weights.value().data()[t * 5 + j];
    EXPECT_NEAR(read.coverage.value().data()[j], sum, 1e-6);
  }
  // Going on from a state gives the same as going through.
  const auto first = attention(in[0].slice(1, 0, 2), in[1], in[2], kLengths);
  const auto last = attention(in[0].slice(1, 2, 3), in[1], in[2], kLengths, first.coverage);
  test::expect_near(last.context.value(), read.context.value().slice(1, 2, 3), 1e-6);
}

TEST(Coverage, LossCountsWhatIsSeenTwice) {
  const Tensor weights = Tensor::of({1, 3}, {0.5F, 0.5F, 0.0F}), coverage = Tensor::of({1, 3}, {1.0F, 0.25F, 0.75F});
  EXPECT_FLOAT_EQ(coverage_loss(weights, coverage).value().item(), 0.75F);
  EXPECT_THROW((void)coverage_loss(weights, Tensor::zeros({3})), ShapeError);
}

}  // namespace
}  // namespace fovea
