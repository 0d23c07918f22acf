// Words as bags of n-grams: their own id, and hashed ids of their character n-grams and of the word n-grams they end.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fovea::text {

struct NgramOptions {
  int word_ngrams = 1;             // longest run of words; 1: words alone
  int char_min = 0, char_max = 0;  // characters of the shortest and longest run in a word; 0: none
  std::int32_t vocabulary = 0;     // ids of words; those of n-grams follow them
  std::int32_t buckets = 0;        // ids of n-grams, which share them by chance of their hashes

  [[nodiscard]] std::int32_t size() const { return vocabulary + buckets; }  // of the table
};

/// FNV-1a of 32 bits over bytes taken as signed, as fastText has it.
[[nodiscard]] std::uint32_t ngram_hash(std::string_view text);

/// What a bag of n-grams knows of a token (Joulin et al. 2017, Bojanowski et al. 2017). Character n-grams are those of
/// <word>, with its ends marked; a word n-gram belongs to its last word, and the first words of a line also end n-grams
/// that begin with the line's start.
class NgramFeatures {
 public:
  /// Throws UsageError naming the option that cannot be.
  explicit NgramFeatures(const NgramOptions& options);

  /// Appends the ids of each token and of the end of sequence to `ids`, and where each bag ends to `ends`. A word that
  /// the vocabulary has not is its n-grams alone, or unk_id where it has none.
  void add(std::span<const std::int32_t> tokens, std::span<const std::string> pieces, std::vector<std::int32_t>& ids,
           std::vector<std::int32_t>& ends) const;

  [[nodiscard]] const NgramOptions& options() const { return options_; }

 private:
  [[nodiscard]] std::int32_t bucket(std::uint64_t hash) const;
  void add_characters(const std::string& piece, std::vector<std::int32_t>& ids) const;

  NgramOptions options_;
};

}  // namespace fovea::text
