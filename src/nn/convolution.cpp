#include "fovea/nn/convolution.hpp"

#include "kernels/conv.hpp"
#include "kernels/kernels.hpp"

namespace fovea {

Tensor GatedConvolution::step(const Tensor& window) const {
  const std::int64_t rows = window.dim(0);
  const std::int64_t out = weight.out();
  const Tensor sums = weight.product(window);
  Tensor y = Tensor::empty({rows, out / 2});
  for (std::int64_t r = 0; r < rows; ++r) {
    kernels::active().conv->glu_forward(out / 2, sums.data() + r * out, bias.value().data(), y.data() + r * out / 2);
  }
  return y;
}

}  // namespace fovea
