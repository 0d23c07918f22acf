// A memory of pairs of lines, asked what it would write for each token of another line.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/monotone_aligner.hpp"
#include "text/ngrams.hpp"

namespace fovea::text {

struct RecallOptions {
  std::size_t order = 8;   // tokens and what they stand for, of which the last depends on those before; at most 12
  std::size_t beam = 16;   // ways to read a line that are followed at a time
  std::size_t least = 50;  // how often a token must have stood for something before it is told
};

/// Pairs that run in the same order, as letters and sounds do. Each source token is aligned with the target tokens it
/// stands for; a line is read as the likeliest sequence of such units (joint-sequence models: Bisani and Ney 2008),
/// which takes long runs from memory where there are any. What a model would have to learn by heart, it is so told; it
/// still has to find out when to believe it.
class Recall {
 public:
  /// Throws UsageError when the numbers of lines differ or an option is out of range.
  Recall(std::span<const std::string> sources, std::span<const std::string> targets, const RecallOptions& how = {});

  /// What a token may stand for.
  struct Guess {
    std::string first;   // target tokens joined by _, or - for none; empty: nothing is known
    std::string second;  // the next likely; empty: there is none
    double share = 0;    // of the first among the ways that were followed
  };
  /// One for each token of the line. Pairs whose source is the line itself are forgotten meanwhile: lines of the memory
  /// are told what others say of them, as any new line is. So a Recall is not to be shared by threads.
  [[nodiscard]] std::vector<Guess> guess(std::string_view line);

  /// The line, each token followed by a colon and its guess. ? and the second guess come behind it when the share is
  /// below 0.99, ?? when it is below 0.8. What was seen less often than `least` is left out.
  ///
  ///     T:T H:- O:AO?AA U:- G:- H:- T:T S:S
  [[nodiscard]] std::string remind(std::string_view line);

 private:
  struct Unit {
    std::int32_t token = 0;
    std::string target;
    std::size_t seen = 0;
  };
  struct Reading {
    double score = 0;  // log-probability
    Ids units;         // the beginning, one for each token, in the end the end
  };
  [[nodiscard]] Ids ids(std::string_view line) const;
  void learn(std::span<const MonotoneAligner::Pair> pairs, std::span<const std::string_view> target_tokens);
  [[nodiscard]] std::vector<Reading> read(const Ids& line) const;
  [[nodiscard]] std::string told(std::int32_t unit) const;

  RecallOptions how_;
  Ngrams ngrams_;
  std::unordered_map<std::string, std::int32_t> tokens_;
  std::vector<Unit> units_;                     // the first two are the beginning and the end
  std::vector<Ids> units_of_;                   // by source token
  std::map<Ids, std::vector<Ids>> remembered_;  // by source: its pairs as units
};

}  // namespace fovea::text
