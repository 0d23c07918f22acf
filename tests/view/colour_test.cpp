#include "view/colour.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "view/assets.hpp"

namespace fovea::view {
namespace {

// OKLab lightness of an sRGB colour.
double lightness(const Rgb& c) {
  const auto linear = [](int channel) {
    const double x = channel / 255.0;
    return x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4);
  };
  const double r = linear(c.r), g = linear(c.g), b = linear(c.b);
  return 0.2104542553 * std::cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b) +
         0.7936177850 * std::cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b) -
         0.0040720468 * std::cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
}

TEST(WeightColour, ChangesLightnessInEvenSteps) {
  for (const Theme theme : {Theme::light, Theme::dark}) {
    const double whole = lightness(weight_colour(1, theme)) - lightness(weight_colour(0, theme));
    EXPECT_GT(std::abs(whole), 0.6);
    for (int i = 0; i < 20; ++i) {
      const double step = lightness(weight_colour((i + 1) / 20.0, theme)) - lightness(weight_colour(i / 20.0, theme));
      EXPECT_NEAR(step, whole / 20, 0.012) << i;
    }
  }
}

TEST(WeightColour, StaysOnTheScaleForAnyNumber) {
  EXPECT_EQ(weight_colour(-5, Theme::light), weight_colour(0, Theme::light));
  EXPECT_EQ(weight_colour(7, Theme::dark), weight_colour(1, Theme::dark));
  EXPECT_EQ(weight_colour(NAN, Theme::dark), weight_colour(0, Theme::dark));
}

TEST(TextOn, HasEnoughContrastEverywhere) {
  const auto luminance = [](const Rgb& c) {
    const auto linear = [](int v) {
      return v / 255.0 <= 0.04045 ? v / 255.0 / 12.92 : std::pow((v / 255.0 + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(c.r) + 0.7152 * linear(c.g) + 0.0722 * linear(c.b);
  };
  for (const Theme theme : {Theme::light, Theme::dark}) {
    for (int i = -100; i <= 100; ++i) {
      for (const Rgb& ground : {signed_colour(i / 100.0, theme), weight_colour(std::abs(i) / 100.0, theme)}) {
        const double a = luminance(ground) + 0.05;
        const double b = luminance(text_on(ground)) + 0.05;
        EXPECT_GE(std::max(a, b) / std::min(a, b), 4.5) << ground.hex();
      }
    }
  }
}

TEST(Colours, AreThoseOfThePage) {
  const std::string_view script = asset("attention.js");
  for (const Theme theme : {Theme::light, Theme::dark}) {
    for (int i = 0; i <= 8; ++i) {
      EXPECT_NE(script.find(weight_colour(i / 8.0, theme).hex()), script.npos) << i;
    }
    EXPECT_NE(script.find(signed_colour(-0.25 / 0.62, theme).hex()), script.npos);
  }
}

}  // namespace
}  // namespace fovea::view
