#include "text/words.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/error.hpp"
#include "text/segment.hpp"
#include "text/tokenizer/byte_pairs.hpp"
#include "text/tokenizer/vocabulary.hpp"
#include "text/unicode.hpp"

namespace fovea::text {
namespace {

bool is_special(std::string_view piece) {
  return piece == special_token(eos_id) || piece == special_token(bos_id) || piece == special_token(pad_id);
}

// The pieces between two spaces.
struct Chunk {
  std::string text;
  std::vector<std::size_t> ends;  // where each piece ends in the text

  void add(std::string_view piece) {
    text += piece;
    ends.push_back(text.size());
  }

  // Moves its words to `out`: one ends where a word of the text ends, unless a piece continues there.
  void move_to(PieceWords& out) {
    if (ends.empty()) return;
    std::vector<std::size_t> cuts;
    for (const std::string_view word : cut_unspaced(text))
      cuts.push_back((cuts.empty() ? 0 : cuts.back()) + word.size());
    std::size_t begin = 0;
    for (const std::size_t end : ends) {
      out.of_piece.push_back(static_cast<std::int32_t>(out.words.size()));
      if (end == text.size() || end == begin || !std::binary_search(cuts.begin(), cuts.end(), end)) continue;
      out.words.push_back(text.substr(begin, end - begin));
      begin = end;
    }
    out.words.push_back(text.substr(begin));
    *this = {};
  }
};

// Of byte pairs a word begins with the space before it, Ġ, or another white space.
PieceWords words_of_bytes(std::span<const std::string> pieces) {
  PieceWords out;
  std::string characters;  // of the word that is still open
  const auto close = [&] {
    if (!characters.empty()) out.words.emplace_back(trim(text_of_bytes(characters)));
    characters.clear();
  };
  for (const std::string& piece : pieces) {
    const bool begins = is_special(piece) || piece.starts_with("\u0120") || piece.starts_with("\u010A");
    if (begins || (!characters.empty() && is_special(characters))) close();
    out.of_piece.push_back(static_cast<std::int32_t>(out.words.size()));
    characters += piece;
  }
  close();
  return out;
}

}  // namespace

PieceWords words_of_pieces(TokenizerKind kind, std::span<const std::string> pieces) {
  if (kind == TokenizerKind::byte_pairs) return words_of_bytes(pieces);
  PieceWords out;
  Chunk chunk;
  for (const std::string& piece : pieces) {
    if (kind == TokenizerKind::word || kind == TokenizerKind::label || is_special(piece)) {
      chunk.move_to(out);
      out.of_piece.push_back(static_cast<std::int32_t>(out.words.size()));
      out.words.push_back(piece);
      continue;
    }
    std::string_view text = piece;
    if (text.starts_with(visible_space)) {
      text.remove_prefix(visible_space.size());
      // Among characters, ▁▁ is a ▁ of the text. A ▁ on its own belongs to the word after it.
      const bool space = kind != TokenizerKind::character || text.empty();
      if (space && !chunk.text.empty()) chunk.move_to(out);
    }
    chunk.add(text);
  }
  chunk.move_to(out);
  return out;
}

std::vector<float> merge_attention(std::span<const float> weights, const PieceWords& source, const PieceWords& target) {
  const std::size_t width = source.of_piece.size();
  if (weights.size() != target.of_piece.size() * width) {
    throw UsageError(fmt::format("merge_attention: {} weights for {} target pieces and {} source pieces",
                                 weights.size(), target.of_piece.size(), width));
  }
  std::vector<float> pieces_of(target.words.size(), 0);
  for (const std::int32_t word : target.of_piece) pieces_of[static_cast<std::size_t>(word)] += 1;
  std::vector<float> out(target.words.size() * source.words.size(), 0);
  for (std::size_t t = 0; t < target.of_piece.size(); ++t) {
    const auto word = static_cast<std::size_t>(target.of_piece[t]);
    for (std::size_t s = 0; s < width; ++s) {
      out[word * source.words.size() + static_cast<std::size_t>(source.of_piece[s])] +=
          weights[t * width + s] / pieces_of[word];
    }
  }
  return out;
}

std::vector<float> mean_of_pieces(std::span<const float> numbers, const PieceWords& words) {
  if (numbers.empty()) return {};
  if (numbers.size() != words.of_piece.size()) {
    throw UsageError(fmt::format("mean_of_pieces: {} numbers for {} pieces", numbers.size(), words.of_piece.size()));
  }
  std::vector<float> sum(words.words.size(), 0), count(words.words.size(), 0);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    sum[static_cast<std::size_t>(words.of_piece[i])] += numbers[i];
    count[static_cast<std::size_t>(words.of_piece[i])] += 1;
  }
  for (std::size_t w = 0; w < sum.size(); ++w) sum[w] /= count[w];
  return sum;
}

}  // namespace fovea::text
