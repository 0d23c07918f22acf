// mean over windows of pictures [B, H, W, C], channel by channel; padding counts as zeros
//   forward   y_p = 1/n sum over the pixels q of p's window  x_q,  n = height * width of the window
//   backward  dx_q = 1/n sum over the windows p that hold q  dy_p
#include <algorithm>

#include "autograd/convolution/pixels.hpp"
#include "fovea/threads.hpp"

namespace fovea {

Var average_pool2d(const Var& x, const Window2d& window) {
  const Pixels p("average_pool2d", x.shape(), window);
  const std::int64_t c = p.channels;
  const float share = 1.0F / static_cast<float>(window.height * window.width);
  const Tensor input = x.value().contiguous();
  const Tensor y = Tensor::zeros(p.out_shape(c));
  parallel_for(p.windows(), p.out_width, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      float* to = y.data() + i * c;
      p.for_window(i, [&](std::int64_t pixel, std::int64_t) {
        const float* from = input.data() + pixel * c;
        for (std::int64_t k = 0; k < c; ++k) to[k] += from[k];
      });
      for (std::int64_t k = 0; k < c; ++k) to[k] *= share;
    }
  });
  return record(y, {x}, [p, x, share](const Tensor& gradient) {
    const std::int64_t channels = p.channels;
    const Tensor dy = gradient.contiguous();
    const GradTarget dx = x.grad_target();
    parallel_for(p.batch, 1, [&](std::int64_t picture, std::int64_t) {
      if (!dx.add) dx.tensor.slice(0, picture, picture + 1).fill(0);
      for (std::int64_t i = picture * p.per_picture(); i < (picture + 1) * p.per_picture(); ++i) {
        const float* from = dy.data() + i * channels;
        p.for_window(i, [&](std::int64_t pixel, std::int64_t) {
          float* to = dx.tensor.data() + pixel * channels;
          for (std::int64_t k = 0; k < channels; ++k) to[k] += share * from[k];
        });
      }
    });
  });
}

Var global_average_pool2d(const Var& x) {
  Window2d all;
  if (x.rank() == 4) {
    all.height = std::max<std::int64_t>(1, x.dim(1));
    all.width = std::max<std::int64_t>(1, x.dim(2));
  }
  const Pixels p("global_average_pool2d", x.shape(), all);  // checks the shape
  const Var mean = average_pool2d(x, p.window);
  const Shape shape{p.batch, p.channels};
  return record(mean.value().reshape(shape), {mean},
                [mean](const Tensor& dy) { mean.accumulate(dy.contiguous().reshape(mean.shape())); });
}

}  // namespace fovea
