// A Transformer decoder a token at a time, for decoding: plain arrays that are made once, hypotheses that share their
// keys and values, a memory without padding.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fovea/model/decoder.hpp"
#include "fovea/nn/linear.hpp"
#include "model/decoders/transformer_decoder.hpp"

namespace fovea {

/// Every row is computed as if it were alone, so its bytes do not depend on the others. Once its arrays are as large as
/// they get, a step allocates nothing but what it returns.
class TransformerStepper final : public DecoderState {
 public:
  /// Whether it knows all that the configuration asks for.
  [[nodiscard]] static bool can_run(const TransformerConfig& config) {
    return config.positions != Positions::alibi && !config.approximate_gelu;
  }

  TransformerStepper(const TransformerDecoder& decoder, const Memory* memory, std::int64_t rows, bool want_attention);
  [[nodiscard]] Tensor step(const Tensor& embedded) override;
  void keep(std::span<const std::int32_t> rows) override;
  [[nodiscard]] std::span<const Tensor> attention() const override { return weights_; }

 private:
  using Layer = TransformerDecoder::Layer;
  void read(const Memory& memory);
  void make_room(std::int64_t rows);
  void read_target(std::size_t layer, std::int64_t rows);  // by the configuration, one of the next three
  void attend_to_self(std::size_t layer, std::int64_t rows);
  void step_ssru(std::size_t layer, std::int64_t rows);
  void average(std::size_t layer, std::int64_t rows);
  void attend_to_memory(std::size_t layer, std::int64_t rows);
  void feed(const Layer& layer, std::int64_t rows);
  // x + y (in x_) and its norm; with post-norm the norm alone goes on.
  void add_and_norm(const LayerNorm& norm, std::int64_t rows);
  // What attention and feed-forward layers read: the norm of x_, or with post-norm x_ itself.
  [[nodiscard]] const float* input() const { return (post_ ? x_ : normed_).data(); }

  const TransformerDecoder& decoder_;
  const bool want_attention_;
  const bool post_;
  const std::int64_t width_, heads_, head_;  // of the states; how many heads, and the width of one
  const float scale_;
  std::int64_t length_ = 0;  // tokens written

  // The memory: rows of all sentences one after the other, per layer keys and values.
  std::vector<Tensor> memory_keys_, memory_values_;  // [tokens of all sentences, width]
  std::vector<std::int64_t> first_, count_;          // where each sentence stands there, in rows
  std::int64_t longest_ = 0;
  std::vector<std::int32_t> sentence_of_, next_sentence_of_;  // of each row

  // The target so far: what each step gave, one step after the other. A row's own steps stand at path_[row * room_ +
  // t], in values; rows of one sentence share what they have in common.
  std::vector<Tensor> keys_, values_;  // per layer [capacity_]
  std::int64_t used_ = 0, capacity_ = 0;
  std::vector<std::int64_t> path_, next_path_;
  std::int64_t room_ = 16;
  // In place of all that, where there is no self-attention: per layer SSRU's cells, or sums of what is averaged.
  std::vector<Tensor> past_;  // [rows or more, width]
  Tensor spare_past_, gates_;

  Tensor x_, normed_, y_, query_, context_, inner_, mean_, rstd_, scores_;
  std::int64_t rows_ = 0;        // that the arrays have room for
  std::vector<Tensor> weights_;  // when asked for
};

}  // namespace fovea
