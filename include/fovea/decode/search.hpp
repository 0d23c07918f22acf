// From logits to output: greedy, beam search and sampling over anything that can step.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fovea/model/stepper.hpp"
#include "fovea/text/tokens.hpp"

namespace FOVEA_API fovea {

/// How outputs are searched or sampled, and ranked.
struct SearchOptions {
  int beam = 5;                // 1: greedy
  float length_penalty = 1;    // a hypothesis of n tokens, its end included, is ranked by log-probability / n^penalty
  float coverage_penalty = 0;  // Wu et al. 2016: + penalty * sum_j log(min(attention received by source token j, 1))
  int n_best = 1;              // outputs of each sentence
  int min_length = 0;          // tokens before the end of sequence may come
  int max_length = 0;          // 0: twice the source's length and 20 more, or min_length
  std::int64_t longest = 0;    // tokens the model can write at all; 0: any number
  int no_repeat_ngram = 0;     // n > 0: no n tokens in a row occur twice
  // A token that the output holds already has its log-probability times this (Keskar et al. 2019); 1: as it is. Scores
  // and log-probabilities of outputs are then of what was chosen from.
  float repetition_penalty = 1;
  bool sample = false;          // sample each token instead of taking the best
  float temperature = 1;        // of the sampling
  int top_k = 0;                // sample among the k likeliest; 0: all
  float top_p = 1;              // sample among the likeliest that together have this probability
  std::uint64_t seed = 1;       // a line's samples depend on the seed and its number alone
  bool want_attention = false;  // give Hypothesis::attention
  bool want_scores = true;      // give score and log_probability; greedy search is faster without
  // An output of max_length tokens stops there, as a text that is cut off. Otherwise its end of sequence counts,
  // however improbable.
  bool cut = false;

  std::int32_t begin = bos_id;                           // what a decoder is fed first
  std::int32_t end = eos_id;                             // ends an output
  std::vector<std::int32_t> suppressed{pad_id, bos_id};  // never written

  /// Throws UsageError naming the field that cannot be.
  void check() const;
};

/// One sentence to decode.
struct SearchInput {
  std::int64_t source_length = 0;             // in tokens, the end of sequence included
  std::uint64_t line = 0;                     // its number, for sampling
  std::span<const std::int32_t> prefix = {};  // the output must start so
  // Fed before the output in place of `begin`: what a language model shall go on with. It is no part of the output, of
  // its length or of its probability; only `longest` counts it. Empty: there is none.
  std::span<const std::int32_t> prompt = {};
};

/// An output.
struct Hypothesis {
  std::vector<std::int32_t> tokens;  // without the end of sequence
  float score = 0;                   // what it was ranked by
  float log_probability = 0;         // natural, of the tokens and the end of sequence
  std::vector<float> attention;      // [tokens + 1, source length]; empty unless wanted and there
  bool ended = true;                 // false: it was cut at the longest length
};

/// What a search kept of one sentence, step by step: every hypothesis of the beam and how it went on.
struct BeamTree {
  /// A hypothesis and its last token.
  struct Node {
    std::int32_t parent;    // an index into `nodes`, always smaller than its own; -1: the root
    std::int32_t step;      // tokens up to here; 0: the root
    std::int32_t token;     // the root's is <s>
    float log_probability;  // of all tokens up to here
    bool finished;          // the end of an output
  };
  std::vector<Node> nodes;         // the root first, then in the order they were kept
  std::vector<std::int32_t> best;  // the output that was chosen, from the root to its end
};

/// The best hypotheses of each sentence, best first. `trees`, when given, gets one tree per sentence.
///
///     const auto stepper = model.start(model.encode(source, pass));
///     const auto best = search(*stepper, {{.source_length = 7}}, {.beam = 5});
[[nodiscard]] std::vector<std::vector<Hypothesis>> search(Stepper& stepper, std::span<const SearchInput> inputs,
                                                          const SearchOptions& options,
                                                          std::vector<BeamTree>* trees = nullptr);

}  // namespace fovea
