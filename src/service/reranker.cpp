#include "service/reranker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/error.hpp"

namespace fovea {

Reranker::Reranker(text::Recall memory, double weight) : memory_(std::move(memory)), weight_(weight) {
  if (!(weight >= 0 && weight <= 1)) throw UsageError(fmt::format("recall: weight {} is not from 0 to 1", weight));
}

void Reranker::rank(const std::string& line, std::vector<Translation>& outputs) const {
  constexpr double kUnreadable = -1e6;  // further off than any log-probability, and finite
  for (Translation& output : outputs) {
    const double remembered = std::max(kUnreadable, memory_.log_probability(line, output.text));
    output.score = static_cast<float>((1 - weight_) * output.log_probability + weight_ * remembered);
  }
  std::stable_sort(outputs.begin(), outputs.end(),
                   [](const Translation& a, const Translation& b) { return a.score > b.score; });
}

}  // namespace fovea
