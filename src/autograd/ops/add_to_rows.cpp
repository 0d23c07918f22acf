// one vector per sequence added to all its rows
//   forward   y_bt = x_bt + v_b         x [B, T, d], v [B, d]
//   backward  dx = dy,  dv_b = sum_t dy_bt
#include <fmt/format.h>

#include "fovea/error.hpp"
#include "fovea/ops.hpp"
#include "kernels/kernels.hpp"
#include "kernels/rows.hpp"

namespace fovea {

Var add_to_rows(const Var& x, const Var& vectors) {
  if (x.rank() != 3 || !(vectors.shape() == Shape{x.dim(0), x.dim(2)})) {
    throw ShapeError(fmt::format("add_to_rows: {} and {}; [B, T, d] and [B, d] are needed", x.shape().text(),
                                 vectors.shape().text()));
  }
  const Tensor in = x.value().contiguous();
  const Tensor v = vectors.value().contiguous();
  const std::int64_t rows = x.dim(1);
  const std::int64_t width = x.dim(2);
  const Tensor y = Tensor::empty(in.shape());
  const auto& kernels = *kernels::active().rows;
  for (std::int64_t b = 0; b < x.dim(0); ++b) {
    kernels.add_bias(in.data() + b * rows * width, v.data() + b * width, y.data() + b * rows * width, rows, width);
  }
  return record(y, {x, vectors}, [x, vectors, rows, width](const Tensor& dy) {
    x.accumulate(dy);
    if (!vectors.requires_grad()) return;
    const Tensor dv = Tensor::zeros(vectors.shape());
    for (std::int64_t b = 0; b < dv.dim(0); ++b) {
      kernels::active().rows->column_sums(dy.data() + b * rows * width, dv.data() + b * width, rows, width);
    }
    vectors.accumulate(dv);
  });
}

}  // namespace fovea
