#include "autograd/convolution/pixels.hpp"

#include <fmt/format.h>

#include <cstring>

#include "fovea/error.hpp"
#include "kernels/kernels.hpp"
#include "kernels/math.hpp"

namespace fovea {

Pixels::Pixels(const char* op, const Shape& x, const Window2d& w) : window(w) {
  if (x.rank() != 4) throw ShapeError(fmt::format("{}: the input is {}, not [B,H,W,C]", op, x.text()));
  if (w.height < 1 || w.width < 1 || w.stride_y < 1 || w.stride_x < 1 || w.pad_y < 0 || w.pad_x < 0) {
    throw ShapeError(fmt::format("{}: a window of {}x{}, stride {}x{}, padding {}x{} makes no sense", op, w.height,
                                 w.width, w.stride_y, w.stride_x, w.pad_y, w.pad_x));
  }
  batch = x[0];
  height = x[1];
  width = x[2];
  channels = x[3];
  if (height + 2 * w.pad_y < w.height || width + 2 * w.pad_x < w.width) {
    throw ShapeError(fmt::format("{}: a window of {}x{} does not fit on {} with padding {}x{}", op, w.height, w.width,
                                 x.text(), w.pad_y, w.pad_x));
  }
  out_height = (height + 2 * w.pad_y - w.height) / w.stride_y + 1;
  out_width = (width + 2 * w.pad_x - w.width) / w.stride_x + 1;
}

void Pixels::gather(const float* x, std::int64_t begin, std::int64_t end, float* rows) const {
  const bool may_leave = window.pad_y > 0 || window.pad_x > 0;
  for (std::int64_t i = begin; i < end; ++i, rows += depth()) {
    if (may_leave) std::memset(rows, 0, static_cast<std::size_t>(depth()) * sizeof(float));
    for_rows(i, [&](std::int64_t pixel, std::int64_t place, std::int64_t count) {
      std::memcpy(rows + place * channels, x + pixel * channels,
                  static_cast<std::size_t>(count * channels) * sizeof(float));
    });
  }
}

void Pixels::scatter_add(const float* rows, std::int64_t begin, std::int64_t end, float* x) const {
  const auto& math = *kernels::active().math;
  for (std::int64_t i = begin; i < end; ++i, rows += depth()) {
    for_rows(i, [&](std::int64_t pixel, std::int64_t place, std::int64_t count) {
      math.add_in_place(rows + place * channels, x + pixel * channels, static_cast<std::size_t>(count * channels));
    });
  }
}

}  // namespace fovea
