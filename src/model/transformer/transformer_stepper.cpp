#include "model/transformer/transformer_stepper.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "fovea/attention/positions.hpp"
#include "fovea/threads.hpp"
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

TransformerStepper::TransformerStepper(const TransformerStack& stack, const Memory* memory, Int rows,
                                       bool want_attention, const Interventions* interventions)
    : stack_(stack),
      want_attention_(want_attention),
      interventions_(interventions),
      post_(stack.config.norm == Norm::post),
      width_(stack.config.dim),
      heads_(stack.config.heads),
      head_(width_ / heads_),
      scale_(scale_of((stack.self_attends() ? stack.layers[0].self : stack.layers[0].cross).score, head_)),
      keys_(stack.self_attends() ? stack.layers.size() : 0),
      values_(keys_.size()) {
  if (stack.attends) read(*memory);
  path_.resize(static_cast<std::size_t>(rows * room_));
  if (stack.config.positions == Positions::alibi) slopes_ = alibi_slopes(heads_);
  if (stack.self_attends()) return;
  for (std::size_t i = 0; i < stack.layers.size(); ++i) past_.push_back(Tensor::zeros({rows, width_}));
}

void TransformerStepper::make_room(Int rows) {
  if (rows > rows_) {
    rows_ = rows;
    for (Tensor* t : {&x_, &normed_, &y_, &query_, &context_}) *t = Tensor::empty({rows, width_});
    inner_ = Tensor::empty({rows, stack_.config.ffn});
    if (stack_.config.decoder_self == DecoderSelf::average) gates_ = Tensor::empty({rows, 2 * width_});
    mean_ = Tensor::empty({rows});
    rstd_ = Tensor::empty({rows});
  }
  if (stack_.self_attends() && length_ == room_) grow_paths();
  const Int most = heads_ * std::max(longest_, room_);
  if (!scores_ || scores_.dim(0) < rows_ || scores_.dim(1) < most) scores_ = Tensor::empty({rows_, most});
  if (stack_.self_attends()) grow_target(rows);
}

void TransformerStepper::grow_paths() {
  const Int count = static_cast<Int>(path_.size()) / room_;
  next_path_.assign(static_cast<std::size_t>(2 * count * room_), 0);
  for (Int r = 0; r < count; ++r) std::copy_n(path_.begin() + r * room_, room_, next_path_.begin() + 2 * r * room_);
  path_.swap(next_path_);
  room_ *= 2;
}

void TransformerStepper::grow_target(Int rows) {
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
  switch (stack_.config.decoder_self) {
    case DecoderSelf::attention:
      return attend_to_self(layer, rows);
    case DecoderSelf::ssru:
      return step_ssru(layer, rows);
    case DecoderSelf::average:
      return average(layer, rows);
  }
}

void TransformerStepper::step_ssru(std::size_t layer, Int rows) {
  const Ssru& unit = stack_.layers[layer].ssru;
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
  const AverageAttention& mean = stack_.layers[layer].average;
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

void TransformerStepper::feed(const FeedForward& layer, Int rows) {
  multiply(layer.first, rows, input(), inner_.data(), layer.activation);
  multiply(layer.second, rows, inner_.data(), y_.data());
}

void TransformerStepper::norm(const LayerNorm& norm, Int rows) {
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
  const Tensor placed = stack_.placed(embedded.reshape({rows, 1, width_}), length_).value().contiguous();
  std::copy_n(placed.data(), rows * width_, x_.data());
  if (is_rotary(stack_.config.positions)) stack_.angles.prepare(std::max(length_ + 1, longest_), head_);
  if (slopes_) {
    distance_bias_.clear();
    for (const float slope : slopes_.values()) {
      for (Int t = 0; t <= length_; ++t) distance_bias_.push_back(-slope * static_cast<float>(length_ - t));
    }
  }
  for (Int r = 0; r < rows && stack_.self_attends(); ++r) {
    path_[static_cast<std::size_t>(r * room_ + length_)] = used_ + r * width_;
  }
  weights_.clear();
  const auto& layers = stack_.layers;
  if (!post_) norm(layers[0].self_norm, rows);
  // Pre-norm: each sum is computed with the norm that the next part reads. Post-norm: with the part's own.
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const TransformerLayer& layer = layers[i];
    read_target(i, rows);
    add_and_norm(post_ ? layer.self_norm : stack_.attends ? layer.cross_norm : layer.feed_norm, rows);
    if (stack_.attends) {
      attend_to_memory(i, rows);
      add_and_norm(post_ ? layer.cross_norm : layer.feed_norm, rows);
    }
    feed(layer.feed, rows);
    add_and_norm(post_ ? layer.feed_norm : i + 1 < layers.size() ? layers[i + 1].self_norm : stack_.last, rows);
  }
  used_ += rows * width_;
  ++length_;
  Tensor out = Tensor::empty({rows, width_});
  std::copy_n(input(), rows * width_, out.data());
  return out;
}

void TransformerStepper::keep(std::span<const std::int32_t> rows) {
  if (stack_.self_attends()) {
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
