// Choosing the next token of a row from its log-probabilities.
#pragma once

#include <cstdint>
#include <vector>

namespace fovea {

struct Candidate {
  float score;  // log-probability of the whole hypothesis
  std::int32_t row;
  std::int32_t token;
};

/// Appends the `count` best tokens of a row; a token's score is x[token] + offset. Equal scores: the lower token first.
void best_of_row(const float* x, std::int64_t n, int count, float offset, std::int32_t row,
                 std::vector<Candidate>& candidates);

struct Sampling {
  float temperature = 1;
  int top_k = 0;
  float top_p = 1;
};

struct SampleScratch {
  std::vector<std::pair<float, std::int32_t>> items;
};

/// The token at quantile u in [0, 1) of softmax(x / temperature), cut to the likeliest top_k and then to the likeliest
/// that together have probability top_p (Holtzman et al. 2020). -1 when no value is more than -inf.
[[nodiscard]] std::int32_t sample_token(const float* x, std::int64_t n, const Sampling& how, double u,
                                        SampleScratch& scratch);

}  // namespace fovea
