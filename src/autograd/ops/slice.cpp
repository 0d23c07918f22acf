// a range of one axis, copied
//   forward   y = x[.., begin:end, ..]
//   backward  dx[.., begin:end, ..] = dy, 0 elsewhere
#include "fovea/ops.hpp"

namespace fovea {

Var slice(const Var& x, int axis, std::int64_t begin, std::int64_t end) {
  return record(x.value().slice(axis, begin, end).contiguous(), {x}, [x, axis, begin, end](const Tensor& dy) {
    const Tensor dx = Tensor::zeros(x.shape());
    dx.slice(axis, begin, end).copy_from(dy);
    x.accumulate(dx);
  });
}

}  // namespace fovea
