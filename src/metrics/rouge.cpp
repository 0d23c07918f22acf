// ROUGE-1, ROUGE-2 and ROUGE-L (Lin 2004), line by line, then the mean. F1 = 2 P R / (P + R).
#include <algorithm>

#include "fovea/metrics.hpp"
#include "metrics/common.hpp"
#include "text/unicode.hpp"

namespace fovea {
namespace {

// Runs of a-z and 0-9 in the lower-cased line; all else separates.
std::vector<std::string> plain_words(const std::string& raw) {
  std::vector<std::string> words;
  bool inside = false;
  for (const char c : text::to_lower(raw)) {
    const bool part = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (part && !inside) words.emplace_back();
    if (part) words.back().push_back(c);
    inside = part;
  }
  return words;
}

Rouge::Figure figure(std::int64_t shared, std::size_t hypothesis, std::size_t reference) {
  Rouge::Figure out;
  out.precision = 100 * static_cast<double>(shared) / static_cast<double>(std::max<std::size_t>(hypothesis, 1));
  out.recall = 100 * static_cast<double>(shared) / static_cast<double>(std::max<std::size_t>(reference, 1));
  const double sum = out.precision + out.recall;
  out.f1 = sum > 0 ? 2 * out.precision * out.recall / sum : 0;
  return out;
}

Rouge::Figure overlap(const std::u32string& hypothesis, const std::u32string& reference, int order) {
  const auto h = metrics::sorted_ngrams(hypothesis, order);
  const auto r = metrics::sorted_ngrams(reference, order);
  return figure(metrics::count_matches(h, r), h.size(), r.size());
}

Rouge::Figure subsequence(const std::u32string& hypothesis, const std::u32string& reference) {
  return figure(metrics::longest_common_subsequence(hypothesis, reference), hypothesis.size(), reference.size());
}

void add(Rouge::Figure& to, const Rouge::Figure& one, double weight) {
  to.precision += weight * one.precision;
  to.recall += weight * one.recall;
  to.f1 += weight * one.f1;
}

}  // namespace

Rouge rouge(const Lines& hypotheses, const References& references, const RougeOptions& how) {
  metrics::check_lines("rouge", hypotheses, references);
  const auto words_of = [&](const std::string& line) {
    std::vector<std::string> words =
        how.tokenize ? metric_words(text::to_lower(line), *how.tokenize) : plain_words(line);
    if (how.stem) {
      for (std::string& word : words) {
        if (word.size() > 3) word = porter_stem(word);  // as rouge-score: shorter words stay
      }
    }
    return words;
  };
  Rouge total;
  const double weight = 1 / static_cast<double>(hypotheses.size());
  for (std::size_t line = 0; line < hypotheses.size(); ++line) {
    metrics::WordNumbers numbers;
    const std::u32string hypothesis = numbers.of(words_of(hypotheses[line]));
    Rouge best;
    const auto keep_better = [](Rouge::Figure& kept, const Rouge::Figure& one) {
      if (one.f1 > kept.f1) kept = one;
    };
    for (const Lines& reference : references) {
      const std::u32string target = numbers.of(words_of(reference[line]));
      keep_better(best.rouge_1, overlap(hypothesis, target, 1));
      keep_better(best.rouge_2, overlap(hypothesis, target, 2));
      keep_better(best.rouge_l, subsequence(hypothesis, target));
    }
    add(total.rouge_1, best.rouge_1, weight);
    add(total.rouge_2, best.rouge_2, weight);
    add(total.rouge_l, best.rouge_l, weight);
  }
  return total;
}

}  // namespace fovea
