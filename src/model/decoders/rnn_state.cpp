#include "model/decoders/rnn_state.hpp"

#include "fovea/attention/interventions.hpp"
#include "fovea/ops.hpp"
#include "model/decoders/sentence_arrays.hpp"

namespace fovea {

RnnState::RnnState(const RnnDecoder& decoder, const Memory& memory, bool want_attention,
                   const Interventions* interventions)
    : decoder_(decoder), want_attention_(want_attention), interventions_(interventions), packed_(decoder.packed()) {
  const RnnDecoder::Start start = decoder.begin(&memory, memory.states.dim(0));
  std::vector<Tensor> first, cells;
  for (const Var& s : start.states) first.push_back(s.value());
  for (const Var& c : start.cells) cells.push_back(c.value());
  stepper_.emplace(*packed_, start.memory.value(), memory.lengths, first, cells);
}

Tensor RnnState::step(const Tensor& embedded) {
  const NoGrad quiet;
  std::optional<SiteEditor> editor;
  if (interventions_ != nullptr) editor.emplace(*interventions_, AttentionKind::cross, 0, length_);
  ++length_;
  const AttentionalRnnStep at = stepper_->step(embedded, {.editor = editor ? &*editor : nullptr});
  weights_.clear();
  if (want_attention_) weights_.push_back(at.weights.reshape({at.weights.dim(0), 1, at.weights.dim(1)}));
  // The stepper goes on writing to what it gave.
  return decoder_.luong() ? at.attentional.clone() : decoder_.read_out(at.state, at.context, embedded).value();
}

PlainRnnState::PlainRnnState(const RnnDecoder& decoder, const Memory* memory, std::int64_t rows)
    : decoder_(decoder), layers_(decoder.packed_layers()) {
  const RnnDecoder::Start start = decoder.begin(memory, rows);
  for (std::size_t i = 0; i < start.states.size(); ++i) {
    const Tensor state = start.states[i].value();
    states_.push_back(state.clone());
    const Var cell = start.first_cell(i);
    cells_.push_back(cell                                  ? cell.value().clone()
                     : decoder.weights_.cell == Cell::lstm ? Tensor::zeros(state.shape())
                                                           : Tensor());
  }
  if (memory == nullptr) return;
  fed_ = layers_->summary->product(start.summary.value());
  context_ = decoder.from_context_(start.summary).value();
}

Tensor PlainRnnState::step(const Tensor& embedded) {
  const NoGrad quiet;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    layers_->steppers[i].step(i == 0 ? embedded.contiguous() : states_[i - 1], states_[i], cells_[i],
                              i == 0 ? fed_ : Tensor());
  }
  const Var out = add(decoder_.from_state_(states_.back()), decoder_.from_input_(embedded));
  return decoder_.activated(context_ ? add(out, context_) : out).value();
}

void PlainRnnState::keep(std::span<const std::int32_t> rows) {
  for (Tensor& t : states_) t = take_rows(t, rows);
  for (Tensor* t : {&fed_, &context_}) {
    if (*t) *t = take_rows(*t, rows);
  }
  for (Tensor& t : cells_) {
    if (t) t = take_rows(t, rows);
  }
}

}  // namespace fovea
