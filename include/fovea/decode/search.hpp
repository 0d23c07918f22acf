// From logits to output: greedy, beam search and sampling over anything that can step.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fovea/generate_options.hpp"
#include "fovea/model/stepper.hpp"
#include "fovea/text/tokens.hpp"

namespace FOVEA_API fovea {

/// What a model and its task demand of every output.
struct SearchRules {
  std::int32_t begin = bos_id;                           // what a decoder is fed first
  std::int32_t end = eos_id;                             // ends an output
  std::vector<std::int32_t> suppressed{pad_id, bos_id};  // never written
  std::int64_t longest = 0;                              // tokens that the model can write; 0: any number
  // An output of max_length tokens stops there without its end of sequence. Otherwise that is counted, however
  // improbable.
  bool cut = false;
};

/// One sentence to decode.
struct SearchInput {
  std::int64_t source_length = 0;             // in tokens, the end of sequence included
  std::uint64_t line = 0;                     // its number, for sampling
  std::span<const std::int32_t> prefix = {};  // the output must start with these
  // The text that a language model continues, fed in place of `begin`. It is no part of the output, of its length or of
  // its probability; only `longest` counts it. May be empty.
  std::span<const std::int32_t> prompt = {};
};

/// An output.
struct Hypothesis {
  std::vector<std::int32_t> tokens;  // without the end of sequence
  float score = 0;                   // what it was ranked by
  float log_probability = 0;         // natural, of the tokens and the end of sequence
  std::vector<float> attention;      // [tokens + 1, source length]; empty unless asked for, and of a model without it
  bool ended = true;                 // false: it was cut off at max_length
};

/// All hypotheses that the beam of one sentence kept, step by step.
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

/// Throws UsageError naming a field of the search that is out of range.
void check_search(const GenerateOptions& options);

/// The best hypotheses of each sentence, best first. Of `options` the fields up to `attention` are used; without
/// `max_length` it is twice the source's length and 20, or `min_length`. `trees`, if given, gets one tree per sentence.
///
///     const auto stepper = model.start(model.encode(source, pass));
///     const auto best = search(*stepper, {{.source_length = 7}}, {.beam = 5});
[[nodiscard]] std::vector<std::vector<Hypothesis>> search(Stepper& stepper, std::span<const SearchInput> inputs,
                                                          const GenerateOptions& options, const SearchRules& rules = {},
                                                          std::vector<BeamTree>* trees = nullptr);

}  // namespace fovea
