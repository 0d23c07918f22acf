// output layer and label-smoothed cross-entropy in one: the logits of all rows never exist at once
//   forward   z_i = W x_i + b,  L = sum_i lse(z_i) - (1 - e) z_i[t_i] - e mean(z_i)      over rows that are not padding
//   backward  dz_i = softmax(z_i) - (1 - e) onehot(t_i) - e / V
//             dx_i = W' dz_i,  dW = sum_i dz_i x_i',  db = sum_i dz_i
// With R-Drop (Liang et al. 2021) each token comes twice, under two dropout masks, as p and q:
//   forward   L += a/2 sum [KL(p, q) + KL(q, p)]
//   backward  dz_p += a/2 [p (log p/q - KL(p, q)) + p - q],  dz_q the other way round
// Mixed with another source of the targets (mixture_cross_entropy), p_i = s_i softmax(z_i)[t_i] + o_i:
//   forward   L = sum_i -(1 - e) log p_i + e (lse(z_i) - mean(z_i))
//   backward  with r_i = s_i softmax(z_i)[t_i] / p_i:  dz_i = ((1 - e) r_i + e) softmax(z_i) - (1 - e) r_i onehot(t_i)
//   - e / V,
//             dlog s_i = -(1 - e) r_i,  dlog o_i = -(1 - e) (1 - r_i)
// With dz_i at hand in the forward, its products are made there, block by block; the backward only scales them by dL.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "autograd/cross_entropy/output_layer.hpp"
#include "fovea/error.hpp"
#include "fovea/mixture.hpp"
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

// Those of the rows that count; empty where there are none.
Tensor gathered_values(const Var& values, const ArenaVector<std::int64_t>& at) {
  if (!values) return {};
  const Tensor in = values.value().contiguous();
  const Tensor out = Tensor::empty({static_cast<std::int64_t>(at.size())});
  for (std::size_t r = 0; r < at.size(); ++r) out.data()[r] = in.data()[at[r]];
  return out;
}

// `mixture` is null for the softmax alone.
CrossEntropy cross_entropy(const char* op, const Var& x, const Var& w, const Var& bias, const Mixture* mixture,
                           std::span<const std::int32_t> targets, const CrossEntropyOptions& how,
                           std::span<float> generated) {
  const std::int64_t width = w.rank() == 2 ? w.dim(how.transposed ? 0 : 1) : 0;
  const std::int64_t vocabulary = w.rank() == 2 ? w.dim(how.transposed ? 1 : 0) : 0;
  if (!(how.label_smoothing >= 0 && how.label_smoothing < 1)) {
    throw UsageError(fmt::format("{}: label smoothing {}, 0 up to, but not, 1 is needed", op, how.label_smoothing));
  }
  if (!(how.r_drop >= 0 && std::isfinite(how.r_drop))) {
    throw UsageError(fmt::format("{}: R-Drop with weight {}, 0 or more is needed", op, how.r_drop));
  }
  if (w.rank() != 2 || x.rank() < 1 || width == 0 || x.dim(-1) != width ||
      x.size() != static_cast<std::int64_t>(targets.size()) * width || (bias && !(bias.shape() == Shape{vocabulary}))) {
    throw ShapeError(fmt::format("{}: x {}, weight {}{}, {} targets", op, x.shape().text(), w.shape().text(),
                                 bias ? fmt::format(", bias {}", bias.shape().text()) : std::string(), targets.size()));
  }
  const std::size_t half = targets.size() / 2;
  if (how.r_drop > 0 && !std::equal(targets.begin() + static_cast<std::ptrdiff_t>(half), targets.end(), targets.begin(),
                                    targets.begin() + static_cast<std::ptrdiff_t>(half))) {
    throw UsageError(fmt::format(
        "{}: R-Drop wants the same targets twice; of {}, the second half differs from the first", op, targets.size()));
  }
  ArenaVector<std::int64_t> at;  // rows that are not padding
  ArenaVector<std::int32_t> wanted;
  at.reserve(targets.size());
  wanted.reserve(targets.size());
  for (std::size_t i = 0; i < (how.r_drop > 0 ? half : targets.size()); ++i) {
    if (targets[i] == how.padding) continue;
    if (targets[i] < 0 || (mixture == nullptr && targets[i] >= vocabulary)) {
      throw Error(fmt::format("{}: target {} in a vocabulary of {}", op, targets[i], vocabulary));
    }
    at.push_back(static_cast<std::int64_t>(i));
    wanted.push_back(targets[i]);
    if (how.r_drop > 0) {  // the second pass of the same row
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

  const Var log_share = mixture != nullptr ? mixture->log_share : Var();
  const Var log_other = mixture != nullptr ? mixture->log_other : Var();
  const Tensor share = gathered_values(log_share, at), other = gathered_values(log_other, at);
  const Tensor parts = mixture != nullptr ? Tensor::empty({rows}) : Tensor();
  const bool learns = recording({x, w, bias, log_share, log_other});
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
                          .log_share = share ? share.data() : nullptr,
                          .log_other = other ? other.data() : nullptr,
                          .dx = learns ? drows.data() : nullptr,
                          .dweights = learns ? dw.data() : nullptr,
                          .dbias = db ? db.data() : nullptr,
                          .generated = parts ? parts.data() : nullptr});
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
  if (!generated.empty()) {
    std::fill(generated.begin(), generated.end(), 0.0F);
    for (std::int64_t r = 0; r < rows; ++r) {
      generated[static_cast<std::size_t>(at[static_cast<std::size_t>(r)])] = parts.data()[r];
    }
  }
  CrossEntropy out;
  out.nll = result.nll;
  out.tokens = rows;
  out.correct = how.count_correct ? result.correct : 0;
  const Tensor value = Tensor::full({}, static_cast<float>(result.loss));
  if (mixture == nullptr) {
    out.loss = record(value, {x, w, bias}, [x, w, bias, dx, dw, db](const Tensor& dl) {
      pass(x, dx, dl.item());
      pass(w, dw, dl.item());
      if (db) pass(bias, db, dl.item());
    });
    return out;
  }
  out.loss = record(
      value, {x, w, bias, log_share, log_other},
      [x, w, bias, log_share, log_other, dx, dw, db, parts, at, kept = 1 - how.label_smoothing](const Tensor& dl) {
        pass(x, dx, dl.item());
        pass(w, dw, dl.item());
        if (db) pass(bias, db, dl.item());
        const Tensor dshare = Tensor::zeros(log_share.shape()), dother = Tensor::zeros(log_other.shape());
        for (std::size_t r = 0; r < at.size(); ++r) {
          const float part = parts.data()[r];
          dshare.data()[at[r]] = -dl.item() * kept * part;
          dother.data()[at[r]] = -dl.item() * kept * (1 - part);
        }
        log_share.accumulate(dshare);
        log_other.accumulate(dother);
      });
  return out;
}

}  // namespace

CrossEntropy linear_cross_entropy(const Var& x, const Var& w, const Var& bias, std::span<const std::int32_t> targets,
                                  const CrossEntropyOptions& how) {
  return cross_entropy("linear_cross_entropy", x, w, bias, nullptr, targets, how, {});
}

CrossEntropy mixture_cross_entropy(const Var& x, const Var& w, const Var& bias, const Mixture& mixture,
                                   std::span<const std::int32_t> targets, const CrossEntropyOptions& how,
                                   std::span<float> generated) {
  constexpr const char* op = "mixture_cross_entropy";
  if (how.r_drop != 0) throw UsageError(fmt::format("{}: it has no R-Drop", op));
  const auto count = static_cast<std::int64_t>(targets.size());
  if (mixture.log_share.size() != count || mixture.log_other.size() != count ||
      (!generated.empty() && generated.size() != targets.size())) {
    throw ShapeError(fmt::format("{}: shares {} and {} for {} targets", op, mixture.log_share.shape().text(),
                                 mixture.log_other.shape().text(), count));
  }
  return cross_entropy(op, x, w, bias, &mixture, targets, how, generated);
}

}  // namespace fovea
