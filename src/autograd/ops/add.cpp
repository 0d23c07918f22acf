// elementwise sum; b may be of a's last axes only (a bias) and is then added to each row
//   forward   y = a + b
//   backward  da = dy,  db = dy, summed over the rows
#include "autograd/broadcast.hpp"
#include "autograd/chunk_sums.hpp"
#include "autograd/elementwise.hpp"
#include "fovea/ops.hpp"
#include "kernels/kernels.hpp"
#include "kernels/math.hpp"
#include "kernels/rows.hpp"

namespace fovea {
namespace {

Var add_trailing(const Var& a, const Var& b) {
  check_trailing("add", a.shape(), b.shape());
  const Tensor x = a.value().contiguous();
  const Tensor bias = b.value().contiguous();
  const Tensor y = Tensor::empty(x.shape());
  const std::int64_t width = bias.size();
  const std::int64_t rows = width == 0 ? 0 : x.size() / width;
  by_rows(rows, width, [&](std::int64_t first, std::int64_t count) {
    const std::int64_t at = first * width;
    kernels::active().rows->add_bias(x.data() + at, bias.data(), y.data() + at, count, width);
  });
  return record(y, {a, b}, [a, b, rows, width](const Tensor& dy) {
    a.accumulate(dy);
    if (b.requires_grad()) add_column_sums(dy, rows, width, b.grad_target());
  });
}

}  // namespace

Var add(const Var& a, const Var& b) {
  if (a.rank() < b.rank()) return add_trailing(b, a);
  if (!(a.shape() == b.shape())) return add_trailing(a, b);
  const Tensor x = a.value().contiguous();
  const Tensor z = b.value().contiguous();
  const Tensor y = Tensor::empty(x.shape());
  const auto kernel = kernels::active().math->add;
  elementwise(y.size(), [&](std::int64_t i, std::size_t n) { kernel(x.data() + i, z.data() + i, y.data() + i, n); });
  return record(y, {a, b}, [a, b](const Tensor& dy) {
    a.accumulate(dy);
    b.accumulate(dy);
  });
}

}  // namespace fovea
