#include "fovea/attention/multi_head.hpp"

#include <fmt/format.h>

#include <utility>

#include "fovea/error.hpp"
#include "fovea/nn/trace.hpp"

namespace fovea {

MultiHead::MultiHead(Parameters& p, const std::string& weights, const MultiHeadOptions& options)
    : heads(options.heads),
      kv_heads(options.kv_heads > 0 ? options.kv_heads : options.heads),
      score(options.score),
      name(weights) {
  const std::int64_t dim = options.dim;
  if (dim < 1 || heads < 1 || dim % heads != 0 || heads % kv_heads != 0) {
    throw UsageError(
        fmt::format("{}: dim {}, heads {}, kv_heads {}: each must divide the one before", name, dim, heads, kv_heads));
  }
  const std::int64_t memory = options.memory_dim > 0 ? options.memory_dim : dim;
  const std::int64_t kv = kv_heads * (dim / heads);
  query = Linear(p, name + ".query", dim, dim, {.bias = options.bias});
  key = Linear(p, name + ".key", memory, kv, {.bias = options.bias});
  value = Linear(p, name + ".value", memory, kv, {.bias = options.bias});
  output = Linear(p, name + ".output", dim, dim, {.bias = options.bias});
}

Attended MultiHead::attend_projected(const Var& queries, const KeysValues& memory, AttendOptions how) const {
  how.heads = heads;
  how.kv_heads = kv_heads;
  how.score = score;
  Trace* const trace = how.trace;
  if (trace == nullptr) {
    Attended result = fovea::attend(queries, memory.keys, memory.values, how);
    result.context = output(result.context);
    return result;
  }
  // The same steps one by one, so that what the scores are made of can be kept.
  how.want.scores = how.want.weights = true;
  Var q = queries;
  Var k = memory.keys;
  if (how.rotary) {
    q = rotary(q, *how.rotary, k.dim(1) - q.dim(1), heads);
    k = rotary(k, *how.rotary, 0, kv_heads);
    how.rotary.reset();
  }
  Attended result = fovea::attend(q, k, memory.values, how);
  trace->add(name + ".query", q.value());
  trace->add(name + ".key", k.value());
  trace->add(name + ".value", memory.values.value());
  trace->add(name + ".scores", result.scores);
  trace->add(name + ".masked", result.masked);
  trace->add(name + ".weights", result.weights.value());
  trace->add(name + ".context", result.context.value());
  result.context = output(result.context);
  trace->add(name + ".output", result.context.value());
  return result;
}

Attended MultiHead::attend(const Var& x, const KeysValues& memory, AttendOptions how) const {
  return attend_projected(query(x), memory, std::move(how));
}

Attended MultiHead::operator()(const Var& x, const Var& memory, AttendOptions how) const {
  // The order in which these are computed fixes the order of the gradients' sums.
  const KeysValues projected = project(memory);
  return attend(x, projected, std::move(how));
}

Attended CrossAttention::operator()(const Var& x, const Var& memory, AttendOptions how) const {
  how.score = score;
  how.normalizer = normalizer;
  return attend(x, memory, memory, how);
}

}  // namespace fovea
