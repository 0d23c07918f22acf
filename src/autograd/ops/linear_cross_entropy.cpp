// output layer and label-smoothed cross-entropy in one: the logits of all rows never exist at once
//   forward   z_i = W x_i + b,  L = sum_i lse(z_i) - (1 - e) z_i[t_i] - e mean(z_i)      over rows that are not padding
//   backward  dz_i = softmax(z_i) - (1 - e) onehot(t_i) - e / V,  dx_i = W' dz_i,  dW = sum_i dz_i x_i',  db = sum_i
//   dz_i
// With dz_i at hand in the forward, its products are made there, block by block; the backward only scales them by dL.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "fovea/error.hpp"
#include "fovea/ops.hpp"
#include "kernels/gemm.hpp"
#include "kernels/kernels.hpp"
#include "kernels/math.hpp"
#include "kernels/rows.hpp"

namespace fovea {
namespace {

using kernels::Trans;

constexpr std::int64_t kBlock = 128;  // rows whose logits exist at a time

float largest(const float* x, std::int64_t n) {
  float top = x[0];
#pragma omp simd reduction(max : top)
  for (std::int64_t j = 0; j < n; ++j) top = x[j] > top ? x[j] : top;
  return top;
}

void scale_and_pass(const Var& to, const Tensor& gradient, float factor) {
  if (!to.requires_grad()) return;
  if (factor != 1.0F) {
    kernels::active().math->scale(factor, gradient.data(), gradient.data(), static_cast<std::size_t>(gradient.size()));
  }
  to.accumulate(gradient);
}

}  // namespace

CrossEntropy linear_cross_entropy(const Var& x, const Var& w, const Var& bias, std::span<const std::int32_t> targets,
                                  const CrossEntropyOptions& how) {
  const std::int64_t width = w.rank() == 2 ? w.dim(1) : 0;
  if (w.rank() != 2 || x.rank() < 1 || x.dim(-1) != width ||
      x.size() != static_cast<std::int64_t>(targets.size()) * width || !(bias.shape() == Shape{w.dim(0)})) {
    throw ShapeError(fmt::format("linear_cross_entropy: x {}, weight {}, bias {}, {} targets", x.shape().text(),
                                 w.shape().text(), bias.shape().text(), targets.size()));
  }
  const std::int64_t vocabulary = w.dim(0);
  for (const std::int32_t t : targets) {
    if (t < 0 || t >= vocabulary)
      throw Error(fmt::format("linear_cross_entropy: target {} in a vocabulary of {}", t, vocabulary));
  }
  const Tensor in = x.value().contiguous();
  const Tensor weight = w.value().contiguous();
  const bool learns = recording({x, w, bias});
  const Tensor dx = learns ? Tensor::zeros(x.shape()) : Tensor();
  const Tensor dw = learns ? Tensor::empty(w.shape()) : Tensor();
  const Tensor db = learns ? Tensor::zeros(bias.shape()) : Tensor();
  const Tensor rows = Tensor::empty({kBlock, width});    // the block's rows without padding
  const Tensor z = Tensor::empty({kBlock, vocabulary});  // logits, then log-probabilities, then dz
  const Tensor drows = learns ? Tensor::empty({kBlock, width}) : Tensor();
  std::int64_t at[kBlock];
  const auto& math = *kernels::active().math;
  const auto& row_kernels = *kernels::active().rows;
  CrossEntropy out;
  double loss = 0;
  const float e = how.label_smoothing;
  const float spread = e / static_cast<float>(vocabulary);
  const Tensor smoothing = learns && e > 0 ? Tensor::full({vocabulary}, -spread) : Tensor();
  bool first = true;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(targets.size());) {
    std::int64_t m = 0;
    for (; i < static_cast<std::int64_t>(targets.size()) && m < kBlock; ++i) {
      if (targets[static_cast<std::size_t>(i)] == how.padding) continue;
      std::copy_n(in.data() + i * width, width, rows.data() + m * width);
      at[m++] = i;
    }
    if (m == 0) break;
    kernels::parallel_gemm(Trans::no, Trans::yes, m, vocabulary, width, rows.data(), width, weight.data(), width, 0.0F,
                           z.data(), vocabulary);
    row_kernels.add_bias(z.data(), bias.value().data(), z.data(), m, vocabulary);
    row_kernels.log_softmax(z.data(), z.data(), m, vocabulary);
    for (std::int64_t r = 0; r < m; ++r) {
      float* row = z.data() + r * vocabulary;
      const std::int32_t t = targets[static_cast<std::size_t>(at[r])];
      const double nll = -static_cast<double>(row[t]);
      out.nll += nll;
      if (e > 0) {
        float total = 0;
        row_kernels.row_sums(row, &total, 1, vocabulary);
        loss += (1 - e) * nll - static_cast<double>(spread) * total;
      } else {
        loss += nll;
      }
      if (how.count_correct && largest(row, vocabulary) == row[t]) ++out.correct;
    }
    out.tokens += m;
    if (!learns) continue;
    math.exp(z.data(), z.data(), static_cast<std::size_t>(m * vocabulary));
    if (e > 0) row_kernels.add_bias(z.data(), smoothing.data(), z.data(), m, vocabulary);
    for (std::int64_t r = 0; r < m; ++r) {
      z.data()[r * vocabulary + targets[static_cast<std::size_t>(at[r])]] -= 1 - e;
    }
    kernels::parallel_gemm(Trans::no, Trans::no, m, width, vocabulary, z.data(), vocabulary, weight.data(), width, 0.0F,
                           drows.data(), width);
    for (std::int64_t r = 0; r < m; ++r) std::copy_n(drows.data() + r * width, width, dx.data() + at[r] * width);
    kernels::parallel_gemm(Trans::yes, Trans::no, vocabulary, width, m, z.data(), vocabulary, rows.data(), width,
                           first ? 0.0F : 1.0F, dw.data(), width);
    row_kernels.column_sums(z.data(), db.data(), m, vocabulary);
    first = false;
  }
  if (learns && first) dw.fill(0.0F);
  out.loss =
      record(Tensor::full({}, static_cast<float>(loss)), {x, w, bias}, [x, w, bias, dx, dw, db](const Tensor& dl) {
        scale_and_pass(x, dx, dl.item());
        scale_and_pass(w, dw, dl.item());
        scale_and_pass(bias, db, dl.item());
      });
  return out;
}

}  // namespace fovea
