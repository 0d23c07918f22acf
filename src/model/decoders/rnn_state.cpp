#include "model/decoders/rnn_state.hpp"

#include "fovea/ops.hpp"
#include "model/decoders/take_rows.hpp"
#include "model/layer_attention.hpp"

namespace fovea {

LayerStates::LayerStates(const RnnDecoder& decoder, const RnnDecoder::Start& start, std::size_t begin) {
  for (std::size_t i = begin; i < start.states.size(); ++i) {
    const Tensor state = start.states[i].value();
    states.push_back(state.clone());
    const Var cell = start.first_cell(i);
    cells.push_back(cell                                  ? cell.value().clone()
                    : decoder.weights_.cell == Cell::lstm ? Tensor::zeros(state.shape())
                                                          : Tensor());
  }
}

void LayerStates::keep(std::span<const std::int32_t> rows) {
  for (Tensor& t : states) t = take_rows(t, rows);
  for (Tensor& t : cells) {
    if (t) t = take_rows(t, rows);
  }
}

RnnState::RnnState(const RnnDecoder& decoder, const Memory& memory, bool want_attention,
                   const Interventions* interventions)
    : decoder_(decoder),
      want_attention_(want_attention),
      interventions_(interventions),
      packed_(decoder.packed()),
      layers_(decoder.packed_layers()) {
  const RnnDecoder::Start start = decoder.begin(&memory, memory.states.dim(0));
  std::vector<Tensor> first, cells;
  for (std::size_t i = 0; i < decoder.attending_states(); ++i) {
    first.push_back(start.states[i].value());
    if (const Var cell = start.first_cell(i)) cells.push_back(cell.value());
  }
  stepper_.emplace(*packed_, start.memory.value(), memory.lengths, first, cells);
  above_.emplace(decoder, start, decoder.attending_states());
}

Tensor RnnState::step(const Tensor& embedded) {
  const NoGrad quiet;
  const auto editor = editor_of(interventions_, AttentionKind::cross, 0, length_);
  ++length_;
  const AttentionalRnnStep at = stepper_->step(embedded, {.editor = editor ? &*editor : nullptr});
  weights_.clear();
  if (want_attention_) weights_.push_back(at.weights.reshape({at.weights.dim(0), 1, at.weights.dim(1)}));
  // The stepper reuses the memory of its results.
  if (decoder_.luong()) return at.attentional.clone();
  Tensor top = at.state;
  for (std::size_t i = 0; i < layers_->steppers.size(); ++i) {
    layers_->steppers[i].step(top.contiguous(), above_->states[i], above_->cells[i]);
    top = decoder_.config_.residual ? add(top, above_->states[i]).value() : above_->states[i];
  }
  return decoder_.read_out(top, at.context, embedded).value();
}

void RnnState::keep(std::span<const std::int32_t> rows) {
  stepper_->keep(rows);
  above_->keep(rows);
}

PlainRnnState::PlainRnnState(const RnnDecoder& decoder, const Memory* memory, std::int64_t rows)
    : decoder_(decoder), layers_(decoder.packed_layers()) {
  const RnnDecoder::Start start = decoder.begin(memory, rows);
  at_.emplace(decoder, start, 0);
  if (memory == nullptr) return;
  fed_ = layers_->summary->product(start.summary.value());
  context_ = decoder.from_context_(start.summary).value();
}

Tensor PlainRnnState::step(const Tensor& embedded) {
  const NoGrad quiet;
  for (std::size_t i = 0; i < at_->states.size(); ++i) {
    layers_->steppers[i].step(i == 0 ? embedded.contiguous() : at_->states[i - 1], at_->states[i], at_->cells[i],
                              i == 0 ? fed_ : Tensor());
  }
  const Var out = add(decoder_.from_state_(at_->states.back()), decoder_.from_input_(embedded));
  return decoder_.activated(context_ ? add(out, context_) : out).value();
}

void PlainRnnState::keep(std::span<const std::int32_t> rows) {
  at_->keep(rows);
  for (Tensor* t : {&fed_, &context_}) {
    if (*t) *t = take_rows(*t, rows);
  }
}

}  // namespace fovea
