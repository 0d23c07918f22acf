// sums, of all values (gathered in double) or along one axis
//   forward   y = sum_i x_i
//   backward  dx_i = dy
#include "autograd/axis.hpp"
#include "autograd/elementwise.hpp"
#include "fovea/ops.hpp"
#include "kernels/kernels.hpp"
#include "kernels/math.hpp"
#include "kernels/rows.hpp"

namespace fovea {
namespace {

// dx[outer, k, inner] (+)= dy[outer, inner] for every k.
void spread(const Tensor& dy, const Axis& a, const GradTarget& dx) {
  const auto add = kernels::active().math->add_in_place;
  by_rows(a.outer, a.n * a.inner, [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t o = first; o < first + count; ++o) {
      const float* from = dy.data() + o * a.inner;
      float* to = dx.tensor.data() + o * a.n * a.inner;
      if (a.inner == 1) {
        for (std::int64_t k = 0; k < a.n; ++k) to[k] = dx.add ? to[k] + *from : *from;
        continue;
      }
      for (std::int64_t k = 0; k < a.n; ++k, to += a.inner) {
        if (!dx.add) std::fill_n(to, a.inner, 0.0F);
        add(from, to, static_cast<std::size_t>(a.inner));
      }
    }
  });
}

}  // namespace

Var sum(const Var& x) {
  double total = 0;
  const Tensor values = x.value().contiguous();
  for (const float v : values.values()) total += v;
  return record(Tensor::full({}, static_cast<float>(total)), {x},
                [x](const Tensor& dy) { x.accumulate(Tensor::full(x.shape(), dy.item())); });
}

Var sum(const Var& x, int axis) {
  const Axis a = axis_of("sum", x.shape(), axis);
  const Tensor in = x.value().contiguous();
  const Tensor y = Tensor::zeros(without_axis(x.shape(), a.index));
  const auto& rows = *kernels::active().rows;
  if (a.inner == 1) {
    by_rows(a.outer, a.n, [&](std::int64_t first, std::int64_t count) {
      rows.row_sums(in.data() + first * a.n, y.data() + first, count, a.n);
    });
  } else {
    by_rows(a.outer, a.n * a.inner, [&](std::int64_t first, std::int64_t count) {
      for (std::int64_t o = first; o < first + count; ++o) {
        rows.column_sums(in.data() + o * a.n * a.inner, y.data() + o * a.inner, a.n, a.inner);
      }
    });
  }
  return record(y, {x}, [x, a](const Tensor& dy) { spread(dy, a, x.grad_target()); });
}

}  // namespace fovea
