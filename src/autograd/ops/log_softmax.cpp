// logarithm of the softmax over the last axis
//   forward   y_j  = x_j - max x - ln sum_k exp(x_k - max x)
//   backward  dx_j = dy_j - exp(y_j) * sum_k dy_k
// The gradient needs y and not x, so x may be freed as soon as y exists.
#include "autograd/elementwise.hpp"
#include "fovea/error.hpp"
#include "fovea/ops.hpp"
#include "kernels/kernels.hpp"
#include "kernels/rows.hpp"

namespace fovea {

Var log_softmax(const Var& x) {
  if (x.rank() == 0) throw ShapeError("log_softmax: a value of shape [] has no last axis");
  const Tensor in = x.value().contiguous();
  const Tensor y = Tensor::empty(in.shape());
  const std::int64_t width = in.dim(-1);
  const std::int64_t rows = width == 0 ? 0 : in.size() / width;
  by_rows(rows, width, [&](std::int64_t first, std::int64_t count) {
    const std::int64_t at = first * width;
    kernels::active().rows->log_softmax(in.data() + at, y.data() + at, count, width);
  });
  return record(y, {x}, [x, y, rows, width](const Tensor& dy) {
    const GradTarget target = x.grad_target();
    by_rows(rows, width, [&](std::int64_t first, std::int64_t count) {
      const std::int64_t at = first * width;
      kernels::active().rows->log_softmax_backward(y.data() + at, dy.data() + at, target.tensor.data() + at, count,
                                                   width, target.add);
    });
  });
}

}  // namespace fovea
