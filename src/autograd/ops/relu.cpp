// rectifier
//   forward   y = max(x, 0)
//   backward  dx = dy where y > 0
#include "autograd/map_op.hpp"
#include "fovea/ops.hpp"

namespace fovea {

Var relu(const Var& x) {
  return map_op(x, &kernels::MathKernels::relu, &kernels::MathKernels::relu_backward, Saved::output);
}

}  // namespace fovea
