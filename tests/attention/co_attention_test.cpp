#include <cmath>

#include "attention/both_paths.hpp"
#include "fovea/ops.hpp"
#include "support/parameter_gradcheck.hpp"

namespace fovea {
namespace {

using test::check_gradients;
using test::random_tensor;
using Lengths = std::vector<std::int64_t>;

constexpr CoAttentionOptions kSizes{.dim_a = 3, .dim_b = 2, .hidden = 6};
const Lengths kA{4, 3}, kB{5, 2};
const Tensor a = random_tensor({2, 4, 3}, 1), b = random_tensor({2, 5, 2}, 2);

// Both sequences' vectors, as one value to be differentiated.
Var both(const CoAttended& attended) {
  return add(sum(attended.a), sum(attended.b));
}

TEST(ParallelCoAttention, GradientsMatchFiniteDifferences) {
  check_gradients(
      [](Parameters& p, const auto& in) { return both(ParallelCoAttention(p, "co", kSizes)(in[0], in[1], kA, kB)); },
      {a, b});
}

// Lu et al.'s equations, written out for one sequence without padding.
TEST(ParallelCoAttention, IsWhatTheEquationsSay) {
  Parameters p(9);
  const ParallelCoAttention co(p, "co", kSizes);
  const CoAttended attended = co(a, b);
  const auto at = [](const Var& v, std::int64_t i, std::int64_t j) {
    return static_cast<double>(v.value().data()[i * v.dim(-1) + j]);
  };
  double affinity[4][5];
  for (std::int64_t i = 0; i < 4; ++i) {
    for (std::int64_t j = 0; j < 5; ++j) {
      double s = 0;
      for (std::int64_t x = 0; x < 3; ++x) {
        for (std::int64_t y = 0; y < 2; ++y) s += at(a, i, x) * at(co.w, x, y) * at(b, j, y);
      }
      affinity[i][j] = std::tanh(s);
    }
  }
  double score[4], total = 0;
  for (std::int64_t i = 0; i < 4; ++i) {
    score[i] = 0;
    for (std::int64_t h = 0; h < 6; ++h) {
      double hidden = 0;
      for (std::int64_t x = 0; x < 3; ++x) hidden += at(co.w_a, h, x) * at(a, i, x);
      for (std::int64_t j = 0; j < 5; ++j) {
        for (std::int64_t y = 0; y < 2; ++y) hidden += affinity[i][j] * at(co.w_b, h, y) * at(b, j, y);
      }
      score[i] += std::tanh(hidden) * static_cast<double>(co.v_a.value().data()[h]);
    }
    total += std::exp(score[i]);
  }
  for (std::int64_t i = 0; i < 4; ++i) EXPECT_NEAR(at(attended.a_weights, 0, i), std::exp(score[i]) / total, 1e-5);
}

TEST(AlternatingCoAttention, GradientsMatchFiniteDifferences) {
  check_gradients(
      [](Parameters& p, const auto& in) { return both(AlternatingCoAttention(p, "co", kSizes)(in[0], in[1], kA, kB)); },
      {a, b}, {.per_input = 12});
}

TEST(CoAttention, WeightsSumToOneAndIgnorePadding) {
  Parameters p;
  for (const CoAttended& attended : {ParallelCoAttention(p, "parallel", kSizes)(a, b, kA, kB),
                                     AlternatingCoAttention(p, "alternating", kSizes)(a, b, kA, kB)}) {
    ASSERT_EQ(attended.a.shape(), (Shape{2, 3}));
    ASSERT_EQ(attended.b.shape(), (Shape{2, 2}));
    const auto wa = attended.a_weights.value().values(), wb = attended.b_weights.value().values();
    EXPECT_NEAR(wa[4] + wa[5] + wa[6], 1.0F, 1e-5);
    EXPECT_EQ(wa[7], 0.0F);
    EXPECT_NEAR(wb[5] + wb[6], 1.0F, 1e-5);
    EXPECT_EQ(wb[9], 0.0F);
  }
}

}  // namespace
}  // namespace fovea
