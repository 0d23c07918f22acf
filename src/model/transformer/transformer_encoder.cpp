#include "model/transformer/transformer_encoder.hpp"

namespace fovea {

Memory TransformerEncoder::encode(const Sequence& input, Pass& pass, bool want_attention) const {
  Memory memory{.lengths = input.lengths};
  const AttentionReport report{AttentionKind::encoder, want_attention, memory.attention, memory.attention_top};
  AttendOptions how = stack_.self_options();
  how.lengths = input.lengths;
  const Var x = pass.drop(stack_.placed(input.values, 0));
  pass.note(stack_.name, "embedded", x);
  memory.states = stack_.run(
      x, pass, [&](std::size_t i, const Var& y) { return stack_.attend_to_self(i, y, how, report, pass); },
      [](std::size_t, const Var&) { return Var(); });
  pass.note(stack_.name, "output", memory.states);
  return memory;
}

}  // namespace fovea
