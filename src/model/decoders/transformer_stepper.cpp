#include "model/decoders/transformer_stepper.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "fovea/threads.hpp"
#include "kernels/attention_step.hpp"
#include "kernels/kernels.hpp"
#include "kernels/rnn.hpp"
#include "kernels/rows.hpp"
#include "model/decoders/product.hpp"

namespace fovea {
namespace {

using Int = std::int64_t;

// Rows that one thread takes at a time; fewer are not worth waking another.
constexpr Int kRowsPerChunk = 16;

float scale_of(const Score& score, Int dim) {
  if (const auto* dot = std::get_if<score::Dot>(&score)) return dot->scale.value_or(1.0F);
  return std::get<score::ScaledDot>(score).scale.value_or(1.0F / std::sqrt(static_cast<float>(dim)));
}

}  // namespace

TransformerStepper::TransformerStepper(const TransformerDecoder& decoder, const Memory* memory, Int rows,
                                       bool want_attention)
    : decoder_(decoder),
      want_attention_(want_attention),
      post_(decoder.config_.norm == Norm::post),
      width_(decoder.config_.dim),
      heads_(decoder.config_.heads),
      head_(width_ / heads_),
      scale_(scale_of((decoder.self_attends() ? decoder.layers_[0].self : decoder.layers_[0].cross).score, head_)),
      keys_(decoder.self_attends() ? decoder.layers_.size() : 0),
      values_(keys_.size()) {
  if (decoder.attends_) read(*memory);
  path_.resize(static_cast<std::size_t>(rows * room_));
  if (decoder.self_attends()) return;
  for (std::size_t i = 0; i < decoder.layers_.size(); ++i) past_.push_back(Tensor::zeros({rows, width_}));
}

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
  if (is_rotary(decoder_.config_.positions)) decoder_.turns_.prepare(padded, head_);
  Tensor rows = states.reshape({states.dim(0) * padded, width});
  if (total < rows.dim(0)) {
    rows = Tensor::empty({total, width});
    for (std::size_t s = 0; s < first_.size(); ++s) {
      std::copy_n(states.data() + static_cast<Int>(s) * padded * width, count_[s] * width,
                  rows.data() + first_[s] * width);
    }
  }
  for (const Layer& layer : decoder_.layers_) {
    for (const bool key : {true, false}) {
      const Tensor to = Tensor::empty({total, width_});
      multiply(key ? layer.cross.key : layer.cross.value, total, rows.data(), to.data());
      (key ? memory_keys_ : memory_values_).push_back(to);
    }
    if (decoder_.config_.positions != Positions::rotary_cross) continue;
    for (std::size_t s = 0; s < first_.size(); ++s) {
      for (Int t = 0; t < count_[s]; ++t) {
        decoder_.turns_.turn(memory_keys_.back().data() + (first_[s] + t) * width_, heads_, head_, t);
      }
    }
  }
}

void TransformerStepper::make_room(Int rows) {
  if (rows > rows_) {
    rows_ = rows;
    for (Tensor* t : {&x_, &normed_, &y_, &query_, &context_}) *t = Tensor::empty({rows, width_});
    inner_ = Tensor::empty({rows, decoder_.config_.ffn});
    if (decoder_.config_.decoder_self == DecoderSelf::average) gates_ = Tensor::empty({rows, 2 * width_});
    mean_ = Tensor::empty({rows});
    rstd_ = Tensor::empty({rows});
  }
  const Int most = heads_ * std::max(longest_, room_);
  if (!scores_ || scores_.size() < rows_ * most) scores_ = Tensor::empty({rows_, most});
  if (!decoder_.self_attends()) return;
  if (length_ == room_) {
    const Int count = static_cast<Int>(path_.size()) / room_;
    next_path_.assign(static_cast<std::size_t>(2 * count * room_), 0);
    for (Int r = 0; r < count; ++r) std::copy_n(path_.begin() + r * room_, room_, next_path_.begin() + 2 * r * room_);
    path_.swap(next_path_);
    room_ *= 2;
    scores_ = Tensor::empty({rows_, heads_ * std::max(longest_, room_)});
  }
  const Int needed = used_ + rows * width_;
  if (needed <= capacity_) return;
  // A power of two, so that the next batch, of a few rows more or less, finds the memory of this one.
  capacity_ = static_cast<Int>(std::bit_ceil(static_cast<std::uint64_t>(used_ + 16 * rows * width_)));
  for (auto* all : {&keys_, &values_}) {
    for (Tensor& t : *all) {
      const Tensor larger = Tensor::empty({capacity_});
      if (used_ > 0) std::copy_n(t.data(), used_, larger.data());
      t = larger;
    }
  }
}

void TransformerStepper::read_target(std::size_t layer, Int rows) {
  switch (decoder_.config_.decoder_self) {
    case DecoderSelf::attention:
      return attend_to_self(layer, rows);
    case DecoderSelf::ssru:
      return step_ssru(layer, rows);
    case DecoderSelf::average:
      return average(layer, rows);
  }
}

void TransformerStepper::step_ssru(std::size_t layer, Int rows) {
  const Ssru& unit = decoder_.layers_[layer].ssru;
  multiply(unit.input, rows, input(), context_.data());
  multiply(unit.forget, rows, input(), query_.data());
  parallel_for(rows, kRowsPerChunk, [&](Int begin, Int end) {
    const Int at = begin * width_;
    kernels::active().rnn->ssru_forward((end - begin) * width_, {.x = context_.data() + at,
                                                                 .gate = query_.data() + at,
                                                                 .cell = past_[layer].data() + at,
                                                                 .kept = nullptr,
                                                                 .out = y_.data() + at});
  });
}

void TransformerStepper::average(std::size_t layer, Int rows) {
  const AverageAttention& mean = decoder_.layers_[layer].average;
  const float share = 1.0F / static_cast<float>(length_ + 1);
  const float* x = input();
  parallel_for(rows, kRowsPerChunk, [&](Int begin, Int end) {
    for (Int i = begin * width_; i < end * width_; ++i) {
      float& sum = past_[layer].data()[i];
      sum += x[i];
      context_.data()[i] = sum * share;
    }
  });
  multiply(mean.feed.first, rows, context_.data(), inner_.data(), mean.feed.activation);
  multiply(mean.feed.second, rows, inner_.data(), y_.data());
  multiply(mean.gate_input, rows, x, gates_.data());
  multiply(mean.gate_average, rows, y_.data(), gates_.data(), Activation::sigmoid, true);
  parallel_for(rows, kRowsPerChunk, [&](Int begin, Int end) {
    for (Int r = begin; r < end; ++r) {
      const float* gate = gates_.data() + r * 2 * width_;
      float* y = y_.data() + r * width_;
      for (Int i = 0; i < width_; ++i) y[i] = gate[i] * x[r * width_ + i] + gate[width_ + i] * y[i];
    }
  });
}

void TransformerStepper::attend_to_self(std::size_t layer, Int rows) {
  const MultiHead& heads = decoder_.layers_[layer].self;
  float* keys = keys_[layer].data();
  float* values = values_[layer].data();
  multiply(heads.query, rows, input(), query_.data());
  multiply(heads.key, rows, input(), keys + used_);
  multiply(heads.value, rows, input(), values + used_);
  const bool turns = is_rotary(decoder_.config_.positions);
  parallel_for(rows, kRowsPerChunk, [&](Int begin, Int end) {
    for (Int r = begin; r < end; ++r) {
      if (turns) {
        decoder_.turns_.turn(query_.data() + r * width_, heads_, head_, length_);
        decoder_.turns_.turn(keys + used_ + r * width_, heads_, head_, length_);
      }
      kernels::active().attention_step->attend_heads({.keys = length_ + 1,
                                                      .heads = heads_,
                                                      .dim = head_,
                                                      .scale = scale_,
                                                      .q = query_.data() + r * width_,
                                                      .k = keys,
                                                      .v = values,
                                                      .offsets = path_.data() + r * room_,
                                                      .weights = scores_.data() + r * scores_.dim(1),
                                                      .out = context_.data() + r * width_});
    }
  });
  multiply(heads.output, rows, context_.data(), y_.data());
}

void TransformerStepper::attend_to_memory(std::size_t layer, Int rows) {
  const MultiHead& heads = decoder_.layers_[layer].cross;
  multiply(heads.query, rows, input(), query_.data());
  const bool turns = decoder_.config_.positions == Positions::rotary_cross;
  parallel_for(rows, kRowsPerChunk, [&](Int begin, Int end) {
    for (Int r = begin; r < end; ++r) {
      if (turns) decoder_.turns_.turn(query_.data() + r * width_, heads_, head_, length_);
      const auto s = static_cast<std::size_t>(sentence_of_[static_cast<std::size_t>(r)]);
      kernels::active().attention_step->attend_heads({.keys = count_[s],
                                                      .heads = heads_,
                                                      .dim = head_,
                                                      .scale = scale_,
                                                      .q = query_.data() + r * width_,
                                                      .k = memory_keys_[layer].data() + first_[s] * width_,
                                                      .v = memory_values_[layer].data() + first_[s] * width_,
                                                      .stride = width_,
                                                      .weights = scores_.data() + r * scores_.dim(1),
                                                      .want_weights = want_attention_,
                                                      .out = context_.data() + r * width_});
    }
  });
  if (want_attention_) {
    const Tensor kept = Tensor::zeros({rows, heads_, longest_});
    for (Int r = 0; r < rows; ++r) {
      const Int keys = count_[static_cast<std::size_t>(sentence_of_[static_cast<std::size_t>(r)])];
      for (Int h = 0; h < heads_; ++h) {
        std::copy_n(scores_.data() + r * scores_.dim(1) + h * keys, keys, kept.data() + (r * heads_ + h) * longest_);
      }
    }
    weights_.push_back(kept);
  }
  multiply(heads.output, rows, context_.data(), y_.data());
}

void TransformerStepper::feed(const Layer& layer, Int rows) {
  multiply(layer.feed.first, rows, input(), inner_.data(), layer.feed.activation);
  multiply(layer.feed.second, rows, inner_.data(), y_.data());
}

void TransformerStepper::add_and_norm(const LayerNorm& norm, Int rows) {
  float* to = (post_ ? x_ : normed_).data();
  parallel_for(rows, 4 * kRowsPerChunk, [&](Int begin, Int end) {
    const Int at = begin * width_;
    kernels::active().rows->layer_norm({.rows = end - begin,
                                        .width = width_,
                                        .epsilon = norm.epsilon,
                                        .x = x_.data() + at,
                                        .gamma = norm.gain.value().data(),
                                        .beta = norm.bias.value().data(),
                                        .y = to + at,
                                        .mean = mean_.data() + begin,
                                        .rstd = rstd_.data() + begin,
                                        .residual = y_.data() + at,
                                        .h = x_.data() + at});
  });
}

Tensor TransformerStepper::step(const Tensor& embedded) {
  const NoGrad quiet;
  const Int rows = embedded.dim(0);
  make_room(rows);
  const Tensor placed = decoder_.placed(embedded.reshape({rows, 1, width_}), length_).value().contiguous();
  std::copy_n(placed.data(), rows * width_, x_.data());
  if (is_rotary(decoder_.config_.positions)) {
    decoder_.turns_.prepare(std::max(length_ + 1, longest_), head_);
  }
  for (Int r = 0; r < rows && decoder_.self_attends(); ++r)
    path_[static_cast<std::size_t>(r * room_ + length_)] = used_ + r * width_;
  weights_.clear();
  const auto& layers = decoder_.layers_;
  if (!post_) {
    const LayerNorm& norm = layers[0].self_norm;
    kernels::active().rows->layer_norm({.rows = rows,
                                        .width = width_,
                                        .epsilon = norm.epsilon,
                                        .x = x_.data(),
                                        .gamma = norm.gain.value().data(),
                                        .beta = norm.bias.value().data(),
                                        .y = normed_.data(),
                                        .mean = mean_.data(),
                                        .rstd = rstd_.data()});
  }
  // Pre-norm: each sum is made with the norm that the next part reads. Post-norm: with the part's own.
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const Layer& layer = layers[i];
    read_target(i, rows);
    add_and_norm(post_ ? layer.self_norm : decoder_.attends_ ? layer.cross_norm : layer.feed_norm, rows);
    if (decoder_.attends_) {
      attend_to_memory(i, rows);
      add_and_norm(post_ ? layer.cross_norm : layer.feed_norm, rows);
    }
    feed(layer, rows);
    add_and_norm(post_ ? layer.feed_norm : i + 1 < layers.size() ? layers[i + 1].self_norm : decoder_.last_, rows);
  }
  used_ += rows * width_;
  ++length_;
  Tensor out = Tensor::empty({rows, width_});
  std::copy_n(input(), rows * width_, out.data());
  return out;
}

void TransformerStepper::keep(std::span<const std::int32_t> rows) {
  if (decoder_.self_attends()) {
    next_path_.resize(rows.size() * static_cast<std::size_t>(room_));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::copy_n(path_.begin() + rows[i] * room_, length_, next_path_.begin() + static_cast<Int>(i) * room_);
    }
    path_.swap(next_path_);
  }
  const auto count = static_cast<Int>(rows.size());
  for (Tensor& past : past_) {
    if (!spare_past_ || spare_past_.dim(0) < count) spare_past_ = Tensor::empty({count, width_});
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::copy_n(past.data() + rows[i] * width_, width_, spare_past_.data() + static_cast<Int>(i) * width_);
    }
    std::swap(past, spare_past_);
  }
  if (sentence_of_.empty()) return;
  next_sentence_of_.clear();
  for (const std::int32_t r : rows) next_sentence_of_.push_back(sentence_of_[static_cast<std::size_t>(r)]);
  sentence_of_.swap(next_sentence_of_);
}

}  // namespace fovea
