// mean of each sequence's real rows
//   forward   y_b = (1 / n_b) sum_{t < n_b} x_bt      x [B, T, d], y [B, d]; n_b = 0 gives 0
//   backward  dx_bt = dy_b / n_b for t < n_b, else 0
#include <fmt/format.h>

#include <algorithm>

#include "fovea/error.hpp"
#include "fovea/ops.hpp"

namespace fovea {
namespace {

std::int64_t rows_of(const Tensor& lengths, std::int64_t b) {
  return static_cast<std::int64_t>(lengths.data()[b]);
}

}  // namespace

Var mean_rows(const Var& x, std::span<const std::int64_t> lengths) {
  if (x.rank() != 3 || static_cast<std::int64_t>(lengths.size()) != x.dim(0)) {
    throw ShapeError(
        fmt::format("mean_rows: {} and {} lengths; [batch, time, width] and one length per sequence are needed",
                    x.shape().text(), lengths.size()));
  }
  const std::int64_t batch = x.dim(0);
  const std::int64_t time = x.dim(1);
  const std::int64_t width = x.dim(2);
  const Tensor kept = Tensor::empty({batch});  // the lengths, kept for the backward; exact up to 2^24
  for (std::int64_t b = 0; b < batch; ++b) {
    const std::int64_t n = lengths[static_cast<std::size_t>(b)];
    if (n < 0 || n > time) throw ShapeError(fmt::format("mean_rows: length {} in a batch of {} rows", n, time));
    kept.data()[b] = static_cast<float>(n);
  }
  const Tensor in = x.value().contiguous();
  const Tensor y = Tensor::zeros({batch, width});
  for (std::int64_t b = 0; b < batch; ++b) {
    float* out = y.data() + b * width;
    const std::int64_t n = rows_of(kept, b);
    for (std::int64_t t = 0; t < n; ++t) {
      const float* row = in.data() + (b * time + t) * width;
      for (std::int64_t i = 0; i < width; ++i) out[i] += row[i];
    }
    for (std::int64_t i = 0; i < width && n > 0; ++i) out[i] /= static_cast<float>(n);
  }
  return record(y, {x}, [x, kept, time, width](const Tensor& dy) {
    const Tensor dx = Tensor::zeros(x.shape());
    for (std::int64_t b = 0; b < kept.dim(0); ++b) {
      const std::int64_t n = rows_of(kept, b);
      for (std::int64_t t = 0; t < n; ++t) {
        for (std::int64_t i = 0; i < width; ++i) {
          dx.data()[(b * time + t) * width + i] = dy.data()[b * width + i] / static_cast<float>(n);
        }
      }
    }
    x.accumulate(dx);
  });
}

}  // namespace fovea
