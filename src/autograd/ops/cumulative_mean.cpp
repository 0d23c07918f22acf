// mean of each row and those before it, along time
//   forward   y_t = (1 / t) sum_{s <= t} x_s      x, y [B, T, d]; t counts from 1
//   backward  dx_s = sum_{t >= s} dy_t / t
// A sequence may end in padding: no row depends on a later one.
#include <fmt/format.h>

#include "fovea/error.hpp"
#include "fovea/ops.hpp"
#include "fovea/threads.hpp"

namespace fovea {

Var cumulative_mean(const Var& x) {
  if (x.rank() != 3) {
    throw ShapeError(fmt::format("cumulative_mean: {}; [batch, time, width] is needed", x.shape().text()));
  }
  const std::int64_t batch = x.dim(0);
  const std::int64_t time = x.dim(1);
  const std::int64_t width = x.dim(2);
  const Tensor in = x.value().contiguous();
  const Tensor sums = Tensor::zeros({batch, width});
  const Tensor y = Tensor::empty(x.shape());
  parallel_for(batch, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t b = begin; b < end; ++b) {
      float* sum = sums.data() + b * width;
      for (std::int64_t t = 0; t < time; ++t) {
        const float share = 1.0F / static_cast<float>(t + 1);
        const float* from = in.data() + (b * time + t) * width;
        float* to = y.data() + (b * time + t) * width;
        for (std::int64_t i = 0; i < width; ++i) {
          sum[i] += from[i];
          to[i] = sum[i] * share;
        }
      }
    }
  });
  return record(y, {x}, [x, batch, time, width](const Tensor& dy) {
    const Tensor dx = Tensor::empty(dy.shape());
    const Tensor carry = Tensor::zeros({batch, width});
    parallel_for(batch, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t b = begin; b < end; ++b) {
        float* sum = carry.data() + b * width;
        for (std::int64_t t = time - 1; t >= 0; --t) {
          const float share = 1.0F / static_cast<float>(t + 1);
          const float* from = dy.data() + (b * time + t) * width;
          float* to = dx.data() + (b * time + t) * width;
          for (std::int64_t i = 0; i < width; ++i) {
            sum[i] += from[i] * share;
            to[i] = sum[i];
          }
        }
      }
    });
    x.accumulate(dx);
  });
}

}  // namespace fovea
