// Choosing the next token of a row from its log-probabilities.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace fovea {

struct Candidate {
  float score;  // log-probability of the whole hypothesis
  std::int32_t row;
  std::int32_t token;
};

/// Which token a column of logits is for: the column itself, or one of a row's candidates.
struct Columns {
  std::span<const std::int32_t> candidates;  // sorted; empty: all tokens

  [[nodiscard]] std::int32_t token(std::int32_t column) const {
    return candidates.empty() ? column : candidates[static_cast<std::size_t>(column)];
  }
  /// -1: none.
  [[nodiscard]] std::int64_t of(std::int32_t token) const {
    if (candidates.empty()) return token;
    const auto at = std::lower_bound(candidates.begin(), candidates.end(), token);
    return at != candidates.end() && *at == token ? at - candidates.begin() : -1;
  }
};

/// Makes each token that an output holds already less probable, once however often it is there. Sorts `history`.
void punish_repeats(std::vector<std::int32_t>& history, float penalty, const Columns& columns, float* row);
/// Forbids each token that would write an n-gram again which the output holds already.
void ban_repeats(std::span<const std::int32_t> history, int n, const Columns& columns, float* row);

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
