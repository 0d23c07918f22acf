// hyperbolic tangent
//   forward   y = tanh(x)
//   backward  dx = dy * (1 - y^2)
#include "autograd/map_op.hpp"
#include "fovea/ops.hpp"

namespace fovea {

Var tanh(const Var& x) {
  return map_op(x, &kernels::MathKernels::tanh, &kernels::MathKernels::tanh_backward, Saved::output);
}

}  // namespace fovea
