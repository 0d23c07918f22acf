#include "nn/gated_convolution.hpp"

#include "kernels/conv.hpp"
#include "kernels/gemm.hpp"
#include "kernels/kernels.hpp"

namespace fovea {

Tensor GatedConvolution::step(const Tensor& window) const {
  using kernels::Trans;
  const std::int64_t rows = window.dim(0);
  const std::int64_t in = weight.dim(0);
  const std::int64_t out = weight.dim(1);
  const Tensor sums = Tensor::empty({rows, out});
  if (packed) {
    kernels::parallel_gemm_packed(rows, window.data(), in, *packed, 0, sums.data(), out);
  } else {
    const Tensor w = weight.value().contiguous();
    kernels::parallel_gemm(Trans::no, Trans::no, rows, out, in, window.data(), in, w.data(), out, 0, sums.data(), out);
  }
  Tensor y = Tensor::empty({rows, out / 2});
  for (std::int64_t r = 0; r < rows; ++r) {
    kernels::active().conv->glu_forward(out / 2, sums.data() + r * out, bias.value().data(), y.data() + r * out / 2);
  }
  return y;
}

}  // namespace fovea
