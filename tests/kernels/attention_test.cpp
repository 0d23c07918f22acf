#include "kernels/attention.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "support/attention_problem.hpp"

namespace fovea::test {
namespace {

using kernels::available;
using kernels::Table;

// Visibilities, each applied to a problem.
const std::vector<std::function<void(Problem&)>> kVisibilities = {
    [](Problem&) {},
    [](Problem& p) { p.visibility.causal = true; },
    [](Problem& p) { p.visibility.window = 5; },
    [](Problem& p) {
      p.visibility.causal = true;
      p.visibility.window = 20;
    },
    [](Problem& p) { p.visibility.length = p.shape.keys * 2 / 3; },
    [](Problem& p) { p.add_mask(0.4); },
    [](Problem& p) { p.add_bias(); },
    [](Problem& p) {
      p.add_bias();
      p.visibility.bias_row = 0;
    },
    [](Problem& p) {
      p.add_bias();
      p.visibility.bias_column = 0;
    },
    [](Problem& p) { p.visibility.alibi_slope = 0.25F; },
    [](Problem& p) { p.dropout = {.rate = 0.3F, .seed = 99, .counter = (std::uint64_t{1} << 32) - 70}; },
    [](Problem& p) {
      p.visibility.causal = true;
      p.visibility.offset += 3;
      p.visibility.length = (p.shape.keys + 1) / 2;
      p.add_mask(0.7);
      p.add_bias(2.0F);
      p.bias[0] = -kInf;
      p.visibility.alibi_slope = 0.1F;
      p.dropout = {.rate = 0.1F, .seed = 3, .counter = 12};
    },
};

void compare_with_generic(const Problem& problem) {
  Problem expected = problem;
  expected.forward(*available()[0]);
  expected.backward(*available()[0]);
  for (const Table* table : available().subspan(1)) {
    Problem actual = problem;
    const std::string what = std::string(table->name) + " " + actual.text();
    actual.forward(*table);
    expect_rows_near(actual.out, expected.out, problem.shape.value_dim, 3e-6F, what + " out");
    for (std::size_t i = 0; i < actual.peak.size(); ++i) {
      if (expected.mass[i] == 0) {
        ASSERT_EQ(actual.peak[i], -kInf) << what;
        ASSERT_EQ(actual.mass[i], 0.0F) << what;
      } else {
        ASSERT_NEAR(actual.peak[i] + std::log2(actual.mass[i]), expected.peak[i] + std::log2(expected.mass[i]), 1e-5F)
            << what;
      }
    }
    actual.backward(*table);
    expect_rows_near(actual.dq, expected.dq, problem.shape.dim, 1e-5F, what + " dq");
    expect_rows_near(actual.dk, expected.dk, problem.shape.dim, 1e-5F, what + " dk");
    expect_rows_near(actual.dv, expected.dv, problem.shape.value_dim, 1e-5F, what + " dv");
    for (std::size_t d = 0; d < actual.dw.size(); ++d) {
      ASSERT_NEAR(actual.dw[d], expected.dw[d], 3e-5F * std::max(1.0F, std::abs(expected.dw[d]))) << what;
    }
    for (std::size_t at = 0; at < actual.dbias.size(); ++at) {
      ASSERT_NEAR(actual.dbias[at], expected.dbias[at], 1e-5F) << what << " dbias " << at;
    }
  }
}

class Attention : public testing::TestWithParam<Family> {};
INSTANTIATE_TEST_SUITE_P(Families, Attention, testing::Values(Family::dot, Family::additive),
                         [](const auto& info) { return info.param == Family::dot ? "Dot" : "Additive"; });

TEST_P(Attention, EveryKernelAgreesWithGenericAroundTheEdgesOfTiles) {
  unsigned seed = 1;
  for (const std::int64_t n : {1, 7, 8, 9, 16, 33, 63, 64, 65, 129}) {
    for (const std::int64_t m : {1, 8, 17, 64, 65, 130}) {
      compare_with_generic(Problem(GetParam(), {n, m, 16, 16}, seed++));
    }
  }
}

TEST_P(Attention, EveryKernelAgreesWithGenericAtEveryWidth) {
  unsigned seed = 100;
  for (const std::int64_t dim : {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 100, 130}) {
    compare_with_generic(Problem(GetParam(), {19, 21, dim, dim}, seed++));
    compare_with_generic(Problem(GetParam(), {5, 70, 4, dim}, seed++));
    compare_with_generic(Problem(GetParam(), {37, 5, dim, 3}, seed++));
  }
}

TEST_P(Attention, EveryKernelAgreesWithGenericWhereverItMayLook) {
  unsigned seed = 200;
  for (const auto& restrict : kVisibilities) {
    for (const ProblemShape& shape :
         {ProblemShape{1, 1, 8, 8}, ProblemShape{13, 13, 8, 16}, ProblemShape{70, 70, 5, 9},
          ProblemShape{1, 100, 16, 16}, ProblemShape{130, 75, 16, 4}, ProblemShape{66, 150, 3, 17}}) {
      Problem problem(GetParam(), shape, seed++);
      restrict(problem);
      problem.want_dbias = true;
      compare_with_generic(problem);
    }
  }
}

TEST_P(Attention, ManyChunksOfKeysAgreeWithGeneric) {
  Problem problem(GetParam(), {150, 1200, 4, 4}, 300);
  problem.visibility.causal = true;
  compare_with_generic(problem);
  problem.visibility.window = 40;
  compare_with_generic(problem);
}

TEST_P(Attention, GradientOfGenericMatchesCentralDifferences) {
  for (const auto& restrict : kVisibilities) {
    Problem problem(GetParam(), {6, 7, 5, 4}, 400);
    restrict(problem);
    if (problem.bias.empty()) problem.add_bias();
    problem.want_dbias = true;
    const Table& generic = *available()[0];
    problem.forward(generic);
    problem.backward(generic);
    const auto check = [&](std::vector<float> Problem::*input, const std::vector<float>& grad, const char* name) {
      for (std::size_t at = 0; at < grad.size(); ++at) {
        if (std::isnan(grad[at]) || !std::isfinite((problem.*input)[at])) continue;
        const auto loss = [&](float delta) {
          Problem varied = problem;
          (varied.*input)[at] += delta;
          varied.forward(generic);
          return varied.loss();
        };
        const double h = 0.02;
        const auto step = static_cast<float>(h);
        const double numeric = (8 * (loss(step) - loss(-step)) - (loss(2 * step) - loss(-2 * step))) / (12 * h);
        ASSERT_NEAR(grad[at], numeric, 2e-4) << problem.text() << " " << name << " " << at;
      }
    };
    check(&Problem::q, problem.dq, "q");
    check(&Problem::k, problem.dk, "k");
    check(&Problem::v, problem.dv, "v");
    if (GetParam() == Family::additive) check(&Problem::w, problem.dw, "w");
    if (problem.visibility.bias_row > 0 && problem.visibility.bias_column > 0) {
      std::vector<float> spread(problem.bias.size(), kNan);
      for (std::int64_t i = 0; i < 6; ++i) {
        for (std::int64_t j = 0; j < 7; ++j) {
          spread[static_cast<std::size_t>(i * 10 + j)] = problem.dbias[static_cast<std::size_t>(i * 7 + j)];
        }
      }
      check(&Problem::bias, spread, "bias");
    }
  }
}

TEST_P(Attention, GradientsAreAddedWhenAsked) {
  for (const Table* table : available()) {
    Problem once(GetParam(), {20, 35, 8, 12}, 500);
    once.want_dbias = true;
    once.forward(*table);
    once.backward(*table);
    Problem twice = once;
    twice.backward(*table, true);
    const auto doubled = [&](const std::vector<float>& a, const std::vector<float>& b) {
      for (std::size_t i = 0; i < a.size(); ++i) {
        if (std::isnan(a[i])) continue;
        ASSERT_NEAR(a[i], 2 * b[i], 1e-5F * std::max(1.0F, std::abs(b[i]))) << table->name;
      }
    };
    doubled(twice.dq, once.dq);
    doubled(twice.dk, once.dk);
    doubled(twice.dv, once.dv);
    doubled(twice.dbias, once.dbias);
    if (GetParam() == Family::additive) doubled(twice.dw, once.dw);
  }
}

}  // namespace
}  // namespace fovea::test
