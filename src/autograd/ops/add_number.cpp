// sum with a constant
//   forward   y = x + c
//   backward  dx = dy
#include "autograd/elementwise.hpp"
#include "fovea/ops.hpp"

namespace fovea {

Var add(const Var& x, float c) {
  const Tensor in = x.value().contiguous();
  const Tensor y = Tensor::empty(in.shape());
  elementwise(y.size(), [&](std::int64_t begin, std::size_t n) {
    const float* from = in.data() + begin;
    float* to = y.data() + begin;
    for (std::size_t i = 0; i < n; ++i) to[i] = from[i] + c;
  });
  return record(y, {x}, [x](const Tensor& dy) { x.accumulate(dy); });
}

}  // namespace fovea
