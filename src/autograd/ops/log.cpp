// natural logarithm
//   forward   y = ln(x)
//   backward  dx = dy / x
#include "autograd/map_op.hpp"
#include "fovea/ops.hpp"

namespace fovea {

Var log(const Var& x) {
  return map_op(x, &kernels::MathKernels::log, &kernels::MathKernels::log_backward, Saved::input);
}

}  // namespace fovea
