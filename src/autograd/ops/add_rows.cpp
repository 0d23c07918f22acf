// the same rows added to every sequence of a batch
//   forward   y_bt = x_bt + r_t         x [.., T, d], r [T, d]
//   backward  dx = dy,  dr_t = sum_b dy_bt, in the order of b
#include <fmt/format.h>

#include "fovea/error.hpp"
#include "fovea/ops.hpp"
#include "kernels/kernels.hpp"
#include "kernels/rows.hpp"

namespace fovea {

Var add_rows(const Var& x, const Var& rows) {
  if (x.rank() < 2 || rows.rank() != 2 || x.dim(-1) != rows.dim(1) || x.dim(-2) != rows.dim(0)) {
    throw ShapeError(
        fmt::format("add_rows: {} and {}; [.., T, d] and [T, d] are needed", x.shape().text(), rows.shape().text()));
  }
  const Tensor in = x.value().contiguous();
  const Tensor added = rows.value().contiguous();
  const std::int64_t width = added.size();
  const std::int64_t count = width > 0 ? in.size() / width : 0;
  const Tensor y = Tensor::empty(in.shape());
  kernels::active().rows->add_bias(in.data(), added.data(), y.data(), count, width);
  return record(y, {x, rows}, [x, rows, count, width](const Tensor& dy) {
    x.accumulate(dy);
    if (!rows.requires_grad()) return;
    const GradTarget dr = rows.grad_target();
    if (!dr.add) dr.tensor.fill(0.0F);
    kernels::active().rows->column_sums(dy.data(), dr.tensor.data(), count, width);
  });
}

}  // namespace fovea
