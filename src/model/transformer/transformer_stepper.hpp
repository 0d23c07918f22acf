// A Transformer decoder a token at a time, for decoding: plain arrays that are allocated once, hypotheses that share
// their keys and values, a memory without padding.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fovea/model/decoder.hpp"
#include "model/transformer/stack.hpp"

namespace fovea {

namespace kernels {
struct HeadsStep;
}

/// Every row is computed as if it were alone, so its bytes do not depend on the others. Once its arrays have their
/// final size, a step allocates only what it returns.
class TransformerStepper final : public DecoderState {
 public:
  TransformerStepper(const TransformerStack& stack, const Memory* memory, std::int64_t rows, bool want_attention,
                     const Interventions* interventions);
  [[nodiscard]] Tensor step(const Tensor& embedded) override;
  void keep(std::span<const std::int32_t> rows) override;
  [[nodiscard]] std::span<const Tensor> attention() const override { return weights_; }

 private:
  void read(const Memory& memory);
  void make_room(std::int64_t rows);
  void grow_paths();
  void grow_target(std::int64_t rows);
  void read_target(std::size_t layer, std::int64_t rows);  // by the configuration, one of the next three
  void attend_to_self(std::size_t layer, std::int64_t rows);
  void step_ssru(std::size_t layer, std::int64_t rows);
  void average(std::size_t layer, std::int64_t rows);
  void attend_to_memory(std::size_t layer, std::int64_t rows);
  // One row's heads, with the weights that the editor (or null) makes of theirs.
  void attend(const kernels::HeadsStep& row, const WeightEditor* editor, std::int64_t sequence) const;
  void report_weights(std::int64_t rows);
  void feed(const FeedForward& layer, std::int64_t rows);
  void norm(const LayerNorm& norm, std::int64_t rows);  // normed_ = norm(x_)
  // normed_ = norm(x_ + y_) and x_ = x_ + y_; with post-norm x_ = norm(x_ + y_).
  void add_and_norm(const LayerNorm& norm, std::int64_t rows);
  // What attention and feed-forward layers read: the norm of x_, or with post-norm x_ itself.
  [[nodiscard]] const float* input() const { return (post_ ? x_ : normed_).data(); }

  const TransformerStack& stack_;
  const bool want_attention_;
  const Interventions* interventions_;  // or null
  const bool post_;
  const std::int64_t width_, heads_, head_;  // of the states; how many heads, and the width of one
  const float scale_;
  std::int64_t length_ = 0;  // tokens written

  // The memory: rows of all sentences one after the other, per layer keys and values.
  std::vector<Tensor> memory_keys_, memory_values_;  // [tokens of all sentences, width]
  std::vector<std::int64_t> first_, count_;          // of each sentence: its first row there, and its number of rows
  std::int64_t longest_ = 0;
  std::vector<std::int32_t> sentence_of_, next_sentence_of_;  // of each row

  // The target so far: the keys and values of one step after the other. Step t of row r begins at
  // path_[r * room_ + t]; rows of one sentence share the steps they have in common.
  std::vector<Tensor> keys_, values_;  // per layer [capacity_]
  std::int64_t used_ = 0, capacity_ = 0;
  std::vector<std::int64_t> path_, next_path_;
  std::int64_t room_ = 16;
  Tensor slopes_;                     // [heads], of ALiBi; empty: other positions
  std::vector<float> distance_bias_;  // [heads, length_ + 1], of ALiBi
  // Without self-attention, in place of all that: per layer the cells of SSRU, or sums of what is averaged.
  std::vector<Tensor> past_;  // [rows or more, width]
  Tensor spare_past_, gates_;

  Tensor x_, normed_, y_, query_, context_, inner_, mean_, rstd_, scores_;
  std::int64_t rows_ = 0;        // that the arrays have room for
  std::vector<Tensor> weights_;  // when asked for
};

}  // namespace fovea
