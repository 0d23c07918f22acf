#include "attention/both_paths.hpp"
#include "base/arena.hpp"
#include "fovea/error.hpp"
#include "fovea/ops.hpp"
#include "fovea/threads.hpp"

namespace fovea {
namespace {

using test::check_gradients;
using test::random_tensor;

using test::Attend;
using test::kBothPaths;

TEST(Attend, AveragesValuesWhenAllScoresAreEqual) {
  for (const Attend by : kBothPaths) {
    const Attended a = by(Tensor::zeros({1, 1, 2}), Tensor::zeros({1, 4, 2}),
                          Tensor::of({1, 4, 1}, {1.0F, 2.0F, 3.0F, 6.0F}), {.want = {.weights = true}});
    EXPECT_FLOAT_EQ(a.context.value().item(), 3.0F);
    for (const float w : a.weights.value().values()) EXPECT_FLOAT_EQ(w, 0.25F);
  }
}

TEST(Attend, GradientsMatchFiniteDifferences) {
  const std::vector<std::int64_t> lengths{5, 3};
  for (const Attend by : kBothPaths) {
    for (const bool causal : {false, true}) {
      check_gradients(
          [&](const auto& in) { return by(in[0], in[1], in[2], {.causal = causal, .lengths = lengths}).context; },
          {random_tensor({2, 4, 3}, 1), random_tensor({2, 5, 3}, 2), random_tensor({2, 5, 2}, 3)});
    }
  }
}

TEST(Attend, SelfAttentionGathersAllThreeGradients) {
  for (const Attend by : kBothPaths) {
    check_gradients([&](const auto& in) { return by(in[0], in[0], in[0], {}).context; }, {random_tensor({1, 5, 4}, 4)});
    check_gradients(
        [&](const auto& in) {
          const Var x = add(in[0], in[0]);
          return by(x, x, x, {.causal = true}).context;
        },
        {random_tensor({1, 5, 4}, 4)});
  }
}

TEST(Attend, PackedHeadsEqualSeparateHeads) {
  const Tensor q = random_tensor({2, 4, 6, 8}, 1);
  const Tensor k = random_tensor({2, 2, 7, 8}, 2);
  const Tensor v = random_tensor({2, 2, 7, 5}, 3);
  const auto pack = [](const Tensor& t) {
    return t.transpose(1, 2).contiguous().reshape({t.dim(0), t.dim(2), t.dim(1) * t.dim(3)});
  };
  for (const Attend by : kBothPaths) {
    const Tensor apart = by(q, k, v, {}).context.value();
    const Tensor packed = by(pack(q), pack(k), pack(v), {.heads = 4, .kv_heads = 2}).context.value();
    const Tensor expected = pack(apart);
    ASSERT_EQ(packed.shape(), expected.shape());
    for (std::int64_t i = 0; i < packed.size(); ++i) EXPECT_EQ(packed.data()[i], expected.data()[i]);
  }
}

TEST(Attend, TrainingStepsAfterTheFirstTakeNoMemoryFromTheSystem) {
  const int threads_before = threads();
  set_threads(1);  // when a second thread first takes a share of the work is a matter of timing
  const std::vector<std::int64_t> lengths{40, 33};
  const Var w = Var::parameter(random_tensor({6, 6}, 4)), bias = Var::parameter(random_tensor({40, 40}, 5));
  const Var x = Var::parameter(random_tensor({2, 40, 6}, 1));
  const Tensor dy = random_tensor({2, 40, 6}, 2);
  for (const Attend by : kBothPaths) {
    const auto step = [&] {
      const AttendOptions how{.score = score::General{.w = w}, .causal = true, .lengths = lengths, .bias = bias};
      backward(by(x, x, x, how).context, dy);
      for (const Var& v : {x, w, bias}) v.zero_grad();
    };
    for (int i = 0; i < 20; ++i) step();
    const auto before = arena_stats().system_allocations;
    for (int i = 0; i < 20; ++i) step();
    EXPECT_EQ(arena_stats().system_allocations, before);
  }
  set_threads(threads_before);
}

TEST(Attend, BothPathsAgree) {
  for (const std::int64_t n : {1, 7, 33, 130}) {
    const Tensor q = random_tensor({2, 2, n, 9}, 1);
    const Tensor k = random_tensor({2, 2, n, 9}, 2);
    const Tensor v = random_tensor({2, 2, n, 5}, 3);
    const std::vector<std::int64_t> lengths{n, n / 2};
    const AttendOptions how{.causal = true, .lengths = lengths, .alibi = true, .want = {.weights = true}};
    const Attended a = attend(q, k, v, how);
    const Attended b = attention::attend_by_rows(q, k, v, how);
    for (std::int64_t i = 0; i < a.context.size(); ++i) {
      ASSERT_NEAR(a.context.value().data()[i], b.context.value().data()[i], 2e-6) << n;
    }
    for (std::int64_t i = 0; i < a.weights.size(); ++i) {
      ASSERT_NEAR(a.weights.value().data()[i], b.weights.value().data()[i], 1e-6) << n;
    }
  }
}

}  // namespace
}  // namespace fovea
