#include "fovea/error.hpp"
#include "fovea/picture.hpp"
#include "support/pictures.hpp"

namespace fovea {
namespace {

TEST(Square, TakesTheMiddle) {
  Picture wide = test::plain_picture(30, 10, {0, 0, 0});
  for (std::int64_t y = 0; y < 10; ++y) {
    for (std::int64_t x = 10; x < 20; ++x) test::set_pixel(wide, x, y, {200, 100, 50});
  }
  for (const std::int64_t side : {10, 5, 25}) {
    const Picture p = square(wide, side);
    ASSERT_EQ(p.rgb.size(), static_cast<std::size_t>(side * side * 3));
    for (std::int64_t i = 0; i < side * side; ++i) {
      EXPECT_EQ(p.rgb[static_cast<std::size_t>(3 * i)], 200);
      EXPECT_EQ(p.rgb[static_cast<std::size_t>(3 * i + 2)], 50);
    }
  }
}

TEST(Square, OfTheSameSizeIsTheSamePicture) {
  Picture p = test::plain_picture(7, 7, {});
  for (std::size_t i = 0; i < p.rgb.size(); ++i) p.rgb[i] = static_cast<std::uint8_t>(i * 37);
  EXPECT_EQ(square(p, 7).rgb, p.rgb);
}

// A board of single black and white pixels has nothing coarse in it: reduced, it is grey everywhere. Taking every
// eighth pixel, or four neighbours of it, would give stripes or black.
TEST(Square, FinePatternsBecomeTheirMean) {
  Picture board = test::plain_picture(256, 256, {0, 0, 0});
  for (std::int64_t y = 0; y < 256; ++y) {
    for (std::int64_t x = (y % 2); x < 256; x += 2) test::set_pixel(board, x, y, {255, 255, 255});
  }
  for (const std::int64_t side : {32, 50, 100}) {
    for (const std::uint8_t v : square(board, side).rgb) EXPECT_NEAR(v, 127.5, 9) << side;
  }
}

// Against the formula in two dimensions at once.
TEST(Square, IsTheTriangleFilter) {
  Picture p = test::plain_picture(9, 9, {});
  for (std::size_t i = 0; i < p.rgb.size(); ++i) p.rgb[i] = static_cast<std::uint8_t>(i * i * 31 + i * 7);
  const Picture got = square(p, 4);
  const double scale = 9.0 / 4;
  const auto weight = [&](std::int64_t i, std::int64_t j) {
    return std::max(0.0, 1 - std::abs((static_cast<double>(j) + 0.5) - (static_cast<double>(i) + 0.5) * scale) / scale);
  };
  for (std::int64_t y = 0; y < 4; ++y) {
    for (std::int64_t x = 0; x < 4; ++x) {
      double sum = 0;
      double total = 0;
      for (std::int64_t v = 0; v < 9; ++v) {
        for (std::int64_t u = 0; u < 9; ++u) {
          sum += weight(y, v) * weight(x, u) * test::pixel(p, u, v).green;
          total += weight(y, v) * weight(x, u);
        }
      }
      EXPECT_NEAR(test::pixel(got, x, y).green, sum / total, 0.51);
    }
  }
}

TEST(Square, NeedsAPixel) {
  EXPECT_THROW((void)square(test::plain_picture(3, 3, {}), 0), UsageError);
  EXPECT_THROW((void)square({}, 3), UsageError);
}

}  // namespace
}  // namespace fovea
