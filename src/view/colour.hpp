// The colours of weights and numbers, the same in the terminal, in SVG and on the page (web/lib/colour.js).
#pragma once

#include <string>

namespace fovea::view {

struct Rgb {
  int r = 0, g = 0, b = 0;
  bool operator==(const Rgb&) const = default;
  [[nodiscard]] std::string hex() const;  // "#1d1f25"
};

enum class Theme { light, dark };

/// The colour of a weight from 0 (almost the page's own colour) to 1. Lightness falls (on a dark page: rises) in even
/// steps, so that twice the weight looks twice as strong.
[[nodiscard]] Rgb weight_colour(double weight, Theme theme);

/// The colour of a signed number scaled to -1 … 1: warm below zero, cool above.
[[nodiscard]] Rgb signed_colour(double value, Theme theme);

/// Black or white, whichever has more contrast with `background`.
[[nodiscard]] Rgb text_on(const Rgb& background);

}  // namespace fovea::view
