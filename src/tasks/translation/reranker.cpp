#include "tasks/translation/reranker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/error.hpp"
#include "text/unicode.hpp"

namespace fovea {

void Reranker::check_weight(double weight) {
  if (!(weight >= 0 && weight <= 1)) throw UsageError(fmt::format("rerank_weight: {} is not from 0 to 1", weight));
}

Reranker::Reranker(text::JointNgramModel ngrams, double weight) : ngrams_(std::move(ngrams)), weight_(weight) {
  check_weight(weight);
}

void Reranker::rank(const std::string& line, std::vector<Translation>& outputs) const {
  if (text::trim(line).empty()) return;
  struct Ranked {
    bool unread;
    double score;
    std::size_t at;
  };
  std::vector<Ranked> order;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const double joint = weight_ > 0 ? ngrams_.log_probability(line, outputs[i].text) : 0;
    const bool unread = !std::isfinite(joint);
    double score = unread ? 0 : weight_ * joint;
    if (weight_ < 1) score += (1 - weight_) * outputs[i].log_probability;  // which may be -infinity
    order.push_back({unread, score, i});
  }
  std::stable_sort(order.begin(), order.end(), [](const Ranked& a, const Ranked& b) {
    return a.unread != b.unread ? b.unread : a.score > b.score;
  });
  std::vector<Translation> sorted;
  for (const Ranked& ranked : order) {
    sorted.push_back(std::move(outputs[ranked.at]));
    sorted.back().score = static_cast<float>(ranked.score);
  }
  outputs = std::move(sorted);
}

}  // namespace fovea
