// leaky rectifier (Maas et al. 2013)
//   forward   y = x where x > 0, else 0.2 x
//   backward  dx = dy where y > 0, else 0.2 dy
#include "autograd/map_op.hpp"
#include "fovea/ops.hpp"

namespace fovea {

Var leaky_relu(const Var& x) {
  return map_op(x, &kernels::MathKernels::leaky_relu, &kernels::MathKernels::leaky_relu_backward, Saved::output);
}

}  // namespace fovea
