#include "view/colour.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace fovea::view {
namespace {

using Ramp = std::array<int, 9>;

// Nine anchors each, evenly spaced in OKLab lightness: 0.965 to 0.32 on a light page, 0.24 to 0.93 on a dark one,
// hue 190 to 275 degrees (cool) and 85 to 20 (warm), chroma largest in the middle. Linear between neighbours.
constexpr Ramp kCoolLight = {0xEFF5F4, 0xB2E4E7, 0x7ACEDE, 0x4BB4D5, 0x3198C7, 0x2E7BB2, 0x2F5F98, 0x2E457B, 0x282E5B};
constexpr Ramp kCoolDark = {0x1D1F25, 0x253450, 0x214D78, 0x096A98, 0x0089AF, 0x20A7BE, 0x55C4C9, 0x89DED5, 0xBFF6E5};
constexpr Ramp kWarmLight = {0xF6F3EC, 0xF2D5AB, 0xECB374, 0xE1924A, 0xCF7331, 0xB65829, 0x9A4027, 0x7B2D26, 0x5B1E21};
constexpr Ramp kWarmDark = {0x251D1D, 0x512721, 0x79341C, 0x9D480D, 0xB96407, 0xCE8529, 0xDEA852, 0xECCA81, 0xFAECB6};

Rgb between(const Ramp& ramp, double t) {
  t = std::isfinite(t) ? std::clamp(t, 0.0, 1.0) : 0.0;
  const double place = t * static_cast<double>(ramp.size() - 1);
  const auto low = std::min(static_cast<std::size_t>(place), ramp.size() - 2);
  const double part = place - static_cast<double>(low);
  const auto channel = [&](unsigned shift) {
    const int a = ramp[low] >> shift & 0xFF;
    const int b = ramp[low + 1] >> shift & 0xFF;
    return static_cast<int>(std::lround(a + (b - a) * part));
  };
  return {channel(16), channel(8), channel(0)};
}

double luminance(const Rgb& c) {
  const auto linear = [](int channel) {
    const double x = channel / 255.0;
    return x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(c.r) + 0.7152 * linear(c.g) + 0.0722 * linear(c.b);
}

}  // namespace

std::string Rgb::hex() const {
  return fmt::format("#{:02x}{:02x}{:02x}", r, g, b);
}

Rgb weight_colour(double weight, Theme theme) {
  return between(theme == Theme::dark ? kCoolDark : kCoolLight, weight);
}

Rgb signed_colour(double value, Theme theme) {
  // Two thirds of the scales, so that numbers on the colours stay easy to read.
  const double strength = std::abs(value) * 0.62;
  if (value < 0) return between(theme == Theme::dark ? kWarmDark : kWarmLight, strength);
  return between(theme == Theme::dark ? kCoolDark : kCoolLight, strength);
}

Rgb text_on(const Rgb& background) {
  // The luminance at which black and white have the same WCAG contrast.
  return luminance(background) > 0.179 ? Rgb{0, 0, 0} : Rgb{255, 255, 255};
}

}  // namespace fovea::view
