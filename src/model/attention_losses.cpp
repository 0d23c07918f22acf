// doubly stochastic   forward   y = w / (L H) sum_blhi (1 - sum_t a_blhti)^2
//                      backward  da_blhti = -2 w / (L H) (1 - sum_t a_blhti) dy
// sampled attention   forward   y = sum_bt -r (R_b - B) log a_bt,s(bt) + e sum_j a_btj log a_btj + p sum_b (B - R_b)^2
//                      backward  da_bt,s = -r (R_b - B) / a_bt,s dy;  da_btj += e (log a_btj + 1) dy
//                                dB = 2 p sum_b (B - R_b) dy
#include "model/attention_losses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/error.hpp"
#include "fovea/ops.hpp"

namespace fovea {
namespace {

constexpr float kSmallest = 1e-8F;      // a probability below counts as this
constexpr float kBaselinePull = 1e-8F;  // weight of the baseline's own loss

Var layer_loss(const Var& cross, std::span<const std::int64_t> lengths, float weight) {
  const Tensor a = cross.value().contiguous();
  const std::int64_t batch = a.dim(0), heads = a.dim(1), steps = a.dim(2), keys = a.dim(3);
  if (static_cast<std::int64_t>(lengths.size()) != batch) {
    throw ShapeError(
        fmt::format("doubly_stochastic_loss: {} lengths for weights {}", lengths.size(), a.shape().text()));
  }
  const Tensor missing = Tensor::zeros({batch, heads, keys});  // 1 - what each place got
  double total = 0;
  for (std::int64_t r = 0; r < batch * heads; ++r) {
    float* m = missing.data() + r * keys;
    std::fill_n(m, lengths[static_cast<std::size_t>(r / heads)], 1.0F);
    const float* row = a.data() + r * steps * keys;
    for (std::int64_t t = 0; t < steps; ++t, row += keys) {
      for (std::int64_t i = 0; i < keys; ++i) m[i] -= row[i];
    }
    for (std::int64_t i = 0; i < keys; ++i) total += static_cast<double>(m[i]) * m[i];
  }
  return record(Tensor::full({}, static_cast<float>(weight * total)), {cross},
                [cross, missing, weight, steps, keys](const Tensor& dy) {
                  const GradTarget to = cross.grad_target();
                  const float factor = -2 * weight * dy.item();
                  const std::int64_t rows = missing.size() / std::max<std::int64_t>(1, keys);
                  for (std::int64_t r = 0; r < rows; ++r) {
                    const float* m = missing.data() + r * keys;
                    float* d = to.tensor.data() + r * steps * keys;
                    for (std::int64_t t = 0; t < steps; ++t, d += keys) {
                      for (std::int64_t i = 0; i < keys; ++i) d[i] = factor * m[i] + (to.add ? d[i] : 0.0F);
                    }
                  }
                });
}

}  // namespace

Var doubly_stochastic_loss(const std::vector<Var>& cross, std::span<const std::int64_t> lengths, float weight) {
  Var total;
  for (const Var& layer : cross) {
    const float share = weight / static_cast<float>(static_cast<std::int64_t>(cross.size()) * layer.dim(1));
    const Var one = layer_loss(layer, lengths, share);
    total = total ? add(total, one) : one;
  }
  return total;
}

Var sampled_attention_loss(const Var& weights, const Tensor& read, const Tensor& rewards, const Var& baseline,
                           const SampledAttention& how) {
  const Tensor a = weights.value().contiguous();
  const std::int64_t batch = a.dim(0), steps = a.dim(2), keys = a.dim(3);
  if (!(read.shape() == Shape{batch, steps, keys}) || !(rewards.shape() == Shape{batch})) {
    throw ShapeError(fmt::format("sampled_attention_loss: read {} and rewards {} for weights {}", read.shape().text(),
                                 rewards.shape().text(), a.shape().text()));
  }
  const float base = kBaselineScale * baseline.value().item();
  const Tensor da = Tensor::zeros(a.shape());
  double total = 0;
  double pull = 0;
  for (std::int64_t b = 0; b < batch; ++b) {
    const float advantage = rewards.data()[b] - base;
    total += static_cast<double>(kBaselinePull) * advantage * advantage;
    pull -= 2.0 * kBaselinePull * advantage * kBaselineScale;
    for (std::int64_t i = b * steps * keys; i < (b + 1) * steps * keys; ++i) {
      const float p = a.data()[i];
      if (p <= 0) continue;  // padding, or so unlikely that it was never read
      const float log_p = std::log(std::max(p, kSmallest));
      if (read.data()[i] > 0) {
        total -= static_cast<double>(how.reward) * advantage * log_p;
        da.data()[i] -= how.reward * advantage / std::max(p, kSmallest);
      }
      total += static_cast<double>(how.entropy) * p * log_p;
      da.data()[i] += how.entropy * (log_p + 1);
    }
  }
  return record(Tensor::full({}, static_cast<float>(total)), {weights, baseline},
                [weights, baseline, da, pull](const Tensor& dy) {
                  if (weights.requires_grad()) {
                    for (float& v : da.values()) v *= dy.item();
                    weights.accumulate(da);
                  }
                  if (baseline.requires_grad()) {
                    baseline.accumulate(Tensor::full({1}, static_cast<float>(pull) * dy.item()));
                  }
                });
}

}  // namespace fovea
