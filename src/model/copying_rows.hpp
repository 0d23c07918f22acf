// What decoding with copying keeps: the words of each sentence, and which sentence a row is of.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fovea/model/encoder.hpp"
#include "fovea/tensor.hpp"

namespace fovea {

/// The rows of a stepper whose model copies. See Stepper for what a row is.
class CopyingRows {
 public:
  /// `projected` is the memory's part of the gate, a number per position; `vocabulary` the model's own.
  CopyingRows(const Memory& memory, const Tensor& projected, std::int64_t vocabulary);

  /// The tokens as a decoder can be fed with them: words that only the source has as <unk>.
  [[nodiscard]] std::span<const std::int32_t> fed(std::span<const std::int32_t> tokens);
  /// Log-probabilities over the vocabulary and the words of the sources from the logits [rows, vocabulary], the rest of
  /// the gate [rows, 1] and the weights [rows, heads, source length], of which the first head's count.
  [[nodiscard]] Tensor mixed(const Tensor& logits, const Tensor& gate, const Tensor& weights);
  void keep(std::span<const std::int32_t> rows);

 private:
  std::int64_t vocabulary_, size_, length_;  // size_: with the words of the source that has most
  std::vector<std::int32_t> copies_;         // [sentences * length]
  std::vector<std::int64_t> lengths_;        // [sentences]
  Tensor projected_;                         // [sentences, length]
  std::vector<std::int32_t> sentence_of_;    // row → sentence
  std::vector<std::int32_t> fed_;
  std::vector<float> mass_;  // scratch of mix_copied
};

}  // namespace fovea
