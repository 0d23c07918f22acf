// elementwise difference; b may be of a's last axes only
//   forward   y = a - b
//   backward  da = dy,  db = -dy
#include "autograd/broadcast.hpp"
#include "autograd/elementwise.hpp"
#include "fovea/ops.hpp"
#include "kernels/kernels.hpp"
#include "kernels/math.hpp"

namespace fovea {

Var sub(const Var& a, const Var& b) {
  check_trailing("sub", a.shape(), b.shape());
  if (!(a.shape() == b.shape())) return add(a, neg(b));
  const Tensor x = a.value().contiguous();
  const Tensor z = b.value().contiguous();
  const Tensor y = Tensor::empty(x.shape());
  const auto kernel = kernels::active().math->sub;
  elementwise(y.size(), [&](std::int64_t i, std::size_t n) { kernel(x.data() + i, z.data() + i, y.data() + i, n); });
  return record(y, {a, b}, [a, b](const Tensor& dy) {
    a.accumulate(dy);
    if (!b.requires_grad()) return;
    const GradTarget target = b.grad_target();
    const auto put = target.add ? kernels::active().math->axpy : kernels::active().math->scale;
    elementwise(dy.size(),
                [&](std::int64_t i, std::size_t n) { put(-1.0F, dy.data() + i, target.tensor.data() + i, n); });
  });
}

}  // namespace fovea
