#include "kernels/attention_step.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <tuple>
#include <vector>

#include "kernels/kernels.hpp"

namespace fovea::kernels {
namespace {

using Values = std::vector<float>;

Values random_values(std::int64_t n, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0.0F, 1.0F);
  Values v(static_cast<std::size_t>(n));
  for (float& x : v) x = normal(generator);
  return v;
}

void expect_close(const Values& actual, const Values& expected, const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    EXPECT_NEAR(actual[i], expected[i], 4e-6F * std::max(1.0F, std::abs(expected[i]))) << what << " value " << i;
  }
}

// A step with random values; rows of keys have gaps between them.
struct Problem {
  Problem(std::int64_t keys, std::int64_t dim, bool covered)
      : q(random_values(dim, 1)),
        k(random_values(keys * (dim + 3) + 1, 2)),
        v(random_values(dim, 3)),
        coverage(random_values(keys, 4)),
        weight(random_values(dim, 5)),
        dscores(random_values(keys, 6)),
        step{keys, dim, q.data(), k.data(), dim + 3, v.data()} {
    if (covered) {
      step.coverage = coverage.data();
      step.coverage_weight = weight.data();
    }
  }
  // All that the two kernels write.
  Values run(void (*scores)(const AdditiveStep&, float*),
             void (*backward)(const AdditiveStep&, const AdditiveStepGrads&)) const {
    Values all(static_cast<std::size_t>(step.keys));
    scores(step, all.data());
    Values dq(q.size(), 7.0F);
    Values dk(k.size(), 0.5F);
    Values dv(v.size(), 0.25F);
    Values dcoverage(coverage.size(), 7.0F);
    Values dweight(weight.size(), 0.125F);
    const bool covered = step.coverage != nullptr;
    backward(step, {dscores.data(), dq.data(), dk.data(), dv.data(), covered ? dcoverage.data() : nullptr,
                    covered ? dweight.data() : nullptr});
    for (const Values& x : {dq, dk, dv, dcoverage, dweight}) all.insert(all.end(), x.begin(), x.end());
    return all;
  }

  Values q, k, v, coverage, weight, dscores;
  AdditiveStep step;
};

constexpr std::int64_t kDims[] = {1, 7, 8, 9, 16, 33, 64};
constexpr std::int64_t kKeys[] = {0, 1, 3, 4, 5, 15};

TEST(AttentionStep, EveryAdditiveKernelAgreesWithGeneric) {
  const AttentionStepKernels& truth = *available()[0]->attention_step;
  for (const Table* table : available()) {
    const AttentionStepKernels& kernels = *table->attention_step;
    for (const std::int64_t dim : kDims) {
      for (const std::int64_t keys : kKeys) {
        for (const bool covered : {false, true}) {
          const Problem p(keys, dim, covered);
          const Values expected = p.run(truth.additive, truth.additive_backward);
          expect_close(p.run(kernels.additive, kernels.additive_backward), expected, table->name);
          if (covered) continue;
          Problem e = p;
          e.step.q = e.q.data();
          e.step.k = e.k.data();
          e.step.v = e.v.data();
          const float most = kernels.exp_twice(dim, p.q.data(), e.q.data());
          float expected_most = 0;
          for (const float x : p.q) expected_most = std::max(expected_most, std::abs(x));
          EXPECT_EQ(most, expected_most) << table->name;
          (void)kernels.exp_twice(static_cast<std::int64_t>(p.k.size()), p.k.data(), e.k.data());
          expect_close(e.run(kernels.additive_exp, kernels.additive_exp_backward), expected,
                       std::string(table->name) + " exp");
        }
      }
    }
  }
}

TEST(AttentionStep, TheExponentialFormHoldsUpToItsReach) {
  for (const Table* table : available()) {
    for (const float q : {-kAdditiveReach, 0.0F, kAdditiveReach}) {
      for (const float k : {-kAdditiveReach, kAdditiveReach}) {
        const Values v(9, 1.0F / 9.0F);
        Values eq(9, q);
        Values ek(9, k);
        (void)table->attention_step->exp_twice(9, eq.data(), eq.data());
        (void)table->attention_step->exp_twice(9, ek.data(), ek.data());
        float score = 7;
        table->attention_step->additive_exp({1, 9, eq.data(), ek.data(), 9, v.data()}, &score);
        EXPECT_NEAR(score, std::tanh(q + k), 2e-6F) << table->name;
      }
    }
    Values x{1.0F, std::numeric_limits<float>::quiet_NaN(), 2.0F, -3.0F};
    Values y(4);
    EXPECT_TRUE(std::isnan(table->attention_step->exp_twice(4, x.data(), y.data()))) << table->name;
    x[1] = -std::numeric_limits<float>::infinity();
    EXPECT_EQ(table->attention_step->exp_twice(4, x.data(), y.data()), std::numeric_limits<float>::infinity());
  }
}

TEST(AttentionStep, EveryDotAndWeightedSumAgreesWithGeneric) {
  const AttentionStepKernels& truth = *available()[0]->attention_step;
  for (const Table* table : available()) {
    for (const std::int64_t dim : kDims) {
      for (const std::int64_t keys : kKeys) {
        const Problem p(keys, dim, false);
        const auto run = [&](const AttentionStepKernels& kernels) {
          Values scores(static_cast<std::size_t>(keys));
          kernels.dot(keys, dim, 0.5F, p.q.data(), p.k.data(), dim + 3, scores.data());
          kernels.softmax(keys, scores.data());
          Values out(static_cast<std::size_t>(dim), 7.0F);
          kernels.weigh(keys, dim, scores.data(), p.k.data(), dim + 3, out.data());
          scores.insert(scores.end(), out.begin(), out.end());
          return scores;
        };
        expect_close(run(*table->attention_step), run(truth), table->name);
      }
    }
  }
}

TEST(AttentionStep, WeightsSumToOneEvenWhenScoresAreHuge) {
  for (const Table* table : available()) {
    for (const float huge : {-1e30F, 1e30F}) {
      for (const std::int64_t keys : {1, 5, 16, 19}) {
        Values scores(static_cast<std::size_t>(keys), huge);
        scores[0] = 0.99F * huge;
        table->attention_step->softmax(keys, scores.data());
        EXPECT_NEAR(std::accumulate(scores.begin(), scores.end(), 0.0F), 1.0F, 1e-6F) << table->name << keys;
      }
    }
  }
}

// A key's score must not depend on the number of other keys.
TEST(AttentionStep, AKeysScoreDoesNotDependOnTheOthers) {
  const Problem p(15, 33, false);
  for (const Table* table : available()) {
    Values all(15);
    table->attention_step->additive(p.step, all.data());
    for (std::int64_t j = 0; j < 15; ++j) {
      AdditiveStep one = p.step;
      one.keys = 1;
      one.k += j * one.k_stride;
      float score = 0;
      table->attention_step->additive(one, &score);
      EXPECT_EQ(score, all[static_cast<std::size_t>(j)]) << table->name;
    }
  }
}

// By plain loops in double precision, and every kernel alike; keys at even distances and anywhere.
TEST(AttentionStep, HeadsSideBySideAttendWherever) {
  for (const Table* table : available()) {
    for (const auto& [keys, heads, dim] : {std::array{1, 1, 1}, {5, 2, 7}, {16, 4, 32}, {33, 3, 40}}) {
      const std::int64_t width = heads * dim;
      const Values q = random_values(width, 1);
      const Values k = random_values(3 * keys * width, 2);
      const Values v = random_values(3 * keys * width, 3);
      const Values bias = random_values(heads * keys, 4);
      std::vector<std::int64_t> offsets;
      for (std::int64_t j = 0; j < keys; ++j) offsets.push_back((keys - 1 - j) * 3 * width);
      // With the second scale some scores lie beyond what exponentials can take as they are.
      for (const auto& [scale, anywhere, biased] :
           {std::tuple{0.3F, false, false}, {0.3F, true, true}, {60.0F, true, false}, {60.0F, false, true}}) {
        Values weights(static_cast<std::size_t>(heads * keys));
        Values out(static_cast<std::size_t>(width), 7.0F);
        HeadsStep step{.keys = keys,
                       .heads = heads,
                       .dim = dim,
                       .scale = scale,
                       .q = q.data(),
                       .k = k.data(),
                       .v = v.data(),
                       .stride = 2 * width,
                       .weights = weights.data(),
                       .out = out.data()};
        if (anywhere) step.offsets = offsets.data();
        if (biased) step.bias = bias.data();
        table->attention_step->attend_heads(step);
        const Values unasked = out;
        step.want_weights = true;
        table->attention_step->attend_heads(step);
        EXPECT_EQ(out, unasked) << table->name;
        Values expected(out.size());
        for (std::int64_t h = 0; h < heads; ++h) {
          const auto at = [&](std::int64_t j) {
            return static_cast<std::size_t>((anywhere ? offsets[static_cast<std::size_t>(j)] : j * 2 * width) +
                                            h * dim);
          };
          std::vector<double> e;
          double sum = 0;
          for (std::int64_t j = 0; j < keys; ++j) {
            double dot = 0;
            for (std::int64_t i = 0; i < dim; ++i) {
              dot += static_cast<double>(q[static_cast<std::size_t>(h * dim + i)]) *
                     k[at(j) + static_cast<std::size_t>(i)];
            }
            e.push_back(scale * dot + (biased ? bias[static_cast<std::size_t>(h * keys + j)] : 0.0F));
          }
          const double most = *std::max_element(e.begin(), e.end());
          for (double& x : e) sum += x = std::exp(x - most);
          for (std::size_t j = 0; j < e.size(); ++j) {
            EXPECT_NEAR(weights[static_cast<std::size_t>(h * keys) + j], e[j] / sum, 1e-4) << table->name;
          }
          for (std::int64_t i = 0; i < dim; ++i) {
            double total = 0;
            for (std::int64_t j = 0; j < keys; ++j) {
              total += e[static_cast<std::size_t>(j)] / sum * v[at(j) + static_cast<std::size_t>(i)];
            }
            expected[static_cast<std::size_t>(h * dim + i)] = static_cast<float>(total);
          }
        }
        expect_close(out, expected, table->name);
      }
    }
    Values none(4, 7.0F);
    table->attention_step->attend_heads({.keys = 0, .heads = 2, .dim = 2, .out = none.data()});
    EXPECT_EQ(none, Values(4, 0.0F));
  }
}

}  // namespace
}  // namespace fovea::kernels
