// product with a constant
//   forward   y = s * x
//   backward  dx = s * dy
#include "autograd/elementwise.hpp"
#include "fovea/ops.hpp"
#include "kernels/kernels.hpp"
#include "kernels/math.hpp"

namespace fovea {

Var scale(const Var& x, float c) {
  const Tensor in = x.value().contiguous();
  const Tensor y = Tensor::empty(in.shape());
  elementwise(y.size(),
              [&](std::int64_t i, std::size_t n) { kernels::active().math->scale(c, in.data() + i, y.data() + i, n); });
  return record(y, {x}, [x, c](const Tensor& dy) {
    const GradTarget target = x.grad_target();
    const auto put = target.add ? kernels::active().math->axpy : kernels::active().math->scale;
    elementwise(dy.size(), [&](std::int64_t i, std::size_t n) { put(c, dy.data() + i, target.tensor.data() + i, n); });
  });
}

Var neg(const Var& x) {
  return scale(x, -1.0F);
}

}  // namespace fovea
