#include "fovea/tensor.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <utility>
#include <vector>

#include "base/arena.hpp"
#include "fovea/error.hpp"
#include "support/scratch.hpp"

namespace fovea {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Tensor counting(const Shape& shape) {
  Tensor t = Tensor::empty(shape);
  float next = 0;
  for (float& v : t.values()) v = next++;
  return t;
}

TEST(Tensor, IsAlignedAndPacked) {
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{7, 3}, Shape{2, 0, 3}, Shape{1 << 16}}) {
    const Tensor t = Tensor::full(shape, 2.0F);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(t.data()) % 64, 0U);
    EXPECT_TRUE(t.is_contiguous());
    EXPECT_EQ(t.size(), shape.size());
    for (const float v : t.values()) EXPECT_EQ(v, 2.0F);
  }
}

TEST(Tensor, HoldingNothingIsEmptyAndFalse) {
  const Tensor nothing;
  EXPECT_FALSE(nothing);
  EXPECT_EQ(nothing.size(), 0);
  EXPECT_TRUE(nothing.values().empty());
  EXPECT_FALSE(nothing.clone());
  EXPECT_THROW((void)nothing.item(), ShapeError);
}

TEST(Tensor, CopiesShareAndClonesDoNot) {
  const Tensor a = counting({3});
  const Tensor b = a;  // NOLINT(performance-unnecessary-copy-initialization): what is tested
  EXPECT_FALSE(a.unique());
  b.data()[0] = 9;
  EXPECT_EQ(a.data()[0], 9);
  const Tensor c = a.clone();
  c.data()[0] = 5;
  EXPECT_EQ(a.data()[0], 9);
  EXPECT_TRUE(c.unique());
}

TEST(Tensor, MovingAndAssigningReleaseWhatWasHeld) {
  const std::size_t before = arena_stats().used_bytes;
  {
    Tensor a = Tensor::zeros({1000});
    Tensor b = Tensor::zeros({2000});
    a = std::move(b);
    EXPECT_FALSE(b);  // NOLINT(bugprone-use-after-move): what is left of it is the point
    EXPECT_EQ(a.size(), 2000);
    const std::size_t one = arena_stats().used_bytes - before;
    EXPECT_LT(one, std::size_t{2} * 2000 * sizeof(float));
    a = *&a;
    EXPECT_EQ(a.size(), 2000);
    a = Tensor();
    EXPECT_EQ(arena_stats().used_bytes, before);
  }
  EXPECT_EQ(arena_stats().used_bytes, before);
}

TEST(Tensor, ViewsShareTheMemory) {
  const Tensor t = counting({2, 3, 4});
  const Tensor part = t.slice(1, 1, 3);
  EXPECT_EQ(part.shape(), (Shape{2, 2, 4}));
  EXPECT_FALSE(part.is_contiguous());
  EXPECT_EQ(part.contiguous().data()[0], 4);
  const Tensor row = t.select(0, 1).select(0, -1 + 3);
  EXPECT_THAT(row.values(), ElementsAre(20, 21, 22, 23));
  const Tensor turned = t.transpose(0, -1);
  EXPECT_EQ(turned.shape(), (Shape{4, 3, 2}));
  EXPECT_THAT(turned.select(0, 1).contiguous().values(), ElementsAre(1, 13, 5, 17, 9, 21));
  row.data()[0] = -1;
  EXPECT_EQ(t.data()[20], -1);
}

TEST(Tensor, AViewKeepsTheMemoryAlive) {
  Tensor view;
  { view = counting({4, 4}).slice(0, 3, 4); }
  EXPECT_THAT(view.values(), ElementsAre(12, 13, 14, 15));
}

TEST(Tensor, ReshapeKeepsTheOrderAndFillsOneOpenAxis) {
  const Tensor t = counting({2, 3, 4});
  EXPECT_EQ(t.reshape({6, -1}).shape(), (Shape{6, 4}));
  EXPECT_EQ(t.reshape({-1}).data(), t.data());
  EXPECT_THAT(t.transpose(1, 2).reshape({2, 12}).select(0, 0).values(),
              ElementsAre(0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11));
  EXPECT_EQ(test::message_of<ShapeError>([&] { (void)t.reshape({5, -1}); }), "reshape: [2,3,4] cannot become [5,-1]");
  EXPECT_THROW((void)t.reshape({-1, -1}), ShapeError);
  EXPECT_THROW((void)t.reshape({23}), ShapeError);
  constexpr std::int64_t kLarge = std::int64_t{1} << 62;
  EXPECT_THROW((void)t.reshape({kLarge, kLarge, -1}), ShapeError);
}

TEST(Tensor, WhatIsOutsideIsRefusedByName) {
  const Tensor t = counting({2, 3});
  EXPECT_THAT(test::message_of<ShapeError>([&] { (void)t.slice(1, 1, 4); }), HasSubstr("slice: 1 to 4 is outside"));
  EXPECT_THROW((void)t.slice(1, 2, 1), ShapeError);
  EXPECT_THROW((void)t.slice(2, 0, 1), ShapeError);
  EXPECT_THROW((void)t.select(0, 2), ShapeError);
  EXPECT_THROW((void)t.select(0, -1), ShapeError);
  EXPECT_THROW((void)t.select(0, std::numeric_limits<std::int64_t>::max()), ShapeError);
  EXPECT_THROW((void)t.transpose(0, 2), ShapeError);
  EXPECT_THROW((void)t.item(), ShapeError);
  EXPECT_THROW((void)t.transpose(0, 1).values(), ShapeError);
  EXPECT_THROW((void)Tensor::of({2, 2}, {1, 2, 3}), ShapeError);
  EXPECT_THROW(t.copy_from(counting({3, 2})), ShapeError);
}

TEST(Tensor, CopyingGoesIntoAndOutOfViews) {
  const Tensor t = Tensor::zeros({2, 3});
  t.transpose(0, 1).copy_from(counting({3, 2}));
  EXPECT_THAT(t.values(), ElementsAre(0, 2, 4, 1, 3, 5));
  t.slice(1, 0, 1).copy_from(Tensor::of({2, 1}, {7, 8}));
  EXPECT_THAT(t.values(), ElementsAre(7, 2, 4, 8, 3, 5));
  const Tensor out = Tensor::zeros({3, 2});
  out.copy_from(t.transpose(0, 1));
  EXPECT_THAT(out.values(), ElementsAre(7, 8, 2, 3, 4, 5));
}

TEST(Tensor, BorrowedAndSharedMemoryIsNotCopied) {
  std::vector<float> mine{1, 2, 3};
  const Tensor borrowed = Tensor::borrow(mine.data(), {3});
  borrowed.data()[1] = 5;
  EXPECT_EQ(mine[1], 5);
  EXPECT_FALSE(borrowed.unique());
  auto owner = std::make_shared<std::vector<float>>(mine);
  const std::weak_ptr<std::vector<float>> watch = owner;
  Tensor shared = Tensor::share(owner->data(), {3}, owner);
  owner.reset();
  Tensor view = shared.slice(0, 1, 3);
  shared = Tensor();
  EXPECT_FALSE(watch.expired());
  EXPECT_THAT(view.values(), ElementsAre(5, 3));
  view = Tensor();
  EXPECT_TRUE(watch.expired());
}

TEST(Tensor, TooLargeIsOutOfMemory) {
  EXPECT_THAT(test::message_of<OutOfMemory>([] { (void)Tensor::empty({std::int64_t{1} << 44}); }),
              HasSubstr("out of memory"));
  EXPECT_THROW((void)Tensor::empty({std::int64_t{1} << 62, 4}), ShapeError);
}

}  // namespace
}  // namespace fovea
