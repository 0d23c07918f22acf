// The state of decoding with copying: the words of each sentence, and the sentence of each row.
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
  /// `projected` is CopyGate::memory of the memory, a number per position; `vocabulary` the model's own.
  CopyingRows(const Memory& memory, const Tensor& projected, std::int64_t vocabulary);

  /// The tokens as the decoder's input: words that only the source has become <unk>.
  [[nodiscard]] std::span<const std::int32_t> fed(std::span<const std::int32_t> tokens);
  /// Log-probabilities over the vocabulary and the words of the sources from the logits [rows, vocabulary], CopyGate's
  /// rest() [rows, 1] and the weights [rows, heads, source length]. Only the first head is used.
  [[nodiscard]] Tensor mixed(const Tensor& logits, const Tensor& gate, const Tensor& weights);
  void keep(std::span<const std::int32_t> rows);

 private:
  std::int64_t vocabulary_, size_, length_;  // size_: includes the words of the source with the most
  std::vector<std::int32_t> copies_;         // [sentences * length]
  std::vector<std::int64_t> lengths_;        // [sentences]
  Tensor projected_;                         // [sentences, length]
  std::vector<std::int32_t> sentence_of_;    // row → sentence
  std::vector<std::int32_t> fed_;
  std::vector<float> mass_;  // scratch of mix_copied
};

}  // namespace fovea
