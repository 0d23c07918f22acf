#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "kernels/attention.hpp"
#include "support/attention_problem.hpp"

namespace fovea::test {
namespace {

using kernels::available;
using kernels::Range;
using kernels::Table;
using kernels::WeightsWanted;

struct Reported {
  std::vector<float> weights, top_weight, column_sums, entropy;
  std::vector<std::int64_t> top_index;
};

Reported report(Problem& problem, const Table& table, Range rows, std::int64_t top) {
  const auto count = static_cast<std::size_t>(rows.end - rows.begin);
  const auto keys = static_cast<std::size_t>(problem.shape.keys);
  Reported reported;
  reported.weights.assign(count * keys, kNan);
  reported.column_sums.assign(keys, 0.0F);
  reported.entropy.assign(count, kNan);
  reported.top_weight.assign(count * static_cast<std::size_t>(top), kNan);
  reported.top_index.assign(count * static_cast<std::size_t>(top), -1);
  WeightsWanted wanted;
  wanted.weights = reported.weights.data();
  wanted.weights_stride = problem.shape.keys;
  wanted.top = top;
  wanted.top_index = reported.top_index.data();
  wanted.top_weight = reported.top_weight.data();
  wanted.column_sums = reported.column_sums.data();
  wanted.entropy = reported.entropy.data();
  problem.weights(table, wanted, rows);
  return reported;
}

class AttentionWeights : public testing::TestWithParam<Family> {};
INSTANTIATE_TEST_SUITE_P(Families, AttentionWeights, testing::Values(Family::dot, Family::additive),
                         [](const auto& info) { return info.param == Family::dot ? "Dot" : "Additive"; });

TEST_P(AttentionWeights, EveryKernelAgreesWithGeneric) {
  unsigned seed = 1;
  for (const ProblemShape& shape : {ProblemShape{1, 1, 3, 3}, ProblemShape{9, 17, 8, 8}, ProblemShape{70, 130, 5, 4},
                                    ProblemShape{33, 65, 16, 16}}) {
    for (int visibility = 0; visibility < 4; ++visibility) {
      Problem problem(GetParam(), shape, seed++);
      problem.visibility.causal = visibility == 1;
      if (visibility == 2) problem.visibility.window = 3;
      if (visibility == 3) {
        problem.add_mask(0.3);
        problem.visibility.length = (shape.keys + 1) / 2;
      }
      const Range rows{shape.queries / 3, shape.queries};
      const std::int64_t top = std::min<std::int64_t>(shape.keys, 5);
      Problem truth = problem;
      truth.forward(*available()[0]);
      const Reported expected = report(truth, *available()[0], rows, top);
      for (const Table* table : available().subspan(1)) {
        Problem actual = problem;
        actual.forward(*table);
        const Reported reported = report(actual, *table, rows, top);
        const std::string what = std::string(table->name) + " " + problem.text();
        for (std::size_t i = 0; i < reported.weights.size(); ++i) {
          ASSERT_NEAR(reported.weights[i], expected.weights[i], 2e-6F) << what << " " << i;
        }
        for (std::size_t i = 0; i < reported.column_sums.size(); ++i) {
          ASSERT_NEAR(reported.column_sums[i], expected.column_sums[i], 1e-5F) << what << " " << i;
        }
        for (std::size_t i = 0; i < reported.entropy.size(); ++i) {
          ASSERT_NEAR(reported.entropy[i], expected.entropy[i], 5e-6F) << what << " " << i;
        }
        for (std::size_t i = 0; i < reported.top_weight.size(); ++i) {
          ASSERT_NEAR(reported.top_weight[i], expected.top_weight[i], 2e-6F) << what << " " << i;
          const std::size_t row = i / static_cast<std::size_t>(top);
          const auto at = row * static_cast<std::size_t>(shape.keys) + static_cast<std::size_t>(reported.top_index[i]);
          ASSERT_EQ(reported.top_weight[i], reported.weights[at]) << what << " " << i;
        }
      }
    }
  }
}

TEST_P(AttentionWeights, TheTopAreThoseOfAStableSortOfTheWeights) {
  for (const Table* table : available()) {
    Problem problem(GetParam(), {20, 200, 4, 4}, 7);
    // Few different keys, so that many weights are equal.
    for (std::size_t j = 0; j < 200; ++j) {
      for (std::size_t d = 0; d < 4; ++d) problem.k[j * 7 + d] = static_cast<float>((j * 7919 / 3 + d) % 5) - 2;
    }
    problem.add_mask(0.1);
    problem.forward(*table);
    const Reported reported = report(problem, *table, {0, 20}, 40);
    for (std::size_t i = 0; i < 20; ++i) {
      const float* weights = reported.weights.data() + i * 200;
      std::vector<std::int64_t> order(200);
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return weights[a] > weights[b]; });
      for (std::size_t n = 0; n < 40; ++n) {
        ASSERT_EQ(reported.top_index[i * 40 + n], order[n]) << table->name << " row " << i << " place " << n;
        ASSERT_EQ(reported.top_weight[i * 40 + n], weights[order[n]]) << table->name;
      }
    }
  }
}

TEST_P(AttentionWeights, RowsSumToOneEvenWhenScoresAreHuge) {
  for (const Table* table : available()) {
    for (const float size : {0.0F, 1e30F, -1e30F}) {
      Problem problem(GetParam(), {5, 100, 8, 8}, 8);
      problem.add_bias();
      for (float& b : problem.bias) b = size == 0 ? b : size;
      problem.forward(*table);
      const Reported reported = report(problem, *table, {0, 5}, 1);
      for (std::size_t i = 0; i < 5; ++i) {
        const float* row = reported.weights.data() + i * 100;
        EXPECT_NEAR(std::accumulate(row, row + 100, 0.0), 1.0, 1e-5) << table->name << " bias " << size;
      }
    }
  }
}

TEST_P(AttentionWeights, AQueryThatSeesNothingHasWeightsAndEntropyOfZero) {
  for (const Table* table : available()) {
    Problem problem(GetParam(), {3, 70, 8, 8}, 9);
    problem.visibility.length = 0;
    problem.forward(*table);
    const Reported reported = report(problem, *table, {0, 3}, 4);
    for (const float w : reported.weights) ASSERT_EQ(w, 0.0F) << table->name;
    for (const float h : reported.entropy) ASSERT_EQ(h, 0.0F) << table->name;
    for (std::size_t i = 0; i < reported.top_index.size(); ++i) {
      ASSERT_EQ(reported.top_index[i], static_cast<std::int64_t>(i % 4)) << table->name;
      ASSERT_EQ(reported.top_weight[i], 0.0F) << table->name;
    }
  }
}

}  // namespace
}  // namespace fovea::test
