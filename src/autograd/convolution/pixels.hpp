// Windows over pictures [B, H, W, C]: which pixels they cover.
#pragma once

#include <algorithm>
#include <cstdint>

#include "fovea/convolution.hpp"
#include "fovea/shape.hpp"

namespace fovea {

/// The pictures and windows of one call, checked. Windows are numbered (b, y, x) in the order of the output's pixels.
struct Pixels {
  /// Throws ShapeError naming `op` unless x is [B,H,W,C] and the window fits on it.
  Pixels(const char* op, const Shape& x, const Window2d& window);

  std::int64_t batch, height, width, channels;
  std::int64_t out_height, out_width;
  Window2d window;

  [[nodiscard]] std::int64_t per_picture() const { return out_height * out_width; }
  [[nodiscard]] std::int64_t windows() const { return batch * per_picture(); }
  [[nodiscard]] std::int64_t depth() const { return window.height * window.width * channels; }  // of a window
  [[nodiscard]] Shape out_shape(std::int64_t out_channels) const {
    return {batch, out_height, out_width, out_channels};
  }

  /// Whether the windows are the pixels themselves.
  [[nodiscard]] bool single() const {
    return window.height == 1 && window.width == 1 && window.stride_y == 1 && window.stride_x == 1 &&
           window.pad_y == 0 && window.pad_x == 0;
  }

  /// body(first pixel of the input, its place in the window, how many adjacent ones) for each row of a window, as
  /// far as it lies on the picture.
  template <class Body>
  void for_rows(std::int64_t index, const Body& body) const {
    const std::int64_t picture = index / per_picture();
    const std::int64_t top = index % per_picture() / out_width * window.stride_y - window.pad_y;
    const std::int64_t left = index % out_width * window.stride_x - window.pad_x;
    const std::int64_t first = std::max<std::int64_t>(0, -left);
    const std::int64_t end = std::min(window.width, width - left);
    for (std::int64_t ky = std::max<std::int64_t>(0, -top); ky < std::min(window.height, height - top); ++ky) {
      const std::int64_t row = (picture * height + top + ky) * width + left;
      if (first < end) body(row + first, ky * window.width + first, end - first);
    }
  }

  /// body(pixel of the input, place in the window) for each pixel of a window that lies on the picture, row by row.
  template <class Body>
  void for_window(std::int64_t index, const Body& body) const {
    for_rows(index, [&](std::int64_t pixel, std::int64_t place, std::int64_t count) {
      for (std::int64_t k = 0; k < count; ++k) body(pixel + k, place + k);
    });
  }

  /// Copies windows [begin, end) out as rows [depth()], zeros where they leave the picture.
  void gather(const float* x, std::int64_t begin, std::int64_t end, float* rows) const;
  /// Adds such rows back to the pictures.
  void scatter_add(const float* rows, std::int64_t begin, std::int64_t end, float* x) const;
};

}  // namespace fovea
