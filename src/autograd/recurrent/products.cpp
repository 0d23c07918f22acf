#include "autograd/recurrent/products.hpp"

#include "autograd/recurrent/rows.hpp"

namespace fovea {

using kernels::Trans;

void multiply(Trans ta, Trans tb, const Tensor& a, const Tensor& b, bool add, const Tensor& c) {
  kernels::parallel_gemm(ta, tb, c.dim(0), c.dim(1), a.dim(ta == Trans::no ? 1 : 0), a.data(), a.stride(0), b.data(),
                         b.stride(0), add ? 1.0F : 0.0F, c.data(), c.stride(0));
}

void add_rows(const Tensor& rows, std::int64_t begin, std::int64_t end, const Var& to) {
  if (!to.requires_grad()) return;
  const Tensor total = Tensor::zeros({end - begin});
  for (std::int64_t r = 0; r < rows.dim(0); ++r) add_row(row_of(rows, r) + begin, total.data(), end - begin);
  to.accumulate(total);
}

void state_weight_gradient(Cell cell, const Tensor& before, const Tensor& gates, const Var& state_weights) {
  if (!state_weights.requires_grad()) return;
  const std::int64_t h = state_weights.dim(0);
  const GradTarget du = state_weights.grad_target();
  if (cell == Cell::lstm) {
    multiply(Trans::yes, Trans::no, before, gates, du.add, du.tensor);
    return;
  }
  multiply(Trans::yes, Trans::no, before, gates.slice(1, 0, 2 * h), du.add, du.tensor.slice(1, 0, 2 * h));
  multiply(Trans::yes, Trans::no, before, gates.slice(1, 3 * h, 4 * h), du.add, du.tensor.slice(1, 2 * h, 3 * h));
}

}  // namespace fovea
