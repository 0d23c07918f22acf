#include "attention/tiled/fused_path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "attention/rows/rows.hpp"
#include "attention/tiled/fused.hpp"
#include "fovea/error.hpp"

namespace fovea::attention {
namespace {

template <class T>
HeadArray<T> array(const View& view, bool add = false) {
  return {view.data, view.batch, view.head, view.row, add};
}

FusedAttention fused(const Plan& plan, const View& out, const Tensor& stats, Tensor& slopes) {
  FusedAttention f;
  f.shape = {plan.batch, plan.heads, plan.kv_heads, plan.queries, plan.keys, plan.dim, plan.value_dim};
  f.q = array<const float>(plan.q);
  f.k = array<const float>(plan.k);
  f.v = array<const float>(plan.v);
  f.scale = plan.scale / plan.temperature;
  f.w = plan.kind == Kind::additive ? plan.w : nullptr;
  f.softcap = plan.softcap;
  f.modifiers = plan.modifiers ? &*plan.modifiers : nullptr;
  f.sinks = plan.sinks ? plan.sinks.data() : nullptr;
  f.visibility = plan.visibility;
  if (plan.alibi && plan.temperature != 1.0F) {
    slopes = plan.alibi.clone();
    for (float& slope : slopes.values()) slope /= plan.temperature;
    f.visibility.alibi_slopes = slopes.data();
  }
  f.dropout = {plan.dropout, plan.dropout_seed, 0};
  f.out = array<float>(out);
  f.stats = stats.data();
  return f;
}

// A gradient that may be written at once, or, where the same value is another input too, later.
struct Target {
  Var input;
  Tensor tensor;
  bool add = false, later = false;

  Target(const Plan& plan, int which, bool zero) {
    if (!plan.wants_grad(which)) return;
    input = plan.input(which);
    for (int earlier = 0; earlier < which; ++earlier) {
      later |= plan.wants_grad(earlier) && plan.input(earlier).value().data() == input.value().data();
    }
    if (later) {
      tensor = Tensor::empty(input.shape());
    } else {
      const GradTarget target = input.grad_target();
      tensor = target.tensor;
      add = target.add;
    }
    if (zero && !add) tensor.fill(0.0F);
  }
  void finish() const {
    if (later) input.accumulate(tensor);
  }
};

// ln of the sum of each query, from its peak and mass; and what is in it of a sink. `body` is called as
// body(b, h, i, log_sum, share of the sink).
template <class Body>
void over_sums(const Plan& plan, const Tensor& stats, const Body& body) {
  constexpr double kLn2 = 0.69314718055994530942;
  for (Int b = 0; b < plan.batch; ++b) {
    for (Int h = 0; h < plan.heads; ++h) {
      const float* peak = stats.data() + (b * plan.heads + h) * 2 * plan.queries;
      for (Int i = 0; i < plan.queries; ++i) {
        const auto mass = static_cast<double>(peak[plan.queries + i]);
        const double log_sum = mass == 0 ? -std::numeric_limits<double>::infinity()
                                         : (static_cast<double>(peak[i]) + std::log2(mass)) * kLn2;
        const double sink = plan.sinks ? std::exp(static_cast<double>(plan.sinks.data()[h]) - log_sum) : 0;
        body(b, h, i, log_sum, sink);
      }
    }
  }
}

// dsink = sum over queries of (dlog_sum - dcontext . context) times the sink's share of the sum.
void add_sink_gradient(const Plan& plan, const View& context, const Tensor& stats, const View& dcontext,
                       const float* dlog_sum, float* to) {
  std::vector<double> sums(static_cast<std::size_t>(plan.heads), 0);
  over_sums(plan, stats, [&](Int b, Int h, Int i, double, double share) {
    const float* y = context.at(b, h, i);
    const float* dy = dcontext.at(b, h, i);
    double slope = dlog_sum == nullptr ? 0 : dlog_sum[(b * plan.heads + h) * plan.queries + i];
    for (Int e = 0; e < plan.value_dim; ++e) slope -= static_cast<double>(y[e]) * static_cast<double>(dy[e]);
    sums[static_cast<std::size_t>(h)] += share * slope;
  });
  for (Int h = 0; h < plan.heads; ++h) to[h] += static_cast<float>(sums[static_cast<std::size_t>(h)]);
}

// Modifiers run inside kernels, which see no exceptions: what one threw is thrown here, and NaN is an error.
void check_modifiers(const Plan& plan, const Tensor& stats) {
  if (!plan.modifiers) return;
  plan.modifiers->rethrow();
  const Int heads = plan.batch * plan.heads;
  for (Int at = 0; at < heads; ++at) {
    const float* mass = stats.data() + (2 * at + 1) * plan.queries;
    for (Int i = 0; i < plan.queries; ++i) {
      if (std::isfinite(mass[i])) continue;
      std::string names;
      for (const auto& one : plan.modifiers->list()) names += (names.empty() ? "" : ", ") + one->name();
      throw Error(
          fmt::format("attend: the scores of query {} are not finite after {}: a modifier must return finite numbers "
                      "for finite scores",
                      i, names));
    }
  }
}

}  // namespace

bool fits_tiles(const Plan& plan, bool learns) {
  const bool score = plan.kind == Kind::dot || (plan.kind == Kind::additive && plan.activation == Activation::tanh);
  const bool biased = static_cast<bool>(plan.visibility.one_bias());
  const bool plain = !plan.local && !plan.shaw_k && !plan.shaw_v && !plan.has_edges() &&
                     !(plan.visibility.bias && plan.visibility.distance_bias);
  const bool cool =
      plan.temperature == 1.0F || (plan.kind == Kind::dot && !biased && !plan.changes_scores() && !plan.sinks);
  const bool mask = !plan.visibility.mask || plan.visibility.mask.j == 1;
  const bool something = std::min({plan.batch, plan.heads, plan.queries, plan.keys, plan.dim, plan.value_dim}) > 0;
  return something && std::holds_alternative<normalizer::Softmax>(plan.normalizer) && score && plain && cool && mask &&
         !(learns && plan.want_weights);
}

Tensor fused_path_forward(const Plan& plan, const Outputs& out) {
  Tensor stats = Tensor::empty({plan.batch, plan.heads, 2, plan.queries});
  Tensor slopes;
  const FusedAttention f = fused(plan, out.context, stats, slopes);
  fused_forward(f);
  check_modifiers(plan, stats);
  if (out.log_sum) {
    over_sums(plan, stats, [&](Int b, Int h, Int i, double log_sum, double) {
      out.log_sum.data()[(b * plan.heads + h) * plan.queries + i] = static_cast<float>(log_sum);
    });
  }
  const bool chosen = !plan.row_slot.empty() || !plan.head_slot.empty();
  FusedWeights wanted{.rows = {0, plan.queries}};
  if (out.weights && !chosen) wanted.weights = out.weights.data();
  if (out.weights && chosen) rows_forward(plan, {.weights = out.weights});
  wanted.top = plan.top;
  wanted.top_index = out.top_index;
  wanted.top_weight = out.top_weight.data();
  wanted.column_sums = out.column_sums.data();
  wanted.entropy = out.entropy.data();
  if (wanted.weights != nullptr || wanted.top_index != nullptr || wanted.column_sums != nullptr ||
      wanted.entropy != nullptr) {
    fused_weights(f, wanted);
  }
  return stats;
}

void fused_path_backward(const Plan& plan, const View& context, const Tensor& stats, const View& dcontext,
                         const Tensor& dlog_sum) {
  Tensor slopes;
  const FusedAttention f = fused(plan, context, stats, slopes);
  const Target dq(plan, Input::query, false), dk(plan, Input::key, false), dv(plan, Input::value, false),
      dw(plan, Input::vector, true), dsink(plan, Input::sink, true),
      dbias(plan, plan.visibility.bias ? Input::bias : Input::distance_bias, true);
  FusedGrads g;
  g.dout = array<const float>(dcontext);
  if (dq.tensor) g.dq = array<float>(plan.query_view(dq.tensor), dq.add);
  if (dk.tensor) g.dk = array<float>(plan.key_view(dk.tensor), dk.add);
  if (dv.tensor) g.dv = array<float>(plan.value_view(dv.tensor), dv.add);
  g.dw = dw.tensor.data();
  g.dbias = dbias.tensor.data();
  std::vector<Target> learned;
  for (std::size_t p = plan.first_modifier_input; plan.modifiers && p < plan.inputs.size(); ++p) {
    learned.emplace_back(plan, static_cast<int>(p), true);
    g.modifiers.push_back({plan.inputs[p].size(), learned.back().tensor.data()});
  }
  if (dlog_sum) g.dlog_sum = dlog_sum.data();
  fused_backward(f, g);
  if (plan.modifiers) plan.modifiers->rethrow();
  if (dsink.tensor) {
    add_sink_gradient(plan, context, stats, dcontext, dlog_sum ? dlog_sum.data() : nullptr, dsink.tensor.data());
  }
  for (const Target* target : {&dq, &dk, &dv, &dw, &dsink, &dbias}) target->finish();
  for (const Target& target : learned) target.finish();
}

}  // namespace fovea::attention
