#include "model/transformer/transformer_decoder.hpp"

#include "fovea/ops.hpp"
#include "model/transformer/transformer_stepper.hpp"

namespace fovea {
namespace {

constexpr std::int64_t kFirstHead[] = {0};

}  // namespace

Decoded TransformerDecoder::decode(const Memory* memory, const Sequence& target, Pass& pass,
                                   const DecoderAttention& want) const {
  Decoded out;
  const AttentionReport self_report{AttentionKind::decoder, want.self, out.self, out.self_top};
  const AttentionReport cross_report{AttentionKind::cross, want.cross, out.cross, out.cross_top};
  AttendOptions self = stack_.self_options();
  self.causal = true;
  self.lengths = target.lengths;
  const auto self_part = [&](std::size_t i, const Var& x) -> Var {
    if (stack_.self_attends()) return stack_.attend_to_self(i, x, self, self_report, pass);
    const TransformerLayer& layer = stack_.layers[i];
    pass.note(layer.name, "self.input", x);
    return stack_.config.decoder_self == DecoderSelf::ssru ? layer.ssru(x) : layer.average(x, pass);
  };
  const auto cross_part = [&](std::size_t i, const Var& x) {
    const MultiHead& heads = stack_.layers[i].cross;
    const Var queries = stack_.turned(heads.query(x), 0);
    const MultiHead::KeysValues read{memory->for_targets(stack_.turned(heads.key(memory->states), 0)),
                                     memory->for_targets(heads.value(memory->states))};
    const LayerAttention ask(pass, cross_report, static_cast<int>(i));
    AttendOptions how;
    how.lengths = memory->target_lengths();
    ask.ask(how, memory->states.dim(1));
    how.dropout = pass.next(pass.rates.attention);
    pass.note(stack_.layers[i].name, "cross.input", x);
    const bool copies = want.copy && i + 1 == stack_.layers.size();
    how.want.weights = how.want.weights || copies;
    if (!want.cross && copies) how.want.heads = kFirstHead;
    const Attended result = heads.attend_projected(queries, read, how);
    if (copies) out.copy = select(result.weights, 1, 0);
    ask.take(result);
    return result.context;
  };
  const Var embedded = pass.drop(stack_.placed(target.values, 0));
  pass.note(stack_.name, "embedded", embedded);
  out.states = stack_.run(embedded, pass, self_part, cross_part);
  pass.note(stack_.name, "output", out.states);
  return out;
}

std::unique_ptr<DecoderState> TransformerDecoder::start(const Memory* memory, std::int64_t rows, bool want_attention,
                                                        const Interventions* interventions) const {
  const NoGrad quiet;
  return std::make_unique<TransformerStepper>(stack_, memory, rows, want_attention, interventions);
}

}  // namespace fovea
