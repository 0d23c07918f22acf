#include <gmock/gmock.h>

#include "fovea/error.hpp"
#include "fovea/picture.hpp"
#include "support/pictures.hpp"
#include "support/scratch.hpp"

namespace fovea {
namespace {

using test::Colour;
using test::JpegKind;

Picture decoded(const std::string& file, const PictureLimits& limits = {}) {
  return decode_picture(test::bytes_of(file), "cat.jpg", limits);
}

std::string refused(const std::string& file, const PictureLimits& limits = {}) {
  return test::message_of<FileError>([&] { (void)decoded(file, limits); });
}

void expect_near(Colour got, Colour wanted, int slack = 6) {
  EXPECT_NEAR(got.red, wanted.red, slack);
  EXPECT_NEAR(got.green, wanted.green, slack);
  EXPECT_NEAR(got.blue, wanted.blue, slack);
}

// Red, green above blue, white: every turn and every mirror gives another picture.
Picture quarters(std::int64_t width, std::int64_t height) {
  Picture p = test::plain_picture(width, height, {255, 0, 0});
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      const bool right = x >= width / 2;
      const bool low = y >= height / 2;
      if (right && !low) test::set_pixel(p, x, y, {0, 255, 0});
      if (!right && low) test::set_pixel(p, x, y, {0, 0, 255});
      if (right && low) test::set_pixel(p, x, y, {255, 255, 255});
    }
  }
  return p;
}

TEST(DecodePicture, JpegsOfEveryKindShowTheSameColours) {
  const Picture p = quarters(32, 16);
  for (const bool progressive : {false, true}) {
    const Picture got = decoded(test::jpeg_file(32, 16, p.rgb, {.progressive = progressive}));
    ASSERT_EQ(got.width, 32);
    ASSERT_EQ(got.height, 16);
    expect_near(test::pixel(got, 4, 4), {255, 0, 0});
    expect_near(test::pixel(got, 28, 4), {0, 255, 0});
    expect_near(test::pixel(got, 4, 12), {0, 0, 255});
    expect_near(test::pixel(got, 28, 12), {255, 255, 255});
  }
}

TEST(DecodePicture, GreyBecomesThreeEqualColours) {
  const std::vector<std::uint8_t> grey(64, 99);
  expect_near(test::pixel(decoded(test::jpeg_file(8, 8, grey, {.space = JCS_GRAYSCALE})), 3, 3), {99, 99, 99}, 2);
  expect_near(test::pixel(decoded(test::png_file(8, 8, grey, PNG_FORMAT_GRAY)), 3, 3), {99, 99, 99}, 0);
}

TEST(DecodePicture, InkBecomesLight) {
  // Cyan and some black: red light goes, the rest is darkened. Adobe's files hold 255 minus the ink.
  std::vector<std::uint8_t> ink, inverted;
  for (int i = 0; i < 64; ++i) {
    ink.insert(ink.end(), {255, 0, 0, 51});
    inverted.insert(inverted.end(), {0, 255, 255, 204});
  }
  const Colour wanted{0, 204, 204};
  for (const J_COLOR_SPACE stored : {JCS_CMYK, JCS_YCCK}) {
    const JpegKind adobe{.space = JCS_CMYK, .stored = stored, .adobe = true};
    expect_near(test::pixel(decoded(test::jpeg_file(8, 8, inverted, adobe)), 4, 4), wanted);
  }
  const JpegKind plain{.space = JCS_CMYK, .stored = JCS_CMYK, .adobe = false};
  expect_near(test::pixel(decoded(test::jpeg_file(8, 8, ink, plain)), 4, 4), wanted);
}

TEST(DecodePicture, WhatIsTransparentLiesOverWhite) {
  const std::vector<std::uint8_t> rgba{255, 0, 0, 255, 255, 0, 0, 0, 0, 0, 0, 102, 9, 9, 9, 255};
  const Picture p = decoded(test::png_file(2, 2, rgba, PNG_FORMAT_RGBA));
  expect_near(test::pixel(p, 0, 0), {255, 0, 0}, 0);
  expect_near(test::pixel(p, 1, 0), {255, 255, 255}, 0);
  expect_near(test::pixel(p, 0, 1), {153, 153, 153}, 0);
  expect_near(test::pixel(p, 1, 1), {9, 9, 9}, 0);
}

TEST(DecodePicture, TurnsWhatLiesOnItsSide) {
  // What the camera stored for each orientation, so that the result is always `upright`.
  const Picture upright = quarters(32, 16);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    for (const bool big_endian : {false, true}) {
      const bool sideways = orientation >= 5;
      Picture stored = test::plain_picture(sideways ? 16 : 32, sideways ? 32 : 16, {});
      for (std::int64_t y = 0; y < 16; ++y) {
        for (std::int64_t x = 0; x < 32; ++x) {
          // Where the camera left this pixel for this orientation.
          std::int64_t u = x;
          std::int64_t v = y;
          if (orientation == 2) u = 31 - x;
          if (orientation == 3) u = 31 - x, v = 15 - y;
          if (orientation == 4) v = 15 - y;
          if (orientation == 5) u = y, v = x;
          if (orientation == 6) u = y, v = 31 - x;
          if (orientation == 7) u = 15 - y, v = 31 - x;
          if (orientation == 8) u = 15 - y, v = x;
          test::set_pixel(stored, u, v, test::pixel(upright, x, y));
        }
      }
      const Picture got = decoded(
          test::jpeg_file(stored.width, stored.height, stored.rgb, {.app1 = test::exif(orientation, big_endian)}));
      ASSERT_EQ(got.width, 32) << orientation;
      expect_near(test::pixel(got, 4, 4), {255, 0, 0});
      expect_near(test::pixel(got, 28, 4), {0, 255, 0});
      expect_near(test::pixel(got, 4, 12), {0, 0, 255});
    }
  }
  EXPECT_EQ(decoded(test::jpeg_file(32, 16, upright.rgb, {.app1 = test::exif(99)})).width, 32);
}

TEST(DecodePicture, SaysWhatIsWrongAndWithWhichFile) {
  const Picture p = quarters(64, 64);
  const std::string jpeg = test::jpeg_file(64, 64, p.rgb);
  const std::string png = test::png_file(p);
  EXPECT_EQ(refused(""), "cat.jpg: is empty, not a JPEG or PNG");
  EXPECT_EQ(refused("GIF89a..."), "cat.jpg: neither a JPEG nor a PNG");
  EXPECT_THAT(refused(jpeg.substr(0, jpeg.size() / 2)), testing::StartsWith("cat.jpg: not a whole JPEG: "));
  EXPECT_THAT(refused(jpeg.substr(0, 30)), testing::StartsWith("cat.jpg: not a whole JPEG: "));
  EXPECT_THAT(refused(png.substr(0, png.size() / 2)), testing::StartsWith("cat.jpg: not a whole PNG: "));
  EXPECT_THAT(refused(png.substr(0, 20)), testing::StartsWith("cat.jpg: not a whole PNG: "));
}

TEST(DecodePicture, ALargePictureIsRefusedByItsHeader) {
  const Picture p = quarters(64, 32);
  for (const std::string& file : {test::jpeg_file(64, 32, p.rgb), test::png_file(p)}) {
    EXPECT_THAT(refused(file, {.pixels = 2047}), testing::HasSubstr("64x32 pixels are too many"));
    EXPECT_THAT(refused(file, {.side = 63}), testing::HasSubstr("64x32 pixels are too many"));
    EXPECT_EQ(decoded(file, {.pixels = 2048, .side = 64}).width, 64);
  }
  // A header that promises 65,000 x 65,000 pixels, with nothing behind it.
  std::string huge = test::jpeg_file(64, 32, p.rgb);
  const std::size_t frame = huge.find("\xFF\xC0");
  ASSERT_NE(frame, std::string::npos);
  huge.replace(frame + 5, 4, "\xFD\xE8\xFD\xE8");
  EXPECT_THAT(refused(huge), testing::HasSubstr("65000x65000 pixels are too many"));
}

TEST(EncodeJpeg, CanBeReadAgain) {
  const Picture got = decoded(encode_jpeg(quarters(32, 32)));
  expect_near(test::pixel(got, 4, 4), {255, 0, 0}, 12);
  EXPECT_THROW((void)encode_jpeg({}), Error);
}

}  // namespace
}  // namespace fovea
