// sum of all values, gathered in double
//   forward   y = sum_i x_i
//   backward  dx_i = dy
#include "fovea/ops.hpp"

namespace fovea {

Var sum(const Var& x) {
  double total = 0;
  const Tensor values = x.value().contiguous();
  for (const float v : values.values()) total += v;
  return record(Tensor::full({}, static_cast<float>(total)), {x},
                [x](const Tensor& dy) { x.accumulate(Tensor::full(x.shape(), dy.item())); });
}

}  // namespace fovea
