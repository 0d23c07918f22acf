// Soft cap, modifiers, sinks, maps of tiles and the log-sum: values against plain loops over all pairs, gradients
// against central differences, on both paths.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>

#include "attention/both_paths.hpp"
#include "fovea/error.hpp"
#include "fovea/ops.hpp"
#include "fovea/threads.hpp"

namespace fovea {
namespace {

using Int = std::int64_t;
using test::Attend;
using test::check_gradients;
using test::expect_near;
using test::expect_same_bytes;
using test::kBothPaths;
using test::random_tensor;

struct Plain {
  Tensor context, weights, log_sum;
};

// Attention of q [B,H,Tq,d], k, v by loops in double precision; `score` is given q . k / sqrt(d).
Plain plain_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                      const std::function<double(double, Int b, Int h, Int i, Int j)>& score,
                      const std::function<bool(Int b, Int i, Int j)>& visible, const std::vector<double>& sinks = {}) {
  const Int B = q.dim(0), H = q.dim(1), N = q.dim(2), M = k.dim(2), d = q.dim(3), e = v.dim(3), G = H / k.dim(1);
  Plain y{Tensor::zeros({B, H, N, e}), Tensor::zeros({B, H, N, M}), Tensor::zeros({B, H, N})};
  for (Int b = 0; b < B; ++b) {
    for (Int h = 0; h < H; ++h) {
      for (Int i = 0; i < N; ++i) {
        std::vector<double> s(static_cast<std::size_t>(M), -std::numeric_limits<double>::infinity());
        double sum = sinks.empty() ? 0 : std::exp(sinks[static_cast<std::size_t>(h)]);
        for (Int j = 0; j < M; ++j) {
          if (!visible(b, i, j)) continue;
          double dot = 0;
          for (Int x = 0; x < d; ++x) {
            dot += static_cast<double>(q.data()[((b * H + h) * N + i) * d + x]) *
                   k.data()[((b * k.dim(1) + h / G) * M + j) * d + x];
          }
          s[static_cast<std::size_t>(j)] = score(dot / std::sqrt(static_cast<double>(d)), b, h, i, j);
          sum += std::exp(s[static_cast<std::size_t>(j)]);
        }
        y.log_sum.data()[(b * H + h) * N + i] = static_cast<float>(std::log(sum));
        for (Int j = 0; j < M; ++j) {
          const double w = sum == 0 ? 0 : std::exp(s[static_cast<std::size_t>(j)]) / sum;
          y.weights.data()[((b * H + h) * N + i) * M + j] = static_cast<float>(w);
          for (Int x = 0; x < e; ++x) {
            y.context.data()[((b * H + h) * N + i) * e + x] +=
                static_cast<float>(w * v.data()[((b * k.dim(1) + h / G) * M + j) * e + x]);
          }
        }
      }
    }
  }
  return y;
}

void expect_attention(const Tensor& q, const Tensor& k, const Tensor& v, AttendOptions how, const Plain& expected) {
  how.want.weights = true;
  how.want.log_sum = true;
  for (const Attend by : kBothPaths) {
    const Attended y = by(q, k, v, how);
    expect_near(y.context.value(), expected.context, 2e-5);
    expect_near(y.weights.value(), expected.weights, 1e-5);
    for (Int at = 0; at < expected.log_sum.size(); ++at) {
      const float wanted = expected.log_sum.data()[at];
      if (std::isfinite(wanted)) {
        ASSERT_NEAR(y.log_sum.value().data()[at], wanted, 1e-4);
      } else {
        ASSERT_EQ(y.log_sum.value().data()[at], wanted);
      }
    }
  }
}

const auto kAll = [](Int, Int, Int) { return true; };
const auto kSame = [](double s, Int, Int, Int, Int) { return s; };

TEST(SoftCap, BoundsScoresBeforeTheBias) {
  const Tensor q = random_tensor({2, 4, 70, 8}, 1, 3), k = random_tensor({2, 2, 90, 8}, 2, 3),
               v = random_tensor({2, 2, 90, 5}, 3), bias = random_tensor({4, 70, 90}, 4);
  const Plain expected = plain_attention(
      q, k, v,
      [&](double s, Int, Int h, Int i, Int j) {
        return 2.5 * std::tanh(s / 2.5) + static_cast<double>(bias.data()[(h * 70 + i) * 90 + j]);
      },
      kAll);
  expect_attention(q, k, v, {.softcap = 2.5F, .bias = reshape(Var(bias), {1, 4, 70, 90})}, expected);
}

TEST(SoftCap, FewQueriesGetTheSameAsMany) {
  const Tensor q = random_tensor({1, 2, 1, 16}, 1, 3), k = random_tensor({1, 2, 300, 16}, 2, 3);
  const Plain expected = plain_attention(q, k, k, [](double s, Int, Int, Int, Int) { return 1.5 * std::tanh(s / 1.5); },
                                         kAll, {0.3, -0.2});
  expect_attention(q, k, k, {.softcap = 1.5F, .sink = Tensor::of({2}, {0.3F, -0.2F})}, expected);
}

TEST(SoftCap, MustBeAFiniteNumberFrom0On) {
  const Var x = random_tensor({1, 3, 4}, 1);
  EXPECT_THROW((void)attend(x, {.softcap = -1}), UsageError);
  EXPECT_THROW((void)attend(x, {.softcap = std::numeric_limits<float>::quiet_NaN()}), UsageError);
  EXPECT_THROW((void)attend(x, {.softcap = std::numeric_limits<float>::infinity()}), UsageError);
}

TEST(Sink, TakesPartInTheSumAndHasNoValue) {
  const Tensor q = random_tensor({2, 4, 70, 8}, 1), k = random_tensor({2, 2, 90, 8}, 2),
               v = random_tensor({2, 2, 90, 5}, 3);
  const std::vector<double> sinks{0.5, -1, 2, 0};
  const Var sink = Tensor::of({4}, {0.5F, -1.0F, 2.0F, 0.0F});
  expect_attention(q, k, v, {.sink = sink}, plain_attention(q, k, v, kSame, kAll, sinks));
  expect_attention(q, k, v, {.off_by_one = true}, plain_attention(q, k, v, kSame, kAll, {0, 0, 0, 0}));
}

TEST(Sink, AQueryThatSeesNothingGetsZeros) {
  const Tensor x = random_tensor({1, 2, 5, 4}, 1);
  const std::vector<Int> lengths{0};
  for (const Attend by : kBothPaths) {
    const Attended y =
        by(x, x, x, {.lengths = lengths, .off_by_one = true, .want = {.weights = true, .log_sum = true}});
    for (const float c : y.context.value().values()) EXPECT_EQ(c, 0);
    for (const float w : y.weights.value().values()) EXPECT_EQ(w, 0);
    for (const float s : y.log_sum.value().values()) EXPECT_NEAR(s, 0, 1e-6);
  }
}

TEST(Sink, StaysFiniteForHugeScores) {
  const Tensor q = Tensor::of({1, 1, 1}, {1e15F}), k = Tensor::of({1, 2, 1}, {1e15F, -1e15F});
  for (const Attend by : kBothPaths) {
    const Attended y = by(q, k, k, {.score = score::Dot{}, .sink = Tensor::of({1}, {3.0F}), .want = {.weights = true}});
    EXPECT_EQ(y.weights.value().data()[0], 1);
    EXPECT_EQ(y.weights.value().data()[1], 0);
  }
}

TEST(Sink, IsRefusedWhereItHasNoMeaning) {
  const Var x = random_tensor({1, 2, 3, 4}, 1);
  EXPECT_THROW((void)attend(x, {.sink = Tensor::of({1}, {0.0F})}), ShapeError);
  EXPECT_THROW((void)attend(x, {.sink = Tensor::zeros({2}), .off_by_one = true}), UsageError);
  EXPECT_THROW((void)attend(x, {.normalizer = normalizer::Sparsemax{}, .off_by_one = true}), UsageError);
  EXPECT_THROW((void)attend(x, {.sink = Tensor::of({2}, {0.0F, std::nanf("")})}), UsageError);
}

TEST(LogSum, MergesAttentionOverPartsOfTheKeys) {
  const Tensor q = random_tensor({1, 2, 9, 4}, 1), k = random_tensor({1, 2, 100, 4}, 2),
               v = random_tensor({1, 2, 100, 3}, 3);
  const Attended whole = attend(q, k, v, {.want = {.log_sum = true}});
  const Attended parts[] = {attend(q, k.slice(2, 0, 37), v.slice(2, 0, 37), {.want = {.log_sum = true}}),
                            attend(q, k.slice(2, 37, 100), v.slice(2, 37, 100), {.want = {.log_sum = true}})};
  for (Int row = 0; row < 18; ++row) {
    for (Int e = 0; e < 3; ++e) {
      double sum = 0;
      for (const Attended& part : parts) {
        sum += std::exp(static_cast<double>(part.log_sum.value().data()[row]) - whole.log_sum.value().data()[row]) *
               part.context.value().data()[row * 3 + e];
      }
      EXPECT_NEAR(sum, whole.context.value().data()[row * 3 + e], 1e-5);
    }
  }
}

// score + learned bias by distance, then times a factor by head: two of the library's in a row, and one of our own.
const auto kOwn =
    score_modifier([](float s, Int q, Int k) { return s * s * 0.1F + s - 0.01F * static_cast<float>(q - k); },
                   [](float s, Int, Int) { return 0.2F * s + 1; });

TEST(Modifiers, ApplyInOrder) {
  const Tensor q = random_tensor({2, 2, 70, 8}, 1), k = random_tensor({2, 1, 90, 8}, 2),
               v = random_tensor({2, 1, 90, 5}, 3), table = random_tensor({2, 61}, 4),
               factor = Tensor::of({2}, {1.5F, -0.5F});
  const Plain expected = plain_attention(
      q, k, v,
      [&](double s, Int, Int h, Int i, Int j) {
        s = 0.1 * s * s + s - 0.01 * static_cast<double>(i + 20 - j);
        s += static_cast<double>(table.data()[h * 61 + std::clamp<Int>(i + 20 - j, -30, 30) + 30]);
        return s * static_cast<double>(factor.data()[h]);
      },
      [](Int, Int i, Int j) { return j <= i + 20; });
  expect_attention(q, k, v,
                   {.causal = true, .modifiers = {kOwn, modifier::distance_bias(table), modifier::head_scale(factor)}},
                   expected);
}

TEST(Modifiers, TimeDecayReadsDataOfTheBatch) {
  const Tensor x = random_tensor({2, 2, 70, 4}, 1), times = random_tensor({2, 70}, 2, 5),
               rate = Tensor::of({2}, {0.3F, 0.1F});
  const Plain expected = plain_attention(
      x, x, x,
      [&](double s, Int b, Int h, Int i, Int j) {
        return s - static_cast<double>(rate.data()[h]) *
                       std::abs(static_cast<double>(times.data()[b * 70 + i]) - times.data()[b * 70 + j]);
      },
      kAll);
  expect_attention(x, x, x, {.modifiers = {modifier::time_decay(rate, times)}}, expected);
}

TEST(Modifiers, GradientsMatchFiniteDifferences) {
  const Tensor times = random_tensor({2, 66}, 9, 2);
  for (const bool cap : {false, true}) {
    for (const Attend by : kBothPaths) {
      check_gradients(
          [&](const std::vector<Var>& in) {
            const Attended y = by(in[0], in[1], in[2],
                                  {.causal = true,
                                   .softcap = cap ? 1.7F : 0.0F,
                                   .modifiers = {modifier::distance_bias(in[3]), kOwn, modifier::head_scale(in[4]),
                                                 modifier::time_decay(in[5], times)},
                                   .sink = in[6],
                                   .bias = in[7],
                                   .want = {.log_sum = true}});
            const Var both[] = {reshape(y.context, {2 * 4 * 66 * 3}), reshape(y.log_sum, {2 * 4 * 66})};
            return concat(both, 0);
          },
          {random_tensor({2, 4, 66, 4}, 1), random_tensor({2, 2, 66, 4}, 2), random_tensor({2, 2, 66, 3}, 3),
           random_tensor({4, 7}, 4), random_tensor({4}, 5), random_tensor({4}, 6, 0.2F), random_tensor({4}, 7),
           random_tensor({66, 66}, 8)},
          {.per_input = 6});
    }
  }
}

TEST(Modifiers, GradientsOfTheAdditiveScoreMatchFiniteDifferences) {
  for (const Attend by : kBothPaths) {
    check_gradients(
        [&](const std::vector<Var>& in) {
          return by(in[0], in[1], in[1],
                    {.score = score::Additive{.w = in[2], .u = in[3], .v = in[4]},
                     .softcap = 0.9F,
                     .modifiers = {modifier::distance_bias(in[5])},
                     .sink = in[6]})
              .context;
        },
        {random_tensor({2, 35, 4}, 1), random_tensor({2, 70, 3}, 2), random_tensor({5, 4}, 3), random_tensor({5, 3}, 4),
         random_tensor({5}, 5), random_tensor({1, 9}, 6), random_tensor({1}, 7)},
        {.per_input = 6});
  }
}

TEST(Modifiers, BytesDoNotDependOnThreadsOrTheBatch) {
  const Tensor q = random_tensor({3, 2, 700, 8}, 1), table = random_tensor({2, 41}, 2);
  const auto run = [&](const Tensor& x, int n) {
    const int before = threads();
    set_threads(n);
    const Var in = Var::parameter(x.clone());
    const Var learned = Var::parameter(table.clone());
    const Attended y =
        attend(in, in, in, {.softcap = 3, .modifiers = {modifier::distance_bias(learned)}, .off_by_one = true});
    backward(sum(y.context));
    set_threads(before);
    return std::vector<Tensor>{y.context.value(), in.grad(), learned.grad()};
  };
  const auto one = run(q, 1);
  const auto two = run(q, 2);
  for (std::size_t n = 0; n < one.size(); ++n) expect_same_bytes(one[n], two[n]);
  const auto alone = run(q.slice(0, 1, 2), 2);
  expect_same_bytes(alone[0], one[0].slice(0, 1, 2));
  expect_same_bytes(alone[1], one[1].slice(0, 1, 2));
}

struct Throwing final : ScoreModifier {
  void apply(const ScoreTile&) const override { throw std::runtime_error("from a modifier"); }
};
struct NotANumber final : ScoreModifier {
  [[nodiscard]] std::string name() const override { return "not_a_number"; }
  void apply(const ScoreTile& t) const override {
    t.each([](float& s, Int, Int) { s = std::nanf(""); });
  }
};

TEST(Modifiers, WhatGoesWrongInOneIsAnError) {
  const Var x = random_tensor({1, 2, 70, 4}, 1);
  EXPECT_THROW((void)attend(x, {.modifiers = {std::make_shared<Throwing>()}}), std::runtime_error);
  try {
    (void)attend(x, {.modifiers = {std::make_shared<NotANumber>()}});
    FAIL() << "expected an Error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("not_a_number"), std::string::npos);
  }
  EXPECT_THROW((void)attend(x, {.modifiers = {nullptr}}), UsageError);
  EXPECT_THROW((void)attend(x, {.modifiers = {modifier::head_scale(Tensor::zeros({3}))}}), ShapeError);
  const Var learned = Var::parameter(random_tensor({1, 2, 3, 4}, 1));
  EXPECT_THROW((void)attend(learned, {.modifiers = {std::make_shared<NotANumber>()}}), UsageError);
}

}  // namespace
}  // namespace fovea
