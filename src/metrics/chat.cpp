// Replies of a dialogue model: word F1, distinct-n, perplexity, and what to compare them with.
#include "fovea/metrics/chat.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/rng.hpp"
#include "fovea/error.hpp"
#include "metrics/common.hpp"
#include "text/unicode.hpp"

namespace fovea {
namespace {

bool is_ascii_punctuation(char32_t c) {
  return (c >= U'!' && c <= U'/') || (c >= U':' && c <= U'@') || (c >= U'[' && c <= U'`') || (c >= U'{' && c <= U'~');
}

// Writes spaces over the articles: runs of letters and digits that are a, an or the.
void remove_articles(std::u32string& line) {
  for (std::size_t at = 0; at < line.size();) {
    std::size_t end = at;
    while (end < line.size() && text::is_letter_or_number(line[end])) ++end;
    const std::u32string_view word = std::u32string_view(line).substr(at, end - at);
    if (word == U"a" || word == U"an" || word == U"the")
      std::fill_n(line.begin() + static_cast<std::ptrdiff_t>(at), end - at, U' ');
    at = end + 1;
  }
}

double f1(const std::u32string& reply, const std::u32string& reference) {
  const auto shared = static_cast<double>(
      metrics::count_matches(metrics::sorted_ngrams(reply, 1), metrics::sorted_ngrams(reference, 1)));
  return shared > 0 ? 2 * shared / static_cast<double>(reply.size() + reference.size()) : 0;  // 2 P R / (P + R)
}

double distinct(const std::vector<std::u32string>& replies, int order) {
  std::unordered_set<std::u32string_view> different;
  std::size_t all = 0;
  for (const std::u32string& reply : replies) {
    const auto ngrams = metrics::sorted_ngrams(reply, order);
    all += ngrams.size();
    different.insert(ngrams.begin(), ngrams.end());
  }
  return all > 0 ? 100 * static_cast<double>(different.size()) / static_cast<double>(all) : 0;
}

}  // namespace

std::vector<std::string> chat_words(std::string_view reply, std::optional<MetricTokenizer> tokenize) {
  std::u32string line = text::to_code_points(text::to_lower(reply));
  const bool unspaced = std::any_of(line.begin(), line.end(), text::is_unspaced);
  for (char32_t& c : line) {
    if (is_ascii_punctuation(c) || ((tokenize || unspaced) && text::is_punctuation(c))) c = U' ';
  }
  remove_articles(line);
  if (tokenize) return metric_words(text::to_utf8(line), *tokenize);
  std::string spaced;
  for (const char32_t c : line) {
    const bool alone = text::is_unspaced(c);
    if (alone) spaced += ' ';
    text::append_utf8(spaced, c);
    if (alone) spaced += ' ';
  }
  const auto words = text::split_words(spaced);
  return {words.begin(), words.end()};
}

ChatFigures chat_figures(const Lines& replies, const References& references, std::optional<MetricTokenizer> tokenize) {
  metrics::check_lines("chat", replies, references);
  metrics::WordNumbers numbers;
  std::vector<std::u32string> words;
  double total = 0;
  for (std::size_t line = 0; line < replies.size(); ++line) {
    words.push_back(numbers.of(chat_words(replies[line], tokenize)));
    double best = 0;
    for (const Lines& reference : references) {
      best = std::max(best, f1(words.back(), numbers.of(chat_words(reference[line], tokenize))));
    }
    total += best;
  }
  return {.f1 = 100 * total / static_cast<double>(replies.size()),
          .distinct_1 = distinct(words, 1),
          .distinct_2 = distinct(words, 2)};
}

double perplexity(std::span<const double> log_probabilities, std::span<const std::int64_t> tokens) {
  if (log_probabilities.size() != tokens.size() || tokens.empty()) {
    throw UsageError(fmt::format("perplexity: {} log-probabilities but {} token counts; each line needs both",
                                 log_probabilities.size(), tokens.size()));
  }
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!(log_probabilities[i] <= 0) || std::isinf(log_probabilities[i])) {
      throw UsageError(fmt::format("perplexity: the log-probability of line {} is {}; it must be a number not above 0",
                                   i + 1, log_probabilities[i]));
    }
    if (tokens[i] < 1) throw UsageError(fmt::format("perplexity: line {} has {} tokens; at least 1", i + 1, tokens[i]));
  }
  const double all = std::accumulate(tokens.begin(), tokens.end(), 0.0);
  return std::exp(-std::accumulate(log_probabilities.begin(), log_probabilities.end(), 0.0) / all);
}

FrequentLine most_frequent_line(const Lines& lines) {
  if (lines.empty()) throw UsageError("most_frequent_line: no lines");
  std::unordered_map<std::string_view, std::int64_t> counts;
  for (const std::string& line : lines) ++counts[text::trim(line)];
  FrequentLine best;
  for (const std::string& line : lines) {
    const std::string_view inside = text::trim(line);
    if (counts[inside] > best.count) best = {std::string(inside), counts[inside]};
  }
  return best;
}

Lines random_lines(const Lines& lines, std::size_t count, std::uint64_t seed) {
  if (lines.empty()) throw UsageError("random_lines: no lines");
  Rng rng(seed);
  Lines out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(lines[rng.below(lines.size())]);
  return out;
}

std::int64_t count_shared_lines(const Lines& lines, const Lines& others) {
  std::unordered_set<std::string_view> known;
  for (const std::string& line : others) known.insert(text::trim(line));
  return std::count_if(lines.begin(), lines.end(),
                       [&](const std::string& line) { return known.contains(text::trim(line)); });
}

}  // namespace fovea
