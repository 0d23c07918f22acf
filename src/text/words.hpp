// Pieces put together to the words they came from: for alignments and for attention that people read.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fovea/text.hpp"

namespace fovea::text {

/// The words of a sequence of pieces.
struct PieceWords {
  std::vector<std::string> words;      // as they are written: "cat", "它"
  std::vector<std::int32_t> of_piece;  // the index of each piece's word; never decreasing
};

/// Puts pieces together: a new word begins at a piece that opens with ▁, and in scripts without spaces where a word of
/// the text ends (text/segment.hpp), unless a piece spans it: 小 猫 is one word, but 好可爱 as one piece stays one.
/// Of byte pairs a word begins at a piece that opens with Ġ, a space. Pieces of a word or label tokenizer are words
/// already. An end-of-sentence piece is a word of its own, so that nothing is lost.
[[nodiscard]] PieceWords words_of_pieces(TokenizerKind kind, std::span<const std::string> pieces);

/// Attention between pieces [targets, sources], row by row, as attention between words: the weights of a source word's
/// pieces are added up, those of a target word's pieces averaged. Rows that sum to 1 still do. Throws UsageError for
/// another number of weights.
[[nodiscard]] std::vector<float> merge_attention(std::span<const float> weights, const PieceWords& source,
                                                 const PieceWords& target);

/// A number per piece as one per word: the mean of its pieces'. None stay none.
[[nodiscard]] std::vector<float> mean_of_pieces(std::span<const float> numbers, const PieceWords& words);

}  // namespace fovea::text
