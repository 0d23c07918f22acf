// Gaussian error linear unit approximated by tanh (Hendrycks and Gimpel 2016, section 2), s the logistic function
//   forward   y = x s(u),  u = 2 sqrt(2 / pi) (x + 0.044715 x^3)
//   backward  dx = dy s(u) (1 + x (1 - s(u)) u')
#include "autograd/map_op.hpp"
#include "fovea/ops.hpp"

namespace fovea {

Var gelu_tanh(const Var& x) {
  return map_op(x, &kernels::MathKernels::gelu_tanh, &kernels::MathKernels::gelu_tanh_backward, Saved::input);
}

}  // namespace fovea
