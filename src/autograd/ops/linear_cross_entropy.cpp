// output layer and label-smoothed cross-entropy in one: the logits of all rows never exist at once
//   forward   z_i = W x_i + b,  L = sum_i lse(z_i) - (1 - e) z_i[t_i] - e mean(z_i)      over rows that are not padding
//   backward  dz_i = softmax(z_i) - (1 - e) onehot(t_i) - e / V
//             dx_i = W' dz_i,  dW = sum_i dz_i x_i',  db = sum_i dz_i
// With R-Drop (Liang et al. 2021) each token comes twice, under two dropout masks, as p and q:
//   forward   L += a/2 sum [KL(p, q) + KL(q, p)]
//   backward  dz_p += a/2 [p (log p/q - KL(p, q)) + p - q],  dz_q the other way round
// With dz_i at hand in the forward, its products are made there, block by block; the backward only scales them by dL.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "autograd/cross_entropy/output_layer.hpp"
#include "fovea/error.hpp"
#include "fovea/ops.hpp"
#include "fovea/threads.hpp"
#include "kernels/kernels.hpp"
#include "kernels/math.hpp"

namespace fovea {
namespace {

constexpr std::int64_t kPad = 16;  // keeps the rows of x out of each other's cache sets

void pass(const Var& to, const Tensor& gradient, float factor) {
  if (!to.requires_grad()) return;
  if (factor != 1.0F) {
    parallel_for(gradient.size(), 1 << 16, [&](std::int64_t begin, std::int64_t end) {
      float* part = gradient.data() + begin;
      kernels::active().math->scale(factor, part, part, static_cast<std::size_t>(end - begin));
    });
  }
  to.accumulate(gradient);
}

}  // namespace

CrossEntropy linear_cross_entropy(const Var& x, const Var& w, const Var& bias, std::span<const std::int32_t> targets,
                                  const CrossEntropyOptions& how) {
  const std::int64_t width = w.rank() == 2 ? w.dim(how.transposed ? 0 : 1) : 0;
  const std::int64_t vocabulary = w.rank() == 2 ? w.dim(how.transposed ? 1 : 0) : 0;
  if (!(how.label_smoothing >= 0 && how.label_smoothing < 1)) {
    throw UsageError(
        fmt::format("linear_cross_entropy: label smoothing {}, 0 up to, but not, 1 is needed", how.label_smoothing));
  }
  if (!(how.r_drop >= 0 && std::isfinite(how.r_drop))) {
    throw UsageError(fmt::format("linear_cross_entropy: R-Drop with weight {}, 0 or more is needed", how.r_drop));
  }
  if (w.rank() != 2 || x.rank() < 1 || width == 0 || x.dim(-1) != width ||
      x.size() != static_cast<std::int64_t>(targets.size()) * width || (bias && !(bias.shape() == Shape{vocabulary}))) {
    throw ShapeError(fmt::format("linear_cross_entropy: x {}, weight {}{}, {} targets", x.shape().text(),
                                 w.shape().text(), bias ? fmt::format(", bias {}", bias.shape().text()) : std::string(),
                                 targets.size()));
  }
  const std::size_t half = targets.size() / 2;
  if (how.r_drop > 0 && !std::equal(targets.begin() + static_cast<std::ptrdiff_t>(half), targets.end(), targets.begin(),
                                    targets.begin() + static_cast<std::ptrdiff_t>(half))) {
    throw UsageError(fmt::format(
        "linear_cross_entropy: R-Drop wants the same targets twice; of {}, the second half differs from the first",
        targets.size()));
  }
  ArenaVector<std::int64_t> at;  // rows that are not padding
  ArenaVector<std::int32_t> wanted;
  at.reserve(targets.size());
  wanted.reserve(targets.size());
  for (std::size_t i = 0; i < (how.r_drop > 0 ? half : targets.size()); ++i) {
    if (targets[i] == how.padding) continue;
    if (targets[i] < 0 || targets[i] >= vocabulary) {
      throw Error(fmt::format("linear_cross_entropy: target {} in a vocabulary of {}", targets[i], vocabulary));
    }
    at.push_back(static_cast<std::int64_t>(i));
    wanted.push_back(targets[i]);
    if (how.r_drop > 0) {  // its twin beside it
      at.push_back(static_cast<std::int64_t>(i + half));
      wanted.push_back(targets[i]);
    }
  }
  const auto rows = static_cast<std::int64_t>(at.size());
  const Tensor in = x.value().contiguous();
  const Tensor weight = w.value().contiguous();
  const Tensor b = bias ? bias.value().contiguous() : Tensor();
  const Tensor gathered = Tensor::empty({rows, width + kPad});
  for (std::int64_t r = 0; r < rows; ++r) {
    std::copy_n(in.data() + at[static_cast<std::size_t>(r)] * width, width, gathered.data() + r * (width + kPad));
  }

  const bool learns = recording({x, w, bias});
  const Tensor dx = learns ? Tensor::empty(x.shape()) : Tensor();
  const Tensor drows = learns ? Tensor::empty({rows, width}) : Tensor();  // of the rows that count
  const Tensor dw = learns ? Tensor::empty(w.shape()) : Tensor();
  const Tensor db = learns && b ? Tensor::empty(b.shape()) : Tensor();
  OutputLoss result;
  if (rows > 0) {
    result = output_loss({.rows = rows,
                          .width = width,
                          .vocabulary = vocabulary,
                          .x = gathered.data(),
                          .x_stride = width + kPad,
                          .weights = weight.data(),
                          .transposed = how.transposed,
                          .bias = b ? b.data() : nullptr,
                          .targets = wanted,
                          .label_smoothing = how.label_smoothing,
                          .r_drop = how.r_drop,
                          .dx = learns ? drows.data() : nullptr,
                          .dweights = learns ? dw.data() : nullptr,
                          .dbias = db ? db.data() : nullptr});
  } else if (learns) {
    dw.fill(0.0F);
    if (db) db.fill(0.0F);
  }
  if (learns) {
    for (std::int64_t r = 0; r < rows; ++r) {
      std::copy_n(drows.data() + r * width, width, dx.data() + at[static_cast<std::size_t>(r)] * width);
    }
    for (std::size_t i = 0; i < targets.size(); ++i) {
      if (targets[i] == how.padding) std::fill_n(dx.data() + static_cast<std::int64_t>(i) * width, width, 0.0F);
    }
  }
  CrossEntropy out;
  out.nll = result.nll;
  out.tokens = rows;
  out.correct = how.count_correct ? result.correct : 0;
  out.loss = record(Tensor::full({}, static_cast<float>(result.loss)), {x, w, bias},
                    [x, w, bias, dx, dw, db](const Tensor& dl) {
                      pass(x, dx, dl.item());
                      pass(w, dw, dl.item());
                      if (db) pass(bias, db, dl.item());
                    });
  return out;
}

}  // namespace fovea
