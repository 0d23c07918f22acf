// A decoder whose every probability is written down in the test.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "fovea/decode/search.hpp"
#include "fovea/text/tokens.hpp"

namespace fovea::test {

using Written = std::vector<std::int32_t>;

/// What follows each beginning: tokens with their probabilities, which sum to 1; what is not listed has none worth
/// mentioning. After a beginning that is not in the script, the one of {-1} is taken, or the end follows.
struct Script {
  std::map<Written, std::map<std::int32_t, double>> next;
  std::map<Written, std::vector<float>> attention = {};  // [source length], when there is any
};

class ScriptedStepper final : public Stepper {
 public:
  static constexpr std::int64_t kVocabulary = 8;  // four special tokens, and 4 to 7

  explicit ScriptedStepper(const Script& script, std::size_t sentences = 1) : script_(script), rows_(sentences) {}

  Tensor step(std::span<const std::int32_t> tokens) override {
    const auto rows = static_cast<std::int64_t>(rows_.size());
    Tensor scores = Tensor::full({rows, kVocabulary}, -60.0F);
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      if (tokens[r] != bos_id) rows_[r].push_back(tokens[r]);
      float* row = scores.data() + static_cast<std::int64_t>(r) * kVocabulary;
      const auto found = script_.next.contains(rows_[r]) ? script_.next.find(rows_[r]) : script_.next.find({-1});
      if (found == script_.next.end()) {
        row[eos_id] = 0;
      } else {
        for (const auto& [token, p] : found->second) row[token] = static_cast<float>(std::log(p));
      }
    }
    return scores;
  }
  void keep(std::span<const std::int32_t> rows) override {
    std::vector<Written> kept;
    for (const auto r : rows) kept.push_back(rows_[static_cast<std::size_t>(r)]);
    rows_ = kept;
  }
  [[nodiscard]] Tensor attention() const override {
    if (script_.attention.empty()) return {};
    const auto width = static_cast<std::int64_t>(script_.attention.begin()->second.size());
    Tensor weights = Tensor::zeros({static_cast<std::int64_t>(rows_.size()), width});
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      const auto& row = script_.attention.at(rows_[r]);
      std::copy(row.begin(), row.end(), weights.data() + static_cast<std::int64_t>(r) * width);
    }
    return weights;
  }

 private:
  const Script& script_;
  std::vector<Written> rows_;
};

/// The best hypotheses for a source of two tokens.
inline std::vector<Hypothesis> hypotheses(const Script& script, const GenerateOptions& options,
                                          const SearchRules& rules = {}) {
  ScriptedStepper stepper(script);
  const SearchInput input{.source_length = 2};
  return search(stepper, {&input, 1}, options, rules)[0];
}

}  // namespace fovea::test
