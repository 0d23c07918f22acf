#include "nn/multi_head.hpp"

namespace fovea {

MultiHeadLayer::MultiHeadLayer(Parameters& p, const std::string& name, std::int64_t width, std::int64_t memory_width,
                               std::int64_t head_count, bool divide)
    : query(p, name + ".query", width, width),
      key(p, name + ".key", memory_width, width),
      value(p, name + ".value", memory_width, width),
      output(p, name + ".output", width, width),
      heads(head_count),
      divided(divide) {}

MultiHeadLayer::Result MultiHeadLayer::operator()(const Var& x, const Var& memory, const Options& how,
                                                  Pass& pass) const {
  return look(x, key(memory), value(memory), how, pass);
}

MultiHeadLayer::Result MultiHeadLayer::look(const Var& x, const Var& keys, const Var& values, const Options& how,
                                            Pass& pass) const {
  return attend_to(query(x), keys, values, how, pass);
}

MultiHeadLayer::Result MultiHeadLayer::attend_to(const Var& queries, const Var& keys, const Var& values,
                                                 const Options& how, Pass& pass) const {
  AttendOptions options{.heads = heads, .causal = how.causal, .lengths = how.lengths, .alibi = how.alibi};
  if (!divided) options.score = score::Dot{};
  if (how.rotary) options.rotary = Rotary{};
  if (pass.dropout.attention > 0) {
    options.dropout = {pass.dropout.attention, pass.next_seed()};
  }
  options.want.weights = how.want_weights;
  const Attended seen = attend(queries, keys, values, options);
  return {output(seen.context), how.want_weights ? seen.weights.value() : Tensor()};
}

}  // namespace fovea
