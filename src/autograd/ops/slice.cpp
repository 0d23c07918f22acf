// part of an axis, or one place of it
//   forward   y = x[…, begin:end, …], packed
//   backward  dx = dy there, 0 elsewhere
#include "autograd/axis.hpp"
#include "autograd/elementwise.hpp"
#include "fovea/ops.hpp"
#include "kernels/kernels.hpp"
#include "kernels/math.hpp"

namespace fovea {
namespace {

// dx[…, begin:begin + n, …] (+)= dy, which is packed; `a` is dx's axis.
void put_back(const Tensor& dy, const Axis& a, std::int64_t begin, std::int64_t n, const GradTarget& dx) {
  if (!dx.add) dx.tensor.fill(0.0F);
  const auto add = kernels::active().math->add_in_place;
  const std::int64_t block = n * a.inner;
  by_rows(a.outer, block, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t o = first; o < first + count; ++o) {
      add(dy.data() + o * block, dx.tensor.data() + (o * a.n + begin) * a.inner, static_cast<std::size_t>(block));
    }
  });
}

}  // namespace

Var slice(const Var& x, int axis, std::int64_t begin, std::int64_t end) {
  const Axis a = axis_of("slice", x.shape(), axis);
  return record(x.value().slice(axis, begin, end).contiguous(), {x},
                [x, a, begin, end](const Tensor& dy) { put_back(dy, a, begin, end - begin, x.grad_target()); });
}

Var select(const Var& x, int axis, std::int64_t index) {
  const Axis a = axis_of("select", x.shape(), axis);
  return record(x.value().select(axis, index).contiguous(), {x},
                [x, a, index](const Tensor& dy) { put_back(dy, a, index, 1, x.grad_target()); });
}

}  // namespace fovea
