// Captions of pictures against several references each, as COCO's program scores them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/error.hpp"
#include "fovea/metrics.hpp"
#include "metrics/cider.hpp"
#include "metrics/common.hpp"
#include "text/unicode.hpp"

namespace fovea {
namespace {

bool all_punctuation(const std::string& word) {
  const std::u32string characters = text::to_code_points(word);
  return std::all_of(characters.begin(), characters.end(), text::is_punctuation);
}

std::vector<std::string> words_of(const std::string& line, std::optional<MetricTokenizer> tokenize) {
  if (!tokenize) return caption_words(line);
  std::vector<std::string> words = metric_words(text::to_lower(line), *tokenize);
  std::erase_if(words, all_punctuation);
  return words;
}

// BLEU-1 to BLEU-4: products of the first precisions and their roots. The tiny numbers are those of COCO's program:
// they keep a precision without matches from being 0 and a division by 0 from happening.
std::array<double, 4> coco_bleu(const Bleu& counts) {
  constexpr double kTiny = 1e-15;
  constexpr double kSmall = 1e-9;
  const double ratio =
      (static_cast<double>(counts.hypothesis_words) + kTiny) / (static_cast<double>(counts.reference_words) + kSmall);
  const double penalty = ratio < 1 ? std::exp(1 - 1 / ratio) : 1;
  std::array<double, 4> out{};
  double product = 1;
  for (std::size_t n = 0; n < out.size(); ++n) {
    product *= (static_cast<double>(counts.matches[n]) + kTiny) / (static_cast<double>(counts.totals[n]) + kSmall);
    out[n] = 100 * penalty * std::pow(product, 1.0 / static_cast<double>(n + 1));
  }
  return out;
}

// F = (1 + beta^2) P R / (R + beta^2 P), with P and R the best over the references, not of one reference.
double coco_rouge_l(const std::u32string& caption, const std::vector<std::u32string>& references) {
  constexpr double kBeta2 = 1.2 * 1.2;
  double precision = 0;
  double recall = 0;
  for (const std::u32string& reference : references) {
    const auto shared = static_cast<double>(metrics::longest_common_subsequence(caption, reference));
    if (shared == 0) continue;
    precision = std::max(precision, shared / static_cast<double>(caption.size()));
    recall = std::max(recall, shared / static_cast<double>(reference.size()));
  }
  return precision > 0 ? (1 + kBeta2) * precision * recall / (recall + kBeta2 * precision) : 0;
}

}  // namespace

CaptionFigures caption_figures(const Lines& captions, const References& references,
                               std::optional<MetricTokenizer> tokenize) {
  metrics::check_lines("caption", captions, references);
  metrics::WordNumbers numbers;
  std::vector<std::u32string> hypotheses;
  std::vector<std::vector<std::u32string>> targets(captions.size());
  // BLEU counts words between spaces, so it is given the words already found.
  Lines spaced;
  References spaced_references(references.size(), Lines(captions.size()));
  const auto joined = [](const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); };
  double rouge_l = 0;
  for (std::size_t line = 0; line < captions.size(); ++line) {
    const std::vector<std::string> words = words_of(captions[line], tokenize);
    hypotheses.push_back(numbers.of(words));
    spaced.push_back(joined(words));
    for (std::size_t i = 0; i < references.size(); ++i) {
      const std::vector<std::string> reference = words_of(references[i][line], tokenize);
      if (reference.empty()) continue;
      spaced_references[i][line] = joined(reference);
      targets[line].push_back(numbers.of(reference));
    }
    if (targets[line].empty()) {
      throw UsageError(fmt::format("caption: line {} has no words in any reference", line + 1));
    }
    rouge_l += coco_rouge_l(hypotheses.back(), targets[line]);
  }
  CaptionFigures result;
  result.bleu = coco_bleu(bleu(spaced, spaced_references, {.tokenize = MetricTokenizer::none}));
  result.rouge_l = 100 * rouge_l / static_cast<double>(captions.size());
  result.cider = 100 * metrics::cider_d(hypotheses, targets);
  return result;
}

References split_references(const Lines& lines) {
  constexpr std::size_t kMost = 100;  // one line with many tabs would make all others as long
  References out(1, Lines(lines.size()));
  for (std::size_t line = 0; line < lines.size(); ++line) {
    std::size_t at = 0;
    for (std::size_t i = 0; at <= lines[line].size(); ++i) {
      const std::size_t end = std::min(lines[line].find('\t', at), lines[line].size());
      if (i == kMost) {
        throw UsageError(fmt::format("caption: line {} has more than {} references", line + 1, kMost));
      }
      if (i == out.size()) out.emplace_back(lines.size());
      out[i][line] = lines[line].substr(at, end - at);
      at = end + 1;
    }
  }
  return out;
}

}  // namespace fovea
