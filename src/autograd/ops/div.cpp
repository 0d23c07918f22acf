// elementwise quotient; b may be of a's last axes only and then divides each row
//   forward   y = a / b
//   backward  da = dy / b,  db = -dy * y / b, summed over the rows
#include "autograd/broadcast.hpp"
#include "autograd/elementwise.hpp"
#include "fovea/ops.hpp"

namespace fovea {
namespace {

Tensor quotient(const Tensor& a, const Tensor& b) {
  const Tensor y = Tensor::empty(a.shape());
  const std::int64_t width = b.size();
  by_rows(width == 0 ? 0 : a.size() / width, width, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t row = first; row < first + count; ++row) {
      const float* from = a.data() + row * width;
      float* to = y.data() + row * width;
      for (std::int64_t i = 0; i < width; ++i) to[i] = from[i] / b.data()[i];
    }
  });
  return y;
}

}  // namespace

Var div(const Var& a, const Var& b) {
  check_trailing("div", a.shape(), b.shape());
  const Tensor x = a.value().contiguous();
  const Tensor z = b.value().contiguous();
  const Tensor y = quotient(x, z);
  return record(y, {a, b}, [a, b, y, z](const Tensor& dy) {
    const Tensor dx = quotient(dy.contiguous(), z);
    if (a.requires_grad()) a.accumulate(dx);
    if (!b.requires_grad()) return;
    const std::int64_t width = z.size();
    const Var terms = reshape(mul(Var(dx), Var(y)), {width == 0 ? 0 : dx.size() / width, width});
    b.accumulate(neg(sum(terms, 0)).value().reshape(z.shape()));
  });
}

}  // namespace fovea
