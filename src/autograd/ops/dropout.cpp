// dropout (Srivastava et al. 2014); the mask is a function of (seed, index) and computed again in the backward
//   forward   y_i = m_i x_i / (1 - rate)      m_i = 1 with probability 1 - rate, else 0
//   backward  dx_i = m_i dy_i / (1 - rate)
#include <fmt/format.h>

#include "fovea/error.hpp"
#include "fovea/ops.hpp"
#include "kernels/kernels.hpp"
#include "kernels/random.hpp"

namespace fovea {

Var dropout(const Var& x, float rate, std::uint64_t seed) {
  if (!(rate >= 0 && rate < 1)) throw UsageError(fmt::format("dropout: rate {} is not in [0, 1)", rate));
  const kernels::Dropout how{.rate = rate, .seed = seed};
  const Tensor in = x.value().contiguous();
  const Tensor y = Tensor::empty(in.shape());
  kernels::active().random->dropout(how, in.data(), y.data(), y.size(), false);
  return record(y, {x}, [x, how](const Tensor& dy) {
    const GradTarget dx = x.grad_target();
    kernels::active().random->dropout(how, dy.data(), dx.tensor.data(), dy.size(), dx.add);
  });
}

}  // namespace fovea
