// copy_mixture   forward   p[x] = g P[x] + (1 - g) sum_{j: source_j = x} w_j
//                backward  dP[x] = g dp[x],  dw_j = (1 - g) dp[source_j],
//                          dg = sum_x dp[x] P[x] - sum_j dp[source_j] w_j
// pointing_loss  forward   y = -mean log p[target]          backward  dp[target] = -dy / (n p[target])
#include "fovea/attention/pointer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attention/mechanisms/weights.hpp"
#include "attention/plan.hpp"
#include "attention/project.hpp"
#include "fovea/error.hpp"
#include "fovea/ops.hpp"

namespace fovea {

using attention::Int;
using attention::Ints;

namespace {
constexpr float kSmallest = 1e-30F;  // a probability below counts as this: its logarithm stays finite
}

Pointer::Pointer(Parameters& p, const std::string& name, const PointerOptions& options) {
  const Int query_dim = options.query_dim, key_dim = options.key_dim, hidden = options.hidden;
  attention::require_sizes(name, {{"query_dim", query_dim}, {"key_dim", key_dim}, {"hidden", hidden}});
  w = p.get(name + ".w", {hidden, query_dim}, Init::xavier);
  u = p.get(name + ".u", {hidden, key_dim}, Init::xavier);
  v = attention::dot_vectors(p, name + ".v", {hidden});
}

Var Pointer::operator()(const Var& query, const Var& key, std::span<const Int> lengths, const Mask& mask) const {
  return attend(query, key, key,
                {.score = score::Additive{.w = w, .u = u, .v = v},
                 .lengths = lengths,
                 .mask = mask,
                 .want = {.weights = true}})
      .weights;
}

Var copy_mixture(const Var& vocabulary, const Var& gate, const Var& weights, std::span<const Int> source, Int size) {
  if (vocabulary.rank() != 3 || weights.rank() != 3 || !(gate.shape() == Shape{vocabulary.dim(0), vocabulary.dim(1)}) ||
      weights.dim(0) != vocabulary.dim(0) || weights.dim(1) != vocabulary.dim(1)) {
    throw ShapeError(
        fmt::format("copy_mixture: vocabulary {}, gate {}, weights {}: expected [B,T,V], [B,T] and [B,T,S]",
                    vocabulary.shape().text(), gate.shape().text(), weights.shape().text()));
  }
  const Int batch = vocabulary.dim(0), steps = vocabulary.dim(1), known = vocabulary.dim(2), length = weights.dim(2);
  if (static_cast<Int>(source.size()) != batch * length || size < known) {
    throw ShapeError(fmt::format("copy_mixture: {} source ids for weights {}, size {} for {} words", source.size(),
                                 weights.shape().text(), size, known));
  }
  if (std::any_of(source.begin(), source.end(), [size](Int id) { return id >= size; })) {
    throw UsageError(fmt::format("copy_mixture: a source id is not below size {}", size));
  }
  const Tensor p = vocabulary.value().contiguous(), g = gate.value().contiguous(), w = weights.value().contiguous();
  const Tensor y = Tensor::zeros({batch, steps, size});
  for (Int r = 0; r < batch * steps; ++r) {
    float* row = y.data() + r * size;
    for (Int x = 0; x < known; ++x) row[x] = g.data()[r] * p.data()[r * known + x];
    for (Int j = 0; j < length; ++j) {
      const Int id = source[static_cast<std::size_t>(r / steps * length + j)];
      if (id >= 0) row[id] += (1 - g.data()[r]) * w.data()[r * length + j];
    }
  }
  const Ints ids(source.begin(), source.end());
  return record(y, {vocabulary, gate, weights},
                [vocabulary, gate, weights, p, g, w, ids, steps, known, length, size](const Tensor& dy) {
                  const Tensor dp = Tensor::empty(p.shape()), dg = Tensor::zeros(g.shape()),
                               dw = Tensor::zeros(w.shape());
                  for (Int r = 0; r < g.size(); ++r) {
                    const float* d = dy.data() + r * size;
                    double sum = 0;
                    for (Int x = 0; x < known; ++x) {
                      dp.data()[r * known + x] = g.data()[r] * d[x];
                      sum += static_cast<double>(d[x]) * p.data()[r * known + x];
                    }
                    for (Int j = 0; j < length; ++j) {
                      const Int id = ids[static_cast<std::size_t>(r / steps * length + j)];
                      if (id < 0) continue;
                      dw.data()[r * length + j] = (1 - g.data()[r]) * d[id];
                      sum -= static_cast<double>(d[id]) * w.data()[r * length + j];
                    }
                    dg.data()[r] = static_cast<float>(sum);
                  }
                  vocabulary.accumulate(dp);
                  gate.accumulate(dg);
                  weights.accumulate(dw);
                });
}

CopyGate::CopyGate(Parameters& p, const std::string& name, const CopyGateOptions& options) {
  attention::require_sizes(
      name, {{"context_dim", options.context_dim}, {"state_dim", options.state_dim}, {"input_dim", options.input_dim}});
  w_context = p.get(name + ".w_context", {1, options.context_dim}, Init::xavier);
  w_state = p.get(name + ".w_state", {1, options.state_dim}, Init::xavier);
  w_input = p.get(name + ".w_input", {1, options.input_dim}, Init::xavier);
  b = p.get(name + ".b", {1}, Init::zeros);
}

Var CopyGate::operator()(const Var& context, const Var& state, const Var& input) const {
  const Var sum = add(add(attention::project(context, w_context, b), attention::project(state, w_state, {})),
                      attention::project(input, w_input, {}));
  return sigmoid(reshape(sum, {context.dim(0), context.dim(1)}));
}

Var pointing_loss(const Var& probabilities, std::span<const Int> targets) {
  const Int n = probabilities.dim(-1);
  const Int rows = n == 0 ? 0 : probabilities.size() / n;
  if (static_cast<Int>(targets.size()) != rows) {
    throw ShapeError(
        fmt::format("pointing_loss: {} targets for probabilities {}", targets.size(), probabilities.shape().text()));
  }
  if (std::any_of(targets.begin(), targets.end(), [n](Int t) { return t >= n; })) {
    throw UsageError(fmt::format("pointing_loss: a target is not below {}", n));
  }
  const Tensor p = probabilities.value().contiguous();
  const Ints chosen(targets.begin(), targets.end());
  const auto counted = std::count_if(chosen.begin(), chosen.end(), [](Int t) { return t >= 0; });
  const auto share = 1.0F / static_cast<float>(std::max<std::ptrdiff_t>(1, counted));
  double total = 0;
  for (Int r = 0; r < rows; ++r) {
    const Int t = chosen[static_cast<std::size_t>(r)];
    if (t >= 0) total -= std::log(static_cast<double>(std::max(p.data()[r * n + t], kSmallest)));
  }
  return record(Tensor::full({}, static_cast<float>(total) * share), {probabilities},
                [probabilities, p, chosen, n, rows, share](const Tensor& dy) {
                  const Tensor dp = Tensor::zeros(p.shape());
                  for (Int r = 0; r < rows; ++r) {
                    const Int t = chosen[static_cast<std::size_t>(r)];
                    if (t >= 0) dp.data()[r * n + t] = -dy.item() * share / std::max(p.data()[r * n + t], kSmallest);
                  }
                  probabilities.accumulate(dp);
                });
}

}  // namespace fovea
