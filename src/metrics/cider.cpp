// CIDEr-D (Vedantam, Zitnick and Parikh 2015). With g(s) the vector of n-gram counts of s, each weighted by
//   log(pictures) - log(max(1, pictures with the n-gram in a reference)),
//   CIDEr-D(c, S) = 10 / (4 |S|) sum_{n=1..4} sum_{s in S} exp(-(l_c - l_s)^2 / (2 sigma^2))
//                     min(g_n(c), g_n(s)) . g_n(s) / (|g_n(c)| |g_n(s)|),   sigma = 6.
// COCO's program takes the number of word pairs for the length l, so this does too.
#include "metrics/cider.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "metrics/common.hpp"

namespace fovea::metrics {
namespace {

constexpr int kOrders = 4;
constexpr double kSigma = 6;

using Frequencies = std::unordered_map<std::u32string_view, double>;  // n-gram to the number of pictures that have it

struct Weighted {
  std::u32string_view ngram;
  double weight;
};

struct Vectors {
  std::array<std::vector<Weighted>, kOrders> of_order;  // sorted by n-gram
  std::array<double, kOrders> norms{};
  double length = 0;
};

Vectors vectors_of(std::u32string_view words, const Frequencies& frequencies, double log_pictures) {
  Vectors out;
  for (int n = 1; n <= kOrders; ++n) {
    const auto ngrams = sorted_ngrams(words, n);
    const auto order = static_cast<std::size_t>(n - 1);
    for (auto begin = ngrams.begin(); begin != ngrams.end();) {
      const auto end = std::upper_bound(begin, ngrams.end(), *begin);
      const auto known = frequencies.find(*begin);
      const double rarity = log_pictures - (known == frequencies.end() ? 0 : std::log(known->second));
      const double weight = static_cast<double>(end - begin) * rarity;
      out.of_order[order].push_back({*begin, weight});
      out.norms[order] += weight * weight;
      begin = end;
    }
    out.norms[order] = std::sqrt(out.norms[order]);
  }
  out.length = words.empty() ? 0 : static_cast<double>(words.size() - 1);
  return out;
}

double similarity(const Vectors& caption, const Vectors& reference) {
  double total = 0;
  for (std::size_t n = 0; n < kOrders; ++n) {
    double sum = 0;
    auto at = reference.of_order[n].begin();
    for (const Weighted& one : caption.of_order[n]) {
      at = std::lower_bound(at, reference.of_order[n].end(), one.ngram,
                            [](const Weighted& a, std::u32string_view b) { return a.ngram < b; });
      if (at == reference.of_order[n].end()) break;
      if (at->ngram == one.ngram) sum += std::min(one.weight, at->weight) * at->weight;
    }
    const double norms = caption.norms[n] * reference.norms[n];
    if (norms > 0) total += sum / norms;
  }
  const double longer = caption.length - reference.length;
  return total / kOrders * std::exp(-longer * longer / (2 * kSigma * kSigma));
}

}  // namespace

double cider_d(const std::vector<std::u32string>& captions,
               const std::vector<std::vector<std::u32string>>& references) {
  Frequencies frequencies;
  for (const auto& picture : references) {
    std::unordered_set<std::u32string_view> seen;
    for (const std::u32string& reference : picture) {
      for (int n = 1; n <= kOrders; ++n) {
        for (const auto ngram : sorted_ngrams(reference, n)) {
          if (seen.insert(ngram).second) ++frequencies[ngram];
        }
      }
    }
  }
  const double log_pictures = std::log(static_cast<double>(references.size()));
  double total = 0;
  for (std::size_t i = 0; i < captions.size(); ++i) {
    const Vectors caption = vectors_of(captions[i], frequencies, log_pictures);
    double sum = 0;
    for (const std::u32string& reference : references[i]) {
      sum += similarity(caption, vectors_of(reference, frequencies, log_pictures));
    }
    total += 10 * sum / static_cast<double>(references[i].size());
  }
  return total / static_cast<double>(captions.size());
}

}  // namespace fovea::metrics
