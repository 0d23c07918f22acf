// Resizing by a triangle filter that widens with the reduction: each pixel of the result is the weighted mean of the
// pixels within one of its own widths, so a fine pattern becomes its mean and not a coarse pattern. Columns first, then
// rows; a result of the same size is the same picture.
#include <algorithm>
#include <cmath>
#include <vector>

#include "fovea/error.hpp"
#include "fovea/picture.hpp"

namespace fovea {
namespace {

// The pixels that one pixel of the result is made from.
struct Taps {
  std::int64_t first = 0;
  std::vector<float> weights;  // sum to 1
};

// Of `from` pixels to `to`.
std::vector<Taps> triangle(std::int64_t from, std::int64_t to) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const double reach = std::max(1.0, scale);
  std::vector<Taps> all(static_cast<std::size_t>(to));
  for (std::int64_t i = 0; i < to; ++i) {
    const double center = (static_cast<double>(i) + 0.5) * scale;
    const auto low = std::max<std::int64_t>(0, static_cast<std::int64_t>(std::floor(center - reach)));
    const auto high = std::min(from, static_cast<std::int64_t>(std::ceil(center + reach)));
    Taps& taps = all[static_cast<std::size_t>(i)];
    taps.first = low;
    double sum = 0;
    for (std::int64_t j = low; j < high; ++j) {
      const double weight = std::max(0.0, 1 - std::abs((static_cast<double>(j) + 0.5 - center) / reach));
      taps.weights.push_back(static_cast<float>(weight));
      sum += weight;
    }
    for (float& w : taps.weights) w = static_cast<float>(w / sum);
  }
  return all;
}

}  // namespace

Picture square(const Picture& picture, std::int64_t side) {
  if (side < 1 || picture.width < 1 || picture.height < 1) throw UsageError("side: at least one pixel is needed");
  const std::int64_t from = std::min(picture.width, picture.height);
  const std::int64_t left = (picture.width - from) / 2;
  const std::int64_t top = (picture.height - from) / 2;
  Picture out{side, side, std::vector<std::uint8_t>(static_cast<std::size_t>(side * side * 3))};
  if (from == side) {
    for (std::int64_t y = 0; y < side; ++y) {
      std::copy_n(picture.rgb.begin() + 3 * ((top + y) * picture.width + left), 3 * side,
                  out.rgb.begin() + 3 * y * side);
    }
    return out;
  }
  const std::vector<Taps> taps = triangle(from, side);
  std::vector<float> narrow(static_cast<std::size_t>(from * side * 3));  // [from, side, 3]
  for (std::int64_t y = 0; y < from; ++y) {
    const std::uint8_t* row = picture.rgb.data() + 3 * ((top + y) * picture.width + left);
    float* to = narrow.data() + 3 * y * side;
    for (const Taps& t : taps) {
      float sums[3] = {};
      const std::uint8_t* pixel = row + 3 * t.first;
      for (const float w : t.weights) {
        for (int c = 0; c < 3; ++c) sums[c] += w * static_cast<float>(*pixel++);
      }
      for (const float s : sums) *to++ = s;
    }
  }
  std::vector<float> row(static_cast<std::size_t>(side * 3));
  for (std::int64_t y = 0; y < side; ++y) {
    const Taps& t = taps[static_cast<std::size_t>(y)];
    std::fill(row.begin(), row.end(), 0.0F);
    for (std::size_t k = 0; k < t.weights.size(); ++k) {
      const float* line = narrow.data() + 3 * (t.first + static_cast<std::int64_t>(k)) * side;
      for (std::size_t i = 0; i < row.size(); ++i) row[i] += t.weights[k] * line[i];
    }
    std::uint8_t* to = out.rgb.data() + 3 * y * side;
    for (const float v : row) *to++ = static_cast<std::uint8_t>(std::clamp(v + 0.5F, 0.0F, 255.0F));
  }
  return out;
}

}  // namespace fovea
