#include "fovea/attention/attentional_rnn_stepper.hpp"

#include <algorithm>
#include <utility>

#include "attention/rnn/check.hpp"
#include "attention/rnn/decoder.hpp"
#include "attention/rnn/step.hpp"
#include "autograd/recurrent/rows.hpp"
#include "fovea/threads.hpp"

namespace fovea {

using decoder::Carried;
using decoder::Int;
using decoder::kOp;
using kernels::Trans;

struct PackedAttentionalRnn::Impl {
  decoder::Decoder decoder{Sequences(kOp, 0, 0, {}, false)};
  StepMatrix embedding;  // the first layer's W, rows of x
  StepMatrix keys;       // of the score, where it projects them

  // The memory [B, S, M] as the score takes it.
  [[nodiscard]] Var keys_of(const Tensor& memory) const {
    if (!keys) return decoder::keys_of(decoder, memory);
    const Tensor rows = memory.contiguous();
    Tensor out = Tensor::empty({rows.dim(0), rows.dim(1), keys.n()});
    keys.multiply(rows.dim(0) * rows.dim(1), rows.data(), rows.dim(2), 0, out.data(), keys.n());
    return out;
  }
};

PackedAttentionalRnn::PackedAttentionalRnn(const AttentionalRnnWeights& weights, const AttentionalRnnOptions& how,
                                           Int embedding, Int memory_width)
    : impl_(std::make_unique<Impl>()) {
  decoder::Decoder& d = impl_->decoder;
  d.embedding = embedding;
  d.memory_width = memory_width;
  d.storage = weights.storage;
  decoder::set_weights(d, weights, how);
  impl_->embedding =
      StepMatrix(Trans::no, d.layers[0].weights.input.value().contiguous().slice(0, 0, embedding), d.storage);
  if (d.key_view) impl_->keys = StepMatrix(Trans::yes, d.key_view, d.storage);
}
PackedAttentionalRnn::~PackedAttentionalRnn() = default;
PackedAttentionalRnn::PackedAttentionalRnn(PackedAttentionalRnn&&) noexcept = default;
PackedAttentionalRnn& PackedAttentionalRnn::operator=(PackedAttentionalRnn&&) noexcept = default;

struct AttentionalRnnStepper::Impl {
  const PackedAttentionalRnn::Impl& packed;
  decoder::Source source;
  Carried carried;
  decoder::Vector<std::int32_t> sequence;  // of each row
  Int step = 0;
};

AttentionalRnnStepper::AttentionalRnnStepper(const PackedAttentionalRnn& packed, const Tensor& memory,
                                             std::span<const Int> memory_lengths, std::span<const Tensor> first,
                                             std::span<const Tensor> first_cell)
    : impl_(new Impl{*packed.impl_, {}, {}, {}, 0}) {
  const NoGrad quiet;
  const decoder::Decoder& d = impl_->packed.decoder;
  if (!memory || memory.rank() != 3 || memory.dim(1) < 1 || memory.dim(2) != d.memory_width) {
    throw ShapeError(fmt::format("{}: memory {}: expected [B,S,{}] with S at least 1", kOp,
                                 memory ? memory.shape().text() : "is missing", d.memory_width));
  }
  const Int rows = memory.dim(0);
  const decoder::Vector<Var> states(first.begin(), first.end());
  const decoder::Vector<Var> cells(first_cell.begin(), first_cell.end());
  decoder::check_first(d, rows, states, cells);
  const Var keys = impl_->packed.keys_of(memory);
  decoder::set_source(d, memory, keys, memory_lengths, impl_->source);
  Carried& carried = impl_->carried = Carried(d, impl_->source, rows);
  for (std::size_t l = 0; l < first.size(); ++l) carried.states[l].copy_from(first[l]);
  for (std::size_t l = 0; d.cell == Cell::lstm && l < first_cell.size(); ++l) {
    carried.cells[l].copy_from(first_cell[l]);
  }
  carried.zero_states = first.empty();
  for (Int b = 0; b < rows; ++b) impl_->sequence.push_back(static_cast<std::int32_t>(b));
}
AttentionalRnnStepper::~AttentionalRnnStepper() = default;

Int AttentionalRnnStepper::rows() const {
  return static_cast<Int>(impl_->sequence.size());
}

Tensor AttentionalRnnStepper::keys() const {
  return impl_->source.keys;
}

AttentionalRnnStep AttentionalRnnStepper::step(const Tensor& x, const AttentionalRnnStepOptions& how) {
  const decoder::Decoder& d = impl_->packed.decoder;
  const decoder::Source& source = impl_->source;
  const Int n = rows();
  if (!x || !(x.shape() == Shape{n, d.embedding})) {
    throw ShapeError(
        fmt::format("{}: x {}: expected [{},{}]", kOp, x ? x.shape().text() : "is missing", n, d.embedding));
  }
  const Tensor input = x.contiguous();
  const Tensor context = Tensor::empty({n, d.memory_width});
  const Tensor weights = Tensor::empty({n, source.steps});
  const Tensor scores = how.scores ? Tensor::empty({n, source.steps}) : Tensor();
  const Tensor query = how.scores ? Tensor::empty({n, d.dim}) : Tensor();
  // At least a register tile's rows to a thread.
  const Int part = std::max<Int>(16, (n + threads() - 1) / threads());
  parallel_for(n, part, [&](Int begin, Int end) {
    const Int count = end - begin;
    Carried some = impl_->carried.slice(begin, end);
    decoder::StepScratch scratch(d, source, count);
    const Tensor gates = Tensor::empty({count, 4 * d.units});
    impl_->packed.embedding.multiply(count, input.data() + begin * d.embedding, d.embedding, 0, gates.data(),
                                     4 * d.units);
    const decoder::AttentionRows rows{.count = count,
                                      .step = impl_->step,
                                      .sequence = impl_->sequence.data() + begin,
                                      .kept = nullptr,
                                      .scores = scores ? row_of(scores, begin) : nullptr,
                                      .queries = query ? row_of(query, begin) : nullptr,
                                      .editor = how.editor};
    decoder::step_forward(d, source, rows, some, scratch, gates);
    for (Int j = 0; j < count; ++j) {
      copy_row(row_of(scratch.context, j), row_of(context, begin + j), d.memory_width);
      copy_row(row_of(scratch.attention.weights, j), row_of(weights, begin + j), source.steps);
    }
  });
  impl_->carried.fed_nothing = impl_->carried.zero_states = false;
  ++impl_->step;
  return {impl_->carried.states.back(), context, impl_->carried.fed, weights, scores, query};
}

void AttentionalRnnStepper::keep(std::span<const std::int32_t> rows) {
  const auto before = static_cast<std::int32_t>(this->rows());
  for (const std::int32_t r : rows) {
    if (r < 0 || r >= before) throw ShapeError(fmt::format("{}: row {} of {} is to be kept", kOp, r, before));
  }
  const auto gather = [&](Tensor& t) {
    if (!t) return;
    const Tensor kept = Tensor::empty({static_cast<Int>(rows.size()), t.dim(1)});
    for (std::size_t i = 0; i < rows.size(); ++i) {
      copy_row(row_of(t, rows[i]), row_of(kept, static_cast<Int>(i)), t.dim(1));
    }
    t = kept;
  };
  Carried& carried = impl_->carried;
  for (Tensor& t : carried.states) gather(t);
  for (Tensor& t : carried.cells) gather(t);
  gather(carried.fed);
  gather(carried.coverage);
  decoder::Vector<std::int32_t> sequence;
  for (const std::int32_t r : rows) sequence.push_back(impl_->sequence[static_cast<std::size_t>(r)]);
  impl_->sequence = std::move(sequence);
}

}  // namespace fovea
