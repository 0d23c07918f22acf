// maximum over windows of pictures [B, H, W, C], channel by channel
//   forward   y_p = max over the pixels q of p's window  x_q
//   backward  dx_q = sum over the windows p whose maximum (the first, if several are equal) is at q  dy_p
// The place of each maximum in its window is kept.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "autograd/convolution/pixels.hpp"
#include "fovea/error.hpp"
#include "fovea/threads.hpp"
#include "kernels/conv.hpp"
#include "kernels/kernels.hpp"

namespace fovea {

Var max_pool2d(const Var& x, const Window2d& window) {
  const Pixels p("max_pool2d", x.shape(), window);
  if (x.dim(1) == 0 || x.dim(2) == 0) {
    throw ShapeError(fmt::format("max_pool2d: a picture {} without a pixel", x.shape().text()));
  }
  if (2 * window.pad_y > window.height || 2 * window.pad_x > window.width) {
    throw ShapeError(fmt::format("max_pool2d: padding {}x{} is more than half a window of {}x{}", window.pad_y,
                                 window.pad_x, window.height, window.width));
  }
  const auto& conv = *kernels::active().conv;
  const std::int64_t c = p.channels;
  const Tensor input = x.value().contiguous();
  const Tensor y = Tensor::empty(p.out_shape(c));
  const Tensor places = Tensor::empty(y.shape());  // int32 in a float's four bytes
  const auto place_row = [places, c](std::int64_t i) { return reinterpret_cast<std::int32_t*>(places.data()) + i * c; };
  parallel_for(p.windows(), p.out_width, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      float* best = y.data() + i * c;
      bool found = false;
      p.for_window(i, [&](std::int64_t pixel, std::int64_t place) {
        const float* from = input.data() + pixel * c;
        if (found) {
          conv.max_update(c, from, static_cast<std::int32_t>(place), best, place_row(i));
        } else {
          std::copy_n(from, c, best);
          std::fill_n(place_row(i), c, static_cast<std::int32_t>(place));
          found = true;
        }
      });
    }
  });
  return record(y, {x}, [p, x, place_row](const Tensor& gradient) {
    const auto& kernels = *kernels::active().conv;
    const Tensor dy = gradient.contiguous();
    const GradTarget dx = x.grad_target();
    parallel_for(p.batch, 1, [&](std::int64_t picture, std::int64_t) {
      if (!dx.add) dx.tensor.slice(0, picture, picture + 1).fill(0);
      for (std::int64_t i = picture * p.per_picture(); i < (picture + 1) * p.per_picture(); ++i) {
        p.for_window(i, [&](std::int64_t pixel, std::int64_t place) {
          kernels.max_gradient(p.channels, dy.data() + i * p.channels, place_row(i), static_cast<std::int32_t>(place),
                               dx.tensor.data() + pixel * p.channels);
        });
      }
    });
  });
}

}  // namespace fovea
