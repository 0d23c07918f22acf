// product of two matrices, or of two batches of matrices
//   forward   C = op(A) op(B), op(X) = X or X'
//   backward  d op(A) = dC op(B)',  d op(B) = op(A)' dC, each written the way A and B are stored
#include <fmt/format.h>

#include "fovea/error.hpp"
#include "fovea/ops.hpp"
#include "fovea/threads.hpp"
#include "kernels/gemm.hpp"

namespace fovea {
namespace {

using kernels::Trans;

Trans flip(Trans t) {
  return t == Trans::no ? Trans::yes : Trans::no;
}

// A batch of matrices with packed rows or columns, which gemm reads without a copy.
struct Operand {
  Operand(const Tensor& t, bool transposed) : values(t), trans(transposed ? Trans::yes : Trans::no) {
    const bool rows_packed = t.stride(-1) == 1 || t.dim(-1) == 1;
    const bool columns_packed = t.stride(-2) == 1 || t.dim(-2) == 1;
    if (!rows_packed && columns_packed) {
      values = t.transpose(-2, -1);
      trans = flip(trans);
    } else if (!rows_packed) {
      values = t.contiguous();
    }
    ld = values.dim(-2) == 1 ? values.dim(-1) : values.stride(-2);
    batch = values.rank() == 3 ? values.stride(0) : 0;
  }
  [[nodiscard]] const float* at(std::int64_t b) const { return values.data() + b * batch; }
  Tensor values;
  Trans trans;
  std::int64_t ld = 0, batch = 0;
};

// C[b] = op(A[b]) op(B[b]) + beta C[b] for a contiguous C.
void multiply(const Operand& a, const Operand& b, std::int64_t k, float beta, const Tensor& c) {
  const std::int64_t m = c.dim(-2);
  const std::int64_t n = c.dim(-1);
  const std::int64_t batch = c.rank() == 3 ? c.dim(0) : 1;
  if (batch < threads()) {
    for (std::int64_t i = 0; i < batch; ++i) {
      kernels::parallel_gemm(a.trans, b.trans, m, n, k, a.at(i), a.ld, b.at(i), b.ld, beta, c.data() + i * m * n, n);
    }
    return;
  }
  const std::int64_t grain = std::max<std::int64_t>(1, (std::int64_t{1} << 18) / std::max<std::int64_t>(1, m * n * k));
  parallel_for(batch, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      kernels::parallel_gemm(a.trans, b.trans, m, n, k, a.at(i), a.ld, b.at(i), b.ld, beta, c.data() + i * m * n, n);
    }
  });
}

void add_gradient(const Var& x, const Tensor& left, bool left_transposed, const Tensor& right, bool right_transposed,
                  std::int64_t k) {
  if (!x.requires_grad()) return;
  const GradTarget target = x.grad_target();
  multiply(Operand(left, left_transposed), Operand(right, right_transposed), k, target.add ? 1.0F : 0.0F,
           target.tensor);
}

}  // namespace

Var matmul(const Var& a, const Var& b, const MatmulOptions& how) {
  const bool ranks = a.rank() == b.rank() && (a.rank() == 2 || a.rank() == 3);
  const auto rows = [](const Var& x, bool transposed) { return x.dim(transposed ? -1 : -2); };
  const auto columns = [](const Var& x, bool transposed) { return x.dim(transposed ? -2 : -1); };
  if (!ranks || (a.rank() == 3 && a.dim(0) != b.dim(0)) || columns(a, how.transpose_a) != rows(b, how.transpose_b)) {
    throw ShapeError(fmt::format("matmul: {}{} times {}{}", a.shape().text(), how.transpose_a ? " transposed" : "",
                                 b.shape().text(), how.transpose_b ? " transposed" : ""));
  }
  const std::int64_t m = rows(a, how.transpose_a);
  const std::int64_t n = columns(b, how.transpose_b);
  const std::int64_t k = columns(a, how.transpose_a);
  const Tensor c = Tensor::empty(a.rank() == 2 ? Shape{m, n} : Shape{a.dim(0), m, n});
  multiply(Operand(a.value(), how.transpose_a), Operand(b.value(), how.transpose_b), k, 0.0F, c);
  return record(c, {a, b}, [a, b, how, m, n](const Tensor& gradient) {
    const Tensor dc = gradient.contiguous();
    if (how.transpose_a) {
      add_gradient(a, b.value(), how.transpose_b, dc, true, n);
    } else {
      add_gradient(a, dc, false, b.value(), !how.transpose_b, n);
    }
    if (how.transpose_b) {
      add_gradient(b, dc, true, a.value(), how.transpose_a, m);
    } else {
      add_gradient(b, a.value(), !how.transpose_a, dc, false, m);
    }
  });
}

}  // namespace fovea
