// What a model that writes text gives: one type for translations, replies, captions and completions.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fovea/attention_record.hpp"
#include "fovea/decode/search.hpp"
#include "fovea/generate_options.hpp"

namespace FOVEA_API fovea {

/// One output for one input.
///
///     const fovea::Generated one = translator.translate("3 March 2021", {.attention = true});
///     one.text; one.attention.weights.at(0, 2);  // how much the first target token attended to the third source token
struct Generated {
  std::string text{};               // the output; of a completion, the given text and what follows it
  std::string continuation{};       // of a completion: what follows alone
  float score = 0;                  // what it was ranked by
  float log_probability = 0;        // natural, of its tokens and the end of sequence
  std::vector<std::int32_t> ids{};  // the model's own tokens, without a prompt and without the end of sequence
  bool ended = true;                // false: a completion that was cut off at max_length
  std::vector<float> copied{};      // with attention, of a model that copies: the share of copying in each token
  // `source` and `target` always have the tokens, ends of sequence included; of a completion both have the whole text.
  // `weights` and `maps` are empty unless asked for.
  AttentionRecord attention{};
  std::string error{};  // why there is no output, with skip_unreadable
};

/// Bytes of heap memory that an output owns.
[[nodiscard]] std::size_t heap_bytes(const Generated& output);

/// What belongs to one call and not to how the outputs are found.
struct GenerateCall {
  std::int64_t first_line = 0;   // number of the first input: in error messages, and for sampling
  std::function<bool()> stop{};  // asked before each batch, by any thread; once true, the rest gets no outputs
  // Called before the maps of a batch are made, with how many weights they have. An exception ends the call.
  std::function<void(std::int64_t weights)> before_maps{};
};

/// An output and the search that found it.
struct GenerationTrace {
  Generated output{};
  BeamTree beam{};                         // the hypotheses that the search kept at each step
  std::vector<std::string> beam_tokens{};  // the text of beam.nodes; the root's is empty
};

/// Bytes of heap memory that a trace owns.
[[nodiscard]] std::size_t heap_bytes(const GenerationTrace& trace);

/// Pairs i-j, "target word j attended most to source word i", in the order of the target (the format of Pharaoh).
[[nodiscard]] std::string alignment_text(const AttentionRecord& record);

}  // namespace fovea
