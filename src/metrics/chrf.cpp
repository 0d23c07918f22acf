// chrF (Popović 2015, chrF++ 2017), as sacreBLEU 2 counts it: precision and recall of character n-grams (and, for
// chrF++, word n-grams) averaged over the orders, then
//   F = (1 + beta^2) P R / (beta^2 P + R)
#include <fmt/format.h>

#include <array>

#include "fovea/error.hpp"
#include "fovea/metrics.hpp"
#include "metrics/common.hpp"
#include "text/unicode.hpp"

namespace fovea {
namespace {

// Per order: n-grams of the hypothesis, of the reference, and shared.
struct Counts {
  std::int64_t hypothesis = 0, reference = 0, shared = 0;
};
using Statistics = std::vector<Counts>;

bool is_ascii_punctuation(char c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

// A mark at the end of a word, or else one at its beginning, becomes a word of its own; "(hi)" is "(hi" and ")", as in
// Popović's program.
std::vector<std::string> words_and_marks(std::string_view line) {
  std::vector<std::string> out;
  for (const std::string_view word : text::split_words(line)) {
    std::size_t first = 0;
    text::next_code_point(word, first);
    const bool several = first < word.size();
    if (several && is_ascii_punctuation(word.back())) {
      out.emplace_back(word.substr(0, word.size() - 1));
      out.emplace_back(word.substr(word.size() - 1));
    } else if (several && is_ascii_punctuation(word.front())) {
      out.emplace_back(word.substr(0, 1));
      out.emplace_back(word.substr(1));
    } else {
      out.emplace_back(word);
    }
  }
  return out;
}

// A line as its characters and its words; `ngrams` point into both, so it is filled after they have their place.
struct Sequences {
  std::u32string characters;
  std::u32string words;
  std::vector<std::vector<std::u32string_view>> ngrams;  // per order, characters first

  Sequences(const std::string& raw, const ChrfOptions& how, metrics::WordNumbers& numbers) {
    const std::string line = how.lowercase ? text::to_lower(raw) : raw;
    for (std::size_t i = 0; i < line.size();) {
      const char32_t c = text::next_code_point(line, i);
      if (how.whitespace || !text::is_space(c)) characters.push_back(c);
    }
    for (int n = 1; n <= how.character_order; ++n) ngrams.push_back(metrics::sorted_ngrams(characters, n));
    if (how.word_order > 0) words = numbers.of(words_and_marks(line));
    for (int n = 1; n <= how.word_order; ++n) ngrams.push_back(metrics::sorted_ngrams(words, n));
  }
  Sequences(const Sequences&) = delete;
  Sequences& operator=(const Sequences&) = delete;
};

double f_score(const Statistics& statistics, const ChrfOptions& how) {
  constexpr double epsilon = 1e-16;
  const double factor = static_cast<double>(how.beta) * how.beta;
  double per_order = 0;  // chrF++.py: the mean of the orders' F
  double precision = 0;  // sacreBLEU: the F of the mean over the orders that exist on both sides
  double recall = 0;
  int orders = 0;
  for (const Counts& c : statistics) {
    const auto shared = static_cast<double>(c.shared);
    const double p = c.hypothesis > 0 ? shared / static_cast<double>(c.hypothesis) : epsilon;
    const double r = c.reference > 0 ? shared / static_cast<double>(c.reference) : epsilon;
    const double denominator = factor * p + r;
    per_order += denominator > 0 ? (1 + factor) * p * r / denominator : epsilon;
    if (c.hypothesis > 0 && c.reference > 0) {
      precision += p;
      recall += r;
      ++orders;
    }
  }
  if (how.epsilon_smoothing) return 100 * per_order / static_cast<double>(statistics.size());
  if (precision + recall == 0) return 0;
  precision /= orders;
  recall /= orders;
  return 100 * (1 + factor) * precision * recall / (factor * precision + recall);
}

Statistics compare(const Sequences& hypothesis, const Sequences& reference) {
  Statistics out;
  for (std::size_t i = 0; i < hypothesis.ngrams.size(); ++i) {
    const auto& h = hypothesis.ngrams[i];
    const auto& r = reference.ngrams[i];
    // Orders the reference has none of do not count against the hypothesis.
    out.push_back({r.empty() ? 0 : static_cast<std::int64_t>(h.size()), static_cast<std::int64_t>(r.size()),
                   metrics::count_matches(h, r)});
  }
  return out;
}

}  // namespace

Chrf chrf(const Lines& hypotheses, const References& references, const ChrfOptions& how) {
  metrics::check_lines("chrf", hypotheses, references);
  if (how.character_order < 0 || how.word_order < 0 || how.character_order + how.word_order < 1 || how.beta < 1) {
    throw UsageError("chrf: the orders must not be negative, one of them and beta at least 1");
  }
  Statistics total(static_cast<std::size_t>(how.character_order + how.word_order));
  for (std::size_t line = 0; line < hypotheses.size(); ++line) {
    metrics::WordNumbers numbers;
    const Sequences hypothesis(hypotheses[line], how, numbers);
    Statistics best;
    double best_score = -1;
    for (const std::string& reference : metrics::references_of(references, line)) {
      const Statistics statistics = compare(hypothesis, Sequences(reference, how, numbers));
      const double score = f_score(statistics, how);
      if (score > best_score) {
        best_score = score;
        best = statistics;
      }
    }
    for (std::size_t i = 0; i < total.size(); ++i) {
      total[i].hypothesis += best[i].hypothesis;
      total[i].reference += best[i].reference;
      total[i].shared += best[i].shared;
    }
  }
  return {.score = f_score(total, how),
          .name = fmt::format("chrF{}{}", how.beta, std::string(static_cast<std::size_t>(how.word_order), '+')),
          .signature = metrics::signature(
              references, fmt::format("case:{}|eff:{}|nc:{}|nw:{}|space:{}", how.lowercase ? "lc" : "mixed",
                                      how.epsilon_smoothing ? "no" : "yes", how.character_order, how.word_order,
                                      how.whitespace ? "yes" : "no"))};
}

}  // namespace fovea
