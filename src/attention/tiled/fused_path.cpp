#include "attention/tiled/fused_path.hpp"

#include <algorithm>

#include "attention/rows/rows.hpp"
#include "attention/tiled/fused.hpp"

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

}  // namespace

bool fits_tiles(const Plan& plan, bool learns) {
  const bool score = plan.kind == Kind::dot || (plan.kind == Kind::additive && plan.activation == Activation::tanh);
  const bool biased = static_cast<bool>(plan.visibility.one_bias());
  const bool plain = !plan.local && !plan.shaw_k && !plan.shaw_v && !plan.has_edges() &&
                     !(plan.visibility.bias && plan.visibility.distance_bias);
  const bool cool = plan.temperature == 1.0F || (plan.kind == Kind::dot && !biased);
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

void fused_path_backward(const Plan& plan, const View& context, const Tensor& stats, const View& dcontext) {
  Tensor slopes;
  const FusedAttention f = fused(plan, context, stats, slopes);
  const Target dq(plan, Input::query, false), dk(plan, Input::key, false), dv(plan, Input::value, false),
      dw(plan, Input::vector, true), dbias(plan, plan.visibility.bias ? Input::bias : Input::distance_bias, true);
  FusedGrads g;
  g.dout = array<const float>(dcontext);
  if (dq.tensor) g.dq = array<float>(plan.query_view(dq.tensor), dq.add);
  if (dk.tensor) g.dk = array<float>(plan.key_view(dk.tensor), dk.add);
  if (dv.tensor) g.dv = array<float>(plan.value_view(dv.tensor), dv.add);
  g.dw = dw.tensor.data();
  g.dbias = dbias.tensor.data();
  fused_backward(f, g);
  for (const Target* target : {&dq, &dk, &dv, &dw, &dbias}) target->finish();
}

}  // namespace fovea::attention
