// The attention of a decoding step: each row over the steps it has written, and over the memory of its sentence.
#include <algorithm>
#include <optional>

#include "fovea/threads.hpp"
#include "kernels/attention_step.hpp"
#include "kernels/kernels.hpp"
#include "kernels/math.hpp"
#include "model/decoders/product.hpp"
#include "model/transformer/transformer_stepper.hpp"

namespace fovea {
namespace {

using Int = std::int64_t;

// Rows that one thread takes at a time; fewer are not worth waking another.
constexpr Int kAttendingRows = 16;

const WeightEditor* pointer_to(const std::optional<SiteEditor>& editor) {
  return editor ? &*editor : nullptr;
}

}  // namespace

void TransformerStepper::read(const Memory& memory) {
  const Tensor states = memory.states.value().contiguous();
  const Int padded = states.dim(1);
  const Int width = states.dim(2);
  Int total = 0;
  for (Int s = 0; s < states.dim(0); ++s) {
    first_.push_back(total);
    count_.push_back(memory.lengths[static_cast<std::size_t>(s)]);
    total += count_.back();
    sentence_of_.push_back(static_cast<std::int32_t>(s));
  }
  longest_ = padded;
  if (is_rotary(stack_.config.positions)) stack_.angles.prepare(padded, head_);
  Tensor rows = states.reshape({states.dim(0) * padded, width});
  if (total < rows.dim(0)) {
    rows = Tensor::empty({total, width});
    for (std::size_t s = 0; s < first_.size(); ++s) {
      std::copy_n(states.data() + static_cast<Int>(s) * padded * width, count_[s] * width,
                  rows.data() + first_[s] * width);
    }
  }
  for (const TransformerLayer& layer : stack_.layers) {
    for (const bool key : {true, false}) {
      const Tensor to = Tensor::empty({total, width_});
      multiply(key ? layer.cross.key : layer.cross.value, total, rows.data(), to.data());
      (key ? memory_keys_ : memory_values_).push_back(to);
    }
    if (stack_.config.positions != Positions::rotary_cross) continue;
    for (std::size_t s = 0; s < first_.size(); ++s) {
      for (Int t = 0; t < count_[s]; ++t) {
        stack_.angles.turn(memory_keys_.back().data() + (first_[s] + t) * width_, heads_, head_, t);
      }
    }
  }
}

void TransformerStepper::attend(const kernels::HeadsStep& row, const WeightEditor* editor, Int sequence) const {
  kernels::active().attention_step->attend_heads(row);
  if (editor == nullptr) return;
  const auto axpy = kernels::active().math->axpy;
  std::fill_n(row.out, width_, 0.0F);
  for (Int h = 0; h < heads_; ++h) {
    float* w = row.weights + h * row.keys;
    editor->edit({sequence, h, length_, 0}, {w, static_cast<std::size_t>(row.keys)}, {});
    for (Int j = 0; j < row.keys; ++j) {
      const float* value = row.v + (row.offsets != nullptr ? row.offsets[j] : j * row.stride);
      axpy(w[j], value + h * head_, row.out + h * head_, static_cast<std::size_t>(head_));
    }
  }
}

void TransformerStepper::attend_to_self(std::size_t layer, Int rows) {
  const MultiHead& heads = stack_.layers[layer].self;
  float* keys = keys_[layer].data();
  float* values = values_[layer].data();
  multiply(heads.query, rows, input(), query_.data());
  multiply(heads.key, rows, input(), keys + used_);
  multiply(heads.value, rows, input(), values + used_);
  const bool turns = is_rotary(stack_.config.positions);
  const auto editor = editor_of(interventions_, AttentionKind::decoder, static_cast<int>(layer), length_);
  parallel_for(rows, kAttendingRows, [&](Int begin, Int end) {
    for (Int r = begin; r < end; ++r) {
      if (turns) {
        stack_.angles.turn(query_.data() + r * width_, heads_, head_, length_);
        stack_.angles.turn(keys + used_ + r * width_, heads_, head_, length_);
      }
      attend({.keys = length_ + 1,
              .heads = heads_,
              .dim = head_,
              .scale = scale_,
              .q = query_.data() + r * width_,
              .k = keys,
              .v = values,
              .offsets = path_.data() + r * room_,
              .bias = slopes_ ? distance_bias_.data() : nullptr,
              .weights = scores_.data() + r * scores_.dim(1),
              .want_weights = editor.has_value(),
              .out = context_.data() + r * width_},
             pointer_to(editor), r);
    }
  });
  multiply(heads.output, rows, context_.data(), y_.data());
}

void TransformerStepper::attend_to_memory(std::size_t layer, Int rows) {
  const MultiHead& heads = stack_.layers[layer].cross;
  multiply(heads.query, rows, input(), query_.data());
  const bool turns = stack_.config.positions == Positions::rotary_cross;
  const auto editor = editor_of(interventions_, AttentionKind::cross, static_cast<int>(layer), length_);
  parallel_for(rows, kAttendingRows, [&](Int begin, Int end) {
    for (Int r = begin; r < end; ++r) {
      if (turns) stack_.angles.turn(query_.data() + r * width_, heads_, head_, length_);
      const auto s = static_cast<std::size_t>(sentence_of_[static_cast<std::size_t>(r)]);
      attend({.keys = count_[s],
              .heads = heads_,
              .dim = head_,
              .scale = scale_,
              .q = query_.data() + r * width_,
              .k = memory_keys_[layer].data() + first_[s] * width_,
              .v = memory_values_[layer].data() + first_[s] * width_,
              .stride = width_,
              .weights = scores_.data() + r * scores_.dim(1),
              .want_weights = want_attention_ || editor,
              .out = context_.data() + r * width_},
             pointer_to(editor), static_cast<Int>(s));
    }
  });
  if (want_attention_) report_weights(rows);
  multiply(heads.output, rows, context_.data(), y_.data());
}

void TransformerStepper::report_weights(Int rows) {
  const Tensor kept = Tensor::zeros({rows, heads_, longest_});
  for (Int r = 0; r < rows; ++r) {
    const Int keys = count_[static_cast<std::size_t>(sentence_of_[static_cast<std::size_t>(r)])];
    for (Int h = 0; h < heads_; ++h) {
      std::copy_n(scores_.data() + r * scores_.dim(1) + h * keys, keys, kept.data() + (r * heads_ + h) * longest_);
    }
  }
  weights_.push_back(kept);
}

}  // namespace fovea
