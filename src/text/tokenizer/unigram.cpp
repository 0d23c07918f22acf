// Fields of a model (see sentencepiece_check.cpp) that are read here, apart from its pieces:
//   ModelProto      4 self_test_data
//   TrainerSpec     3 model_type, 24 treat_whitespace_as_suffix, 35 byte_fallback, 44 unk_surface, 45 to 48 names of
//                   <unk>, <s>, </s> and <pad>
//   NormalizerSpec  2 precompiled_charsmap, 3 add_dummy_prefix, 4 remove_extra_whitespaces, 5 escape_whitespaces
#include "text/tokenizer/unigram.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <limits>
#include <type_traits>

#include "text/tokenizer/protobuf.hpp"

namespace fovea::text {
namespace {

constexpr std::int32_t kNormal = 1;
constexpr std::int32_t kUnknown = 2;
constexpr std::int32_t kControl = 3;

bool plain_trainer(std::string_view message) {
  constexpr std::uint64_t kUnigram = 1;
  Fields field(message);
  while (field.next()) {
    const auto usual = [&](std::uint32_t number, const auto& value) {
      if (field.number != number) return true;
      if constexpr (std::is_same_v<decltype(value), const std::uint64_t&>) {
        return field.wire_type == 0 && field.value == value;
      } else {
        return field.wire_type == 2 && field.bytes == value;
      }
    };
    if (!usual(3, kUnigram) || !usual(24, std::uint64_t{0}) || !usual(35, std::uint64_t{0})) return false;
    if (!usual(44, " \u2047 ") || !usual(45, "<unk>") || !usual(46, "<s>") || !usual(47, "</s>") || !usual(48, "<pad>"))
      return false;
  }
  return true;
}

bool plain_normalizer(std::string_view message) {
  Fields field(message);
  while (field.next()) {
    if (field.number == 2 && (field.wire_type != 2 || !field.bytes.empty())) return false;
    if (field.number >= 3 && field.number <= 5 && (field.wire_type != 0 || field.value == 0)) return false;
  }
  return true;
}

UnigramModel::Piece piece_of(std::string_view message) {
  UnigramModel::Piece piece;
  Fields field(message);
  while (field.next()) {
    if (field.number == 1 && field.wire_type == 2) piece.text = field.bytes;
    if (field.number == 2 && field.wire_type == 5) std::memcpy(&piece.score, field.bytes.data(), sizeof piece.score);
    if (field.number == 3 && field.wire_type == 0) piece.type = static_cast<std::int32_t>(field.value);
  }
  return piece;
}

// Texts that were met, in a table that is half empty at least.
class PieceSet {
 public:
  explicit PieceSet(std::size_t most) : places_(std::bit_ceil(2 * most + 1)) {}
  // False if it was there.
  bool insert(std::string_view text) {
    for (std::size_t at = std::hash<std::string_view>()(text);; ++at) {
      std::string_view& place = places_[at & (places_.size() - 1)];
      if (place == text) return false;
      if (!place.empty()) continue;
      place = text;
      return true;
    }
  }

 private:
  std::vector<std::string_view> places_;
};

std::size_t character_length(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

}  // namespace

std::optional<UnigramModel> UnigramModel::read(std::string_view model) {
  UnigramModel out;
  Fields field(model);
  while (field.next()) {
    if (field.wire_type != 2) return std::nullopt;
    if (field.number == 1) {
      out.pieces_.push_back(piece_of(field.bytes));
    } else if ((field.number == 2 && !plain_trainer(field.bytes)) ||
               ((field.number == 3 || field.number == 5) && !plain_normalizer(field.bytes)) || field.number == 4) {
      return std::nullopt;
    }
  }
  std::size_t bytes = 0;
  PieceSet normal(out.pieces_.size()), special(out.pieces_.size());
  float least = std::numeric_limits<float>::max();
  for (std::size_t i = 0; i < out.pieces_.size(); ++i) {
    const Piece& piece = out.pieces_[i];
    const auto number = static_cast<std::int32_t>(i);
    if (piece.text.empty() || piece.type < kNormal || piece.type > kControl) return std::nullopt;
    if (!(piece.type == kNormal ? normal : special).insert(piece.text)) return std::nullopt;
    bytes += piece.text.size();
    if (piece.type == kNormal) least = std::min(least, piece.score);
    if (piece.type != kUnknown) continue;
    if (out.unknown_ >= 0 || piece.text != "<unk>") return std::nullopt;
    out.unknown_ = number;
  }
  if (out.unknown_ < 0 || least == std::numeric_limits<float>::max() || bytes >= ByteTrie::most) return std::nullopt;
  constexpr float kPenalty = 10;
  out.unknown_score_ = least - kPenalty;
  return out;
}

bool UnigramModel::control(std::int32_t piece) const {
  return pieces_[static_cast<std::size_t>(piece)].type == kControl;
}

std::int32_t UnigramModel::special(std::string_view name) const {
  const auto found = std::find_if(pieces_.begin(), pieces_.end(),
                                  [&](const Piece& piece) { return piece.type != kNormal && piece.text == name; });
  return found == pieces_.end() ? -1 : static_cast<std::int32_t>(found - pieces_.begin());
}

const ByteTrie& UnigramModel::trie() const {
  std::call_once(trie_->made, [this] {
    std::size_t bytes = 0;
    for (const Piece& piece : pieces_) bytes += piece.text.size();
    trie_->bytes = ByteTrie(bytes);
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      if (pieces_[i].type == kNormal) trie_->bytes.insert(pieces_[i].text, static_cast<std::int32_t>(i));
    }
  });
  return trie_->bytes;
}

// Viterbi over the bytes. Sums are compared in double and kept in float, as SentencePiece does: ties and near ties are
// decided alike.
std::vector<UnigramModel::Part> UnigramModel::segment(std::string_view text) const {
  struct Best {
    std::int32_t piece = -1;
    float score = 0;
    std::size_t begin = std::string_view::npos;  // of the best piece that ends here
  };
  const ByteTrie& trie = this->trie();
  thread_local std::vector<Best> ends;
  ends.assign(text.size() + 1, {});
  for (std::size_t begin = 0; begin < text.size();) {
    const float so_far = ends[begin].score;
    const std::size_t character = std::min(character_length(text[begin]), text.size() - begin);
    const auto offer = [&](std::size_t end, double score, std::int32_t piece) {
      Best& best = ends[end];
      if (best.begin != std::string_view::npos && !(score > best.score)) return;
      best = {piece, static_cast<float>(score), begin};
    };
    bool known = false;  // the character alone is a piece
    std::int32_t node = ByteTrie::root;
    for (std::size_t end = begin; end < text.size();) {
      node = trie.next(node, text[end++]);
      if (node == ByteTrie::none) break;
      const std::int32_t piece = trie.value(node);
      if (piece == ByteTrie::none) continue;
      offer(end, static_cast<double>(pieces_[static_cast<std::size_t>(piece)].score) + so_far, piece);
      known = known || end - begin == character;
    }
    if (!known) offer(begin + character, unknown_score_ + so_far, unknown_);
    begin += character;
  }
  std::vector<Part> parts;
  for (std::size_t end = text.size(); end > 0;) {
    const Best& best = ends[end];
    if (best.piece == unknown_ && !parts.empty() && parts.back().piece == unknown_) {
      parts.back().begin = best.begin;
    } else {
      parts.push_back({best.begin, end, best.piece});
    }
    end = best.begin;
  }
  std::reverse(parts.begin(), parts.end());
  return parts;
}

}  // namespace fovea::text
