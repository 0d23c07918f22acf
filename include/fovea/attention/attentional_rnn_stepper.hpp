// A recurrent decoder with attention, one token at a time: attentional_rnn() for decoding.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "fovea/attention/attentional_rnn.hpp"
#include "fovea/tensor.hpp"

namespace FOVEA_API fovea {

class WeightEditor;

/// A decoder's weights, packed once for many batches. No gradients.
class PackedAttentionalRnn {
 public:
  /// Inputs are of width `embedding`, the memory of width `memory_width`. Of the options only form, input_feeding and
  /// local matter. Keeps shares of the weights: they must not change.
  PackedAttentionalRnn(const AttentionalRnnWeights& weights, const AttentionalRnnOptions& how, std::int64_t embedding,
                       std::int64_t memory_width);
  ~PackedAttentionalRnn();
  PackedAttentionalRnn(PackedAttentionalRnn&&) noexcept;
  PackedAttentionalRnn& operator=(PackedAttentionalRnn&&) noexcept;

 private:
  friend class AttentionalRnnStepper;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// What one step gave, row by row; the next step may overwrite it.
struct AttentionalRnnStep {
  Tensor state;        // [rows, h] of the top layer
  Tensor context;      // [rows, M]
  Tensor attentional;  // [rows, G], Luong only
  Tensor weights;      // [rows, S]
  Tensor scores{};     // [rows, S], when asked for: before softmax, -inf where a key is not visible
  Tensor query{};      // [rows, d], when asked for: as the score takes it, after its projection
};

/// What a step reports in addition to its result, and what is changed in it.
struct AttentionalRnnStepOptions {
  bool scores = false;                   // give the step's scores and queries
  const WeightEditor* editor = nullptr;  // changes the weights; a row's query is the number of the step
};

/// One batch of memories being decoded. A row is a hypothesis about one sequence of the batch; at the start there is
/// one row per sequence. Rows never influence each other, and give the same bytes as attentional_rnn().
///
///     AttentionalRnnStepper stepper(packed, memory, lengths, {first});
///     const AttentionalRnnStep step = stepper.step(embedded);  // [rows, E]
///     stepper.keep(best);                                      // row i goes on as row best[i]
class AttentionalRnnStepper {
 public:
  /// `packed` must outlive it. memory [B, S, M]; first states and cells per layer [B, h], or none: zeros.
  AttentionalRnnStepper(const PackedAttentionalRnn& packed, const Tensor& memory,
                        std::span<const std::int64_t> memory_lengths, std::span<const Tensor> first = {},
                        std::span<const Tensor> first_cell = {});
  ~AttentionalRnnStepper();
  AttentionalRnnStepper(const AttentionalRnnStepper&) = delete;
  AttentionalRnnStepper& operator=(const AttentionalRnnStepper&) = delete;

  [[nodiscard]] std::int64_t rows() const;  // hypotheses at present
  /// Throws ShapeError unless x is [rows, E].
  AttentionalRnnStep step(const Tensor& x, const AttentionalRnnStepOptions& how = {});
  /// The memory as the score takes it, [B, S, d]; empty for the location score.
  [[nodiscard]] Tensor keys() const;
  /// Row i goes on as what row rows[i] was; the number of rows becomes rows.size().
  void keep(std::span<const std::int32_t> rows);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fovea
