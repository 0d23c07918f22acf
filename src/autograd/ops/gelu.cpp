// Gaussian error linear unit, the exact form (Hendrycks and Gimpel 2016); Phi and phi of the normal distribution
//   forward   y = x * Phi(x)
//   backward  dx = dy * (Phi(x) + x * phi(x))
#include "autograd/map_op.hpp"
#include "fovea/ops.hpp"

namespace fovea {

Var gelu(const Var& x) {
  return map_op(x, &kernels::MathKernels::gelu, &kernels::MathKernels::gelu_backward, Saved::input);
}

}  // namespace fovea
