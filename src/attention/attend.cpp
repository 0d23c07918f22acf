#include "fovea/attention/attend.hpp"

#include <fmt/format.h>

#include "attention/prepare.hpp"
#include "attention/rows/rows.hpp"
#include "attention/tiled/fused_path.hpp"
#include "fovea/error.hpp"

namespace fovea {
namespace attention {
namespace {

// [B, x...] for a query of rank 3 without heads, else [B, H, x...].
Shape per_query(const Plan& plan, bool headless, Int heads, std::initializer_list<Int> rest) {
  Shape shape{plan.batch};
  if (!headless) shape.push_back(heads);
  for (const Int size : rest) shape.push_back(size);
  return shape;
}

struct Made {
  Tensor context, weights;
  Tensor logs;   // the log-probability of a sampled key, or softmax's log-sum; they exclude each other
  Tensor stats;  // empty: by rows
};

Made compute(const Plan& plan, bool tiles, Attended& result, const Shape& context_shape, bool headless) {
  Made made;
  Outputs out;
  made.context = Tensor::empty(context_shape);
  out.context = plan.query_view(made.context);
  if (plan.want_weights) {
    const auto edges = static_cast<Int>(plan.edge_column.size());
    made.weights =
        Tensor::empty(plan.has_edges() ? per_query(plan, headless, plan.weight_heads, {edges})
                                       : per_query(plan, headless, plan.weight_heads, {plan.weight_rows, plan.keys}));
    out.weights = made.weights;
  }
  if (plan.sampled()) {
    made.logs = Tensor::empty(per_query(plan, headless, plan.heads, {plan.queries}));
    out.log_probability = {made.logs.data(), plan.heads * plan.queries, plan.queries, 1};
  }
  if (plan.want_log_sum) out.log_sum = made.logs = Tensor::empty(per_query(plan, headless, plan.heads, {plan.queries}));
  if (plan.top > 0) {
    result.top.weight = Tensor::empty(per_query(plan, headless, plan.heads, {plan.queries, plan.top}));
    result.top.index.resize(static_cast<std::size_t>(result.top.weight.size()));
    out.top_weight = result.top.weight;
    out.top_index = result.top.index.data();
  }
  if (plan.want_column_sums) {
    result.column_sums = out.column_sums = Tensor::empty(per_query(plan, headless, plan.heads, {plan.keys}));
  }
  if (plan.want_entropy) {
    result.entropy = out.entropy = Tensor::empty(per_query(plan, headless, plan.heads, {plan.queries}));
  }
  if (plan.want_scores) {
    result.scores = out.scores = Tensor::empty(per_query(plan, headless, plan.heads, {plan.queries, plan.keys}));
    result.masked = out.masked = Tensor::empty(result.scores.shape());
  }
  if (tiles) {
    made.stats = fused_path_forward(plan, out);
  } else {
    rows_forward(plan, out);
  }
  return made;
}

Attended attend_by(const Var& query, const Var& key, const Var& value, const AttendOptions& how, bool may_tile) {
  const detail::Ref<Plan> plan = prepare(query, key, value, how);
  const bool learns = detail::recording(plan->inputs);
  if (learns && plan->editor != nullptr) throw UsageError("attend: editor: edited weights have no gradient");
  if (learns && plan->modifiers) {
    for (const auto& one : plan->modifiers->list()) {
      if (!one->differentiable()) throw UsageError(fmt::format("attend: {} has no backward()", one->name()));
    }
  }
  const bool tiles = may_tile && !plan->want_scores && plan->editor == nullptr && fits_tiles(*plan.get(), learns);
  const bool headless = query.rank() <= 3 && how.heads == 0;
  Shape context_shape = query.shape();
  if (query.rank() == 2) context_shape = {plan->batch, plan->queries, 0};
  context_shape.set(-1, plan->packed_heads * plan->value_dim);
  Attended result;
  const Made made = compute(*plan.get(), tiles, result, context_shape, headless);

  const Tensor context = made.context;
  const Tensor stats = made.stats;
  // Which output is which: context, then the weights and the logs where they are.
  const std::size_t logs_at = made.weights ? 2 : 1;
  const bool has_weights = static_cast<bool>(made.weights);
  const bool has_logs = static_cast<bool>(made.logs);
  const auto walk_back = [plan, context, stats, logs_at, has_weights, has_logs](std::span<const Tensor> grads) {
    Tensor dcontext = grads[0];
    const Tensor dlogs = has_logs ? grads[logs_at] : Tensor();
    if (stats) {
      if (!dcontext) dcontext = Tensor::zeros(context.shape());
      fused_path_backward(*plan.get(), plan->query_view(context), stats, plan->query_view(dcontext), dlogs);
      return;
    }
    const Tensor dweights = has_weights ? grads[1] : Tensor();
    View dlogs_view;
    if (dlogs) dlogs_view = {dlogs.data(), plan->heads * plan->queries, plan->queries, 1};
    rows_backward(*plan.get(), dcontext ? plan->query_view(dcontext) : View{}, dweights, dlogs_view);
  };
  const std::span<const Var> inputs = plan->inputs;
  Var& logs = plan->sampled() ? result.log_probability : result.log_sum;
  if (has_weights && has_logs) {
    record({{&result.context, made.context}, {&result.weights, made.weights}, {&logs, made.logs}}, inputs, walk_back);
  } else if (has_weights) {
    record({{&result.context, made.context}, {&result.weights, made.weights}}, inputs, walk_back);
  } else if (has_logs) {
    record({{&result.context, made.context}, {&logs, made.logs}}, inputs, walk_back);
  } else {
    record({{&result.context, made.context}}, inputs, walk_back);
  }
  return result;
}

}  // namespace

Attended attend_by_rows(const Var& query, const Var& key, const Var& value, const AttendOptions& how) {
  return attend_by(query, key, value, how, false);
}

}  // namespace attention

Attended attend(const Var& query, const Var& key, const Var& value, const AttendOptions& how) {
  return attention::attend_by(query, key, value, how, true);
}

}  // namespace fovea
