// elementwise product; b may be of a's last axes only and then multiplies each row
//   forward   y = a * b
//   backward  da = dy * b,  db = dy * a, summed over the rows
#include "autograd/broadcast.hpp"
#include "autograd/chunk_sums.hpp"
#include "autograd/elementwise.hpp"
#include "fovea/ops.hpp"
#include "kernels/kernels.hpp"
#include "kernels/math.hpp"
#include "kernels/rows.hpp"

namespace fovea {
namespace {

// to (+)= p * q
void add_product(const Tensor& p, const Tensor& q, const GradTarget& to) {
  const auto kernel = to.add ? kernels::active().math->mul_add : kernels::active().math->mul;
  elementwise(p.size(),
              [&](std::int64_t i, std::size_t n) { kernel(p.data() + i, q.data() + i, to.tensor.data() + i, n); });
}

Tensor mul_rows(const Tensor& x, const Tensor& factor) {
  Tensor y = Tensor::empty(x.shape());
  const std::int64_t width = factor.size();
  by_rows(width == 0 ? 0 : x.size() / width, width, [&](std::int64_t first, std::int64_t count) {
    const std::int64_t at = first * width;
    kernels::active().rows->mul_bias(x.data() + at, factor.data(), y.data() + at, count, width);
  });
  return y;
}

void add_column_dots(const Tensor& p, const Tensor& q, std::int64_t width, const GradTarget& to) {
  const std::int64_t rows = width == 0 ? 0 : p.size() / width;
  const ChunkSums sums(rows, width);
  by_rows(rows, width, [&](std::int64_t first, std::int64_t count) {
    const std::int64_t at = first * width;
    kernels::active().rows->column_dots(p.data() + at, q.data() + at, sums.of(first), count, width);
  });
  sums.add_to(to);
}

}  // namespace

Var mul(const Var& a, const Var& b) {
  if (a.rank() < b.rank()) return mul(b, a);
  check_trailing("mul", a.shape(), b.shape());
  const Tensor x = a.value().contiguous();
  const Tensor z = b.value().contiguous();
  if (!(a.shape() == b.shape())) {
    return record(mul_rows(x, z), {a, b}, [a, b, x, z](const Tensor& dy) {
      if (a.requires_grad()) a.accumulate(mul_rows(dy, z));
      if (b.requires_grad()) add_column_dots(dy, x, z.size(), b.grad_target());
    });
  }
  const Tensor y = Tensor::empty(x.shape());
  add_product(x, z, {y, false});
  return record(y, {a, b}, [a, b, x, z](const Tensor& dy) {
    if (a.requires_grad()) add_product(dy, z, a.grad_target());
    if (b.requires_grad()) add_product(dy, x, b.grad_target());
  });
}

}  // namespace fovea
