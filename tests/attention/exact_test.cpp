// What must be bit-identical: rows without visible keys, hidden values that must not leak, nothing that depends on the
// neighbours in a batch.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "attention/both_paths.hpp"
#include "fovea/ops.hpp"
#include "fovea/threads.hpp"

namespace fovea {
namespace {

using test::Attend;
using test::expect_same_bytes;
using test::kBothPaths;
using test::random_tensor;
using Ints = std::vector<std::int64_t>;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

struct Named {
  const char* name;
  Score score;
};

// Scores with constant parameters for width 6.
std::vector<Named> scores() {
  return {{"dot", score::ScaledDot{}},
          {"cosine", score::Cosine{}},
          {"general", score::General{.w = Var::parameter(random_tensor({6, 6}, 11, 0.4F))}},
          {"additive", score::Additive{.w = Var::parameter(random_tensor({5, 6}, 12, 0.4F)),
                                       .u = Var::parameter(random_tensor({5, 6}, 13, 0.4F)),
                                       .v = Var::parameter(random_tensor({5}, 14))}},
          {"concat", score::Concat{.w = Var::parameter(random_tensor({5, 12}, 12, 0.4F)),
                                   .v = Var::parameter(random_tensor({5}, 14))}}};
}

const Normalizer kNormalizers[] = {normalizer::Softmax{}, normalizer::Sparsemax{}, normalizer::Entmax{},
                                   normalizer::Sigmoid{}, normalizer::Hard{.straight_through = true}};

struct Result {
  Tensor context, weights, dq, dk, dv, parameter;
};

Result run(Attend by, const Tensor& q, const Tensor& k, const Tensor& v, const AttendOptions& how,
           const Tensor& dout = {}) {
  const Var query = Var::parameter(q.clone()), key = Var::parameter(k.clone()), value = Var::parameter(v.clone());
  const Attended a = by(query, key, value, how);
  backward(a.context, dout ? dout : random_tensor(a.context.shape(), 77));
  Result r{a.context.value(), a.weights ? a.weights.value() : Tensor(), query.grad(), key.grad(), value.grad(), {}};
  if (const auto* general = std::get_if<score::General>(&how.score)) r.parameter = general->w.grad();
  if (const auto* additive = std::get_if<score::Additive>(&how.score)) r.parameter = additive->u.grad();
  if (const auto* concat = std::get_if<score::Concat>(&how.score)) r.parameter = concat->w.grad();
  return r;
}

void expect_all(const Tensor& t, float value) {
  const Tensor whole = t.contiguous();
  for (const float x : whole.values()) ASSERT_EQ(x, value);
}

void expect_finite(const Tensor& t) {
  if (!t) return;
  const Tensor whole = t.contiguous();
  for (const float x : whole.values()) ASSERT_TRUE(std::isfinite(x));
}

TEST(Exact, AQueryThatSeesNothingGetsZeros) {
  const Ints lengths{0, 4};
  for (const Normalizer& normalizer : kNormalizers) {
    for (const Attend by : kBothPaths) {
      for (const bool weights : {false, true}) {
        const Result r = run(by, random_tensor({2, 3, 6}, 1), random_tensor({2, 5, 6}, 2), random_tensor({2, 5, 4}, 3),
                             {.normalizer = normalizer, .lengths = lengths, .want = {.weights = weights}});
        for (const Tensor& t : {r.context, r.dq, r.dk, r.dv}) expect_all(t.select(0, 0), 0.0F);
        if (weights) expect_all(r.weights.select(0, 0), 0.0F);
        expect_finite(r.context);
        expect_all(r.dk.select(0, 1).slice(0, 4, 5), 0.0F);
      }
    }
  }
}

// NaN and infinity in hidden keys: by padding, by mask, by causality, by a bias of -inf.
TEST(Exact, NanAndInfinityInHiddenKeysAndValuesNeverLeak) {
  const Ints lengths{5, 3};
  std::vector<std::uint8_t> mask(7, 1);
  mask[1] = 0;
  const Tensor bias = Tensor::zeros({7});
  bias.data()[2] = -kInf;
  const Tensor q = random_tensor({2, 4, 6}, 1);
  const Tensor clean_k = random_tensor({2, 7, 6}, 2), clean_v = random_tensor({2, 7, 4}, 3);
  for (const float poison : {kNan, kInf, -kInf}) {
    const Tensor k = clean_k.clone(), v = clean_v.clone();
    for (const auto& [b, j] : {std::pair{0, 1}, {0, 2}, {0, 5}, {0, 6}, {1, 1}, {1, 2}, {1, 3}, {1, 6}}) {
      k.select(0, b).select(0, j).fill(poison);
      v.select(0, b).select(0, j).fill(poison);
    }
    for (const Named& named : scores()) {
      for (const Normalizer& normalizer : kNormalizers) {
        SCOPED_TRACE(fmt::format("{} {}", named.name, normalizer.index()));
        for (const Attend by : kBothPaths) {
          const AttendOptions how{.score = named.score,
                                  .normalizer = normalizer,
                                  .lengths = lengths,
                                  .mask = Mask::of({7}, mask),
                                  .bias = bias,
                                  .want = {.weights = by != kBothPaths[0]}};
          const Result dirty = run(by, q, k, v, how);
          for (const Tensor& t : {dirty.context, dirty.weights, dirty.dq, dirty.dk, dirty.dv, dirty.parameter})
            expect_finite(t);
          const Result clean = run(by, q, clean_k, clean_v, how);
          test::expect_near(dirty.context, clean.context, 2e-6);
          test::expect_near(dirty.dq, clean.dq, 1e-5);
          test::expect_near(dirty.dk, clean.dk, 1e-5);
        }
      }
    }
  }
}

TEST(Exact, NanInALaterKeyDoesNotReachEarlierCausalQueries) {
  const Tensor q = random_tensor({1, 9, 6}, 1), k = random_tensor({1, 9, 6}, 2), v = random_tensor({1, 9, 4}, 3);
  k.select(0, 0).select(0, 6).fill(kNan);
  v.select(0, 0).select(0, 6).fill(kNan);
  const Tensor dout = random_tensor({1, 9, 4}, 4);
  for (std::int64_t i = 6; i < 9; ++i) dout.select(0, 0).select(0, i).fill(0.0F);
  for (const Named& named : scores()) {
    SCOPED_TRACE(named.name);
    for (const Attend by : kBothPaths) {
      const Result r = run(by, q, k, v, {.score = named.score, .causal = true}, dout);
      expect_finite(r.context.slice(1, 0, 6));
      expect_finite(r.dq.slice(1, 0, 6));
    }
  }
}

TEST(Exact, ScoresOfAnySizeStayFinite) {
  const Tensor q = Tensor::of({1, 2, 1}, {1e15F, -1e15F});
  const Tensor k = Tensor::of({1, 3, 1}, {1e15F, -1e15F, 3.0F});
  for (const Normalizer& normalizer : kNormalizers) {
    for (const Attend by : kBothPaths) {
      const Result r = run(by, q, k, random_tensor({1, 3, 2}, 1),
                           {.score = score::Dot{}, .normalizer = normalizer, .want = {.weights = by != kBothPaths[0]}});
      expect_finite(r.context);
      expect_finite(r.weights);
      expect_finite(r.dv);
      if (by == kBothPaths[0]) continue;
      EXPECT_EQ(r.weights.data()[0], 1.0F);
      EXPECT_EQ(r.weights.data()[1], 0.0F);
    }
  }
}

// A sequence alone, and in a batch with a longer one: padded further, first or second.
TEST(Exact, ASequenceGivesTheSameBytesInAnyBatch) {
  const std::int64_t queries = 37, keys = 41, more = 70;
  const Tensor q = random_tensor({1, queries, 6}, 1), k = random_tensor({1, keys, 6}, 2),
               v = random_tensor({1, keys, 4}, 3);
  const Tensor dout = random_tensor({1, queries, 4}, 4);
  const auto batched = [](const Tensor& t, std::int64_t rows, int place) {
    Tensor both = random_tensor({2, rows, t.dim(2)}, 99);
    both.select(0, place).slice(0, 0, t.dim(1)).copy_from(t.select(0, 0));
    return both;
  };
  for (const Named& named : scores()) {
    for (const Normalizer& normalizer : kNormalizers) {
      SCOPED_TRACE(fmt::format("{} {}", named.name, normalizer.index()));
      for (const Attend by : kBothPaths) {
        const Result alone = run(by, q, k, v, {.score = named.score, .normalizer = normalizer}, dout);
        for (const int place : {0, 1}) {
          Ints lengths{more, more};
          lengths[static_cast<std::size_t>(place)] = keys;
          const Result both = run(by, batched(q, queries + 20, place), batched(k, more, place), batched(v, more, place),
                                  {.score = named.score, .normalizer = normalizer, .lengths = lengths},
                                  batched(dout, queries + 20, place));
          expect_same_bytes(both.context.select(0, place).slice(0, 0, queries), alone.context.select(0, 0));
          expect_same_bytes(both.dq.select(0, place).slice(0, 0, queries), alone.dq.select(0, 0));
        }
      }
    }
  }
}

TEST(Exact, TheNumberOfThreadsDoesNotShow) {
  const Tensor q = random_tensor({3, 2, 70, 6}, 1), k = random_tensor({3, 2, 70, 6}, 2),
               v = random_tensor({3, 2, 70, 4}, 3);
  const int before = threads();
  for (const Named& named : scores()) {
    for (const Attend by : kBothPaths) {
      SCOPED_TRACE(named.name);
      const Var bias = Var::parameter(random_tensor({70, 70}, 5));
      std::vector<Result> runs;
      std::vector<Tensor> dbias;
      for (const int count : {1, 2, 5}) {
        set_threads(count);
        for (auto* p : {&bias}) p->zero_grad();
        std::visit(
            [](const auto& s) {
              if constexpr (requires { s.w.zero_grad(); }) s.w.zero_grad();
              if constexpr (requires { s.u.zero_grad(); }) s.u.zero_grad();
            },
            named.score);
        runs.push_back(run(by, q, k, v, {.score = named.score, .causal = true, .bias = bias}));
        if (runs.back().parameter) runs.back().parameter = runs.back().parameter.clone();
        dbias.push_back(bias.grad().clone());
      }
      set_threads(before);
      for (std::size_t n = 1; n < runs.size(); ++n) {
        expect_same_bytes(runs[0].context, runs[n].context);
        expect_same_bytes(runs[0].dq, runs[n].dq);
        expect_same_bytes(runs[0].dk, runs[n].dk);
        expect_same_bytes(runs[0].dv, runs[n].dv);
        expect_same_bytes(dbias[0], dbias[n]);
        if (runs[0].parameter) expect_same_bytes(runs[0].parameter, runs[n].parameter);
      }
    }
  }
}

}  // namespace
}  // namespace fovea
