// Maps of tiles: each way to build one against its rule pair by pair, attention with a map against attention with the
// same pairs in a dense mask, and mistakes.
#include "fovea/attention/block_mask.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <stdexcept>

#include "attention/both_paths.hpp"
#include "fovea/error.hpp"
#include "fovea/ops.hpp"

namespace fovea {
namespace {

using Int = std::int64_t;
using test::Attend;
using test::expect_near;
using test::expect_same_bytes;
using test::kBothPaths;
using test::random_tensor;
using Rule = std::function<bool(Int, Int, Int)>;

void expect_pairs(const BlockMask& map, Int batch, Int queries, Int keys, const Rule& rule) {
  ASSERT_EQ(map.queries(), queries);
  ASSERT_EQ(map.keys(), keys);
  for (Int b = 0; b < batch; ++b) {
    for (Int i = 0; i < queries; ++i) {
      for (Int j = 0; j < keys; ++j) {
        ASSERT_EQ(map.visible(map.batch() == 1 ? 0 : b, i, j), rule(b, i, j)) << b << " " << i << " " << j;
      }
    }
  }
}

TEST(BlockMask, HoldsThePairsOfAPredicate) {
  const auto rule = [](Int i, Int j) { return (i * 7 + j * 3) % 5 == 0 || j > 140; };
  const BlockMask map = BlockMask::of(130, 200, rule);
  expect_pairs(map, 1, 130, 200, [&](Int, Int i, Int j) { return rule(i, j); });
  EXPECT_FALSE(BlockMask());
  EXPECT_TRUE(BlockMask().visible(0, 5, 6));
}

TEST(BlockMask, CountsItsTiles) {
  const BlockMask causal = BlockMask::of(256, 256, [](Int i, Int j) { return j <= i; });
  EXPECT_EQ(causal.tiles().partial, 4);
  EXPECT_EQ(causal.tiles().full, 6);
  EXPECT_EQ(causal.tiles().hidden, 6);
  EXPECT_EQ(causal.tile(0, 1, 0), 2);
  EXPECT_EQ(causal.tile(0, 1, 1), 1);
  EXPECT_EQ(causal.tile(0, 1, 2), 0);
}

TEST(BlockMask, MemoryGrowsWithVisibleTilesNotWithPairs) {
  const auto bytes = [](Int n) { return BlockMask::of_pattern(n, n, {.window = 100}).bytes(); };
  EXPECT_LT(bytes(16384), 2.2 * static_cast<double>(bytes(8192)));
  EXPECT_LT(bytes(16384), 16384 * 64);
}

TEST(BlockMask, RangesAndRowsAndDocuments) {
  std::vector<BlockMask::KeyRange> ranges;
  for (Int i = 0; i < 100; ++i) ranges.push_back({i / 2, i % 3 == 0 ? i / 2 : i + 30});
  expect_pairs(BlockMask::of_ranges(150, ranges), 1, 100, 150, [&](Int, Int i, Int j) {
    return j >= ranges[static_cast<std::size_t>(i)].begin && j < ranges[static_cast<std::size_t>(i)].end;
  });
  const std::vector<Int> start{0, 2, 2, 5}, column{3, 99, 70, 0, 64};
  expect_pairs(BlockMask::of_rows(100, start, column), 1, 3, 100,
               [](Int, Int i, Int j) { return i == 0 ? j == 3 || j == 99 : i == 2 && (j == 70 || j == 0 || j == 64); });
  std::vector<Int> ids;
  for (Int t = 0; t < 300; ++t) ids.push_back(t < 150 ? t / 40 : 7 + t % 2);
  expect_pairs(BlockMask::of_documents(ids, 2, 150), 2, 150, 150, [&](Int b, Int i, Int j) {
    return ids[static_cast<std::size_t>(b * 150 + i)] == ids[static_cast<std::size_t>(b * 150 + j)];
  });
}

TEST(BlockMask, PatternsFollowTheirRule) {
  for (const Int queries : {1, 70, 130}) {
    const Int keys = 130, offset = keys - queries;
    for (const bool causal : {false, true}) {
      for (const Int window : {Int{-1}, Int{0}, Int{9}, Int{100}}) {
        for (const Int dilation : {1, 3}) {
          for (const Int global : {0, 5}) {
            for (const Int prefix : {0, 70}) {
              if (window < 0 && (dilation > 1 || global > 0)) continue;
              if (!causal && prefix > 0) continue;
              expect_pairs(BlockMask::of_pattern(queries, keys,
                                                 {.causal = causal,
                                                  .window = window,
                                                  .dilation = dilation,
                                                  .global_keys = global,
                                                  .prefix = prefix}),
                           1, queries, keys, [&](Int, Int i, Int j) {
                             const Int away = i + offset - j;
                             if (j < prefix) return true;
                             if (causal && away < 0) return false;
                             if (window < 0 || j < global || i < global) return true;
                             return std::abs(away) <= window && away % dilation == 0;
                           });
            }
          }
        }
      }
    }
  }
}

TEST(BlockMask, TheVisibleInBoth) {
  const BlockMask a = BlockMask::of(70, 70, [](Int i, Int j) { return j <= i; });
  const std::vector<Int> ids = [] {
    std::vector<Int> x;
    for (Int t = 0; t < 140; ++t) x.push_back(t / 20);
    return x;
  }();
  expect_pairs(a & BlockMask::of_documents(ids, 2, 70), 2, 70, 70, [&](Int b, Int i, Int j) {
    return j <= i && ids[static_cast<std::size_t>(b * 70 + i)] == ids[static_cast<std::size_t>(b * 70 + j)];
  });
  EXPECT_THROW((void)(a & BlockMask::of(70, 71, [](Int, Int) { return true; })), ShapeError);
}

TEST(BlockMask, RefusesWhatMakesNoSense) {
  EXPECT_THROW((void)BlockMask::of(3, 3, BlockMask::Predicate()), UsageError);
  EXPECT_THROW((void)BlockMask::of(3, 3, [](Int, Int) -> bool { throw std::runtime_error("no"); }), std::runtime_error);
  EXPECT_THROW((void)BlockMask::of(-1, 3, [](Int, Int) { return true; }), ShapeError);
  const std::vector<BlockMask::KeyRange> ranges{{2, 9}};
  EXPECT_THROW((void)BlockMask::of_ranges(8, ranges), UsageError);
  const std::vector<Int> start{0, 1}, column{8}, short_start{0, 2};
  EXPECT_THROW((void)BlockMask::of_rows(8, start, column), UsageError);
  EXPECT_THROW((void)BlockMask::of_rows(9, short_start, column), UsageError);
  EXPECT_THROW((void)BlockMask::of_pattern(8, 8, {.window = 2, .dilation = 0}), UsageError);
  EXPECT_THROW((void)BlockMask::of_pattern(8, 8, {.dilation = 2}), UsageError);
  EXPECT_THROW((void)BlockMask::of_pattern(8, 8, {.global_keys = 2}), UsageError);
  EXPECT_THROW((void)BlockMask::of_pattern(8, 8, {.prefix = 2}), UsageError);
  EXPECT_THROW((void)BlockMask::of_documents(column, 1, 8), ShapeError);
  const Var x = random_tensor({2, 70, 4}, 1);
  EXPECT_THROW((void)attend(x, {.blocks = BlockMask::of(70, 69, [](Int, Int) { return true; })}), ShapeError);
  EXPECT_THROW((void)attend(x, {.documents = column}), ShapeError);
}

// The same pairs as a dense mask: context, weights and gradients.
void expect_as_mask(const AttendOptions& with_map, AttendOptions with_mask, const Rule& rule, Int batch, Int queries,
                    Int keys, const Score& score = score::ScaledDot{}) {
  std::vector<std::uint8_t> bytes;
  for (Int b = 0; b < batch; ++b) {
    for (Int i = 0; i < queries; ++i) {
      for (Int j = 0; j < keys; ++j) bytes.push_back(rule(b, i, j) ? 1 : 0);
    }
  }
  with_mask.mask = Mask::of({batch, 1, queries, keys}, bytes);
  const Tensor q = random_tensor({batch, 2, queries, 6}, 1), k = random_tensor({batch, 2, keys, 6}, 2),
               v = random_tensor({batch, 2, keys, 5}, 3), d = random_tensor({batch, 2, queries, 5}, 4);
  struct Result {
    Tensor context, weights, dq, dk, dv;
  };
  const auto run = [&](Attend by, AttendOptions how) {
    how.score = score;
    how.want.weights = true;
    const Tensor weights = by(q, k, v, how).weights.value();
    how.want.weights = false;
    const Var vq = Var::parameter(q.clone()), vk = Var::parameter(k.clone()), vv = Var::parameter(v.clone());
    const Attended y = by(vq, vk, vv, how);
    backward(y.context, d);
    return Result{y.context.value(), weights, vq.grad(), vk.grad(), vv.grad()};
  };
  const Result expected = run(attention::attend_by_rows, with_mask);
  for (const Attend by : kBothPaths) {
    const Result y = run(by, with_map);
    expect_near(y.context, expected.context, 1e-5);
    expect_near(y.weights, expected.weights, 1e-5);
    expect_near(y.dq, expected.dq, 1e-4);
    expect_near(y.dk, expected.dk, 1e-4);
    expect_near(y.dv, expected.dv, 1e-4);
  }
}

TEST(BlockMask, AttentionIsThatOfADenseMask) {
  for (const Int queries : {1, 20, 130}) {
    const Int keys = 600;
    const auto rule = [](Int i, Int j) { return (j / 64 + i / 64) % 3 != 1 && (j / 64 % 2 == 0 || (i * j) % 7 < 3); };
    const BlockMask map = BlockMask::of(queries, keys, rule);
    const Rule pairs = [&](Int, Int i, Int j) { return rule(i, j); };
    expect_as_mask({.blocks = map}, {}, pairs, 2, queries, keys);
    expect_as_mask({.causal = true, .blocks = map}, {.causal = true}, pairs, 2, queries, keys);
    const std::vector<Int> lengths{600, 77};
    expect_as_mask({.window = 40, .lengths = lengths, .blocks = map}, {.window = 40, .lengths = lengths}, pairs, 2,
                   queries, keys);
  }
}

TEST(BlockMask, TheAdditiveScoreReadsIt) {
  const auto rule = [](Int i, Int j) { return (i * 5 + j) % 3 == 0 && j / 64 != 1; };
  const score::Additive score{.v = random_tensor({6}, 9)};
  expect_as_mask(
      {.blocks = BlockMask::of(70, 200, rule)}, {}, [&](Int, Int i, Int j) { return rule(i, j); }, 1, 70, 200, score);
}

TEST(BlockMask, OptionsOfPatternsAndDocuments) {
  const Int n = 150;
  expect_as_mask(
      {.causal = true, .prefix = 20}, {}, [](Int, Int i, Int j) { return j <= i || j < 20; }, 1, n, n);
  expect_as_mask(
      {.window = 12, .dilation = 4}, {}, [](Int, Int i, Int j) { return std::abs(i - j) <= 12 && (i - j) % 4 == 0; }, 1,
      n, n);
  expect_as_mask(
      {.window = 5, .global_keys = 3}, {}, [](Int, Int i, Int j) { return std::abs(i - j) <= 5 || i < 3 || j < 3; }, 1,
      n, n);
  std::vector<Int> ids;
  for (Int t = 0; t < 2 * n; ++t) ids.push_back(t / 33);
  expect_as_mask(
      {.causal = true, .documents = ids}, {.causal = true},
      [&](Int b, Int i, Int j) {
        return ids[static_cast<std::size_t>(b * n + i)] == ids[static_cast<std::size_t>(b * n + j)];
      },
      2, n, n);
}

TEST(BlockMask, AQueryThatSeesNothingGetsZeros) {
  const Tensor x = random_tensor({1, 130, 4}, 1);
  const BlockMask map = BlockMask::of(130, 130, [](Int i, Int j) { return i >= 70 && j < 64; });
  for (const Attend by : kBothPaths) {
    const Var in = Var::parameter(x.clone());
    const Attended y = by(in, in, in, {.blocks = map});
    for (Int at = 0; at < 70 * 4; ++at) ASSERT_EQ(y.context.value().data()[at], 0);
    backward(y.context, Tensor::full({1, 130, 4}, 1));
    for (Int at = 64 * 4; at < 70 * 4; ++at) ASSERT_EQ(in.grad().data()[at], 0);  // neither query nor key of any pair
  }
}

TEST(BlockMask, WhatIsHiddenNeverMatters) {
  Tensor x = random_tensor({1, 200, 4}, 1);
  const BlockMask map = BlockMask::of(200, 200, [](Int i, Int j) { return j % 3 != 1 && i % 3 != 1; });
  const Tensor before = attend(x, x, x, {.blocks = map}).context.value();
  for (Int t = 1; t < 200; t += 3) x.data()[t * 4] = std::nanf("");
  const Tensor after = attend(x, x, x, {.blocks = map}).context.value();
  for (Int t = 0; t < 200; ++t) {
    for (Int d = 0; t % 3 != 1 && d < 4; ++d) ASSERT_EQ(after.data()[t * 4 + d], before.data()[t * 4 + d]) << t;
  }
}

}  // namespace
}  // namespace fovea
