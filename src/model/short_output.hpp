// An output layer of some tokens only.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fovea/nn/parameters.hpp"

namespace fovea {

/// The rows of an output layer that the sentences of a batch may write: those of all sentences are multiplied
/// together, then each hypothesis is given those of its own sentence.
class ShortOutput {
 public:
  /// `output` [vocabulary, width]; candidates per sentence, sorted.
  ShortOutput(const Weight& output, const Tensor& bias, std::vector<std::vector<std::int32_t>> candidates);

  /// states [rows, width] to [rows, the most candidates of a sentence]; -inf behind a row's own.
  [[nodiscard]] Tensor logits(const Tensor& states) const;
  void keep(std::span<const std::int32_t> rows);
  [[nodiscard]] std::span<const std::int32_t> candidates(std::int64_t row) const;

 private:
  std::vector<std::vector<std::int32_t>> candidates_;
  std::vector<std::vector<std::int32_t>> columns_;  // of each sentence: where its candidates stand in the product
  std::vector<std::int32_t> sentence_of_;           // of each row
  std::unique_ptr<const PackedWeight> packed_;
  Tensor bias_;
  std::int64_t widest_ = 0;
};

}  // namespace fovea
