#include "attention/both_paths.hpp"
#include "fovea/error.hpp"

namespace fovea {
namespace {

using test::random_tensor;

const Tensor q = random_tensor({2, 4, 9, 8}, 1), k = random_tensor({2, 2, 9, 8}, 2), v = random_tensor({2, 2, 9, 5}, 3);

TEST(KeyValueCache, StepByStepIsTheWholeSequenceAtOnce) {
  const Tensor whole = attend(q, k, v, {.causal = true}).context.value();
  KeyValueCache cache(2, 2, 8, 5, 2);  // grows on the way
  for (const auto& [begin, end] : {std::pair{0, 3}, {3, 4}, {4, 5}, {5, 9}}) {
    cache.append(k.slice(2, begin, end), v.slice(2, begin, end));
    EXPECT_EQ(cache.length(), end);
    test::expect_near(cache.attend(q.slice(2, begin, end)).context.value(), whole.slice(2, begin, end), 2e-6);
  }
}

TEST(KeyValueCache, TakesHeadsSideBySide) {
  const auto pack = [](const Tensor& t) {
    return t.transpose(1, 2).contiguous().reshape({t.dim(0), t.dim(2), t.dim(1) * t.dim(3)});
  };
  KeyValueCache apart(2, 2, 8, 5), packed(2, 2, 8, 5);
  apart.append(k, v);
  packed.append(pack(k), pack(v));
  test::expect_same_bytes(apart.keys(), packed.keys());
  test::expect_same_bytes(pack(apart.attend(q).context.value()), packed.attend(pack(q), {.heads = 4}).context.value());
}

TEST(KeyValueCache, ReorderFollowsTheSurvivorsOfABeam) {
  KeyValueCache cache(2, 2, 8, 5);
  cache.append(k, v);
  const std::vector<std::int64_t> both_from_second{1, 1}, far{0, 2};
  cache.reorder(both_from_second);
  test::expect_same_bytes(cache.keys().select(0, 0), k.select(0, 1));
  test::expect_same_bytes(cache.values().select(0, 1), v.select(0, 1));
  EXPECT_THROW(cache.reorder(far), UsageError);
}

TEST(KeyValueCache, RewindForgets) {
  KeyValueCache cache(2, 2, 8, 5);
  cache.append(k, v);
  cache.rewind(4);
  EXPECT_EQ(cache.keys().shape(), (Shape{2, 2, 4, 8}));
  EXPECT_THROW(cache.rewind(5), UsageError);
  EXPECT_THROW(cache.append(k, k), ShapeError);
}

}  // namespace
}  // namespace fovea
