// Self-attention on a few words with every number on the way kept.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/attention_record.hpp"

namespace fovea::view {

/// What the example starts from. Heads stand side by side in the columns of w_q, w_k and w_v.
struct WorkedInput {
  std::vector<std::string> tokens;  // T
  AttentionMatrix x;                // [T, D]
  AttentionMatrix w_q, w_k;         // [D, heads * d]
  AttentionMatrix w_v;              // [D, heads * dv]
  AttentionMatrix w_o;              // [heads * dv, any]; empty: the heads side by side are the output
  int heads = 1;
  bool causal = false;
  bool made_up = false;  // the numbers are not a model's
};

/// One head, step by step.
struct WorkedHead {
  AttentionMatrix q, k;     // [T, d]
  AttentionMatrix v;        // [T, dv]
  AttentionMatrix scores;   // [T, T]: q k'
  AttentionMatrix scaled;   // scores / sqrt(d); minus infinity where a word may not attend
  AttentionMatrix weights;  // softmax of the rows of `scaled`
  AttentionMatrix output;   // [T, dv]: weights v
};

struct WorkedExample {
  WorkedInput input;
  std::vector<WorkedHead> heads;
  AttentionMatrix joined;  // [T, heads * dv]
  AttentionMatrix output;  // joined w_o, or joined
};

/// Numbers small and round enough to follow: x in halves from -2 to 2, the same for the same word; weights in halves
/// from -1 to 1. The same from the same seed everywhere.
[[nodiscard]] WorkedInput made_up_input(const std::vector<std::string>& tokens, int dim, int heads, std::uint64_t seed);

/// Computes it; weights and outputs are attend()'s. Throws ShapeError naming the matrix that does not fit.
[[nodiscard]] WorkedExample work(const WorkedInput& input);

/// The words and marks of a sentence in any language (text/segment.hpp): 看小猫，它好可爱 as 看 小猫 ， 它 好 可爱.
/// Throws UsageError for text that is not UTF-8.
[[nodiscard]] std::vector<std::string> words_of(std::string_view sentence);

/// What a textbook does with the scores of one query.
struct WorkedScores {
  std::vector<float> scores;
  double dim = 0;              // 0: the scores are taken as they are
  std::vector<float> scaled;   // / sqrt(dim), if there is one
  std::vector<double> powers;  // exp(scaled - shift)
  double shift = 0;            // 0, or the largest, where exp would leave the readable numbers
  double sum = 0;              // of powers
  std::vector<float> weights;  // attend()'s
};

[[nodiscard]] WorkedScores work_scores(const std::vector<float>& scores, double dim);

}  // namespace fovea::view
