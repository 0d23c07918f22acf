// Which target tokens a source token may be translated to: a small part of the vocabulary for the output layer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "text/pairs.hpp"

namespace fovea::text {

struct ShortlistOptions {
  int per_token = 30;  // likeliest target tokens of each source token
  int common = 100;    // most frequent target tokens, which every sentence may write
  int iterations = 5;  // of the estimate
};

/// Made from pairs of lines by word translation probabilities (IBM model 1, Brown et al. 1993).
///
///     const Shortlist shortlist(pairs, 10000, 10000, {});
///     stepper->restrict_to({shortlist.candidates(ids)});
class Shortlist {
 public:
  Shortlist(const Pairs& pairs, std::int32_t source_vocabulary, std::int32_t target_vocabulary,
            const ShortlistOptions& options);
  /// Of another program: the target tokens of each source token, and those that every sentence may write.
  Shortlist(const std::vector<std::vector<std::int64_t>>& targets, std::vector<std::int64_t> common,
            std::int32_t target_vocabulary);
  /// Throws FileError naming what is wrong, or when it was made for other vocabularies.
  Shortlist(const std::filesystem::path& file, std::int32_t source_vocabulary, std::int32_t target_vocabulary);

  /// The file appears whole or not at all.
  void save(const std::filesystem::path& file) const;

  /// What a sentence of these source tokens may write, sorted; the end of sequence and the unknown token always.
  [[nodiscard]] std::vector<std::int32_t> candidates(std::span<const std::int32_t> source) const;

 private:
  std::int32_t target_vocabulary_;
  std::vector<std::int64_t> common_;
  std::vector<std::int64_t> first_;    // [source vocabulary + 1]: where each source token's targets begin
  std::vector<std::int64_t> targets_;  // sorted for each source token
};

}  // namespace fovea::text
