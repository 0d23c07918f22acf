// The attention of a batch of outputs: every layer and head of the kinds that were asked for, and their mean.
#pragma once

#include <cstdint>

#include "fovea/attention_record.hpp"
#include "fovea/generate_options.hpp"
#include "fovea/model/decoder.hpp"
#include "fovea/model/encoder.hpp"
#include "fovea/model/folder.hpp"

namespace fovea {

/// Which maps a batch gives.
struct MapRequest {
  bool cross = false, encoder = false, decoder = false;
  std::int64_t top = 0;  // only the N largest of each query; 0: all

  /// For inputs of at most `longest` tokens.
  MapRequest(const GenerateOptions& options, std::int64_t longest);
  [[nodiscard]] bool any() const { return cross || encoder || decoder; }
};

/// How many weights of each query maps hold, for inputs of at most `longest` tokens; 0: all.
[[nodiscard]] std::int64_t shown_weights(const GenerateOptions& options, std::int64_t longest);

/// Layers and heads of the attention that outputs have: to the source, or of a language model to its own text.
struct AttentionSize {
  int layers = 0, heads = 0;

  explicit AttentionSize(const ModelConfig& config);
};

/// How many weights the maps of a batch have: `rows` inputs of at most `read` tokens, and outputs of `written` ones.
/// `memory` is null in a language model.
[[nodiscard]] std::int64_t weights_of(const Memory* memory, const ModelConfig& config, const MapRequest& maps,
                                      std::int64_t rows, std::int64_t read, std::int64_t written);

/// Adds to the record all maps of row `row` of what an encoder and a teacher-forced run of the output gave. The record
/// has its tokens already. `memory` is null in a language model.
void take_maps(const Memory* memory, const Decoded& decoded, std::int64_t row, AttentionRecord& record);

/// Sets the record's weights to the mean over the chosen layers and heads of row `row`. Of cross-attention it has the
/// bytes that a search gives; of other kinds, and where only the largest weights are known, it is that of the record's
/// maps.
void take_mean(AttentionKind kind, const Decoded& decoded, std::int64_t row, const AttentionChoice& which,
               AttentionRecord& record);

/// Divides each row by its sum.
void make_rows_sum_to_one(AttentionMatrix& weights);

/// Joins pieces to words, in the mean and in every map. Throws UsageError for a record with the largest weights only.
void merge_words(AttentionRecord& record, const Tokenizers& tokenizers);

}  // namespace fovea
