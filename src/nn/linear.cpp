#include "nn/linear.hpp"

#include "kernels/gemm.hpp"

namespace fovea {

Tensor apply_packed(const Tensor& x, const kernels::PackedMatrix& weight, const Tensor& bias, Activation activation) {
  const Tensor in = x.contiguous();
  Shape shape = in.shape();
  shape.set(-1, weight.columns());
  Tensor y = Tensor::empty(shape);
  const std::int64_t rows = in.size() / weight.rows();
  kernels::parallel_gemm_packed(rows, in.data(), weight.rows(), weight, 0.0F, y.data(), weight.columns(),
                                {.bias = bias ? bias.data() : nullptr, .activation = activation});
  return y;
}

Var Linear::operator()(const Var& x, Activation activation, float rate, std::uint64_t seed) const {
  if (!packed || rate > 0 || recording({x, weight})) return linear(x, weight, bias, activation, {rate, seed});
  return apply_packed(x.value(), *packed, bias ? bias.value() : Tensor(), activation);
}

}  // namespace fovea
