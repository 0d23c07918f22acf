// A model is a protocol buffer:
//   ModelProto      1 pieces, 2 trainer_spec, 3 normalizer_spec, 5 denormalizer_spec
//   SentencePiece   1 piece, 2 score, 3 type
//   NormalizerSpec  2 precompiled_charsmap: u32 bytes of a double-array trie, the trie, texts that end in NUL
#include "text/tokenizer/sentencepiece_check.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <cstring>

#include "fovea/error.hpp"
#include "text/tokenizer/protobuf.hpp"
#include "text/unicode.hpp"

namespace fovea::text {
namespace {

std::uint32_t u32(const char* at) {
  const auto* p = reinterpret_cast<const unsigned char*>(at);
  return p[0] | static_cast<std::uint32_t>(p[1]) << 8 | static_cast<std::uint32_t>(p[2]) << 16 |
         static_cast<std::uint32_t>(p[3]) << 24;
}

void check_piece(std::string_view message, std::size_t index) {
  Fields field(message);
  while (field.next()) {
    if (field.number == 1 && field.wire_type == 2) {
      if (field.bytes.empty() || invalid_utf8(field.bytes) != std::string_view::npos ||
          field.bytes.find('\0') != std::string_view::npos) {
        throw Damage{fmt::format("piece {} is empty or not UTF-8", index)};
      }
    } else if (field.number == 2 && field.wire_type == 5) {
      const std::uint32_t bits = u32(field.bytes.data());
      float score = 0;
      std::memcpy(&score, &bits, sizeof score);
      if (!std::isfinite(score) || std::abs(score) > 1e9F)
        throw Damage{fmt::format("piece {} has no finite score", index)};
    } else if (field.number == 3 && field.wire_type == 0 && (field.value < 1 || field.value > 6)) {
      throw Damage{fmt::format("piece {} has no type", index)};
    }
  }
}

// Of Unicode's normal forms the longest text of a character has 33 bytes. Without a limit, a short line could become
// one that fills the memory.
constexpr std::size_t kLongestText = 256;

// The trie is an array of 32-bit units. A unit at p whose top bit is clear leads to the block of 256 units around
// p ^ offset, by one more byte of the text; if it ends a key, the unit at p ^ offset holds where its text begins.
void check_character_map(std::string_view map) {
  if (map.empty()) return;
  if (map.size() < 4) throw Damage{"the character map is cut short"};
  const std::size_t trie_bytes = u32(map.data());
  map.remove_prefix(4);
  if (trie_bytes == 0 || trie_bytes >= map.size() || trie_bytes % (256 * 4) != 0) {
    throw Damage{"the character map has a trie of impossible size"};
  }
  const std::string_view trie = map.substr(0, trie_bytes);
  const std::string_view texts = map.substr(trie_bytes);
  if (texts.back() != '\0' || invalid_utf8(texts) != std::string_view::npos) {
    throw Damage{"the texts of the character map are no texts"};
  }
  const auto units = static_cast<std::uint32_t>(trie_bytes / 4);
  const auto unit = [&trie](std::uint32_t i) { return u32(trie.data() + std::size_t{4} * i); };
  for (std::uint32_t p = 0; p < units; ++p) {
    const std::uint32_t u = unit(p);
    if ((u >> 31) != 0) continue;  // a value: reached as such only
    const std::uint32_t q = p ^ ((u >> 10) << ((u & (1U << 9)) >> 6));
    if (q >= units) throw Damage{"the character map leads out of itself"};
    if ((u >> 8 & 1) == 0) continue;
    const std::size_t begin = unit(q) & 0x7FFFFFFFU;
    if (begin >= texts.size()) throw Damage{"the character map leads out of its texts"};
    if (texts.substr(begin, kLongestText + 1).find('\0') == std::string_view::npos) {
      throw Damage{fmt::format("the character map makes more than {} bytes of a character", kLongestText)};
    }
  }
}

}  // namespace

void check_sentencepiece(std::string_view model, const std::string& where) {
  try {
    std::size_t pieces = 0;
    Fields field(model);
    while (field.next()) {
      if (field.wire_type != 2) continue;
      if (field.number == 1) {
        check_piece(field.bytes, pieces++);
      } else if (field.number == 2 || field.number == 3 || field.number == 5) {
        Fields inner(field.bytes);  // of the trainer, or of a normaliser
        while (inner.next()) {
          if (field.number != 2 && inner.number == 2 && inner.wire_type == 2) check_character_map(inner.bytes);
        }
      }
    }
    if (pieces == 0) throw Damage{"no pieces"};
  } catch (const Damage& damage) {
    throw FileError(fmt::format("{}: not a SentencePiece model: {}", where, damage.what));
  }
}

}  // namespace fovea::text
