// The plain kind of SentencePiece model, which Fovea trains: read and followed without SentencePiece, which takes some
// 10 ms to load one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "text/tokenizer/byte_trie.hpp"

namespace fovea::text {

/// A unigram model (Kudo 2018) whose text is not normalised: no map of characters, no pieces of single bytes or of the
/// user's own. Its segmentation is SentencePiece's to the last tie. Pieces are numbered as in the file.
class UnigramModel {
 public:
  struct Piece {
    std::string_view text;  // in the bytes of the file
    float score = 0;
    std::int32_t type = 1;  // 1 normal, 2 unknown, 3 control
  };
  /// A piece of a text: its bytes and its number. Unknown ones that follow each other are one.
  struct Part {
    std::size_t begin, end;
    std::int32_t piece;
  };

  /// None for any other kind of model, which is SentencePiece's to read. `model` has passed check_sentencepiece() and
  /// outlives this.
  [[nodiscard]] static std::optional<UnigramModel> read(std::string_view model);

  [[nodiscard]] const std::vector<Piece>& pieces() const { return pieces_; }
  /// Whether the piece has no text.
  [[nodiscard]] bool control(std::int32_t piece) const;
  /// The number of the special symbol of this name, -1 if there is none.
  [[nodiscard]] std::int32_t special(std::string_view name) const;
  /// The likeliest segmentation of valid UTF-8 in which ▁ stands for each space and before the text.
  [[nodiscard]] std::vector<Part> segment(std::string_view text) const;

 private:
  UnigramModel() = default;

  // Made for the first text: a model that only writes needs none.
  struct Trie {
    std::once_flag made;
    ByteTrie bytes;
  };
  [[nodiscard]] const ByteTrie& trie() const;

  std::vector<Piece> pieces_;
  std::int32_t unknown_ = -1;
  float unknown_score_ = 0;
  std::unique_ptr<Trie> trie_ = std::make_unique<Trie>();
};

}  // namespace fovea::text
