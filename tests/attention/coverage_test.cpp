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
  const Tensor weights = Tensor::of({1, 1, 3}, {0.5F, 0.5F, 0.0F}), before = Tensor::of({1, 3}, {1.0F, 0.25F, 0.75F});
  EXPECT_FLOAT_EQ(coverage_loss(weights, {.before = before}).value().item(), 0.75F);
  EXPECT_FLOAT_EQ(coverage_loss(weights).value().item(), 0.0F);
  EXPECT_THROW((void)coverage_loss(weights, {.before = Tensor::zeros({3})}), ShapeError);
}

TEST(Coverage, LossIsTheSmallerOfWeightAndCoverageAndItsGradientsMatch) {
  const std::vector<std::int64_t> queries{3, 2}, keys{5, 3};
  const Tensor w = softmax(random_tensor({2, 4, 5}, 3)).value(), before = softmax(random_tensor({2, 5}, 4)).value();
  double expected = 0;
  for (std::int64_t b = 0; b < 2; ++b) {
    for (std::int64_t j = 0; j < keys[static_cast<std::size_t>(b)]; ++j) {
      double covered = before.data()[b * 5 + j];
      for (std::int64_t t = 0; t < queries[static_cast<std::size_t>(b)]; ++t) {
        const double a = w.data()[(b * 4 + t) * 5 + j];
        expected += std::min(a, covered);
        covered += a;
      }
    }
  }
  const auto loss = [&](const auto& in) {
    return coverage_loss(in[0], {.queries = queries, .keys = keys, .before = in[1]});
  };
  EXPECT_NEAR(loss(std::vector<Var>{w, before}).value().item(), expected, 1e-5);
  test::check_gradients(loss, {w, before}, {.step = 1e-3});
}

}  // namespace
}  // namespace fovea
