// logistic function
//   forward   y = 1 / (1 + exp(-x))
//   backward  dx = dy * y * (1 - y)
#include "autograd/map_op.hpp"
#include "fovea/ops.hpp"

namespace fovea {

Var sigmoid(const Var& x) {
  return map_op(x, &kernels::MathKernels::sigmoid, &kernels::MathKernels::sigmoid_backward, Saved::output);
}

}  // namespace fovea
