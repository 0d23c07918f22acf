// How a model writes text: search, sampling, and what is given with each output. One type for every task.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fovea/attention/interventions.hpp"
#include "fovea/attention/kind.hpp"

namespace FOVEA_API fovea {

/// How outputs are searched or sampled, and what is given with them. An option that a task cannot use is refused by
/// name. An empty optional has the task's own default.
struct GenerateOptions {
  int beam = 5;                // hypotheses kept; 1: greedy
  float length_penalty = 1;    // a hypothesis of n tokens, its end included, is ranked by log-probability / n^penalty
  float coverage_penalty = 0;  // Wu et al. 2016: + penalty * sum_j log(min(attention received by source token j, 1))
  int n_best = 1;              // outputs of each input, best first
  int min_length = 0;          // tokens before the end of sequence may come
  // Most tokens. Default: 50 of a completion, 40 of a caption, 60 of a reply, else twice the source's length and 20.
  std::optional<int> max_length{};
  std::optional<int> no_repeat_ngram{};  // n > 0: no n tokens in a row occur twice. Default: 3 in a reply, else 0
  // A token that the output holds already has its log-probability multiplied by this (Keskar et al. 2019); 1: none.
  // Scores and log-probabilities of outputs are then those after the multiplication.
  float repetition_penalty = 1;
  bool sample = false;     // sample each token instead of taking the best
  float temperature = 1;   // of the sampling
  int top_k = 0;           // sample among the k likeliest tokens; 0: all
  float top_p = 1;         // sample among the likeliest tokens that together have this probability
  std::uint64_t seed = 1;  // of the sampling; a line's samples depend on the seed and the line's number alone
  bool scores = true;      // give Generated::score and log_probability; greedy search is faster without

  bool attention = false;              // give AttentionRecord::weights: the mean over layers and heads
  std::vector<AttentionKind> kinds{};  // give AttentionRecord::maps of these kinds, of the best output
  std::optional<int> layer{}, head{};  // the mean over this layer or head only
  std::optional<int> top_weights{};    // only the N largest weights of each query in maps and in means of them.
                                       // Default: all; of inputs over 1,024 tokens 32
  bool merge_words = false;            // attention between words instead of tokens
  bool replace_unknown = false;        // <unk> becomes the source token that it attended to most
  bool skip_unreadable = false;        // an input that cannot be read gives an empty output, not an exception
  std::optional<int> batch_tokens{};   // input tokens decoded together by one thread. Default: 1024; 16 pictures
  Interventions interventions{};       // changes in every line; positions that a line does not have are ignored

  bool operator==(const GenerateOptions&) const = default;  // every field
};

}  // namespace fovea
