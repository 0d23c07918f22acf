#include <gmock/gmock.h>

#include <memory>
#include <thread>
#include <vector>

#include "base/arena.hpp"
#include "fovea/error.hpp"
#include "fovea/ops.hpp"
#include "fovea/var.hpp"
#include "support/scratch.hpp"

namespace fovea {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Var parameter(std::initializer_list<float> values) {
  return Var::parameter(Tensor::of({static_cast<std::int64_t>(values.size())}, values));
}

// y = x, and dy arrives as it is; counts how often it was walked.
Var watched(const Var& x, int* walks) {
  return record(x.value(), {x}, [x, walks](const Tensor& dy) {
    ++*walks;
    x.accumulate(dy);
  });
}

TEST(Tape, AValueUsedTwiceGetsBothGradients) {
  const Var x = parameter({1, 2});
  const Var y = add(x, x);
  backward(sum(add(y, y)));
  EXPECT_THAT(x.grad().values(), ElementsAre(4, 4));
}

TEST(Tape, AStepRunsOnceAfterAllThatUseIt) {
  int walks = 0;
  const Var x = parameter({1});
  const Var shared = watched(x, &walks);
  Var total = shared;
  for (int i = 0; i < 5; ++i) total = add(total, add(shared, total));
  backward(total);
  EXPECT_EQ(walks, 1);
  EXPECT_EQ(x.grad().item(), total.value().item());  // every path is linear in x = 1
}

// The gradients of leaves at the moment they are said to be complete.
struct Completed final : LeafObserver {
  explicit Completed(std::vector<Var> all) : leaves(std::move(all)) {
    for (std::size_t i = 0; i < leaves.size(); ++i) leaves[i].set_number(static_cast<std::int32_t>(i));
  }
  void complete(std::int32_t number) override {
    order.push_back(number);
    then.push_back(leaves[static_cast<std::size_t>(number)].grad().values()[0]);
  }
  std::vector<Var> leaves;
  std::vector<int> order;
  std::vector<float> then;
};

TEST(Tape, ALeafIsCompleteWhenTheLastStepThatUsesItWasWalked) {
  Completed observer({parameter({2}), parameter({3}), parameter({5})});
  const auto& [first, second, third] = std::tie(observer.leaves[0], observer.leaves[1], observer.leaves[2]);
  const Var inner = mul(first, second);
  backward(sum(mul(mul(inner, third), second)), &observer);
  EXPECT_THAT(observer.order, ElementsAre(2, 0, 1));
  EXPECT_THAT(observer.then, ElementsAre(18, 45, 60));
  EXPECT_EQ(second.grad().item(), 60);
}

TEST(Tape, ALeafOfAGraphThatIsNotWalkedIsNotComplete) {
  Completed observer({parameter({2}), parameter({3})});
  {
    const Var other = mul(observer.leaves[0], observer.leaves[0]);
    backward(sum(mul(observer.leaves[0], observer.leaves[1])), &observer);
    EXPECT_THAT(observer.order, ElementsAre(1));
  }
  backward(sum(observer.leaves[0]), &observer);  // the other graph is gone
  EXPECT_THAT(observer.order, ElementsAre(1, 0));
}

TEST(Tape, GradientsGatherUntilTheyAreForgotten) {
  const Var x = parameter({1, 2});
  backward(sum(x));
  backward(sum(x));
  EXPECT_THAT(x.grad().values(), ElementsAre(2, 2));
  const float* memory = x.grad().data();
  x.zero_grad();
  backward(sum(add(x, x)));
  EXPECT_THAT(x.grad().values(), ElementsAre(2, 2));
  EXPECT_EQ(x.grad().data(), memory);
  x.zero_grad();
  EXPECT_THAT(x.grad().values(), ElementsAre(0, 0));
}

TEST(Tape, ALeafThatNothingReachedHasZeros) {
  EXPECT_THAT(parameter({1, 2}).grad().values(), ElementsAre(0, 0));
}

TEST(Tape, AddingToAGradientDoesNotChangeItsOtherOwner) {
  // a and b receive the same dy; adding to a's must leave b's alone.
  const Var x = parameter({1});
  const Var y = parameter({1});
  const Var a = add(x, x);
  const Var b = add(y, y);
  const Var once = add(a, b);
  backward(sum(add(once, a)));
  EXPECT_EQ(x.grad().item(), 4);
  EXPECT_EQ(y.grad().item(), 2);
}

TEST(Tape, ConstantsAndQuietThreadsRecordNothing) {
  int walks = 0;
  const Var x = parameter({1});
  EXPECT_FALSE(add(Tensor::zeros({1}), Tensor::zeros({1})).requires_grad());
  {
    const NoGrad quiet;
    EXPECT_FALSE(watched(x, &walks).requires_grad());
    const NoGrad again;
  }
  EXPECT_TRUE(watched(x, &walks).requires_grad());
  EXPECT_EQ(test::message_of<Error>([] { backward(Var(Tensor::zeros({}))); }),
            "backward: the root does not depend on any parameter");
}

TEST(Tape, AGraphIsWalkedOnce) {
  const Var x = parameter({1});
  const Var shared = add(x, x);
  const Var first = sum(shared);
  const Var second = sum(shared);
  backward(first);
  EXPECT_THAT(test::message_of<Error>([&] { backward(first); }), HasSubstr("walked before"));
  EXPECT_THAT(test::message_of<Error>([&] { backward(second); }), HasSubstr("walked before"));
  EXPECT_EQ(x.grad().item(), 2);
}

TEST(Tape, AnErrorOnTheWayLeavesNothingBehind) {
  const std::size_t before = arena_stats().used_bytes;
  {
    const Var x = parameter({1});
    const Var broken = record(x.value(), {x}, [](const Tensor&) { throw Error("planned"); });
    const Var root = add(add(broken, x), add(x, x));
    EXPECT_THROW(backward(root), Error);
    EXPECT_THAT(test::message_of<Error>([&] { backward(root); }), HasSubstr("walked before"));
  }
  EXPECT_EQ(arena_stats().used_bytes, before);
}

TEST(Tape, ShapesOfGradientsAreChecked) {
  const Var x = parameter({1, 2});
  EXPECT_EQ(test::message_of<ShapeError>([&] { backward(x); }), "backward: the root must hold one value, not [2]");
  EXPECT_EQ(test::message_of<ShapeError>([&] { backward(add(x, x), Tensor::zeros({3})); }),
            "accumulate: a gradient of shape [3] for a value of shape [2]");
}

TEST(Tape, OnlyLeavesKeepGradients) {
  const Var x = parameter({1});
  const Var y = add(x, x);
  backward(y);
  EXPECT_THAT(test::message_of<Error>([&] { (void)y.grad(); }), HasSubstr("only a leaf"));
}

TEST(Tape, AnOpWithTwoOutputsGetsOneGradientEach) {
  const Var x = parameter({3});
  for (const bool both : {false, true}) {
    x.zero_grad();
    Var a;
    Var b;
    std::vector<Var> inputs{x};
    record({{&a, x.value().clone()}, {&b, x.value().clone()}}, inputs, [x, both](std::span<const Tensor> dy) {
      EXPECT_TRUE(dy[0]);
      EXPECT_EQ(static_cast<bool>(dy[1]), both);
      x.accumulate(dy[0]);
      if (dy[1]) x.accumulate(dy[1]);
    });
    backward(both ? sum(add(a, b)) : sum(a));
    EXPECT_EQ(x.grad().item(), both ? 2 : 1);
  }
}

TEST(Tape, ManyInputsAreKept) {
  std::vector<Var> inputs;
  inputs.reserve(20);
  for (int i = 0; i < 20; ++i) inputs.push_back(parameter({static_cast<float>(i)}));
  Var out;
  record({{&out, Tensor::zeros({1})}}, inputs,
         [inputs = inputs.front()](std::span<const Tensor> dy) { inputs.accumulate(dy[0]); });
  backward(out);
  EXPECT_EQ(inputs.front().grad().item(), 1);
}

TEST(Tape, WhatAStepKeptIsFreedAsItIsWalked) {
  const std::size_t before = arena_stats().used_bytes;
  const Var x = Var::parameter(Tensor::zeros({1 << 16}));
  Var y = x;
  for (int i = 0; i < 20; ++i) y = add(y, x);
  const Var loss = sum(y);
  y = Var();
  const std::size_t kept = arena_stats().used_bytes;
  EXPECT_GT(kept - before, 20U << 18);
  backward(loss);
  EXPECT_LT(arena_stats().used_bytes - before, 3U << 18);  // x and its gradient
}

TEST(Tape, ALongChainIsTakenApartWithoutRecursion) {
  const Var x = Var::parameter(Tensor::full({1}, 0.0F));
  Var y = x;
  for (int i = 0; i < 100000; ++i) y = add(y, x);
  backward(y);
  EXPECT_EQ(x.grad().item(), 100001.0F);
  Var unused = x;
  for (int i = 0; i < 100000; ++i) unused = add(unused, x);
  Var twice = x;
  for (int i = 0; i < 100000; ++i) twice = add(twice, twice);
}

TEST(Tape, AGraphMayMoveToAnotherThread) {
  const Var x = parameter({1});
  Var y = x;
  for (int i = 0; i < 10; ++i) y = add(y, y);
  std::thread([&] {
    for (int i = 0; i < 3; ++i) y = add(y, x);
    backward(y);
  }).join();
  EXPECT_EQ(x.grad().item(), 1024 + 3);
}

TEST(Tape, ThreadsMayUseTheSameParametersAtOnce) {
  const Var x = parameter({1, 2, 3});
  std::vector<std::thread> threads;
  threads.reserve(4);
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      const NoGrad quiet;
      for (int i = 0; i < 500; ++i) {
        const Var copy = x;  // NOLINT(performance-unnecessary-copy-initialization): what is tested
        if (sum(add(copy, x)).value().item() != 12) ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace fovea
