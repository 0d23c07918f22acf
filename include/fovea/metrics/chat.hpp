// How good the replies of a dialogue model are.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/metrics/lines.hpp"

namespace FOVEA_API fovea {

/// The figures of replies.
struct ChatFigures {
  double f1 = 0;          // of words, the mean over lines
  double distinct_1 = 0;  // different words over all words of the replies
  double distinct_2 = 0;  // different pairs of neighbouring words over all of them
};

/// Word F1 as in ParlAI and ConvAI2 (Dinan et al. 2019), with several references the best one counts, and distinct-n
/// (Li et al. 2016) over all replies, counted in n-grams. All in percent. The words are chat_words.
[[nodiscard]] ChatFigures chat_figures(const Lines& replies, const References& references,
                                       std::optional<MetricTokenizer> tokenize = {});

/// The words of a reply: lower case, ASCII punctuation becomes white space, and the articles a, an and the are dropped.
/// With a tokenizer, or in a line with characters of a script that puts no spaces between words, all punctuation of
/// Unicode goes; then the tokenizer finds the words, or each such character is one.
[[nodiscard]] std::vector<std::string> chat_words(std::string_view reply, std::optional<MetricTokenizer> tokenize = {});

/// exp(-sum of the log-probabilities / sum of the token counts), natural logarithms. Throws UsageError naming the line
/// of a log-probability that is above 0 or not a number, or of a count below 1; or when their numbers differ.
[[nodiscard]] double perplexity(std::span<const double> log_probabilities, std::span<const std::int64_t> tokens);

/// The line that occurs most often.
struct FrequentLine {
  std::string line;        // the first of equals
  std::int64_t count = 0;  // how often it occurs
};

/// The line met most often, white space at the ends aside, the first of equals. Throws UsageError without lines.
[[nodiscard]] FrequentLine most_frequent_line(const Lines& lines);

/// `count` lines drawn at random with replacement; the same for the same seed. Throws UsageError without lines.
[[nodiscard]] Lines random_lines(const Lines& lines, std::size_t count, std::uint64_t seed);

/// How many of `lines` are also in `others`, white space at the ends aside.
[[nodiscard]] std::int64_t count_shared_lines(const Lines& lines, const Lines& others);

}  // namespace fovea
