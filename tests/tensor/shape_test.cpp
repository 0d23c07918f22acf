#include "fovea/shape.hpp"

#include <gmock/gmock.h>

#include "fovea/error.hpp"
#include "support/scratch.hpp"

namespace fovea {
namespace {

using testing::HasSubstr;

TEST(Shape, AxesCountFromBothEnds) {
  const Shape shape{2, 3, 4};
  EXPECT_EQ(shape.rank(), 3);
  EXPECT_EQ(shape[0], 2);
  EXPECT_EQ(shape[-1], 4);
  EXPECT_EQ(shape.size(), 24);
  EXPECT_EQ(shape.leading(), (Shape{2, 3}));
  EXPECT_EQ(shape.text(), "[2,3,4]");
  EXPECT_EQ(Shape{}.size(), 1);
  EXPECT_EQ(Shape{}.text(), "[]");
}

TEST(Shape, AnAxisThatIsNotThereIsNamed) {
  EXPECT_THAT(test::message_of<ShapeError>([] { (void)Shape{2, 3}[2]; }), HasSubstr("[2,3] has no axis 2"));
  EXPECT_THAT(test::message_of<ShapeError>([] { (void)Shape{2, 3}[-3]; }), HasSubstr("no axis -3"));
  EXPECT_THROW((void)Shape{}.leading(), ShapeError);
  EXPECT_THROW((Shape{1, 1, 1, 1, 1, 1, 1}), ShapeError);
}

TEST(Shape, SizesThatCannotBeAreRefused) {
  constexpr std::int64_t kLarge = std::int64_t{1} << 62;
  EXPECT_THROW((void)(Shape{kLarge, 2}).size(), ShapeError);
  EXPECT_THROW((void)(Shape{0, kLarge, kLarge}).size(), ShapeError);
  EXPECT_THROW((void)(Shape{-1, 2}).size(), ShapeError);
  EXPECT_EQ((Shape{kLarge, 0}).size(), 0);
}

TEST(Shape, EqualMeansTheSameAxes) {
  EXPECT_EQ((Shape{2, 3}), (Shape{2, 3}));
  EXPECT_FALSE((Shape{2, 3}) == (Shape{3, 2}));
  EXPECT_FALSE((Shape{2}) == (Shape{2, 1}));
  EXPECT_EQ((Shape{2, 3, 4}).leading(), (Shape{2, 3}));
}

}  // namespace
}  // namespace fovea
