// What the metrics share: checked input, words and characters as numbers, counted n-grams.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fovea/metrics.hpp"

namespace fovea::metrics {

/// Throws UsageError naming the metric and the counts unless each set of references has as many lines as there are
/// hypotheses, and there is at least one set and one line.
void check_lines(std::string_view metric, const Lines& hypotheses, const References& references);

/// The references of a line that count, as in sacreBLEU: of several, an empty one says that there are fewer for this
/// line. When all are empty, the line has none of any words: the first of them.
[[nodiscard]] std::vector<std::reference_wrapper<const std::string>> references_of(const References& references,
                                                                                   std::size_t line);

/// "nrefs:1|" + middle + "|version:…": sacreBLEU's keys in sacreBLEU's order; nrefs:var when lines have different
/// numbers of references. The version says whose rules were followed (sacreBLEU 2) and who followed them.
[[nodiscard]] std::string signature(const References& references, std::string_view middle);

/// A number for each different word, so that n-grams compare as strings of numbers.
class WordNumbers {
 public:
  [[nodiscard]] std::u32string of(const std::vector<std::string>& words);

 private:
  std::unordered_map<std::string, char32_t> numbers_;
};

/// The n-grams of a sequence, sorted: equal ones are neighbours. Views into `sequence`.
[[nodiscard]] std::vector<std::u32string_view> sorted_ngrams(std::u32string_view sequence, int order);

/// How many n-grams two sorted lists share, each counted as often as it occurs in both.
[[nodiscard]] std::int64_t count_matches(const std::vector<std::u32string_view>& a,
                                         const std::vector<std::u32string_view>& b);

/// The length of the longest sequence that both contain in this order, with or without gaps.
[[nodiscard]] std::int64_t longest_common_subsequence(std::u32string_view a, std::u32string_view b);

/// The least number of insertions, deletions and substitutions between two sequences.
[[nodiscard]] std::int64_t edit_distance(std::u32string_view a, std::u32string_view b);

}  // namespace fovea::metrics
