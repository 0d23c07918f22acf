// An output layer of some tokens only.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fovea/nn/parameters.hpp"

namespace fovea {

/// For each sentence of a batch the output layer's rows of its candidates. The candidates of a whole batch soon make up
/// most of the vocabulary, so each sentence's hypotheses are multiplied with its own rows.
class ShortOutput {
 public:
  /// `output` [vocabulary, width]; candidates per sentence, sorted.
  ShortOutput(const Weight& output, const Tensor& bias, std::vector<std::vector<std::int32_t>> candidates);

  /// states [rows, width] to [rows, most candidates of a sentence]; -inf past a row's own.
  [[nodiscard]] Tensor logits(const Tensor& states) const;
  void keep(std::span<const std::int32_t> rows);
  [[nodiscard]] std::span<const std::int32_t> candidates(std::int64_t row) const { return of(row).candidates; }

 private:
  struct Sentence {
    std::vector<std::int32_t> candidates;
    std::unique_ptr<const PackedWeight> output;
    Tensor bias;
  };
  [[nodiscard]] const Sentence& of(std::int64_t row) const {
    return sentences_[static_cast<std::size_t>(sentence_of_[static_cast<std::size_t>(row)])];
  }

  std::vector<Sentence> sentences_;
  std::vector<std::int32_t> sentence_of_, kept_;  // of each row
  std::int64_t widest_ = 0;
};

}  // namespace fovea
