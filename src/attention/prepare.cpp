#include "attention/prepare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attention/block_map.hpp"
#include "attention/relative_bias.hpp"
#include "autograd/dropout.hpp"
#include "fovea/error.hpp"

namespace fovea::attention {
namespace {

// A tensor whose rows can be walked: the last axis packed.
Tensor rows_packed(const Tensor& t) {
  return t.rank() == 0 || t.stride(-1) == 1 || t.dim(-1) <= 1 ? t : t.contiguous();
}

// Distances of a packed array of this shape, taken as [B, H, Tq, Tk]; 0 where it broadcasts.
struct Distances {
  Int b, h, i, j, rows, columns;
};
Distances broadcast(const char* name, Shape shape, const Plan& plan) {
  // Without heads [B, Tq, Tk] is the weights' shape: the first axis is the batch, not the head.
  if (shape.rank() == 3 && plan.heads == 1 && shape[0] == plan.batch) shape = {shape[0], 1, shape[1], shape[2]};
  const Int full[4] = {plan.batch, plan.heads, plan.queries, plan.keys};
  Int distance[4] = {};
  Int size[4] = {1, 1, 1, 1};
  Int step = 1;
  bool fits = shape.rank() <= 4;
  for (int axis = 3; axis >= 4 - std::min(shape.rank(), 4); --axis) {
    size[axis] = shape[axis - 4];
    fits &= size[axis] == 1 || size[axis] == full[axis];
    distance[axis] = size[axis] == 1 && full[axis] != 1 ? 0 : step;
    step *= size[axis];
  }
  if (!fits) {
    throw ShapeError(
        fmt::format("attend: {} {}: expected something broadcastable to [{},{},{},{}], [batch,heads,"
                    "queries,keys]",
                    name, shape.text(), full[0], full[1], full[2], full[3]));
  }
  return {distance[0], distance[1], distance[2], distance[3], size[2], size[3]};
}

void set_lengths(Plan& plan, std::span<const Int> lengths) {
  if (lengths.empty()) return;
  if (static_cast<Int>(lengths.size()) != plan.batch) {
    throw ShapeError(fmt::format("attend: lengths [{}]: expected [{}], one per sequence", lengths.size(), plan.batch));
  }
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    if (lengths[b] < 0 || lengths[b] > plan.keys) {
      throw UsageError(
          fmt::format("attend: lengths[{}] is {}: expected 0 to {}, the number of keys", b, lengths[b], plan.keys));
    }
  }
  plan.length_holder.assign(lengths.begin(), lengths.end());
  plan.visibility.lengths = plan.length_holder.data();
}

void set_biases(Plan& plan, const AttendOptions& how) {
  if (how.mask) {
    const Distances d = broadcast("mask", how.mask.shape(), plan);
    plan.mask_holder = how.mask;
    plan.visibility.mask = {how.mask.data(), d.b, d.h, d.i, d.j};
  }
  if (how.bias) {
    const Distances d = broadcast("bias", how.bias.shape(), plan);
    plan.bias_holder = how.bias.value().contiguous();
    plan.visibility.bias = {plan.bias_holder.data(), d.b, d.h, d.i, d.j, 0, d.rows * d.columns};
    plan.inputs[Input::bias] = how.bias;
  }
  if (how.relative_bias) {
    const Var bias = bias_by_distance(*how.relative_bias, plan.heads, plan.queries, plan.keys);
    plan.visibility.distance_bias = {bias.value().data(), 0, bias.dim(1), -1, 1, std::max<Int>(plan.queries - 1, 0),
                                     bias.dim(1)};
    plan.inputs[Input::distance_bias] = bias;
  }
  if (how.alibi) {
    plan.alibi = alibi_slopes(plan.heads);
    plan.visibility.alibi_slopes = plan.alibi.data();
  }
}

// Visibility that takes a map of tiles: dilated and global windows, prefixes, documents, a map of the caller's.
void set_blocks(Plan& plan, const AttendOptions& how) {
  BlockMask blocks = how.blocks;
  const auto fits = [&](const BlockMask& map) {
    return map.queries() == plan.queries && map.keys() == plan.keys && (map.batch() == 1 || map.batch() == plan.batch);
  };
  if (blocks && !fits(blocks)) {
    throw ShapeError(fmt::format("attend: blocks [{},{},{}]: expected [1,{},{}] or [{},{},{}], [batch,queries,keys]",
                                 blocks.batch(), blocks.queries(), blocks.keys(), plan.queries, plan.keys, plan.batch,
                                 plan.queries, plan.keys));
  }
  if (how.dilation != 1 || how.global_keys != 0 || how.prefix != 0) {
    blocks = blocks & BlockMask::of_pattern(plan.queries, plan.keys,
                                            {.causal = how.causal,
                                             .window = how.window,
                                             .dilation = how.dilation,
                                             .global_keys = how.global_keys,
                                             .prefix = how.prefix});
    plan.visibility.causal = false;  // both are in the map
    plan.visibility.window = -1;
  }
  if (!how.documents.empty()) {
    if (plan.queries != plan.keys) {
      throw ShapeError(
          fmt::format("attend: documents: expected as many queries as keys, not {} and {}", plan.queries, plan.keys));
    }
    blocks = blocks & BlockMask::of_documents(how.documents, plan.batch, plan.keys);
  }
  if (blocks && !how.edges.row_start.empty()) throw UsageError("attend: blocks do not go with edges");
  plan.blocks = blocks;
  if (blocks) plan.visibility.blocks = {blocks.map()->heads.data(), blocks.batch() == 1 ? 0 : 1, 0};
}

void set_alphas(Plan& plan, const normalizer::Entmax& how) {
  const auto check = [](float alpha) {
    if (alpha > 1 && alpha <= 2) return;
    throw UsageError(fmt::format("attend: alpha {}: expected more than 1 and at most 2", alpha));
  };
  check(how.alpha);
  if (!how.alphas) return;
  if (!(how.alphas.shape() == Shape{plan.heads})) {
    throw ShapeError(
        fmt::format("attend: alphas {}: expected [{}], one for each head", how.alphas.shape().text(), plan.heads));
  }
  plan.alphas = how.alphas.value().contiguous();
  for (const float alpha : plan.alphas.values()) check(alpha);
  plan.inputs[Input::alphas] = how.alphas;
}

// What changes the scores, and a sink next to them.
void set_changes(Plan& plan, const AttendOptions& how) {
  if (!(how.softcap >= 0) || std::isinf(how.softcap)) {
    throw UsageError(fmt::format("attend: softcap {}: expected a number above 0, or 0 for none", how.softcap));
  }
  plan.softcap = how.softcap;
  plan.first_modifier_input = plan.inputs.size();
  if (!how.modifiers.empty()) {
    if (!how.edges.row_start.empty()) throw UsageError("attend: modifiers do not go with edges");
    for (const auto& one : how.modifiers) {
      if (one == nullptr) throw UsageError("attend: a modifier is null");
      one->check(plan.batch, plan.heads, plan.queries, plan.keys);
      for (const Var& parameter : one->parameters()) plan.inputs.push_back(parameter);
    }
    plan.modifiers.emplace(how.modifiers, plan.visibility.offset);
  }
  if (!how.sink && !how.off_by_one) return;
  if (how.sink && how.off_by_one) throw UsageError("attend: sink and off_by_one exclude each other");
  if (!std::holds_alternative<normalizer::Softmax>(how.normalizer)) {
    throw UsageError("attend: sink and off_by_one go with softmax");
  }
  if (how.off_by_one) {
    plan.sinks = Tensor::zeros({plan.heads});
    return;
  }
  if (!(how.sink.shape() == Shape{plan.heads})) {
    throw ShapeError(
        fmt::format("attend: sink {}: expected [{}], one for each head", how.sink.shape().text(), plan.heads));
  }
  plan.sinks = how.sink.value().contiguous();
  for (const float sink : plan.sinks.values()) {
    if (!std::isfinite(sink)) throw UsageError(fmt::format("attend: sink: expected finite numbers, found {}", sink));
  }
  plan.inputs[Input::sink] = how.sink;
}

void set_shaw(Plan& plan, const RelativePositions& how) {
  if (plan.kind != Kind::dot || plan.location) {
    throw UsageError("attend: relative_positions go with the dot and scaled dot scores only");
  }
  const auto reach = [&](const char* name, const Var& table, Int width) {
    if (table.rank() != 2 || table.dim(0) % 2 != 1 || table.dim(1) != width) {
      throw ShapeError(
          fmt::format("attend: relative_positions.{} {}: expected [2*K+1,{}]", name, table.shape().text(), width));
    }
    return table.dim(0) / 2;
  };
  if (how.keys) {
    plan.shaw_reach = reach("keys", how.keys, plan.dim);
    plan.inputs[Input::shaw_keys] = how.keys;
    plan.shaw_k_holder = how.keys.value().contiguous();
    plan.shaw_k = {plan.shaw_k_holder.data(), 0, 0, plan.dim};
  }
  if (how.values) {
    const Int k = reach("values", how.values, plan.value_dim);
    if (how.keys && k != plan.shaw_reach) {
      throw ShapeError(fmt::format("attend: relative_positions.values {}: expected as many rows as keys {}",
                                   how.values.shape().text(), how.keys.shape().text()));
    }
    plan.shaw_reach = k;
    plan.inputs[Input::shaw_values] = how.values;
    plan.shaw_v_holder = how.values.value().contiguous();
    plan.shaw_v = {plan.shaw_v_holder.data(), 0, 0, plan.value_dim};
  }
}

void set_local(Plan& plan, const Local& how) {
  if (how.half_width < 1) throw UsageError("attend: local.half_width must be at least 1");
  plan.local = true;
  plan.gaussian = how.gaussian;
  plan.half_width = how.half_width;
  if (!how.centers) return;
  const Shape& shape = how.centers.shape();
  const bool per_head = shape.rank() == 3;
  if (!(shape == Shape{plan.batch, plan.queries}) && !(shape == Shape{plan.batch, plan.heads, plan.queries})) {
    throw ShapeError(fmt::format("attend: local.centers {}: expected [{},{}] or [{},{},{}]", shape.text(), plan.batch,
                                 plan.queries, plan.batch, plan.heads, plan.queries));
  }
  plan.inputs[Input::centers] = how.centers;
  plan.center_holder = how.centers.value().contiguous();
  plan.center = {plan.center_holder.data(), (per_head ? plan.heads : 1) * plan.queries, per_head ? plan.queries : 0, 1};
}

void set_edges(Plan& plan, const Edges& how) {
  if (how.row_start.empty()) {
    if (!how.column.empty()) throw ShapeError("attend: edges.row_start is missing");
    return;
  }
  const auto edges = static_cast<Int>(how.column.size());
  if (static_cast<Int>(how.row_start.size()) != plan.queries + 1) {
    throw ShapeError(fmt::format("attend: edges.row_start [{}]: expected [{}], one more than there are queries",
                                 how.row_start.size(), plan.queries + 1));
  }
  for (std::size_t i = 0; i < how.row_start.size(); ++i) {
    const Int least = i == 0 ? 0 : how.row_start[i - 1];
    if (how.row_start[i] < least || how.row_start[i] > edges || (i == 0 && how.row_start[i] != 0)) {
      throw UsageError(fmt::format("attend: edges.row_start[{}] is {}: expected {} to {}", i, how.row_start[i], least,
                                   i == 0 ? 0 : edges));
    }
  }
  if (how.row_start.back() != edges) {
    throw UsageError(fmt::format("attend: edges.row_start ends at {}: expected {}, the number of columns",
                                 how.row_start.back(), edges));
  }
  for (std::size_t e = 0; e < how.column.size(); ++e) {
    if (how.column[e] < 0 || how.column[e] >= plan.keys) {
      throw UsageError(
          fmt::format("attend: edges.column[{}] is {}: expected 0 to {}", e, how.column[e], plan.keys - 1));
    }
  }
  plan.edge_start.assign(how.row_start.begin(), how.row_start.end());
  plan.edge_column.assign(how.column.begin(), how.column.end());
}

// Where each chosen index goes; `count` is how many there are.
Ints slots(const char* name, std::span<const Int> chosen, Int size, Int* count) {
  Ints slot;
  *count = chosen.empty() ? size : static_cast<Int>(chosen.size());
  if (chosen.empty()) return slot;
  slot.assign(static_cast<std::size_t>(size), -1);
  for (std::size_t n = 0; n < chosen.size(); ++n) {
    if (chosen[n] < 0 || chosen[n] >= size) {
      throw UsageError(fmt::format("attend: want.{}[{}] is {}: expected 0 to {}", name, n, chosen[n], size - 1));
    }
    Int& to = slot[static_cast<std::size_t>(chosen[n])];
    if (to >= 0) throw UsageError(fmt::format("attend: want.{} names {} twice", name, chosen[n]));
    to = static_cast<Int>(n);
  }
  return slot;
}

void set_wants(Plan& plan, const WeightsRequest& want) {
  plan.want_weights = want.weights;
  plan.row_slot = slots("rows", want.rows, plan.queries, &plan.weight_rows);
  plan.head_slot = slots("heads", want.heads, plan.heads, &plan.weight_heads);
  if (plan.has_edges() && !want.rows.empty()) throw UsageError("attend: want.rows does not go with edges");
  if (want.top < 0 || want.top > plan.keys) {
    throw UsageError(fmt::format("attend: want.top is {}: expected 0 to {}, the number of keys", want.top, plan.keys));
  }
  if (std::holds_alternative<normalizer::Tanh>(plan.normalizer) && (want.top > 0 || want.entropy)) {
    throw UsageError("attend: want.top and want.entropy are of weights from 0 on, which tanh does not give");
  }
  plan.top = want.top;
  plan.want_column_sums = want.column_sums;
  plan.want_entropy = want.entropy;
  if (want.scores && plan.has_edges()) throw UsageError("attend: want.scores does not go with edges");
  plan.want_scores = want.scores;
  plan.want_log_sum = want.log_sum;
  if (want.log_sum && !std::holds_alternative<normalizer::Softmax>(plan.normalizer)) {
    throw UsageError("attend: want.log_sum goes with softmax");
  }
}

}  // namespace

detail::Ref<Plan> prepare(const Var& query, const Var& key, const Var& value, const AttendOptions& how) {
  if (!query || !key || !value) {
    throw ShapeError(fmt::format("attend: {} is empty", !query ? "query" : !key ? "key" : "value"));
  }
  const Sizes sizes = read_sizes(query.shape(), key.shape(), value.shape(), how);
  detail::Ref<Plan> made(new Plan);
  Plan& plan = *made.get();
  plan.batch = sizes.batch;
  plan.heads = sizes.heads;
  plan.kv_heads = sizes.kv_heads;
  plan.queries = sizes.queries;
  plan.keys = sizes.keys;
  plan.value_dim = sizes.value_dim;
  plan.packed_heads = sizes.packed_heads;
  plan.packed_kv_heads = sizes.packed_kv_heads;
  plan.inputs.resize(Input::parameters);
  plan.normalizer = how.normalizer;
  plan.temperature = std::visit([](const auto& n) { return n.temperature; }, how.normalizer);
  if (!(plan.temperature > 0) || std::isinf(plan.temperature) || std::isinf(1 / plan.temperature)) {
    throw UsageError(
        fmt::format("attend: temperature {}: expected a finite number above 0 that 1 can be divided by in float32",
                    plan.temperature));
  }
  if (how.window < -1)
    throw UsageError(fmt::format("attend: window {}: expected 0 or more, or -1 for none", how.window));
  plan.visibility.offset = plan.keys - plan.queries;
  plan.visibility.causal = how.causal;
  plan.visibility.window = std::min(how.window, plan.queries + plan.keys);  // no wider than there are keys
  const kernels::Dropout dropout = make_dropout("attend", how.dropout);
  plan.dropout = dropout.rate;
  plan.dropout_seed = dropout.seed;
  set_lengths(plan, how.lengths);
  transform(plan, sizes, query, key, how);
  set_biases(plan, how);
  set_blocks(plan, how);
  set_changes(plan, how);
  if (const auto* entmax = std::get_if<normalizer::Entmax>(&how.normalizer)) set_alphas(plan, *entmax);
  if (how.relative_positions) set_shaw(plan, *how.relative_positions);
  if (how.local) set_local(plan, *how.local);
  set_edges(plan, how.edges);
  set_wants(plan, how.want);
  plan.editor = how.editor;

  plan.inputs[Input::value] = value;
  plan.q_holder = rows_packed(plan.input(Input::query).value());
  plan.k_holder = rows_packed(plan.input(Input::key).value());
  plan.v_holder = rows_packed(value.value());
  plan.q = plan.query_view(plan.q_holder);
  plan.k = plan.key_view(plan.k_holder);
  plan.v = plan.value_view(plan.v_holder);
  if (plan.input(Input::vector)) {
    plan.w_holder = plan.input(Input::vector).value().contiguous();
    plan.w = plan.w_holder.data();
  }
  if (plan.input(Input::row_term)) plan.row_term = plan.query_view(plan.input(Input::row_term).value());
  return made;
}

}  // namespace fovea::attention
