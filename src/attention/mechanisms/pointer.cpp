// pointing_loss  forward   y = -mean log p[target]   backward  dp[target] = -dy / (n p[target])
#include "fovea/attention/pointer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attention/mechanisms/weights.hpp"
#include "attention/plan.hpp"
#include "fovea/error.hpp"

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
