// dropout (Srivastava et al. 2014)
//   forward   y = m * x,   m_i = 0 with probability rate, else 1 / (1 - rate)
//   backward  dx = m * dy
// m is computed again from the seed; nothing is kept.
#include "autograd/dropout.hpp"

#include "autograd/elementwise.hpp"
#include "fovea/ops.hpp"
#include "kernels/kernels.hpp"

namespace fovea {

Var dropout(const Var& x, const Dropout& dropout) {
  const kernels::Dropout how = make_dropout("dropout", dropout);
  if (how.rate == 0) return x;
  const Tensor in = x.value().contiguous();
  const Tensor y = Tensor::empty(in.shape());
  const auto kernel = kernels::active().random->dropout;
  elementwise(y.size(), [&](std::int64_t i, std::size_t n) {
    kernel(from_value(how, i), in.data() + i, y.data() + i, static_cast<std::int64_t>(n), false);
  });
  return record(y, {x}, [x, how](const Tensor& dy) {
    const GradTarget target = x.grad_target();
    elementwise(dy.size(), [&](std::int64_t i, std::size_t n) {
      kernels::active().random->dropout(from_value(how, i), dy.data() + i, target.tensor.data() + i,
                                        static_cast<std::int64_t>(n), target.add);
    });
  });
}

}  // namespace fovea
