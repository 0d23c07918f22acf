#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "attention/both_paths.hpp"
#include "fovea/error.hpp"
#include "fovea/ops.hpp"

namespace fovea {
namespace {

using test::Attend;
using test::check_gradients;
using test::kBothPaths;
using test::random_tensor;
using Ints = std::vector<std::int64_t>;

const Tensor q = random_tensor({2, 3, 40, 8}, 1);
const Tensor k = random_tensor({2, 3, 50, 8}, 2);
const Tensor v = random_tensor({2, 3, 50, 4}, 3);
const Ints lengths{50, 20};

AttendOptions options(const WeightsRequest& want, const Normalizer& normalizer = normalizer::Softmax{}) {
  return {.normalizer = normalizer, .causal = true, .lengths = lengths, .want = want};
}

const Normalizer kNormalizers[] = {normalizer::Softmax{}, normalizer::Sparsemax{}};

TEST(Weights, ChosenRowsAndHeadsAreThoseOfTheWhole) {
  const Ints rows{33, 0, 7}, heads{2, 0};
  for (const Attend by : kBothPaths) {
    const Tensor all = by(q, k, v, options({.weights = true})).weights.value();
    const Tensor some = by(q, k, v, options({.weights = true, .rows = rows, .heads = heads})).weights.value();
    ASSERT_EQ(some.shape(), (Shape{2, 2, 3, 50}));
    for (std::int64_t b = 0; b < 2; ++b) {
      for (std::int64_t h = 0; h < 2; ++h) {
        for (std::int64_t r = 0; r < 3; ++r) {
          const Tensor expected = all.select(0, b)
                                      .select(0, heads[static_cast<std::size_t>(h)])
                                      .select(0, rows[static_cast<std::size_t>(r)]);
          test::expect_near(some.select(0, b).select(0, h).select(0, r), expected, 1e-6);
        }
      }
    }
  }
}

TEST(Weights, TopIsTheHeadOfTheSortedRow) {
  for (const Normalizer& normalizer : kNormalizers) {
    for (const Attend by : kBothPaths) {
      const Attended a = by(q, k, v, options({.weights = true, .top = 5}, normalizer));
      ASSERT_EQ(a.top.weight.shape(), (Shape{2, 3, 40, 5}));
      for (std::int64_t row = 0; row < 2 * 3 * 40; ++row) {
        const float* w = a.weights.value().data() + row * 50;
        Ints order(50);
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [w](auto x, auto y) { return w[x] > w[y]; });
        for (std::int64_t n = 0; n < 5; ++n) {
          ASSERT_EQ(a.top.index[static_cast<std::size_t>(row * 5 + n)], order[static_cast<std::size_t>(n)]) << row;
          ASSERT_NEAR(a.top.weight.data()[row * 5 + n], w[order[static_cast<std::size_t>(n)]], 1e-6);
        }
      }
    }
  }
}

TEST(Weights, ColumnSumsAndEntropyAreThoseOfTheWeights) {
  for (const Normalizer& normalizer : kNormalizers) {
    for (const Attend by : kBothPaths) {
      const Attended a = by(q, k, v, options({.weights = true, .column_sums = true, .entropy = true}, normalizer));
      for (std::int64_t head = 0; head < 6; ++head) {
        std::vector<double> sums(50, 0.0);
        for (std::int64_t i = 0; i < 40; ++i) {
          double entropy = 0;
          for (std::int64_t j = 0; j < 50; ++j) {
            const double w = a.weights.value().data()[(head * 40 + i) * 50 + j];
            sums[static_cast<std::size_t>(j)] += w;
            if (w > 0) entropy -= w * std::log(w);
          }
          ASSERT_NEAR(a.entropy.data()[head * 40 + i], entropy, 1e-5);
        }
        for (std::int64_t j = 0; j < 50; ++j) {
          ASSERT_NEAR(a.column_sums.data()[head * 50 + j], sums[static_cast<std::size_t>(j)], 1e-5);
        }
      }
    }
  }
}

TEST(Weights, GradientsFlowIntoChosenWeights) {
  const Ints rows{2, 0}, heads{1};
  check_gradients(
      [&](const auto& in) {
        return attend(in[0], in[1], in[2], {.want = {.weights = true, .rows = rows, .heads = heads}}).weights;
      },
      {random_tensor({1, 2, 3, 4}, 1), random_tensor({1, 2, 5, 4}, 2), random_tensor({1, 2, 5, 2}, 3)});
}

TEST(Weights, ContextAndWeightsCanBothBeUsed) {
  check_gradients(
      [&](const auto& in) {
        const Attended a = attend(in[0], in[1], in[1], {.want = {.weights = true}});
        return add(sum(a.context), sum(attend(a.context, in[1], in[1], {.bias = a.weights}).context));
      },
      {random_tensor({1, 3, 4}, 1), random_tensor({1, 5, 4}, 2)});
}

TEST(Weights, RequestsThatMakeNoSenseAreNamed) {
  const Ints far{40}, twice{1, 1};
  EXPECT_THROW((void)attend(q, k, v, {.want = {.weights = true, .rows = far}}), UsageError);
  EXPECT_THROW((void)attend(q, k, v, {.want = {.weights = true, .heads = twice}}), UsageError);
  EXPECT_THROW((void)attend(q, k, v, {.want = {.top = 51}}), UsageError);
}

// What the error says when `use` needs something that was not computed.
template <class Use>
std::string error_of(const Use& use) {
  try {
    use();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Weights, UsingWeightsThatWereNotRequestedNamesTheOption) {
  for (const Attend by : kBothPaths) {
    const Attended a = by(q, k, v, {});
    EXPECT_FALSE(a.weights);
    EXPECT_EQ(error_of([&] { (void)a.weights.value(); }),
              "weights were not requested: set AttendOptions::want.weights");
    EXPECT_EQ(error_of([&] { (void)sum(a.weights); }), "weights were not requested: set AttendOptions::want.weights");
    EXPECT_EQ(error_of([&] { (void)a.log_probability.value(); }),
              "log_probability is computed by normalizer::Sampled only");
  }
}

TEST(Weights, AreReportedWithoutDropout) {
  for (const Attend by : kBothPaths) {
    const Attended a = by(q, k, v, {.want = {.weights = true}});
    const Attended b = by(q, k, v, {.dropout = {.rate = 0.5F, .seed = 3}, .want = {.weights = true}});
    test::expect_near(a.weights.value(), b.weights.value(), 1e-6);
    EXPECT_NE(a.context.value().data()[0], b.context.value().data()[0]);
  }
  test::expect_near(attend(q, k, v, {.dropout = {.rate = 0.5F, .seed = 3}}).context.value(),
                    attention::attend_by_rows(q, k, v, {.dropout = {.rate = 0.5F, .seed = 3}}).context.value(), 1e-5);
}

TEST(Weights, DropoutsGradientsMatchFiniteDifferences) {
  for (const Attend by : kBothPaths) {
    check_gradients(
        [&](const auto& in) { return by(in[0], in[1], in[2], {.dropout = {.rate = 0.4F, .seed = 9}}).context; },
        {random_tensor({1, 2, 3, 4}, 1), random_tensor({1, 2, 5, 4}, 2), random_tensor({1, 2, 5, 2}, 3)});
  }
}

}  // namespace
}  // namespace fovea
