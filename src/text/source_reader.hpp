// A line as a model reads it: tokens, perhaps the n-grams of each, perhaps the sentences it is made of.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/text.hpp"
#include "text/ngram_features.hpp"

namespace fovea::text {

/// The parts of a source: its sentences, each with its end of sequence, and the n-grams of its tokens.
struct SourceParts {
  std::span<const std::int32_t> sentence_ends{};        // of each sentence among the tokens; empty: one sentence
  std::span<const std::int32_t> bag_ids{}, bag_ends{};  // the n-grams of each token and of each sentence's end
};

/// A line that was read; its memory is kept for the next one.
struct SourceLine {
  std::vector<std::int32_t> ids;    // tokens, without the end of sequence
  std::vector<std::string> pieces;  // their texts
  std::vector<std::int32_t> sentence_ends, bag_ids, bag_ends;

  /// Tokens of the longest sentence, or of all where there are none.
  [[nodiscard]] std::int64_t longest_sentence() const;
  [[nodiscard]] SourceParts parts() const { return {sentence_ends, bag_ids, bag_ends}; }
};

/// How a line is cut into sentences.
struct SentenceOptions {
  std::string separator{};  // between two sentences; empty: split_sentences() finds them
};

/// Reads lines. Const calls may come from several threads.
class SourceReader {
 public:
  explicit SourceReader(std::shared_ptr<const Tokenizer> tokenizer, std::optional<NgramOptions> ngrams = {},
                        std::optional<SentenceOptions> sentences = {});
  void read(std::string_view line, SourceLine& out) const;
  [[nodiscard]] const Tokenizer& tokenizer() const { return *tokenizer_; }
  /// Whether it gives more than tokens.
  [[nodiscard]] bool has_parts() const { return ngrams_.has_value() || sentences_.has_value(); }

 private:
  void read_sentence(std::string_view text, SourceLine& out) const;

  std::shared_ptr<const Tokenizer> tokenizer_;
  std::optional<NgramFeatures> ngrams_;
  std::optional<SentenceOptions> sentences_;
};

}  // namespace fovea::text
