// e^x
//   forward   y = exp(x)
//   backward  dx = dy * y
#include "autograd/map_op.hpp"
#include "fovea/ops.hpp"

namespace fovea {

Var exp(const Var& x) {
  return map_op(x, &kernels::MathKernels::exp, &kernels::MathKernels::exp_backward, Saved::output);
}

}  // namespace fovea
