// a constant times a tensor
//   forward   y = c x
//   backward  dx = c dy
#include "fovea/ops.hpp"
#include "kernels/kernels.hpp"
#include "kernels/math.hpp"

namespace fovea {
namespace {

Tensor times(const Tensor& x, float c) {
  const Tensor in = x.contiguous();
  const Tensor y = Tensor::empty(in.shape());
  kernels::active().math->scale(c, in.data(), y.data(), static_cast<std::size_t>(y.size()));
  return y;
}

}  // namespace

Var scale(const Var& x, float c) {
  return record(times(x.value(), c), {x}, [x, c](const Tensor& dy) { x.accumulate(times(dy, c)); });
}

}  // namespace fovea
