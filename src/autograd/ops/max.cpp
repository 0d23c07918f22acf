// the largest value along one axis (max pooling over time); the first of equals
//   forward   y = max_i x_i
//   backward  dx_i = dy at the arg max, 0 elsewhere
#include "autograd/axis.hpp"
#include "autograd/elementwise.hpp"
#include "fovea/ops.hpp"
#include "kernels/kernels.hpp"
#include "kernels/rows.hpp"

namespace fovea {

Var max(const Var& x, int axis) {
  const Axis a = axis_of("max", x.shape(), axis);
  if (a.n == 0 || a.n >= (1 << 24)) {
    throw ShapeError(fmt::format("max: axis {} of {} must have 1 to 2^24 - 1 values", axis, x.shape().text()));
  }
  const Tensor in = x.value().contiguous();
  const Tensor y = Tensor::empty(without_axis(x.shape(), a.index));
  const Tensor where = Tensor::empty(y.shape());
  const std::int64_t block = a.n * a.inner;
  by_rows(a.outer, block, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t o = first; o < first + count; ++o) {
      kernels::active().rows->column_max(in.data() + o * block, y.data() + o * a.inner, where.data() + o * a.inner, a.n,
                                         a.inner);
    }
  });
  return record(y, {x}, [x, where, a, block](const Tensor& dy) {
    const GradTarget target = x.grad_target();
    if (!target.add) target.tensor.fill(0.0F);
    by_rows(a.outer, block, [&](std::int64_t first, std::int64_t count) {
      for (std::int64_t o = first; o < first + count; ++o) {
        float* dx = target.tensor.data() + o * block;
        for (std::int64_t i = 0; i < a.inner; ++i) {
          const auto k = static_cast<std::int64_t>(where.data()[o * a.inner + i]);
          dx[k * a.inner + i] += dy.data()[o * a.inner + i];
        }
      }
    });
  });
}

}  // namespace fovea
