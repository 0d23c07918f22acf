#include "text/ngram_features.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/error.hpp"
#include "fovea/text/tokens.hpp"

namespace fovea::text {
namespace {

// The start of a character in UTF-8.
bool starts_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) != 0x80;
}

// As fastText joins the hashes of words, which it sign-extends.
std::uint64_t join_hash(std::uint64_t h, std::uint32_t next) {
  return h * 116049371U + static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(next)));
}

}  // namespace

std::uint32_t ngram_hash(std::string_view text) {
  std::uint32_t h = 2166136261U;
  for (const char c : text) h = (h ^ static_cast<std::uint32_t>(static_cast<std::int8_t>(c))) * 16777619U;
  return h;
}

NgramFeatures::NgramFeatures(const NgramOptions& options) : options_(options) {
  if (options.word_ngrams < 1) {
    throw UsageError("word_ngrams", fmt::format("{} given, 1 or more are needed", options.word_ngrams));
  }
  const bool characters = options.char_min != 0 || options.char_max != 0;
  if (characters && (options.char_min < 1 || options.char_max < options.char_min)) {
    throw UsageError("char_ngrams",
                     fmt::format("{}-{} is no range of lengths, as in 3-5", options.char_min, options.char_max));
  }
  if ((characters || options.word_ngrams > 1) && options.buckets < 1) {
    throw UsageError("buckets", fmt::format("{} given, n-grams need 1 or more", options.buckets));
  }
}

std::int32_t NgramFeatures::bucket(std::uint64_t hash) const {
  return options_.vocabulary + static_cast<std::int32_t>(hash % static_cast<std::uint64_t>(options_.buckets));
}

void NgramFeatures::add_characters(const std::string& piece, std::vector<std::int32_t>& ids) const {
  const std::string marked = "<" + piece + ">";
  for (std::size_t begin = 0; begin < marked.size(); ++begin) {
    if (!starts_character(marked[begin])) continue;
    std::size_t end = begin;
    for (int n = 1; n <= options_.char_max && end < marked.size(); ++n) {
      ++end;
      while (end < marked.size() && !starts_character(marked[end])) ++end;
      if (n < options_.char_min) continue;
      if (n == 1 && (begin == 0 || end == marked.size())) continue;  // a mark alone says nothing
      ids.push_back(bucket(ngram_hash(std::string_view(marked).substr(begin, end - begin))));
    }
  }
}

void NgramFeatures::add(std::span<const std::int32_t> tokens, std::span<const std::string> pieces,
                        std::vector<std::int32_t>& ids, std::vector<std::int32_t>& ends) const {
  std::vector<std::uint32_t> hashes;  // of the start, the tokens and the end
  if (options_.word_ngrams > 1) {
    hashes.push_back(ngram_hash("<s>"));
    for (const std::string& piece : pieces) hashes.push_back(ngram_hash(piece));
    hashes.push_back(ngram_hash("</s>"));
  }
  for (std::size_t t = 0; t <= tokens.size(); ++t) {
    const std::size_t before = ids.size();
    const std::int32_t word = t < tokens.size() ? tokens[t] : eos_id;
    if (word != unk_id) ids.push_back(word);
    if (options_.char_max > 0 && t < tokens.size()) add_characters(pieces[t], ids);
    for (int n = 2; n <= options_.word_ngrams; ++n) {
      const auto last = static_cast<std::int64_t>(t) + 1;  // in hashes
      if (last - n + 1 < 0) break;
      std::uint64_t h = static_cast<std::uint64_t>(
          static_cast<std::int64_t>(static_cast<std::int32_t>(hashes[static_cast<std::size_t>(last - n + 1)])));
      for (auto k = static_cast<std::size_t>(last - n + 2); k <= static_cast<std::size_t>(last); ++k) {
        h = join_hash(h, hashes[k]);
      }
      ids.push_back(bucket(h));
    }
    if (ids.size() == before) ids.push_back(unk_id);
    ends.push_back(static_cast<std::int32_t>(ids.size()));
  }
}

}  // namespace fovea::text
