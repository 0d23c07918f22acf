// Self-attention on a few words, with every intermediate number.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/attention_record.hpp"

namespace fovea::view {

/// The input of the example. Each head has its own columns of w_q, w_k and w_v.
struct WorkedInput {
  std::vector<std::string> tokens;  // T
  AttentionMatrix x;                // [T, D]
  AttentionMatrix w_q, w_k;         // [D, heads * d]
  AttentionMatrix w_v;              // [D, heads * dv]
  AttentionMatrix w_o;              // [heads * dv, any]; empty: the concatenated heads are the output
  int heads = 1;
  bool causal = false;
  bool made_up = false;  // the numbers are not a model's
};

/// One head, step by step.
struct WorkedHead {
  AttentionMatrix q, k;     // [T, d]
  AttentionMatrix v;        // [T, dv]
  AttentionMatrix scores;   // [T, T]: q k'
  AttentionMatrix scaled;   // scores / sqrt(d); minus infinity where a key is hidden
  AttentionMatrix weights;  // softmax of the rows of `scaled`
  AttentionMatrix output;   // [T, dv]: weights v
};

struct WorkedExample {
  WorkedInput input;
  std::vector<WorkedHead> heads;
  AttentionMatrix joined;  // [T, heads * dv]
  AttentionMatrix output;  // joined w_o, or joined
};

/// Small round numbers: x in halves from -2 to 2, equal for equal words; weights in halves from -1 to 1. A seed gives
/// the same numbers on every machine.
[[nodiscard]] WorkedInput made_up_input(const std::vector<std::string>& tokens, int dim, int heads, std::uint64_t seed);

/// Computes the example; weights and outputs are those of attend(). Throws ShapeError naming the matrix that does not
/// fit.
[[nodiscard]] WorkedExample work(const WorkedInput& input);

/// The words and marks of a sentence in any language (text/segment.hpp): 看小猫，它好可爱 as 看 小猫 ， 它 好 可爱.
/// Throws UsageError for text that is not UTF-8.
[[nodiscard]] std::vector<std::string> words_of(std::string_view sentence);

/// The softmax of the scores of one query, as a textbook writes it.
struct WorkedScores {
  std::vector<float> scores;
  double dim = 0;              // 0: the scores are not divided
  std::vector<float> scaled;   // scores / sqrt(dim)
  std::vector<double> powers;  // exp(scaled - shift)
  double shift = 0;            // 0, or the largest where exp would give unreadable numbers
  double sum = 0;              // of powers
  std::vector<float> weights;  // of attend()
};

[[nodiscard]] WorkedScores work_scores(const std::vector<float>& scores, double dim);

}  // namespace fovea::view
