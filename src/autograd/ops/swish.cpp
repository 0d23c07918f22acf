// swish, also called SiLU (Ramachandran et al. 2017); s = sigmoid(x)
//   forward   y = x * s
//   backward  dx = dy * s * (1 + x * (1 - s))
#include "autograd/map_op.hpp"
#include "fovea/ops.hpp"

namespace fovea {

Var swish(const Var& x) {
  return map_op(x, &kernels::MathKernels::swish, &kernels::MathKernels::swish_backward, Saved::input);
}

}  // namespace fovea
