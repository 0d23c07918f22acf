// The attention maps of a batch: every layer and head of the kinds that were asked for.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fovea/model/decoder.hpp"
#include "fovea/model/encoder.hpp"
#include "fovea/model/generator.hpp"
#include "fovea/translator.hpp"

namespace fovea {

/// Which maps a batch gives.
struct MapRequest {
  bool cross = false, encoder = false, decoder = false;
  std::int64_t top = 0;  // only the N largest of each query; 0: all

  /// Of lines of at most `longest` tokens.
  MapRequest(const TranslateOptions& options, std::int64_t longest);
  [[nodiscard]] bool any() const { return cross || encoder || decoder; }
};

/// How many weights the maps of a batch have: `rows` lines of at most `read` tokens, and outputs of `written` ones.
[[nodiscard]] std::int64_t weights_of(const Memory& memory, const ModelConfig& config, const MapRequest& maps,
                                      std::int64_t rows, std::int64_t read, std::int64_t written);

/// Adds all maps of row `row` of what an encoder and a teacher-forced run of its output `target` gave.
void take_maps(const Memory& memory, const Decoded& decoded, std::int64_t row, const std::vector<std::string>& source,
               const std::vector<std::string>& target, std::vector<AttentionMap>& maps);

/// Fills a translation's maps from row `row` of what a teacher-forced run of its output gave, and, if `with_mean`, its
/// attention: the mean over the layers and heads that `which` chooses.
void take_maps(const Memory& memory, const Decoded& decoded, std::int64_t row, const AttentionChoice& which,
               bool with_mean, Translation& translation);

/// How many weights of each query maps hold of texts of at most `longest` tokens: as many as asked for, or where that
/// is 0, all, or the largest of a long text. 0: all.
[[nodiscard]] std::int64_t shown_weights(std::int64_t asked, std::int64_t longest);

/// Adds the maps of a decoder's self-attention from row `row` of what it gave for the tokens `fed`.
void take_decoder_maps(const Decoded& decoded, std::int64_t row, const std::vector<std::string>& fed,
                       std::vector<AttentionMap>& maps);

/// Pieces put together to words, in the mean and in every map. Throws UsageError for maps with the largest weights
/// only.
void merge_words(Translation& translation, const Tokenizers& tokenizers);

}  // namespace fovea
