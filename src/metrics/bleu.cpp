// BLEU (Papineni et al. 2002), as sacreBLEU 2 counts it:
//   score = BP * exp(1/4 sum_n log p_n),  p_n = matched / all n-grams of the corpus,  BP = min(1, exp(1 - ref/hyp))
// A match counts at most as often as in the reference that has most of it. A p_n of 0 is smoothed: exponential makes
// the k-th such p_n 1 / (2^k total), as NIST's mteval does (Chen & Cherry 2014, method 3).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "fovea/metrics.hpp"
#include "metrics/common.hpp"
#include "text/unicode.hpp"

namespace fovea {
namespace {

constexpr int max_order = 4;
using Smoothing = BleuOptions::Smoothing;

std::vector<std::string> words_of(const std::string& line, const BleuOptions& how) {
  return metric_words(how.lowercase ? text::to_lower(line) : line, how.tokenize);
}

// The matches of one order against several references: for each n-gram, the most any single reference grants.
std::int64_t matches_of(const std::vector<std::u32string_view>& hypothesis,
                        const std::vector<std::vector<std::u32string_view>>& references) {
  if (references.size() == 1) return metrics::count_matches(hypothesis, references[0]);
  std::int64_t matches = 0;
  for (auto begin = hypothesis.begin(); begin != hypothesis.end();) {
    const auto end = std::upper_bound(begin, hypothesis.end(), *begin);
    std::ptrdiff_t granted = 0;
    for (const auto& reference : references) {
      const auto [first, last] = std::equal_range(reference.begin(), reference.end(), *begin);
      granted = std::max(granted, last - first);
    }
    matches += std::min(end - begin, granted);
    begin = end;
  }
  return matches;
}

std::int64_t closest(std::int64_t length, const std::vector<std::u32string>& references) {
  std::int64_t best = -1;
  for (const auto& reference : references) {
    const auto candidate = static_cast<std::int64_t>(reference.size());
    const std::int64_t off = std::abs(candidate - length);
    const std::int64_t best_off = std::abs(best - length);
    if (best < 0 || off < best_off || (off == best_off && candidate < best)) best = candidate;
  }
  return best;
}

double smoothing_value(const BleuOptions& how) {
  return how.smoothing_value.value_or(how.smoothing == Smoothing::floor ? 0.1 : 1.0);
}

void finish(Bleu& result, const BleuOptions& how) {
  const auto hypothesis = static_cast<double>(result.hypothesis_words);
  const auto reference = static_cast<double>(result.reference_words);
  if (hypothesis < reference) result.brevity_penalty = hypothesis > 0 ? std::exp(1 - reference / hypothesis) : 0;
  if (std::all_of(result.matches.begin(), result.matches.end(), [](auto m) { return m == 0; })) return;

  double halvings = 1;
  int orders = max_order;
  for (std::size_t n = 0; n < max_order; ++n) {
    const double added = how.smoothing == Smoothing::add_k && n > 0 ? smoothing_value(how) : 0;
    const double matched = static_cast<double>(result.matches[n]) + added;
    const double total = static_cast<double>(result.totals[n]) + added;
    if (total == 0) break;
    if (how.effective_order) orders = static_cast<int>(n) + 1;
    if (matched > 0) {
      result.precisions[n] = 100 * matched / total;
    } else if (how.smoothing == Smoothing::exponential) {
      halvings *= 2;
      result.precisions[n] = 100 / (halvings * total);
    } else if (how.smoothing == Smoothing::floor) {
      result.precisions[n] = 100 * smoothing_value(how) / total;
    }
  }
  double log_sum = 0;
  for (int n = 0; n < orders; ++n) {
    const double p = result.precisions[static_cast<std::size_t>(n)];
    log_sum += p == 0 ? -9999999999.0 : std::log(p);  // of 0: a score of 0
  }
  result.score = result.brevity_penalty * std::exp(log_sum / orders);
}

std::string bleu_signature(const References& references, const BleuOptions& how) {
  static constexpr const char* tokenizers[] = {"13a", "zh", "char", "none"};
  std::string smoothing;
  switch (how.smoothing) {
    case Smoothing::none:
      smoothing = "none";
      break;
    case Smoothing::exponential:
      smoothing = "exp";
      break;
    case Smoothing::floor:
      smoothing = fmt::format("floor[{:.2f}]", smoothing_value(how));
      break;
    case Smoothing::add_k:
      smoothing = fmt::format("add-k[{:.2f}]", smoothing_value(how));
      break;
  }
  return metrics::signature(references, fmt::format("case:{}|eff:{}|tok:{}|smooth:{}", how.lowercase ? "lc" : "mixed",
                                                    how.effective_order ? "yes" : "no",
                                                    tokenizers[static_cast<int>(how.tokenize)], smoothing));
}

}  // namespace

std::string Bleu::details() const {
  const double ratio =
      reference_words > 0 ? static_cast<double>(hypothesis_words) / static_cast<double>(reference_words) : 0;
  return fmt::format("{:.1f}/{:.1f}/{:.1f}/{:.1f} (BP = {:.3f} ratio = {:.3f} hyp_len = {} ref_len = {})",
                     precisions[0], precisions[1], precisions[2], precisions[3], brevity_penalty, ratio,
                     hypothesis_words, reference_words);
}

Bleu bleu(const Lines& hypotheses, const References& references, const BleuOptions& how) {
  metrics::check_lines("bleu", hypotheses, references);
  Bleu result;
  result.signature = bleu_signature(references, how);
  for (std::size_t line = 0; line < hypotheses.size(); ++line) {
    metrics::WordNumbers numbers;
    const std::u32string hypothesis = numbers.of(words_of(hypotheses[line], how));
    std::vector<std::u32string> targets;
    targets.reserve(references.size());
    for (const std::string& reference : metrics::references_of(references, line)) {
      targets.push_back(numbers.of(words_of(reference, how)));
    }
    result.hypothesis_words += static_cast<std::int64_t>(hypothesis.size());
    result.reference_words += closest(static_cast<std::int64_t>(hypothesis.size()), targets);
    for (int n = 1; n <= max_order; ++n) {
      const auto ngrams = metrics::sorted_ngrams(hypothesis, n);
      std::vector<std::vector<std::u32string_view>> wanted;
      wanted.reserve(targets.size());
      for (const auto& target : targets) wanted.push_back(metrics::sorted_ngrams(target, n));
      result.totals[static_cast<std::size_t>(n - 1)] += static_cast<std::int64_t>(ngrams.size());
      result.matches[static_cast<std::size_t>(n - 1)] += matches_of(ngrams, wanted);
    }
  }
  finish(result, how);
  return result;
}

}  // namespace fovea
