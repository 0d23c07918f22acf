#include "attention/both_paths.hpp"
#include "fovea/error.hpp"

namespace fovea {
namespace {

using test::random_tensor;
using Rows = std::vector<std::int32_t>;

constexpr std::int64_t kSteps = 40;  // more than the first room
const AttendOptions kHeads{.heads = 4, .kv_heads = 2};
const Tensor q = random_tensor({2, kSteps, 4 * 8}, 1), k = random_tensor({2, kSteps, 2 * 8}, 2),
             v = random_tensor({2, kSteps, 2 * 5}, 3);

KeyValueCache filled() {
  KeyValueCache cache;
  cache.append(k, v);
  return cache;
}

TEST(KeyValueCache, StepByStepIsTheWholeSequenceAtOnce) {
  AttendOptions causal = kHeads;
  causal.causal = true;
  const Tensor whole = attend(q, k, v, causal).context.value();
  KeyValueCache cache;
  for (const auto& [begin, end] : {std::pair{0, 3}, {3, 4}, {4, 17}, {17, 18}, {18, 40}}) {  // grows on the way
    cache.append(k.slice(1, begin, end), v.slice(1, begin, end));
    EXPECT_EQ(cache.length(), end);
    test::expect_near(cache.attend(q.slice(1, begin, end), kHeads).context.value(), whole.slice(1, begin, end), 2e-6);
  }
  test::expect_same_bytes(cache.keys(), k);
  test::expect_same_bytes(cache.values(), v);
}

TEST(KeyValueCache, KeepFollowsTheHypothesesOfABeam) {
  KeyValueCache cache = filled();
  cache.keep(Rows{1, 1, 0});  // more rows than before
  ASSERT_EQ(cache.rows(), 3);
  EXPECT_EQ(cache.length(), kSteps);
  test::expect_same_bytes(cache.keys().select(0, 0), k.select(0, 1));
  test::expect_same_bytes(cache.values().select(0, 1), v.select(0, 1));
  test::expect_same_bytes(cache.keys().select(0, 2), k.select(0, 0));

  cache.keep(Rows{2});  // and fewer
  ASSERT_EQ(cache.rows(), 1);
  test::expect_same_bytes(cache.values().select(0, 0), v.select(0, 0));
  cache.append(k.slice(0, 0, 1).slice(1, 0, 2), v.slice(0, 0, 1).slice(1, 0, 2));
  EXPECT_EQ(cache.length(), kSteps + 2);
  test::expect_same_bytes(cache.keys().slice(1, kSteps, kSteps + 2), k.slice(0, 0, 1).slice(1, 0, 2));
}

TEST(KeyValueCache, ARowsStepsAreItsOwnAfterKeep) {
  KeyValueCache cache = filled();
  cache.keep(Rows{0, 0});
  cache.append(k.slice(1, 0, 1), v.slice(1, 0, 1));  // the copies go on differently
  test::expect_same_bytes(cache.keys().select(1, kSteps), k.select(1, 0));
  test::expect_same_bytes(cache.keys().slice(1, 0, kSteps).select(0, 1), k.select(0, 0));
}

TEST(KeyValueCache, KeepingNoRowEmptiesIt) {
  KeyValueCache cache = filled();
  cache.keep({});
  EXPECT_EQ(cache.rows(), 0);
  EXPECT_EQ(cache.length(), 0);
  cache.append(k.slice(0, 0, 1), v.slice(0, 0, 1));
  EXPECT_EQ(cache.rows(), 1);
}

TEST(KeyValueCache, KeepRefusesARowThatIsNotThere) {
  KeyValueCache cache = filled();
  EXPECT_THROW(cache.keep(Rows{0, 2}), UsageError);
  EXPECT_THROW(cache.keep(Rows{-1}), UsageError);
  test::expect_same_bytes(cache.keys(), k);  // nothing was changed
}

TEST(KeyValueCache, RewindDropsTheLastSteps) {
  KeyValueCache cache = filled();
  cache.rewind(4);
  EXPECT_EQ(cache.keys().shape(), (Shape{2, 4, 16}));
  EXPECT_EQ(cache.values().shape(), (Shape{2, 4, 10}));
  cache.append(k.slice(1, 4, kSteps), v.slice(1, 4, kSteps));
  test::expect_same_bytes(cache.keys(), k);
  cache.rewind(4);
  EXPECT_THROW(cache.rewind(5), UsageError);
  EXPECT_THROW(cache.rewind(-1), UsageError);
}

TEST(KeyValueCache, RefusesStepsThatDoNotFit) {
  KeyValueCache cache = filled();
  EXPECT_THROW(cache.append(k, k), ShapeError);                                // another width
  EXPECT_THROW(cache.append(k.slice(0, 0, 1), v.slice(0, 0, 1)), ShapeError);  // other rows
  EXPECT_THROW(cache.append(k, v.slice(1, 0, 1)), ShapeError);                 // fewer values than keys
  EXPECT_THROW(cache.append(k.select(0, 0), v.select(0, 0)), ShapeError);      // another rank
  EXPECT_EQ(cache.length(), kSteps);
  EXPECT_THROW((void)KeyValueCache().attend(q, kHeads), UsageError);
}

}  // namespace
}  // namespace fovea
