#include "metrics/common.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "fovea/error.hpp"
#include "fovea/version.hpp"

namespace fovea::metrics {

void check_lines(std::string_view metric, const Lines& hypotheses, const References& references) {
  if (references.empty()) throw UsageError(fmt::format("{}: no references", metric));
  for (std::size_t i = 0; i < references.size(); ++i) {
    if (references[i].size() != hypotheses.size()) {
      throw UsageError(
          fmt::format("{}: {} hypotheses but {} lines in reference {}; each hypothesis needs its reference", metric,
                      hypotheses.size(), references[i].size(), i + 1));
    }
  }
  if (hypotheses.empty()) throw UsageError(fmt::format("{}: no lines to score", metric));
}

std::vector<std::reference_wrapper<const std::string>> references_of(const References& references, std::size_t line) {
  std::vector<std::reference_wrapper<const std::string>> out;
  for (const Lines& reference : references) {
    if (!reference[line].empty()) out.emplace_back(reference[line]);
  }
  if (out.empty()) out.emplace_back(references[0][line]);
  return out;
}

std::string signature(const References& references, std::string_view middle) {
  std::set<std::size_t> counts;
  for (std::size_t line = 0; line < references[0].size(); ++line) counts.insert(references_of(references, line).size());
  return fmt::format("nrefs:{}|{}|version:2-fovea-{}", counts.size() == 1 ? std::to_string(*counts.begin()) : "var",
                     middle, version());
}

std::u32string WordNumbers::of(const std::vector<std::string>& words) {
  std::u32string out;
  out.reserve(words.size());
  for (const std::string& word : words) {
    out.push_back(numbers_.try_emplace(word, static_cast<char32_t>(numbers_.size())).first->second);
  }
  return out;
}

std::vector<std::u32string_view> sorted_ngrams(std::u32string_view sequence, int order) {
  const auto n = static_cast<std::size_t>(order);
  std::vector<std::u32string_view> out;
  if (sequence.size() < n) return out;
  out.reserve(sequence.size() - n + 1);
  for (std::size_t i = 0; i + n <= sequence.size(); ++i) out.push_back(sequence.substr(i, n));
  std::sort(out.begin(), out.end());
  return out;
}

std::int64_t count_matches(const std::vector<std::u32string_view>& a, const std::vector<std::u32string_view>& b) {
  std::int64_t matches = 0;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const int order = a[i].compare(b[j]);
    if (order == 0) ++matches;
    if (order <= 0) ++i;
    if (order >= 0) ++j;
  }
  return matches;
}

std::int64_t longest_common_subsequence(std::u32string_view a, std::u32string_view b) {
  std::vector<std::int64_t> row(b.size() + 1, 0);  // the longest with the first j of b
  for (const char32_t one : a) {
    std::int64_t diagonal = 0;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::int64_t above = row[j + 1];
      row[j + 1] = one == b[j] ? diagonal + 1 : std::max(above, row[j]);
      diagonal = above;
    }
  }
  return row.back();
}

std::int64_t edit_distance(std::u32string_view a, std::u32string_view b) {
  std::vector<std::int64_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::int64_t diagonal = row[0];
    row[0] = static_cast<std::int64_t>(i) + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::int64_t substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace fovea::metrics
