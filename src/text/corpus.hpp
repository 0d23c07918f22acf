// Sentence pairs for training: read from two files, checked, as token ids.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fovea/text.hpp"
#include "text/copy_table.hpp"
#include "text/pairs.hpp"

namespace fovea::text {

/// Two files: line i of the target belongs to line i of the source.
struct ParallelText {
  std::string source_path, target_path;
  std::vector<std::string> source, target;
  std::vector<std::int64_t> numbers{};  // line numbers in the file, from 1; empty: 1, 2, 3 …

  [[nodiscard]] std::int64_t number(std::int64_t i) const {
    return numbers.empty() ? i + 1 : numbers[static_cast<std::size_t>(i)];
  }
};

/// Throws FileError when there are no lines, or those of one side are all blank.
void check_has_text(const ParallelText& text);

/// Throws FileError with both names and counts when these are not the same.
void check_equal_lines(const std::string& source_path, std::int64_t source_lines, const std::string& target_path,
                       std::int64_t target_lines);

/// Reads both files, plain or .gz. Throws FileError: what LineReader finds, or that the files are empty or of unequal
/// length, with both names and counts.
[[nodiscard]] ParallelText read_parallel(const std::string& source_path, const std::string& target_path);

/// Lines that were left out, and the first of them.
struct LeftOut {
  std::int64_t count = 0;
  std::string first{};  // "path:line"
};

/// What became of the lines of a corpus.
struct CorpusReport {
  std::int64_t lines = 0;
  std::int64_t kept = 0;
  LeftOut empty;     // one side, or both, without a token
  LeftOut too_long;  // one side with more than max_length tokens
  std::int64_t max_length = 0;
  std::int64_t source_tokens = 0, source_unknown = 0;  // of the lines kept
  std::int64_t target_tokens = 0, target_unknown = 0;

  /// Warnings for the user, one sentence each; empty when nothing was left out.
  [[nodiscard]] std::vector<std::string> warnings() const;
  /// Adds what became of the lines that follow.
  void add(const CorpusReport& next);
  /// Throws FileError naming both files when no pair was kept.
  void check_kept(const std::string& source_path, const std::string& target_path) const;
};

/// Pairs of id sequences, without bos and eos, in one block of memory.
class Corpus final : public Pairs {
 public:
  Corpus() = default;
  /// Encodes the pairs that have a token and at most max_length of them on each side; a pair is kept whole or not at
  /// all. Throws FileError naming both files when none is left.
  Corpus(const ParallelText& text, const SourceReader& source, const Tokenizer& target, std::int64_t max_length,
         CorpusReport* report = nullptr, const CopyTable* copying = nullptr);

  /// Adds the pairs of some more lines, and what became of them to `tally`. None may be left of them.
  void add_lines(const ParallelText& text, const SourceReader& source, const Tokenizer& target, std::int64_t max_length,
                 CorpusReport& tally, const CopyTable* copying = nullptr);

  /// The same pairs, which `text` holds, with their subwords sampled (Tokenizer::sample). A pair that would get more
  /// than max_length tokens on one side stays as it is here.
  [[nodiscard]] Corpus sampled(const ParallelText& text, const Tokenizer& source, const Tokenizer& target,
                               std::int64_t max_length, double amount, std::uint64_t seed,
                               const CopyTable* copying = nullptr) const;

  /// Adds one pair; `line` is where it came from, counted from 1. `copies` and `parts` of all pairs or of none.
  void add(std::span<const std::int32_t> source, std::span<const std::int32_t> target, std::int64_t line,
           std::span<const std::int32_t> copies = {}, const SourceParts& parts = {});

  [[nodiscard]] std::int64_t size() const override { return static_cast<std::int64_t>(pairs_.size()); }
  [[nodiscard]] std::span<const std::int32_t> source(std::int64_t i) const override {
    const Pair& p = pairs_[static_cast<std::size_t>(i)];
    return {ids_.data() + p.begin, p.source};
  }
  [[nodiscard]] std::span<const std::int32_t> target(std::int64_t i) const override {
    const Pair& p = pairs_[static_cast<std::size_t>(i)];
    return {ids_.data() + p.begin + p.source, p.target};
  }
  [[nodiscard]] std::span<const std::int32_t> copies(std::int64_t i) const override {
    const Pair& p = pairs_[static_cast<std::size_t>(i)];
    return {ids_.data() + p.begin + p.source + p.target, copies_ ? p.source : 0};
  }
  [[nodiscard]] SourceParts parts(std::int64_t i) const override;
  [[nodiscard]] std::int64_t line(std::int64_t i) const override { return pairs_[static_cast<std::size_t>(i)].line; }

 private:
  struct Pair {
    std::size_t begin;  // of the source in ids_; the target follows it, and the copies
    std::uint32_t source, target;
    std::int64_t line;
  };
  // Where the parts of a source begin and how many there are.
  struct Places {
    std::size_t sentences, bag_ids, bags;
    std::uint32_t sentence_count, bag_id_count, bag_count;
  };
  std::vector<std::int32_t> ids_;
  std::vector<Pair> pairs_;
  bool copies_ = false;
  std::vector<Places> places_;  // of each pair, or none at all
  std::vector<std::int32_t> sentence_ends_, bag_ids_, bag_ends_;
};

}  // namespace fovea::text
