// means, of all values or along one axis of size n
//   forward   y = sum_i x_i / n
//   backward  dx_i = dy / n
#include "autograd/axis.hpp"
#include "fovea/ops.hpp"

namespace fovea {

Var mean(const Var& x) {
  if (x.size() == 0) throw ShapeError("mean: " + x.shape().text() + " holds no value");
  return scale(sum(x), static_cast<float>(1.0 / static_cast<double>(x.size())));
}

Var mean(const Var& x, int axis) {
  const Axis a = axis_of("mean", x.shape(), axis);
  if (a.n == 0) throw ShapeError(fmt::format("mean: axis {} of {} is empty", axis, x.shape().text()));
  return scale(sum(x, axis), static_cast<float>(1.0 / static_cast<double>(a.n)));
}

}  // namespace fovea
