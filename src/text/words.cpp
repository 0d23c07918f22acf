#include "text/words.hpp"

#include <fmt/format.h>

#include "fovea/error.hpp"
#include "text/tokenizer/vocabulary.hpp"
#include "text/unicode.hpp"

namespace fovea::text {
namespace {

constexpr std::string_view visible_space = "\u2581";

bool starts_unspaced(std::string_view piece) {
  std::size_t at = 0;
  return !piece.empty() && is_unspaced(next_code_point(piece, at));
}

bool ends_unspaced(std::string_view piece) {
  const std::u32string all = to_code_points(piece);
  return !all.empty() && is_unspaced(all.back());
}

}  // namespace

PieceWords words_of_pieces(TokenizerKind kind, std::span<const std::string> pieces) {
  const bool whole = kind == TokenizerKind::word || kind == TokenizerKind::label;
  PieceWords out;
  bool begin = true;  // the next piece opens a word
  for (const std::string& piece : pieces) {
    const bool special =
        piece == special_token(eos_id) || piece == special_token(bos_id) || piece == special_token(pad_id);
    std::string_view text = piece;
    if (!whole && text.starts_with(visible_space)) {
      text.remove_prefix(visible_space.size());
      begin = true;
    }
    // A ▁ that stands alone belongs to the word after it.
    const bool waiting = !out.words.empty() && out.words.back().empty();
    if ((begin || whole || special || starts_unspaced(text) ||
         (!out.words.empty() && ends_unspaced(out.words.back()))) &&
        !(waiting && !special)) {
      out.words.emplace_back();
    }
    out.words.back() += text;
    out.of_piece.push_back(static_cast<std::int32_t>(out.words.size()) - 1);
    begin = special;
  }
  return out;
}

std::vector<std::vector<float>> merge_attention(std::span<const std::vector<float>> weights, const PieceWords& source,
                                                const PieceWords& target) {
  if (weights.size() != target.of_piece.size()) {
    throw UsageError(fmt::format("merge_attention: {} rows of weights for {} target pieces", weights.size(),
                                 target.of_piece.size()));
  }
  std::vector<float> pieces_of(target.words.size(), 0);
  for (const std::int32_t word : target.of_piece) pieces_of[static_cast<std::size_t>(word)] += 1;
  std::vector<std::vector<float>> out(target.words.size(), std::vector<float>(source.words.size(), 0));
  for (std::size_t t = 0; t < weights.size(); ++t) {
    if (weights[t].size() != source.of_piece.size()) {
      throw UsageError(fmt::format("merge_attention: {} weights in row {} for {} source pieces", weights[t].size(), t,
                                   source.of_piece.size()));
    }
    const auto word = static_cast<std::size_t>(target.of_piece[t]);
    for (std::size_t s = 0; s < weights[t].size(); ++s) {
      out[word][static_cast<std::size_t>(source.of_piece[s])] += weights[t][s] / pieces_of[word];
    }
  }
  return out;
}

}  // namespace fovea::text
